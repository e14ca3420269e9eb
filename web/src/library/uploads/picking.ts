/** Files that were dropped or picked; folders with all that is in them. */

/** What the library reads (`keypose.formats.readable_suffixes`); other files of a folder are left where they are. */
const MOTION = /\.(bvh|amc|asf|c3d|kps|glb|gltf|usd[ac]?|fbx|blend|keys\.json|swings\.json)(\.gz)?$/i;

export interface Picked {
  files: File[];
  /** Files of folders that are no motion. */
  skipped: number;
}

/** Whether a file of a folder is worth sending. Files that were picked one by one are always sent. */
export function isMotion(name: string): boolean {
  return !name.startsWith(".") && MOTION.test(name);
}

/** What an input gave: the files, or those of a folder. */
export function pickedOf(files: Iterable<File>): Picked {
  const all = [...files];
  const kept = all.filter((file) => !file.webkitRelativePath || isMotion(file.name));
  return { files: kept, skipped: all.length - kept.length };
}

/** What was dropped. The items must be read at once: after the event they are gone. */
export async function droppedOf(transfer: DataTransfer): Promise<Picked> {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const roots = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const picked: Picked = { files: [], skipped: 0 };
  for (const root of roots) {
    if (root instanceof File) picked.files.push(root);
    else if (root?.isFile) picked.files.push(await fileOf(root as FileSystemFileEntry));
    else if (root?.isDirectory) await walk(root as FileSystemDirectoryEntry, picked);
  }
  return picked;
}

async function walk(folder: FileSystemDirectoryEntry, picked: Picked): Promise<void> {
  const reader = folder.createReader();
  while (true) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return; // it gives a hundred at a time
    for (const entry of some) {
      if (entry.isDirectory) await walk(entry as FileSystemDirectoryEntry, picked);
      else if (isMotion(entry.name)) picked.files.push(await fileOf(entry as FileSystemFileEntry));
      else picked.skipped += 1;
    }
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}
