/** Files that belong together: an .amc with its .asf skeleton, a .gltf with its .bin buffers. */

/** The files of one clip. */
export interface FileGroup {
  file: File;
  /** The files that it needs. */
  companions: readonly File[];
}

/** A file and its folder; "" if it was picked individually. */
export interface FileInFolder {
  file: File;
  folder: string;
}

const SKELETON = /\.asf(\.gz)?$/i;
const MOTION = /\.amc(\.gz)?$/i;
const SCENE = /\.gltf(\.gz)?$/i;
const BUFFER = /\.bin$/i;

/** Whether a file is no clip itself but may be a companion of one. */
export function isBuffer(name: string): boolean {
  return !name.startsWith(".") && BUFFER.test(name);
}

/**
 * Returns each file with its companions, which are no clips themselves, and the number of unused buffers in folders.
 */
export async function groupCompanions(
  files: readonly FileInFolder[],
): Promise<{ groups: FileGroup[]; unused: number }> {
  const folders = new Map<string, File[]>();
  for (const { file, folder } of files) {
    const siblings = folders.get(folder);
    if (siblings) siblings.push(file);
    else folders.set(folder, [file]);
  }
  const used = new Set<File>();
  const groups: FileGroup[] = [];
  for (const { file, folder } of files) {
    const companions = await findCompanions(file, folders.get(folder) ?? []);
    for (const each of companions) used.add(each);
    groups.push({ file, companions });
  }
  const isUnused = ({ file, folder }: FileInFolder) => folder !== "" && isBuffer(file.name) && !used.has(file);
  const unused = new Set(files.filter(isUnused).map(({ file }) => file));
  return { groups: groups.filter(({ file }) => !used.has(file) && !unused.has(file)), unused: unused.size };
}

async function findCompanions(file: File, siblings: readonly File[]): Promise<File[]> {
  if (MOTION.test(file.name)) {
    const skeleton = findSkeleton(
      file.name,
      siblings.filter(({ name }) => SKELETON.test(name)),
    );
    return skeleton ? [skeleton] : [];
  }
  const buffers = SCENE.test(file.name) ? siblings.filter(({ name }) => isBuffer(name)) : [];
  if (buffers.length === 0) return [];
  const names = await readBufferNames(file);
  return buffers.filter(({ name }) => names.has(name.normalize()));
}

/** Searches as the reader does: the same name, the name of the subject (07_05 -> 07), or the only skeleton. */
function findSkeleton(motion: string, skeletons: readonly File[]): File | undefined {
  const findByName = (name: string) => skeletons.find((file) => file.name.replace(SKELETON, "") === name);
  let name = motion.replace(MOTION, "");
  while (true) {
    const skeleton = findByName(name);
    if (skeleton) return skeleton;
    if (!name.includes("_")) break;
    name = name.slice(0, name.lastIndexOf("_"));
  }
  return skeletons.length === 1 && !isOtherSubject(skeletons[0]!.name.replace(SKELETON, ""), name)
    ? skeletons[0]
    : undefined;
}

/** Whether two names are numbers of different subjects. */
function isOtherSubject(one: string, other: string): boolean {
  const isNumber = (text: string) => /^\d+$/.test(text);
  return isNumber(one) && isNumber(other) && Number(one) !== Number(other);
}

/** Returns the names of the buffers of a .gltf; empty if it cannot be read, which the server then reports. */
async function readBufferNames(file: File): Promise<Set<string>> {
  const isGzipped = /\.gz$/i.test(file.name);
  const content = isGzipped ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file;
  try {
    const { buffers } = JSON.parse(await new Response(content).text()) as { buffers: { uri?: string }[] };
    const uris = buffers.map(({ uri }) => uri ?? "").filter((uri) => !uri.startsWith("data:"));
    return new Set(uris.map((uri) => decodeURIComponent(uri).replace(/^\.\//, "").normalize()));
  } catch {
    return new Set();
  }
}
