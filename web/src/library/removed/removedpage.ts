/** Clips that were removed: looked at once more, and brought back. */

import { askJson, type Schema } from "../../api/client";
import { Signal } from "../../state/signal";
import { register } from "../../ui/commands";
import { fill, h } from "../../ui/dom";
import { counted } from "../../ui/format";
import { icon } from "../../ui/icons";
import { emptyState, errorState, loadingState } from "../../ui/states";
import { theme } from "../../ui/theme";
import { changes, restore, undoing } from "../actions";
import { Selection } from "../selection";
import { type RemovedRow, removedRow } from "./row";

type Clip = Schema["RemovedRow"];

const PAGE = 100;

export class RemovedPage {
  readonly title = new Signal("Removed clips");
  readonly selection = new Selection();
  readonly #list = h("ul", { class: "removed-list", "aria-label": "Removed clips" });
  readonly #body = h("div", {}, loadingState("Looking for removed clips…"));
  readonly #says = h("p", { class: "removed-says", role: "status" });
  readonly #all = h("button", { type: "button", class: "button primary", on: { click: () => void this.bringBack() } });
  readonly #ends: (() => void)[];
  #clips: Clip[] = [];
  #rows: RemovedRow[] = [];
  #days = 30;
  #total = 0;
  #asked = 0;

  constructor(root: HTMLElement) {
    const back = h("a", { class: "button quiet", href: "/" }, icon("back"), "Library");
    const words = h("div", { class: "removed-words" }, h("h1", { text: "Removed clips" }), this.#says);
    const head = h("div", { class: "removed-head" }, words, this.#all);
    fill(root, h("div", { class: "removed" }, back, head, this.#body));
    this.#ends = [
      register(this.#commands()),
      this.selection.chosen.watch(() => this.#mark()),
      changes.watch(() => void this.#ask(Math.max(PAGE, this.#clips.length))),
      theme.watch(() => this.#show()),
    ];
    void this.#ask(PAGE);
  }

  follow(): void {}

  close(): void {
    for (const end of this.#ends) end();
  }

  /** The chosen clips; if none is chosen, all. */
  async bringBack(): Promise<void> {
    const chosen = this.#clips.filter(({ hash }) => this.selection.has(hash));
    const clips = chosen.length > 0 ? chosen : this.#clips;
    if (clips.length > 0) await restore(clips.map(({ hash }) => hash));
  }

  #commands() {
    const group = "Removed clips";
    const some = () => this.selection.size > 0;
    return [
      {
        title: "Choose all clips",
        keys: "Mod+A",
        group,
        run: () => this.selection.add(this.#clips.map((c) => c.hash)),
      },
      { title: "Choose none", keys: "Escape", group, enabled: some, run: () => this.selection.clear() },
      { title: "Bring the chosen clips back", keys: "B", group, enabled: some, run: () => void this.bringBack() },
      { title: "Undo", keys: "Mod+Z", group, enabled: () => !undoing.isEmpty, run: () => undoing.undo() },
    ];
  }

  /** Asks for the first `most` of them. */
  async #ask(most: number): Promise<void> {
    const mine = ++this.#asked;
    const clips: Clip[] = [];
    try {
      do {
        const path = `/api/removed?skip=${clips.length}&limit=${PAGE}`;
        const said = await askJson<Schema["RemovedClips"]>(path);
        if (mine !== this.#asked) return;
        clips.push(...said.clips);
        this.#total = said.total;
        this.#days = said.days;
        if (said.clips.length === 0) break;
      } while (clips.length < Math.min(most, this.#total));
      this.#clips = clips;
      const there = new Set(clips.map(({ hash }) => hash));
      this.selection.drop([...this.selection.chosen.value].filter((hash) => !there.has(hash)));
      this.#show();
    } catch (error) {
      if (mine !== this.#asked) return;
      const retry = () => void this.#ask(most);
      fill(this.#body, errorState({ title: "The removed clips could not be listed", error, retry }));
    }
  }

  #show(): void {
    if (this.#clips.length === 0) {
      const actions = [h("a", { class: "button primary", href: "/", text: "Go to the library" })];
      const text = `What is removed stays here for ${counted(this.#days, "day")}.`;
      fill(this.#body, emptyState({ icon: "trash", title: "Nothing is removed", text, actions }));
    } else {
      this.#rows = this.#clips.map((clip, index) =>
        removedRow(clip, this.#days, {
          choose: (reach) => (reach ? this.#reach(index) : this.selection.toggle(clip.hash, index)),
          bringBack: () => void restore([clip.hash]),
        }),
      );
      fill(this.#list, ...this.#rows.map(({ element }) => element));
      const rest = this.#total - this.#clips.length;
      const click = () => void this.#ask(this.#clips.length + PAGE);
      const more = h("button", { type: "button", class: "button", on: { click }, text: `Show more of ${rest}` });
      fill(this.#body, this.#list, rest > 0 && more);
    }
    this.#mark();
  }

  #reach(index: number): void {
    const { first, end } = this.selection.reach(index);
    this.selection.add(this.#clips.slice(first, end).map(({ hash }) => hash));
  }

  #mark(): void {
    for (const row of this.#rows) row.mark(this.selection.has(row.hash));
    const chosen = this.selection.size;
    const all = this.#clips.length < this.#total ? `these ${this.#clips.length}` : "all";
    fill(this.#all, icon("undo"), `Bring back ${chosen > 0 ? counted(chosen, "clip") : all}`);
    this.#all.hidden = this.#clips.length === 0;
    const stay = `A clip stays here for ${counted(this.#days, "day")}, then it is gone for good.`;
    this.#says.textContent = this.#clips.length === 0 ? "" : `${counted(this.#total, "clip")}. ${stay}`;
  }
}
