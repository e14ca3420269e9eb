/** Files that belong together: an .amc with the .asf of its skeleton, a .gltf with the .bin files of its numbers. */

/** What becomes one clip. */
export interface Take {
  file: File;
  /** The files that it needs. */
  companions: readonly File[];
}

/** A file, and the folder that it lay in, as far as it is known; none: it was picked by itself. */
export interface Found {
  file: File;
  folder: string;
}

const SKELETON = /\.asf(\.gz)?$/i;
const MOTION = /\.amc(\.gz)?$/i;
const SCENE = /\.gltf(\.gz)?$/i;
const BUFFER = /\.bin$/i;

/** Whether a file is no clip, but may be a companion of one. */
export function isBuffer(name: string): boolean {
  return !name.startsWith(".") && BUFFER.test(name);
}

/** Each file with its companions, which are no clips of their own; `spare`: files of folders that nobody needs. */
export async function gathered(found: readonly Found[]): Promise<{ takes: Take[]; spare: number }> {
  const folders = new Map<string, File[]>();
  for (const { file, folder } of found) {
    const beside = folders.get(folder);
    if (beside) beside.push(file);
    else folders.set(folder, [file]);
  }
  const used = new Set<File>();
  const takes: Take[] = [];
  for (const { file, folder } of found) {
    const companions = await companionsOf(file, folders.get(folder) ?? []);
    for (const each of companions) used.add(each);
    takes.push({ file, companions });
  }
  const isSpare = ({ file, folder }: Found) => folder !== "" && isBuffer(file.name) && !used.has(file);
  const spare = new Set(found.filter(isSpare).map(({ file }) => file));
  return { takes: takes.filter(({ file }) => !used.has(file) && !spare.has(file)), spare: spare.size };
}

async function companionsOf(file: File, beside: readonly File[]): Promise<File[]> {
  if (MOTION.test(file.name)) {
    const skeleton = skeletonOf(
      file.name,
      beside.filter(({ name }) => SKELETON.test(name)),
    );
    return skeleton ? [skeleton] : [];
  }
  const buffers = SCENE.test(file.name) ? beside.filter(({ name }) => isBuffer(name)) : [];
  if (buffers.length === 0) return [];
  const names = await buffersOf(file);
  return buffers.filter(({ name }) => names.has(name.normalize()));
}

/** As the reader of files looks for it: of the same name, of its subject (07_05 -> 07), or the only one there. */
function skeletonOf(motion: string, beside: readonly File[]): File | undefined {
  const named = (name: string) => beside.find((file) => file.name.replace(SKELETON, "") === name);
  let name = motion.replace(MOTION, "");
  while (true) {
    const skeleton = named(name);
    if (skeleton) return skeleton;
    if (!name.includes("_")) break;
    name = name.slice(0, name.lastIndexOf("_"));
  }
  return beside.length === 1 && !isOfAnother(beside[0]!.name.replace(SKELETON, ""), name) ? beside[0] : undefined;
}

/** Whether two subjects are told apart by their numbers. */
function isOfAnother(one: string, other: string): boolean {
  const isNumber = (text: string) => /^\d+$/.test(text);
  return isNumber(one) && isNumber(other) && Number(one) !== Number(other);
}

/** The names of the files that a .gltf says its numbers are in; none where it cannot be read: the server says why. */
async function buffersOf(file: File): Promise<Set<string>> {
  const isPacked = /\.gz$/i.test(file.name);
  const content = isPacked ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file;
  try {
    const { buffers } = JSON.parse(await new Response(content).text()) as { buffers: { uri?: string }[] };
    const uris = buffers.map(({ uri }) => uri ?? "").filter((uri) => !uri.startsWith("data:"));
    return new Set(uris.map((uri) => decodeURIComponent(uri).replace(/^\.\//, "").normalize()));
  } catch {
    return new Set();
  }
}
