/** Keeps what is shown in step with what the address says: asks, waits, shows, and says why there is nothing. */

import { Signal } from "../state/signal";
import type { UrlState } from "../state/url";
import { fill, h } from "../ui/dom";
import { counted } from "../ui/format";
import { errorState } from "../ui/states";
import { type Beginning, emptyLibrary, nothingFound, skeletonGrid } from "./emptiness";
import type { Grid } from "./grid";
import { HitSource } from "./hits";
import { type MoreHits, moreHits } from "./morehits";
import { type Counted, PagedSource, type Source } from "./source";
import { exampleOf, isFiltered, NO_FILTERS, type VIEW } from "./view";

const REFRESH_MS = 300; // a folder of uploads refreshes the list now and then, not for every file

/** Where one was on this page: how far it was scrolled, and past how many hits of a search. */
export interface Place {
  scroll: number;
  hits: number;
}

const TOP: Place = { scroll: 0, hits: 0 };

export class Showing {
  readonly title = new Signal("Library");
  readonly facets = new Signal<Counted | null>(null);
  readonly body = h("div", { class: "library-body" });
  readonly counted = h("p", { class: "library-count", role: "status" });
  /** How many clips there are to put in order. */
  readonly total = new Signal(0);
  source: Source | null = null;
  #waiting: Source | null = null; // asked, not shown yet
  #scrollTo = 0;
  #more: MoreHits | null = null;
  #timer = 0;

  constructor(
    readonly state: UrlState<typeof VIEW>,
    readonly grid: Grid,
    readonly beginning: Beginning,
  ) {
    fill(this.body, skeletonGrid());
  }

  /** Where one is now. */
  get place(): Place {
    const hits = this.source instanceof HitSource ? (this.source.total.value ?? 0) : 0;
    return { scroll: Math.round(scrollY), hits };
  }

  /** Asks for what the address says; what is shown stays until the answer has come, then it is scrolled to that place. */
  ask({ scroll, hits } = TOP): void {
    const view = this.state.value;
    const example = exampleOf(view);
    this.#scrollTo = scroll;
    this.#waiting?.close();
    const source = example ? new HitSource(view, example, hits) : new PagedSource(view);
    this.#waiting = source;
    this.body.setAttribute("aria-busy", "true");
    const settle = () => {
      const hasCome = source.total.value !== null || source.failure.value !== null;
      if (this.#waiting === source && hasCome) this.#show(source);
    };
    source.total.watch(settle);
    source.failure.watch(settle);
    source.want({ first: 0, end: 1 });
  }

  /** Asks again for what is shown, soon. */
  refreshSoon(): void {
    if (this.#timer !== 0) return;
    this.#timer = window.setTimeout(() => {
      this.#timer = 0;
      this.source?.refresh(this.grid.seen());
    }, REFRESH_MS);
  }

  /** Puts the list in order again; the grid's place goes along with a clip, as far as it is seen. */
  async reorder(hash: string): Promise<void> {
    const { source, grid } = this;
    const isActive = source?.at(grid.active)?.row.hash === hash;
    const seen = grid.seen();
    source?.refresh(seen);
    const at = (await source?.all(seen))?.findIndex(({ row }) => row.hash === hash) ?? -1;
    if (isActive && at >= 0) grid.activate(seen.first + at, grid.element.contains(document.activeElement));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting?.close();
    this.source?.close();
    this.#more?.close();
  }

  #show(source: Source): void {
    this.source?.close();
    this.#more?.close();
    this.source = source;
    this.#more = source instanceof HitSource ? moreHits(source) : null;
    this.#waiting = null;
    this.body.removeAttribute("aria-busy");
    source.total.watch(() => this.#fill());
    source.failure.watch(() => this.#fill());
    if (source instanceof HitSource) source.more.watch(() => this.#fill());
    source.facets.show((facets) => {
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
      const retry = () => source.refresh(this.grid.seen());
      const title = isExample ? "The search found no answer" : "The clips could not be listed";
      fill(this.body, errorState({ title, error: source.failure.value, retry }));
      this.counted.textContent = "";
      this.total.value = 0;
      return;
    }
    const total = source.total.value ?? 0;
    this.total.value = total;
    const filtered = isFiltered(this.state.value);
    if (total > 0) this.#lay();
    else if (isExample || filtered) {
      fill(
        this.body,
        nothingFound(isExample, filtered, () => this.state.set({ ...NO_FILTERS }, { push: true })),
      );
    } else fill(this.body, emptyLibrary(this.beginning));
    const said = isExample ? hitsSaid(source, total) : counted(total, "clip");
    this.counted.textContent = total === 0 ? "" : said;
  }

  /** The grid, and below hits the way to more; what is there already stays, for the focus may be in it. */
  #lay(): void {
    const parts = this.#more ? [this.grid.element, this.#more.element] : [this.grid.element];
    const { children } = this.body;
    if (parts.length !== children.length || parts.some((part, n) => part !== children[n])) fill(this.body, ...parts);
  }
}

/** "12 hits in 5 ms"; "The best 100 hits in 5 ms" where there are more. */
function hitsSaid({ more, tookMs }: HitSource, total: number): string {
  const found = `${counted(total, "hit")} in ${Math.max(1, Math.round(tookMs))} ms`;
  return more.value === "none" ? found : `The best ${found}`;
}
