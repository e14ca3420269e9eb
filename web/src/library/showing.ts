/** Keeps what is shown in step with what the address says: asks, waits, shows, and says why there is nothing. */

import { Signal } from "../state/signal";
import type { UrlState } from "../state/url";
import { fill, h } from "../ui/dom";
import { counted } from "../ui/format";
import { errorState } from "../ui/states";
import { type Beginning, emptyLibrary, nothingFound, skeletonGrid } from "./emptiness";
import type { Grid } from "./grid";
import { HitSource, PagedSource, type Source } from "./source";
import { exampleOf, type Facets, isFiltered, NO_FILTERS, type VIEW } from "./view";

const REFRESH_MS = 300; // a folder of uploads refreshes the list now and then, not for every file

export class Showing {
  readonly title = new Signal("Library");
  readonly facets = new Signal<Facets | null>(null);
  readonly body = h("div", { class: "library-body" });
  readonly counted = h("p", { class: "library-count", role: "status" });
  /** How many clips there are to put in order. */
  readonly total = new Signal(0);
  source: Source | null = null;
  #waiting: Source | null = null; // asked, not shown yet
  #scrollTo: number | null = null;
  #timer = 0;

  constructor(
    readonly state: UrlState<typeof VIEW>,
    readonly grid: Grid,
    readonly beginning: Beginning,
  ) {
    fill(this.body, skeletonGrid());
  }

  /** Asks for what the address says; what is shown stays until the answer has come, then it is scrolled to `scroll`. */
  ask(scroll = 0): void {
    const view = this.state.value;
    const example = exampleOf(view);
    this.#scrollTo = scroll;
    this.#waiting?.close();
    const source = example ? new HitSource(view, example) : new PagedSource(view);
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
  }

  #show(source: Source): void {
    this.source?.close();
    this.source = source;
    this.#waiting = null;
    this.body.removeAttribute("aria-busy");
    source.total.watch(() => this.#fill());
    source.failure.watch(() => this.#fill());
    source.facets.show((facets) => {
      this.facets.value = facets;
    });
    this.#fill();
    this.grid.setSource(source, source instanceof HitSource);
    scrollTo(0, this.#scrollTo ?? 0);
    this.#scrollTo = null;
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
    if (total > 0) {
      if (!this.grid.element.isConnected) fill(this.body, this.grid.element);
    } else if (isExample || filtered) {
      fill(
        this.body,
        nothingFound(isExample, filtered, () => this.state.set({ ...NO_FILTERS }, { push: true })),
      );
    } else fill(this.body, emptyLibrary(this.beginning));
    const took = isExample ? ` in ${Math.max(1, Math.round(source.tookMs))} ms` : "";
    this.counted.textContent = total === 0 ? "" : `${counted(total, isExample ? "hit" : "clip")}${took}`;
  }
}
