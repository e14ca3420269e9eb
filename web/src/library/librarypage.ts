/** Joins the parts of the library page: what the address says, what is shown of it, what hands do. */

import { askJson, type Schema } from "../api/client";
import { navigate } from "../router";
import type { Signal } from "../state/signal";
import { keepPlace, keptPlace, UrlState } from "../state/url";
import { register } from "../ui/commands";
import { fill, h } from "../ui/dom";
import { counted } from "../ui/format";
import { shell } from "../ui/shell";
import { theme } from "../ui/theme";
import { toast } from "../ui/toast";
import { Actions, changes } from "./actions";
import type { Card } from "./card";
import { openCardMenu } from "./cardmenu";
import { commandsOf } from "./commands";
import { exampleHead } from "./examplehead";
import { chipsRow, facetsPanel } from "./facets";
import { Grid } from "./grid";
import { type Doing, dressCard, onGridKey, playHovered } from "./gridkeys";
import { Preview } from "./preview";
import { removedLink } from "./removed/link";
import { Selection } from "./selection";
import { selectionBar } from "./selectionbar";
import { type Place, Showing } from "./showing";
import type { Item } from "./source";
import { searchBox, sortChoice } from "./toolbar";
import { dropping } from "./uploads/dropping";
import { added, showUploads, uploads } from "./uploads/everywhere";
import type { Picked } from "./uploads/picking";
import { clipAddress, exampleOf, NO_EXAMPLE, NO_FILTERS, VIEW } from "./view";

const PLACE_MS = 200; // between scrolling and remembering where to
const NARROW_PX = 900;

type Facts = Schema["LibraryFacts"];

export class LibraryPage {
  readonly state: UrlState<typeof VIEW>;
  readonly selection = new Selection();
  readonly preview = new Preview();
  readonly grid: Grid;
  readonly showing: Showing;
  readonly actions: Actions;
  readonly pick: { files(): void; folder(): void };
  readonly #search;
  readonly #ends: (() => void)[] = [];
  #facts: Promise<Facts> | null = null;
  #placing = 0;
  #arriving = placeOf({}); // where one was, until what is gone back to has come

  constructor(root: HTMLElement, url: URL) {
    const state = new UrlState(VIEW, url);
    this.state = state;
    const doing = this.#doing();
    this.grid = new Grid(
      this.selection,
      (card) => dressCard(card, this.selection, () => this.grid, this.preview, doing),
      () => playHovered(this.grid, this.preview),
    );
    this.grid.element.addEventListener("keydown", (event) => onGridKey(event, this.grid, this.selection, doing));
    const adding = dropping((picked) => this.take(picked));
    this.pick = { files: adding.pickFiles, folder: adding.pickFolder };
    this.showing = new Showing(state, this.grid, {
      pick: this.pick,
      shellName: async () => (await this.facts()).shell_name,
    });
    this.actions = new Actions(this.selection, this);
    this.#search = searchBox(state, () => this.grid.activate(this.grid.active));
    showUploads();
    this.#ends.push(adding.close, this.#lay(root, adding.element), register(commandsOf(this)), this.#keepUp());
    this.showing.ask(placeOf(keptPlace()));
  }

  /** Puts all parts where they belong. */
  #lay(root: HTMLElement, adding: HTMLElement): () => void {
    const { state, showing } = this;
    const [facets, chips, sort] = [facetsPanel(state), chipsRow(state), sortChoice(state)];
    let groups: readonly string[] = [];
    const example = exampleHead(state, () => groups);
    const choosing = selectionBar(this.selection, {
      tag: () => void this.tagChosen(),
      export: () => void this.actions.export(this.chosen()),
      remove: () => void this.actions.remove(this.chosen()),
      all: () => void this.chooseAll(),
    });
    const spring = () => h("span", { class: "spring" });
    fill(shell.slot, this.#search.element, spring(), adding);
    const bin = removedLink();
    const filters = h("aside", { class: "library-side", "aria-label": "Filters" }, facets.element, bin.element);
    const open = innerWidth > NARROW_PX;
    const folded = h("details", { class: "library-filters", open }, h("summary", { text: "Filters" }), filters);
    const ordering = h("div", {}, sort.element);
    const head = h("div", { class: "library-head" }, showing.counted, chips.element, spring(), ordering);
    const main = h("div", { class: "library-main" }, example.element, head, showing.body);
    fill(
      root,
      h("h1", { class: "unseen", text: "Library" }),
      h("div", { class: "library" }, folded, main),
      choosing.element,
    );
    this.facts().then(
      (facts) => {
        uploads.mostBytes = facts.limits.upload_bytes;
        groups = facts.groups;
        example.show();
      },
      () => {}, // the list says what is wrong
    );
    const hide = () => {
      const latest = showing.facets.value;
      const some = latest ? [...latest.tags, ...latest.durations, ...latest.parts] : [];
      folded.hidden = bin.count.value === 0 && some.every(({ count }) => count === 0);
    };
    const ends = [
      showing.facets.show((latest) => {
        facets.show(latest);
        hide();
      }),
      bin.count.show(hide),
      bin.close,
      showing.total.show((total) => {
        ordering.hidden = total < 2;
      }),
      state.values.show(() => {
        chips.show();
        example.show();
        this.#search.show();
      }),
      theme.watch(() => {
        this.grid.update();
        example.show();
      }),
      choosing.close,
      sort.close,
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  /** Follows what changes by itself: the address, uploads, how far it is scrolled. */
  #keepUp(): () => void {
    const scrolled = () => {
      if (this.#placing === 0) this.#placing = window.setTimeout(() => this.#keepPlace(), PLACE_MS);
    };
    addEventListener("scroll", scrolled, { passive: true });
    const ends = [
      this.state.values.watch(() => this.showing.ask(this.#arriving)),
      added.watch(() => this.changed()),
      changes.watch(() => this.changed()),
      () => removeEventListener("scroll", scrolled),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  facts(): Promise<Facts> {
    this.#facts ??= askJson<Facts>("/api/library").catch((error) => {
      this.#facts = null;
      throw error;
    });
    return this.#facts;
  }

  /** The library is no longer what it was. */
  changed(): void {
    this.#facts = null;
    this.showing.refreshSoon();
  }

  /** A clip has another name: by name it has another place. */
  async moved(hash: string): Promise<void> {
    if (this.state.value.sort === "name" && exampleOf(this.state.value) === null) await this.showing.reorder(hash);
  }

  get title(): Signal<string> {
    return this.showing.title;
  }

  follow(url: URL): void {
    clearTimeout(this.#placing);
    this.#placing = 0;
    this.#arriving = placeOf(keptPlace());
    this.state.follow(url);
    this.#arriving = placeOf({});
  }

  focusSearch(): void {
    this.#search.focus();
  }

  chosen(): string[] {
    return [...this.selection.chosen.value];
  }

  async #items(span?: { first: number; end: number }): Promise<Item[]> {
    const { source } = this.showing;
    return (await source?.all(span ?? { first: 0, end: source.total.value ?? 0 })) ?? [];
  }

  async chooseAll(): Promise<void> {
    this.selection.add((await this.#items()).map(({ row }) => row.hash));
  }

  async tagChosen(): Promise<void> {
    const rows = (await this.#items()).map(({ row }) => row);
    await this.actions.tag(rows.filter(({ hash }) => this.selection.has(hash)));
  }

  alike({ row }: Item): void {
    this.selection.clear();
    this.#keepPlace();
    this.state.set({ ...NO_EXAMPLE, ...NO_FILTERS, like: row.hash }, { push: true });
  }

  take({ takes, skipped }: Picked): void {
    if (takes.length > 0) uploads.add(takes);
    if (skipped > 0) toast(`${counted(skipped, "file")} left out: no motion that Keypose reads`);
    else if (takes.length === 0) toast("There was nothing to add in it");
  }

  close(): void {
    clearTimeout(this.#placing);
    for (const end of this.#ends) end();
    this.showing.close();
    this.grid.close();
    this.preview.close();
  }

  #doing(): Doing {
    return {
      open: (item) => this.open(item),
      alike: (item) => this.alike(item),
      menu: (card, at) => card.item && openCardMenu(this, card, card.item, at),
      rename: (card) => void this.rename(card),
      remove: () => void this.actions.remove(this.chosen()),
      reach: async (index) =>
        this.selection.add((await this.#items(this.selection.reach(index))).map(({ row }) => row.hash)),
    };
  }

  open({ row, hit }: Item): void {
    this.#keepPlace();
    navigate(clipAddress(row, hit));
  }

  async rename(card: Card): Promise<void> {
    const row = card.item?.row;
    const name = await card.rename();
    if (row && name) await this.actions.rename(row, name);
  }

  #keepPlace(): void {
    clearTimeout(this.#placing);
    this.#placing = 0;
    keepPlace({ ...this.showing.place });
  }
}

function placeOf({ scroll, hits }: Record<string, unknown>): Place {
  return { scroll: Number(scroll ?? 0), hits: Number(hits ?? 0) };
}
