/** Actions on clips: rename, tag, export, trash and restore. */

import { fetchJson, type Schema } from "../api/client";
import { Signal } from "../state/signal";
import { countOf } from "../ui/format";
import { errorMessage, toSentence } from "../ui/states";
import { toast } from "../ui/toast";
import type { ClipSource } from "./clip_source";
import { openExportDialog } from "./export_dialog";
import type { Selection } from "./selection";
import { invertTagChange, openTagDialog, type TagChange } from "./tag_dialog";
import { UndoStack } from "./undo_stack";
import type { ClipRow } from "./view";

type LibraryInfo = Schema["LibraryInfo"];

/** What the actions need from the page. */
interface ActionContext {
  results: { source: ClipSource | null };
  libraryInfo(): Promise<LibraryInfo>;
  /** The clip's position in the list may have changed. */
  onRenamed(hash: string): Promise<void>;
}

/** Incremented whenever clips were changed, on any page. */
export const changes = new Signal(0);
export const undoStack = new UndoStack(toast);

/** Restores clips from the trash and shows a toast. */
export async function restore(hashes: readonly string[]): Promise<void> {
  await runOrToast(async () => {
    const { clips } = await fetchJson<Schema["ClipList"]>("/api/trash/restore", { body: { clips: hashes } });
    changes.value += 1;
    toast(`${countOf(clips.length, "clip")} restored.`);
  });
}

export class Actions {
  constructor(
    readonly selection: Selection,
    readonly context: ActionContext,
  ) {}

  async rename(row: ClipRow, name: string): Promise<void> {
    const renamed = this.#setName(row, name);
    const undo = async () => (await renamed) && this.#setName({ ...row, name }, row.name); // undo only after the clip has been renamed
    const dropUndo = undoStack.push(null, () => void undo());
    if (!(await renamed)) dropUndo();
  }

  async tag(rows: readonly ClipRow[]): Promise<void> {
    await runOrToast(async () => {
      const knownTags = (await this.context.libraryInfo()).tags.map(({ tag }) => tag);
      openTagDialog(rows, knownTags, (change) => void this.#applyTags(rows, change));
    });
  }

  async export(hashes: readonly string[]): Promise<void> {
    await runOrToast(async () => {
      const { formats } = await this.context.libraryInfo();
      openExportDialog(hashes, formats, (name) => toast(`${name} was exported.`));
    });
  }

  async trash(hashes: readonly string[]): Promise<void> {
    await runOrToast(async () => {
      const { hashes: trashed } = await fetchJson<Schema["TrashResponse"]>("/api/trash", { body: { clips: hashes } });
      this.selection.drop(trashed);
      changes.value += 1;
      undoStack.push(`${countOf(trashed.length, "clip")} moved to the trash.`, () => void restore(trashed));
    });
  }

  /** Renames a clip; returns whether that worked. */
  async #setName(row: ClipRow, name: string): Promise<boolean> {
    const patch = (changed: ClipRow) => this.context.results.source?.patch([changed]);
    patch({ ...row, name }); // displayed before the server has confirmed it
    return runOrToast(
      async () => {
        patch(await fetchJson<ClipRow>(`/api/clips/${row.hash}`, { method: "PATCH", body: { name } }));
        await this.context.onRenamed(row.hash);
      },
      () => patch(row),
    );
  }

  async #applyTags(rows: readonly ClipRow[], { add, remove }: TagChange): Promise<void> {
    const clips = rows.map(({ hash }) => hash);
    await runOrToast(async () => {
      const response = await fetchJson<Schema["ClipList"]>("/api/clips/tags", { body: { clips, add, remove } });
      this.context.results.source?.patch(response.clips);
      changes.value += 1;
      // Undo restores the previous tags of each clip.
      const undo = () => void this.#undoTags(rows, { add, remove });
      undoStack.push(`Tags of ${countOf(clips.length, "clip")} changed.`, undo);
    });
  }

  async #undoTags(rows: readonly ClipRow[], { add, remove }: TagChange): Promise<void> {
    await runOrToast(async () => {
      for (const body of invertTagChange(rows, { add, remove })) {
        const response = await fetchJson<Schema["ClipList"]>("/api/clips/tags", { body });
        this.context.results.source?.patch(response.clips);
      }
      changes.value += 1;
    });
  }
}

async function runOrToast(run: () => Promise<void>, undo = () => {}): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    undo();
    toast(toSentence(errorMessage(error)));
    return false;
  }
}
