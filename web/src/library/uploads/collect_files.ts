/** Collects files that were dropped or picked, including the contents of folders. */

import { type FileGroup, type FileInFolder, groupCompanions, isBuffer } from "./companions";

/** The readable suffixes (`keypose.formats.readable_suffixes`); other files in folders are skipped. */
const MOTION = /\.(bvh|amc|asf|c3d|kps|glb|gltf|usd[ac]?|fbx|blend|keys\.json|swings\.json)(\.gz)?$/i;

export interface CollectedFiles {
  groups: FileGroup[];
  /** Files in folders that contain no motion. */
  skipped: number;
}

/** Whether to upload a file of a folder. Files that were picked individually are always uploaded. */
export function isMotion(name: string): boolean {
  return !name.startsWith(".") && MOTION.test(name);
}

/** Collects the files of an input for files or for a folder. */
export async function collectPickedFiles(files: Iterable<File>): Promise<CollectedFiles> {
  const all = [...files];
  const motionFiles = all.filter((file) => !file.webkitRelativePath || isMotionOrBuffer(file.name));
  const inFolders = motionFiles.map((file) => ({ file, folder: parentFolder(file.webkitRelativePath) }));
  return groupFiles(inFolders, all.length - motionFiles.length);
}

/** Collects dropped files. The items must be read synchronously: they are invalid after the event. */
export async function collectDroppedFiles(transfer: DataTransfer): Promise<CollectedFiles> {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const roots = items.map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const files: FileInFolder[] = [];
  let skipped = 0;
  for (const root of roots) {
    if (root instanceof File) files.push({ file: root, folder: "" });
    else if (root?.isFile) files.push(await readEntry(root as FileSystemFileEntry));
    else if (root?.isDirectory) skipped += await collectFolder(root as FileSystemDirectoryEntry, files);
  }
  return groupFiles(files, skipped);
}

async function groupFiles(files: readonly FileInFolder[], skipped: number): Promise<CollectedFiles> {
  const { groups, unused } = await groupCompanions(files);
  return { groups, skipped: skipped + unused };
}

function isMotionOrBuffer(name: string): boolean {
  return isMotion(name) || isBuffer(name);
}

/**
 * Adds the motion files of a folder and its subfolders, and the files they may need, to `files`; returns the number
 * of other files.
 */
async function collectFolder(folder: FileSystemDirectoryEntry, files: FileInFolder[]): Promise<number> {
  let skipped = 0;
  const reader = folder.createReader();
  while (true) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return skipped; // readEntries returns at most 100 entries at a time
    for (const entry of entries) {
      if (entry.isDirectory) skipped += await collectFolder(entry as FileSystemDirectoryEntry, files);
      else if (isMotionOrBuffer(entry.name)) files.push(await readEntry(entry as FileSystemFileEntry));
      else skipped += 1;
    }
  }
}

function readEntry(entry: FileSystemFileEntry): Promise<FileInFolder> {
  const folder = parentFolder(entry.fullPath);
  return new Promise((resolve, reject) => entry.file((file) => resolve({ file, folder }), reject));
}

function parentFolder(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
