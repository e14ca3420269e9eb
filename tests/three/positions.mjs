// Prints the node positions of a glTF file's first animation in three.js: one line of JSON, {names, duration, positions}.
//
//   node positions.mjs FOLDER_OF_THREE FILE TIMES.json
//
// TIMES.json is a list of seconds; positions[t][n] is the world position of the node names[n] at the t-th of them.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, path, times] = process.argv.slice(2);
const packageRequire = createRequire(join(folder, "package.json"));
const load = (name) => import(pathToFileURL(packageRequire.resolve(name)).href);
// Browser globals that the loader needs.
globalThis.self ??= globalThis;
globalThis.ProgressEvent ??= class extends Event {};
const { AnimationMixer, Vector3 } = await load("three");
const { GLTFLoader } = await load("three/addons/loaders/GLTFLoader.js");

const content = await readFile(path);
const bytes = content.buffer.slice(content.byteOffset, content.byteOffset + content.byteLength);
const gltf = await new GLTFLoader().parseAsync(bytes, "");
const mixer = new AnimationMixer(gltf.scene);
const action = mixer.clipAction(gltf.animations[0]).play();

const nodes = [];
gltf.scene.traverse((node) => {
  const index = gltf.parser.associations.get(node)?.nodes;
  if (index !== undefined) nodes.push([gltf.parser.json.nodes[index].name, node]);
});
const position = new Vector3();
const positions = JSON.parse(await readFile(times)).map((time) => {
  action.time = time;
  mixer.update(0);
  gltf.scene.updateMatrixWorld(true);
  return nodes.map(([, node]) => position.setFromMatrixPosition(node.matrixWorld).toArray());
});
console.log(JSON.stringify({ names: nodes.map(([name]) => name), duration: gltf.animations[0].duration, positions }));
