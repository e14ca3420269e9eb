/** Sources of the grid's clips: pages of the whole list, or the hits of a search. */

import { fetchJson, type Schema } from "../api/client";
import { Signal } from "../state/signal";
import { pagesForSpan, type Span } from "./grid_layout";
import { type ClipRow, clipsUrl, type Facets, type HitRow, type View } from "./view";

export interface Item {
  row: ClipRow;
  hit?: HitRow;
}

/** Facets to filter by, with counts. */
export type FacetCounts = Facets & {
  /** Only some of the clips have been counted. */
  isPartial?: boolean;
};

export interface ClipSource {
  /** The number of items; null until it is known. */
  readonly total: Signal<number | null>;
  readonly facets: Signal<FacetCounts | null>;
  /** The error that prevented loading; null if there is none. */
  readonly failure: Signal<unknown>;
  /** Incremented when items have been loaded or changed. */
  readonly version: Signal<number>;
  at(index: number): Item | undefined;
  /** Loads missing items of the span. */
  load(span: Span): void;
  /** Resolves with all items of the span. */
  loadAll(span: Span): Promise<Item[]>;
  /** Loads again; existing items are displayed until the response arrives. */
  refresh(span: Span): void;
  /** Replaces changed rows. */
  patch(rows: readonly ClipRow[]): void;
  close(): void;
}

const PAGE_SIZE = 100;

export abstract class ClipSourceBase {
  readonly total = new Signal<number | null>(null);
  readonly facets = new Signal<FacetCounts | null>(null);
  readonly failure = new Signal<unknown>(null);
  readonly version = new Signal(0);
  protected readonly abort = new AbortController();

  close(): void {
    this.abort.abort();
  }

  protected fail(error: unknown): void {
    if (!this.abort.signal.aborted) this.failure.value = error;
  }
}

/** The list of clips, loaded page by page. */
export class PagedSource extends ClipSourceBase implements ClipSource {
  #items: (Item | undefined)[] = [];
  #pages = new Map<number, Promise<void>>();
  #generation = 0; // responses to requests before a refresh are ignored

  constructor(readonly view: View) {
    super();
  }

  at(index: number): Item | undefined {
    return this.#items[index];
  }

  load(span: Span): void {
    if (this.failure.value !== null) return;
    for (const page of pagesForSpan(span, PAGE_SIZE)) void this.#loadPage(page).catch((error) => this.fail(error));
  }

  async loadAll({ first, end }: Span): Promise<Item[]> {
    for (const page of pagesForSpan({ first, end }, PAGE_SIZE)) await this.#loadPage(page);
    return this.#items.slice(first, end).filter((item) => item !== undefined);
  }

  refresh(span: Span): void {
    this.#generation += 1;
    this.#pages.clear();
    this.failure.value = null;
    this.load(span.end > span.first ? span : { first: 0, end: 1 });
  }

  patch(rows: readonly ClipRow[]): void {
    const changed = new Map(rows.map((row) => [row.hash, row]));
    this.#items = this.#items.map((item) =>
      item && changed.has(item.row.hash) ? { row: changed.get(item.row.hash)! } : item,
    );
    this.version.value += 1;
  }

  #loadPage(page: number): Promise<void> {
    const promise = this.#pages.get(page) ?? this.#fetchPage(page);
    this.#pages.set(page, promise);
    return promise;
  }

  async #fetchPage(page: number): Promise<void> {
    const generation = this.#generation;
    try {
      const path = clipsUrl(this.view, page * PAGE_SIZE, PAGE_SIZE);
      const response = await fetchJson<Schema["ClipPage"]>(path, { signal: this.abort.signal });
      if (generation !== this.#generation) return;
      response.clips.forEach((row, index) => {
        this.#items[page * PAGE_SIZE + index] = { row };
      });
      this.#items.length = Math.min(this.#items.length, response.total);
      this.facets.value = response.facets;
      this.total.value = response.total;
      this.version.value += 1;
    } catch (error) {
      if (generation === this.#generation) this.#pages.delete(page);
      throw error;
    }
  }
}
