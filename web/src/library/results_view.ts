/** Shows the clips or hits for the current address, or why there are none. */

import { Signal } from "../state/signal";
import type { UrlState } from "../state/url";
import { fill, h } from "../ui/dom";
import { countOf } from "../ui/format";
import { errorState } from "../ui/states";
import { type ClipSource, type FacetCounts, PagedSource } from "./clip_source";
import { type EmptyLibraryOptions, emptyLibrary, noResults, placeholderGrid } from "./empty_state";
import type { Grid } from "./grid";
import { HitSource } from "./hits";
import { type MoreHits, moreHits } from "./more_hits";
import { isFiltered, NO_FILTERS, parseExample, type VIEW } from "./view";

const REFRESH_MS = 300; // many uploads refresh the list at most this often

/** The scroll position, and the number of loaded hits of a search. */
export interface ScrollPosition {
  scroll: number;
  hits: number;
}

const TOP: ScrollPosition = { scroll: 0, hits: 0 };

export class ResultsView {
  readonly title = new Signal("Library");
  readonly facets = new Signal<FacetCounts | null>(null);
  readonly body = h("div", { class: "library-body" });
  readonly countLabel = h("p", { class: "library-count", role: "status" });
  /** The number of clips that can be sorted. */
  readonly total = new Signal(0);
  source: ClipSource | null = null;
  #pending: ClipSource | null = null; // being loaded, not shown yet
  #scrollTo = 0;
  #more: MoreHits | null = null;
  #timer = 0;

  constructor(
    readonly state: UrlState<typeof VIEW>,
    readonly grid: Grid,
    readonly emptyOptions: EmptyLibraryOptions,
  ) {
    fill(this.body, placeholderGrid());
  }

  /** The current scroll position. */
  get position(): ScrollPosition {
    const hits = this.source instanceof HitSource ? (this.source.total.value ?? 0) : 0;
    return { scroll: Math.round(scrollY), hits };
  }

  /**
   * Loads the clips for the current address. The previous ones are displayed until they arrive; then the position is
   * restored.
   */
  load({ scroll, hits } = TOP): void {
    const view = this.state.value;
    const example = parseExample(view);
    this.#scrollTo = scroll;
    this.#pending?.close();
    const source = example ? new HitSource(view, example, hits) : new PagedSource(view);
    this.#pending = source;
    this.body.setAttribute("aria-busy", "true");
    const showWhenReady = () => {
      const isReady = source.total.value !== null || source.failure.value !== null;
      if (this.#pending === source && isReady) this.#show(source);
    };
    source.total.watch(showWhenReady);
    source.failure.watch(showWhenReady);
    source.load({ first: 0, end: 1 });
  }

  /** Reloads soon. */
  refreshSoon(): void {
    if (this.#timer !== 0) return;
    this.#timer = window.setTimeout(() => {
      this.#timer = 0;
      this.source?.refresh(this.grid.visibleItems());
    }, REFRESH_MS);
  }

  /** Reloads in the new order; the active card follows the clip while it is visible. */
  async reorder(hash: string): Promise<void> {
    const { source, grid } = this;
    const isActive = source?.at(grid.active)?.row.hash === hash;
    const visible = grid.visibleItems();
    source?.refresh(visible);
    const at = (await source?.loadAll(visible))?.findIndex(({ row }) => row.hash === hash) ?? -1;
    if (isActive && at >= 0) grid.activate(visible.first + at, grid.element.contains(document.activeElement));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#pending?.close();
    this.source?.close();
    this.#more?.close();
  }

  #show(source: ClipSource): void {
    this.source?.close();
    this.#more?.close();
    this.source = source;
    this.#more = source instanceof HitSource ? moreHits(source) : null;
    this.#pending = null;
    this.body.removeAttribute("aria-busy");
    source.total.watch(() => this.#fill());
    source.failure.watch(() => this.#fill());
    if (source instanceof HitSource) source.more.watch(() => this.#fill());
    source.facets.watchNow((facets) => {
      this.facets.value = facets;
    });
    this.#fill();
    this.grid.setSource(source, source instanceof HitSource);
    scrollTo(0, this.#scrollTo);
    this.#scrollTo = 0;
    this.grid.update();
  }

  #fill(): void {
    const source = this.source;
    if (!source) return;
    const isExample = source instanceof HitSource;
    this.title.value = isExample ? "Search" : "Library";
    if (source.failure.value !== null) {
      const retry = () => source.refresh(this.grid.visibleItems());
      const title = isExample ? "The search failed" : "The clips could not be loaded";
      fill(this.body, errorState({ title, error: source.failure.value, retry }));
      this.countLabel.textContent = "";
      this.total.value = 0;
      return;
    }
    const total = source.total.value ?? 0;
    this.total.value = total;
    const filtered = isFiltered(this.state.value);
    if (total > 0) this.#showGrid();
    else if (isExample || filtered) {
      fill(
        this.body,
        noResults(isExample, filtered, () => this.state.set({ ...NO_FILTERS }, { push: true })),
      );
    } else fill(this.body, emptyLibrary(this.emptyOptions));
    const label = isExample ? formatHitCount(source, total) : countOf(total, "clip");
    this.countLabel.textContent = total === 0 ? "" : label;
  }

  /** Shows the grid, and below hits the button for more. Existing elements stay, as one may have the focus. */
  #showGrid(): void {
    const elements = this.#more ? [this.grid.element, this.#more.element] : [this.grid.element];
    const { children } = this.body;
    if (elements.length !== children.length || elements.some((child, n) => child !== children[n]))
      fill(this.body, ...elements);
  }
}

/** "12 hits in 5 ms"; "The best 100 hits in 5 ms" where there are more. */
function formatHitCount({ more, elapsedMs }: HitSource, total: number): string {
  const text = `${countOf(total, "hit")} in ${Math.max(1, Math.round(elapsedMs))} ms`;
  return more.value === "none" ? text : `The best ${text}`;
}
