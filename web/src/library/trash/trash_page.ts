/** The trash: clips that can still be restored. */

import { fetchJson, type Schema } from "../../api/client";
import { Signal } from "../../state/signal";
import { register } from "../../ui/commands";
import { fill, h } from "../../ui/dom";
import { countOf } from "../../ui/format";
import { icon } from "../../ui/icons";
import { emptyState, errorState, loadingState } from "../../ui/states";
import { theme } from "../../ui/theme";
import { changes, restore, undoStack } from "../actions";
import { Selection } from "../selection";
import { type TrashRowView, trashRow } from "./trash_row";

type TrashRow = Schema["TrashRow"];

const PAGE_SIZE = 100;

export class TrashPage {
  readonly title = new Signal("Trash");
  readonly selection = new Selection();
  readonly #list = h("ul", { class: "trash-list", "aria-label": "Clips in the trash" });
  readonly #body = h("div", {}, loadingState("Loading the trash…"));
  readonly #summary = h("p", { class: "trash-summary", role: "status" });
  readonly #restoreButton = h("button", {
    type: "button",
    class: "button primary",
    on: { click: () => void this.restoreSelected() },
  });
  readonly #cleanups: (() => void)[];
  #clips: TrashRow[] = [];
  #rows: TrashRowView[] = [];
  #retentionDays = 30;
  #total = 0;
  #requestId = 0;

  constructor(root: HTMLElement) {
    const back = h("a", { class: "button quiet", href: "/" }, icon("back"), "Library");
    const titleBlock = h("div", { class: "trash-title" }, h("h1", { text: "Trash" }), this.#summary);
    const header = h("div", { class: "trash-head" }, titleBlock, this.#restoreButton);
    fill(root, h("div", { class: "trash" }, back, header, this.#body));
    this.#cleanups = [
      register(this.#commands()),
      this.selection.hashes.watch(() => this.#updateSelection()),
      changes.watch(() => void this.#load(Math.max(PAGE_SIZE, this.#clips.length))),
      theme.watch(() => this.#show()),
    ];
    void this.#load(PAGE_SIZE);
  }

  onUrlChange(): void {}

  close(): void {
    for (const cleanup of this.#cleanups) cleanup();
  }

  /** Restores the selected clips; all, if none is selected. */
  async restoreSelected(): Promise<void> {
    const selected = this.#clips.filter(({ hash }) => this.selection.has(hash));
    const clips = selected.length > 0 ? selected : this.#clips;
    if (clips.length > 0) await restore(clips.map(({ hash }) => hash));
  }

  #commands() {
    const group = "Trash";
    const hasSelection = () => this.selection.size > 0;
    return [
      {
        title: "Select all clips",
        keys: "Mod+A",
        group,
        run: () => this.selection.add(this.#clips.map((c) => c.hash)),
      },
      { title: "Clear the selection", keys: "Escape", group, enabled: hasSelection, run: () => this.selection.clear() },
      {
        title: "Restore selected clips",
        keys: "R",
        group,
        enabled: hasSelection,
        run: () => void this.restoreSelected(),
      },
      { title: "Undo", keys: "Mod+Z", group, enabled: () => !undoStack.isEmpty, run: () => undoStack.undo() },
    ];
  }

  /** Loads the first `maxClips` clips. */
  async #load(maxClips: number): Promise<void> {
    const requestId = ++this.#requestId;
    const clips: TrashRow[] = [];
    try {
      do {
        const path = `/api/trash?skip=${clips.length}&limit=${PAGE_SIZE}`;
        const response = await fetchJson<Schema["TrashPage"]>(path);
        if (requestId !== this.#requestId) return;
        clips.push(...response.clips);
        this.#total = response.total;
        this.#retentionDays = response.retention_days;
        if (response.clips.length === 0) break;
      } while (clips.length < Math.min(maxClips, this.#total));
      this.#clips = clips;
      const currentHashes = new Set(clips.map(({ hash }) => hash));
      this.selection.drop([...this.selection.hashes.value].filter((hash) => !currentHashes.has(hash)));
      this.#show();
    } catch (error) {
      if (requestId !== this.#requestId) return;
      const retry = () => void this.#load(maxClips);
      fill(this.#body, errorState({ title: "The trash could not be loaded", error, retry }));
    }
  }

  #show(): void {
    if (this.#clips.length === 0) {
      const actions = [h("a", { class: "button primary", href: "/", text: "Go to the library" })];
      const text = `Clips that you move to the trash stay here for ${countOf(this.#retentionDays, "day")}.`;
      fill(this.#body, emptyState({ icon: "trash", title: "The trash is empty", text, actions }));
    } else {
      this.#rows = this.#clips.map((clip, index) =>
        trashRow(clip, this.#retentionDays, {
          select: (reach) => (reach ? this.#selectTo(index) : this.selection.toggle(clip.hash, index)),
          restore: () => void restore([clip.hash]),
        }),
      );
      fill(this.#list, ...this.#rows.map(({ element }) => element));
      const remaining = this.#total - this.#clips.length;
      const click = () => void this.#load(this.#clips.length + PAGE_SIZE);
      const more = h("button", { type: "button", class: "button", on: { click }, text: `Show more (${remaining})` });
      fill(this.#body, this.#list, remaining > 0 && more);
    }
    this.#updateSelection();
  }

  #selectTo(index: number): void {
    const { first, end } = this.selection.rangeTo(index);
    this.selection.add(this.#clips.slice(first, end).map(({ hash }) => hash));
  }

  #updateSelection(): void {
    for (const row of this.#rows) row.setSelected(this.selection.has(row.hash));
    const count = this.selection.size;
    const all = this.#clips.length < this.#total ? `these ${this.#clips.length}` : "all";
    fill(this.#restoreButton, icon("undo"), `Restore ${count > 0 ? countOf(count, "clip") : all}`);
    this.#restoreButton.hidden = this.#clips.length === 0;
    const retentionText = `Clips stay here for ${countOf(this.#retentionDays, "day")} and are then deleted permanently.`;
    this.#summary.textContent = this.#clips.length === 0 ? "" : `${countOf(this.#total, "clip")}. ${retentionText}`;
  }
}
