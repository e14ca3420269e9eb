/** Files that were dropped or picked; folders with all that is in them. */

import { type Found, gathered, isBuffer, type Take } from "./companions";

/** What the library reads (`keypose.formats.readable_suffixes`); other files of a folder are left where they are. */
const MOTION = /\.(bvh|amc|asf|c3d|kps|glb|gltf|usd[ac]?|fbx|blend|keys\.json|swings\.json)(\.gz)?$/i;

export interface Picked {
  takes: Take[];
  /** Files of folders that are no motion. */
  skipped: number;
}

/** Whether a file of a folder is worth sending. Files that were picked one by one are always sent. */
export function isMotion(name: string): boolean {
  return !name.startsWith(".") && MOTION.test(name);
}

/** What an input gave: the files, or those of a folder. */
export async function pickedOf(files: Iterable<File>): Promise<Picked> {
  const all = [...files];
  const kept = all.filter((file) => !file.webkitRelativePath || isWanted(file.name));
  const found = kept.map((file) => ({ file, folder: folderOf(file.webkitRelativePath) }));
  return picked(found, all.length - kept.length);
}

/** What was dropped. The items must be read at once: after the event they are gone. */
export async function droppedOf(transfer: DataTransfer): Promise<Picked> {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const roots = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const found: Found[] = [];
  let skipped = 0;
  for (const root of roots) {
    if (root instanceof File) found.push({ file: root, folder: "" });
    else if (root?.isFile) found.push(await fileOf(root as FileSystemFileEntry));
    else if (root?.isDirectory) skipped += await walk(root as FileSystemDirectoryEntry, found);
  }
  return picked(found, skipped);
}

async function picked(found: readonly Found[], others: number): Promise<Picked> {
  const { takes, spare } = await gathered(found);
  return { takes, skipped: others + spare };
}

function isWanted(name: string): boolean {
  return isMotion(name) || isBuffer(name);
}

/** Puts the motion of a folder, and of all below it, and what it may need, into `found`; gives how many other files there are. */
async function walk(folder: FileSystemDirectoryEntry, found: Found[]): Promise<number> {
  let skipped = 0;
  const reader = folder.createReader();
  while (true) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return skipped; // it gives a hundred at a time
    for (const entry of some) {
      if (entry.isDirectory) skipped += await walk(entry as FileSystemDirectoryEntry, found);
      else if (isWanted(entry.name)) found.push(await fileOf(entry as FileSystemFileEntry));
      else skipped += 1;
    }
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<Found> {
  const folder = folderOf(entry.fullPath);
  return new Promise((resolve, reject) => entry.file((file) => resolve({ file, folder }), reject));
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
