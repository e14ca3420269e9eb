/** The library page: connects the address, the results and user input. */

import { fetchJson, type Schema } from "../api/client";
import { navigate } from "../router";
import type { Signal } from "../state/signal";
import { savedPosition, savePosition, UrlState } from "../state/url";
import { register } from "../ui/commands";
import { fill, h } from "../ui/dom";
import { countOf } from "../ui/format";
import { shell } from "../ui/shell";
import { theme } from "../ui/theme";
import { toast } from "../ui/toast";
import { Actions, changes } from "./actions";
import type { Card } from "./card";
import { openCardMenu } from "./card_menu";
import type { Item } from "./clip_source";
import { buildCommands } from "./commands";
import { exampleHeader } from "./example_header";
import { chipsRow, facetsPanel } from "./facets";
import { Grid } from "./grid";
import { type GridActions, handleGridKey, previewHovered, setUpCard, updatePreview } from "./grid_input";
import { Preview } from "./preview";
import { ResultsView, type ScrollPosition } from "./results_view";
import { Selection } from "./selection";
import { selectionBar } from "./selection_bar";
import { searchBox, sortChoice } from "./toolbar";
import { trashLink } from "./trash/trash_link";
import { addClipsControl } from "./uploads/add_clips";
import type { CollectedFiles } from "./uploads/collect_files";
import { clipsAdded, showUploads, uploads } from "./uploads/shared_queue";
import { clipUrl, NO_EXAMPLE, NO_FILTERS, parseExample, VIEW } from "./view";

const SAVE_POSITION_MS = 200; // delay before the scroll position is saved
const NARROW_PX = 900;

type LibraryInfo = Schema["LibraryInfo"];

export class LibraryPage {
  readonly state: UrlState<typeof VIEW>;
  readonly selection = new Selection();
  readonly preview = new Preview();
  readonly grid: Grid;
  readonly results: ResultsView;
  readonly actions: Actions;
  readonly pick: { files(): void; folder(): void };
  readonly #search;
  readonly #cleanups: (() => void)[] = [];
  #libraryInfo: Promise<LibraryInfo> | null = null;
  #positionTimer = 0;
  #restorePosition = parsePosition({}); // position to restore after going back or forward

  constructor(root: HTMLElement, url: URL) {
    const state = new UrlState(VIEW, url);
    this.state = state;
    const gridActions = this.#gridActions();
    this.grid = new Grid(
      this.selection,
      (card) => setUpCard(card, this.selection, () => this.grid, this.preview, gridActions),
      {
        onSettled: () => previewHovered(this.grid, this.preview),
        onDraw: () => updatePreview(this.grid, this.preview),
      },
    );
    this.grid.element.addEventListener("keydown", (event) =>
      handleGridKey(event, this.grid, this.selection, gridActions),
    );
    const addClips = addClipsControl((collected) => this.addFiles(collected));
    this.pick = { files: addClips.pickFiles, folder: addClips.pickFolder };
    this.results = new ResultsView(state, this.grid, {
      pick: this.pick,
      libraryInfo: () => this.libraryInfo(),
    });
    this.actions = new Actions(this.selection, this);
    this.#search = searchBox(state, () => this.grid.activate(this.grid.active));
    showUploads();
    this.#cleanups.push(
      addClips.close,
      this.#render(root, addClips.element),
      register(buildCommands(this)),
      this.#watchChanges(),
    );
    this.results.load(parsePosition(savedPosition()));
  }

  /** Builds the page. */
  #render(root: HTMLElement, addButton: HTMLElement): () => void {
    const { state, results } = this;
    const [facets, chips, sort] = [facetsPanel(state), chipsRow(state), sortChoice(state)];
    let groups: readonly string[] = [];
    const example = exampleHeader(state, () => groups);
    const bar = selectionBar(this.selection, {
      tag: () => void this.tagSelected(),
      export: () => void this.actions.export(this.selectedHashes()),
      trash: () => void this.actions.trash(this.selectedHashes()),
      all: () => void this.selectAll(),
    });
    const spacer = () => h("span", { class: "spacer" });
    fill(shell.slot, this.#search.element, spacer(), addButton);
    const trash = trashLink();
    const filters = h("aside", { class: "library-side", "aria-label": "Filters" }, facets.element, trash.element);
    const open = innerWidth > NARROW_PX;
    const filterPanel = h("details", { class: "library-filters", open }, h("summary", { text: "Filters" }), filters);
    const sortBox = h("div", {}, sort.element);
    const header = h("div", { class: "library-head" }, results.countLabel, chips.element, spacer(), sortBox);
    const main = h("div", { class: "library-main" }, example.element, header, results.body);
    fill(
      root,
      h("h1", { class: "visually-hidden", text: "Library" }),
      h("div", { class: "library" }, filterPanel, main),
      bar.element,
    );
    this.libraryInfo().then(
      (info) => {
        uploads.maxBytes = info.limits.max_upload_bytes;
        groups = info.joint_groups;
        example.show();
      },
      () => {}, // the list shows the error
    );
    const updateFilterPanel = () => {
      const current = results.facets.value;
      const counts = current ? [...current.tags, ...current.durations, ...current.body_parts, ...current.actions] : [];
      filterPanel.hidden = trash.count.value === 0 && counts.every(({ count }) => count === 0);
    };
    const cleanups = [
      results.facets.watchNow((current) => {
        facets.show(current);
        updateFilterPanel();
      }),
      trash.count.watchNow(updateFilterPanel),
      trash.close,
      results.total.watchNow((total) => {
        sortBox.hidden = total < 2;
      }),
      state.values.watchNow(() => {
        chips.show();
        example.show();
        this.#search.show();
      }),
      theme.watch(() => {
        this.grid.update();
        example.show();
      }),
      bar.close,
      sort.close,
    ];
    return () => {
      for (const cleanup of cleanups) cleanup();
    };
  }

  /** Watches the address, uploads and scrolling. */
  #watchChanges(): () => void {
    const onScroll = () => {
      if (this.#positionTimer === 0)
        this.#positionTimer = window.setTimeout(() => this.#savePosition(), SAVE_POSITION_MS);
    };
    addEventListener("scroll", onScroll, { passive: true });
    const cleanups = [
      this.state.values.watch(() => this.results.load(this.#restorePosition)),
      clipsAdded.watch(() => this.onLibraryChange()),
      changes.watch(() => this.onLibraryChange()),
      () => removeEventListener("scroll", onScroll),
    ];
    return () => {
      for (const cleanup of cleanups) cleanup();
    };
  }

  libraryInfo(): Promise<LibraryInfo> {
    this.#libraryInfo ??= fetchJson<LibraryInfo>("/api/library").catch((error) => {
      this.#libraryInfo = null;
      throw error;
    });
    return this.#libraryInfo;
  }

  /** Reloads after the library has changed. */
  onLibraryChange(): void {
    this.#libraryInfo = null;
    this.results.refreshSoon();
  }

  /** Restores the order by name after a clip was renamed. */
  async onRenamed(hash: string): Promise<void> {
    if (this.state.value.sort === "name" && parseExample(this.state.value) === null) await this.results.reorder(hash);
  }

  get title(): Signal<string> {
    return this.results.title;
  }

  onUrlChange(url: URL): void {
    clearTimeout(this.#positionTimer);
    this.#positionTimer = 0;
    this.#restorePosition = parsePosition(savedPosition());
    this.state.onUrlChange(url);
    this.#restorePosition = parsePosition({});
  }

  focusSearch(): void {
    this.#search.focus();
  }

  selectedHashes(): string[] {
    return [...this.selection.hashes.value];
  }

  async #items(span?: { first: number; end: number }): Promise<Item[]> {
    const { source } = this.results;
    return (await source?.loadAll(span ?? { first: 0, end: source.total.value ?? 0 })) ?? [];
  }

  async selectAll(): Promise<void> {
    this.selection.add((await this.#items()).map(({ row }) => row.hash));
  }

  async tagSelected(): Promise<void> {
    const rows = (await this.#items()).map(({ row }) => row);
    await this.actions.tag(rows.filter(({ hash }) => this.selection.has(hash)));
  }

  searchSimilar({ row }: Item): void {
    this.selection.clear();
    this.#savePosition();
    this.state.set({ ...NO_EXAMPLE, ...NO_FILTERS, clip: row.hash }, { push: true });
  }

  addFiles({ groups, skipped }: CollectedFiles): void {
    if (groups.length > 0) uploads.add(groups);
    if (skipped > 0) toast(`${countOf(skipped, "file")} skipped: Keypose cannot read files of this type.`);
    else if (groups.length === 0) toast("No motion capture files were found.");
  }

  close(): void {
    clearTimeout(this.#positionTimer);
    for (const cleanup of this.#cleanups) cleanup();
    this.results.close();
    this.grid.close();
    this.preview.close();
  }

  #gridActions(): GridActions {
    return {
      open: (item) => this.open(item),
      searchSimilar: (item) => this.searchSimilar(item),
      openMenu: (card, at) => card.item && openCardMenu(this, card, card.item, at),
      rename: (card) => void this.rename(card),
      trash: () => void this.actions.trash(this.selectedHashes()),
      selectTo: async (index) =>
        this.selection.add((await this.#items(this.selection.rangeTo(index))).map(({ row }) => row.hash)),
    };
  }

  open({ row, hit }: Item): void {
    this.#savePosition();
    navigate(clipUrl(row, hit));
  }

  async rename(card: Card): Promise<void> {
    const row = card.item?.row;
    const name = await card.rename();
    if (row && name) await this.actions.rename(row, name);
  }

  #savePosition(): void {
    clearTimeout(this.#positionTimer);
    this.#positionTimer = 0;
    savePosition({ ...this.results.position });
  }
}

function parsePosition({ scroll, hits }: Record<string, unknown>): ScrollPosition {
  return { scroll: Number(scroll ?? 0), hits: Number(hits ?? 0) };
}
