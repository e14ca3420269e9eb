/** Files that belong together: an .amc holds a motion alone, its skeleton is in an .asf. */

/** What becomes one clip. */
export interface Take {
  file: File;
  skeleton?: File;
}

/** A file, and the folder that it lay in, as far as it is known. */
export interface Found {
  file: File;
  folder: string;
}

const SKELETON = /\.asf(\.gz)?$/i;
const MOTION = /\.amc(\.gz)?$/i;

/** Each .amc with the .asf that lies beside it; an .asf that serves one is no clip of its own. */
export function paired(found: readonly Found[]): Take[] {
  const skeletons = found.filter(({ file }) => SKELETON.test(file.name));
  const used = new Set<File>();
  const takes = found.map(({ file, folder }): Take => {
    const beside = skeletons.filter((each) => each.folder === folder).map((each) => each.file);
    const skeleton = MOTION.test(file.name) ? skeletonOf(file.name, beside) : undefined;
    if (!skeleton) return { file };
    used.add(skeleton);
    return { file, skeleton };
  });
  return takes.filter(({ file }) => !used.has(file));
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
