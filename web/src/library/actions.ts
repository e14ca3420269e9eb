/** What is done with clips: renamed, tagged, taken away, removed and brought back. */

import { askJson, type Schema } from "../api/client";
import { counted } from "../ui/format";
import { messageOf, sentence } from "../ui/states";
import { toast } from "../ui/toast";
import { openExporting } from "./exporting";
import type { Selection } from "./selection";
import type { Source } from "./source";
import { openTagging, type TagChange, undoingTags } from "./tagging";
import type { ClipRow } from "./view";

type Facts = Schema["LibraryFacts"];

/** What knows the clips. */
interface Shelf {
  showing: { source: Source | null };
  facts(): Promise<Facts>;
  /** The library is no longer what it was. */
  changed(): void;
}

export class Actions {
  constructor(
    readonly selection: Selection,
    readonly shelf: Shelf,
  ) {}

  async rename(row: ClipRow, name: string): Promise<void> {
    this.shelf.showing.source?.patch([{ ...row, name }]); // as if it were done: it nearly always is
    await this.#trying(
      async () => {
        const renamed = await askJson<ClipRow>(`/api/clips/${row.hash}`, { method: "PATCH", told: { name } });
        this.shelf.showing.source?.patch([renamed]);
      },
      () => this.shelf.showing.source?.patch([row]),
    );
  }

  async tag(rows: readonly ClipRow[]): Promise<void> {
    await this.#trying(async () => {
      const known = (await this.shelf.facts()).tags.map(({ tag }) => tag);
      openTagging(rows, known, (change) => void this.#applyTags(rows, change));
    });
  }

  async export(hashes: readonly string[]): Promise<void> {
    await this.#trying(async () => {
      const { formats } = await this.shelf.facts();
      openExporting(hashes, formats, (name) => toast(`${name} was downloaded`));
    });
  }

  async remove(hashes: readonly string[]): Promise<void> {
    await this.#trying(async () => {
      const { removed } = await askJson<Schema["Removed"]>("/api/clips/remove", { told: { clips: hashes } });
      this.selection.drop(removed);
      this.shelf.changed();
      toast(`${counted(removed.length, "clip")} removed`, { title: "Undo", run: () => void this.restore(removed) });
    });
  }

  async restore(hashes: readonly string[]): Promise<void> {
    await this.#trying(async () => {
      const { clips } = await askJson<Schema["ClipRows"]>("/api/clips/restore", { told: { clips: hashes } });
      this.shelf.changed();
      toast(`${counted(clips.length, "clip")} brought back`);
    });
  }

  async #applyTags(rows: readonly ClipRow[], { add, remove }: TagChange): Promise<void> {
    const clips = rows.map(({ hash }) => hash);
    await this.#trying(async () => {
      const said = await askJson<Schema["ClipRows"]>("/api/clips/tag", { told: { clips, add, remove } });
      this.shelf.showing.source?.patch(said.clips);
      this.shelf.changed();
      // What each clip had before is given back to it alone.
      const undo = () => void this.#undoTags(rows, { add, remove });
      toast(`Tags of ${counted(clips.length, "clip")} changed`, { title: "Undo", run: undo });
    });
  }

  async #undoTags(rows: readonly ClipRow[], { add, remove }: TagChange): Promise<void> {
    await this.#trying(async () => {
      for (const told of undoingTags(rows, { add, remove })) {
        const said = await askJson<Schema["ClipRows"]>("/api/clips/tag", { told });
        this.shelf.showing.source?.patch(said.clips);
      }
      this.shelf.changed();
    });
  }

  async #trying(run: () => Promise<void>, undo = () => {}): Promise<void> {
    try {
      await run();
    } catch (error) {
      undo();
      toast(sentence(messageOf(error)));
    }
  }
}
