// Prints the issues that the Khronos validator finds in glTF files: one line of JSON, a list of {path, issues, info}.
//
//   node validate_gltf.mjs FOLDER_OF_THE_VALIDATOR FILE...
//
// Severity of an issue: 0 error, 1 warning, 2 information, 3 hint.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

const [folder, ...paths] = process.argv.slice(2);
const { validateBytes } = createRequire(join(folder, "package.json"))("gltf-validator");

const results = [];
for (const path of paths) {
  const report = await validateBytes(new Uint8Array(await readFile(path)), {
    uri: basename(path),
    maxIssues: 100,
    externalResourceFunction: async (uri) => new Uint8Array(await readFile(join(dirname(path), uri))),
  });
  results.push({ path, issues: report.issues.messages, info: report.info });
}
console.log(JSON.stringify(results));
