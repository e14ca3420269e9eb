/** What is done with clips: renamed, tagged, taken away, removed and brought back. */

import { askJson, type Schema } from "../api/client";
import { Signal } from "../state/signal";
import { counted } from "../ui/format";
import { messageOf, sentence } from "../ui/states";
import { toast } from "../ui/toast";
import { openExporting } from "./exporting";
import type { Selection } from "./selection";
import type { Source } from "./source";
import { openTagging, type TagChange, undoingTags } from "./tagging";
import { Undoing } from "./undoing";
import type { ClipRow } from "./view";

type Facts = Schema["LibraryFacts"];

/** What knows the clips. */
interface Shelf {
  showing: { source: Source | null };
  facts(): Promise<Facts>;
  /** A clip may have another place in the list now. */
  moved(hash: string): Promise<void>;
}

/** Grows whenever clips were changed, whichever page did it. */
export const changes = new Signal(0);
export const undoing = new Undoing(toast);

/** Brings clips back, and says so; a problem too. */
export async function restore(hashes: readonly string[]): Promise<void> {
  await trying(async () => {
    const { clips } = await askJson<Schema["ClipRows"]>("/api/clips/restore", { told: { clips: hashes } });
    changes.value += 1;
    toast(`${counted(clips.length, "clip")} brought back`);
  });
}

export class Actions {
  constructor(
    readonly selection: Selection,
    readonly shelf: Shelf,
  ) {}

  async rename(row: ClipRow, name: string): Promise<void> {
    const renaming = this.#call(row, name);
    const undo = async () => (await renaming) && this.#call({ ...row, name }, row.name); // one after the other
    const forget = undoing.did(null, () => void undo());
    if (!(await renaming)) forget();
  }

  async tag(rows: readonly ClipRow[]): Promise<void> {
    await trying(async () => {
      const known = (await this.shelf.facts()).tags.map(({ tag }) => tag);
      openTagging(rows, known, (change) => void this.#applyTags(rows, change));
    });
  }

  async export(hashes: readonly string[]): Promise<void> {
    await trying(async () => {
      const { formats } = await this.shelf.facts();
      openExporting(hashes, formats, (name) => toast(`${name} was downloaded`));
    });
  }

  async remove(hashes: readonly string[]): Promise<void> {
    await trying(async () => {
      const { removed } = await askJson<Schema["Removed"]>("/api/clips/remove", { told: { clips: hashes } });
      this.selection.drop(removed);
      changes.value += 1;
      undoing.did(`${counted(removed.length, "clip")} removed`, () => void restore(removed));
    });
  }

  /** Gives a clip a name; false if that did not work. */
  async #call(row: ClipRow, name: string): Promise<boolean> {
    const patch = (now: ClipRow) => this.shelf.showing.source?.patch([now]);
    patch({ ...row, name }); // as if it were done: it nearly always is
    return trying(
      async () => {
        patch(await askJson<ClipRow>(`/api/clips/${row.hash}`, { method: "PATCH", told: { name } }));
        await this.shelf.moved(row.hash);
      },
      () => patch(row),
    );
  }

  async #applyTags(rows: readonly ClipRow[], { add, remove }: TagChange): Promise<void> {
    const clips = rows.map(({ hash }) => hash);
    await trying(async () => {
      const said = await askJson<Schema["ClipRows"]>("/api/clips/tag", { told: { clips, add, remove } });
      this.shelf.showing.source?.patch(said.clips);
      changes.value += 1;
      // What each clip had before is given back to it alone.
      const undo = () => void this.#undoTags(rows, { add, remove });
      undoing.did(`Tags of ${counted(clips.length, "clip")} changed`, undo);
    });
  }

  async #undoTags(rows: readonly ClipRow[], { add, remove }: TagChange): Promise<void> {
    await trying(async () => {
      for (const told of undoingTags(rows, { add, remove })) {
        const said = await askJson<Schema["ClipRows"]>("/api/clips/tag", { told });
        this.shelf.showing.source?.patch(said.clips);
      }
      changes.value += 1;
    });
  }
}

async function trying(run: () => Promise<void>, undo = () => {}): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    undo();
    toast(sentence(messageOf(error)));
    return false;
  }
}
