/** The hits of a search by example, best first; more are loaded near the end of the list. */

import { fetchJson, type Schema } from "../api/client";
import { Signal } from "../state/signal";
import { type ClipSource, ClipSourceBase, type Item } from "./clip_source";
import type { Span } from "./grid_layout";
import { buildSearchRequest, type ClipRow, type Example, type Facets, type HitRow, type View } from "./view";

const PAGE_SIZE = 100;
const MAX_HITS = 1000; // the server skips at most 900
const PREFETCH_HITS = 30; // the next page is loaded this many hits before the end
const MIN_DURATIONS_S = [0, 2, 5, 10, 30, 60]; // the bins that the server uses for the list of clips

/** Whether there are more hits: none, some, being loaded, more than can be loaded, or failed. */
export type MoreStatus = "none" | "some" | "busy" | "too many" | { error: unknown };

export class HitSource extends ClipSourceBase implements ClipSource {
  readonly more = new Signal<MoreStatus>("none");
  elapsedMs = 0;
  #items: Item[] = [];
  #received = 0; // including duplicates and hits with score 0
  #firstPage: Promise<void> | null = null;
  #generation = 0; // responses to requests before a refresh are ignored

  /** `minHits`: load at least this many hits at first, if there are as many. */
  constructor(
    readonly view: View,
    readonly example: Example,
    readonly minHits = 1,
  ) {
    super();
  }

  at(index: number): Item | undefined {
    return this.#items[index];
  }

  load({ end }: Span): void {
    if (this.failure.value !== null) return;
    if (this.#firstPage === null) this.#start(this.minHits);
    else if (this.more.value === "some" && end >= this.#items.length - PREFETCH_HITS) this.loadMore();
  }

  async loadAll({ first, end }: Span): Promise<Item[]> {
    await (this.#firstPage ?? this.#start(this.minHits));
    return this.#items.slice(first, end);
  }

  refresh(_span: Span): void {
    this.failure.value = null;
    this.#start(Math.max(this.minHits, this.#items.length));
  }

  /** Loads the next page of hits. */
  loadMore(): void {
    const { value } = this.more;
    if (value === "some" || typeof value === "object") void this.#loadNext();
  }

  patch(rows: readonly ClipRow[]): void {
    const changed = new Map(rows.map((row) => [row.hash, row]));
    this.#items = this.#items.map((item) => ({ ...item, row: changed.get(item.row.hash) ?? item.row }));
    this.#notify();
  }

  #start(minHits: number): Promise<void> {
    const firstPage = this.#loadFirst(minHits);
    this.#firstPage = firstPage;
    firstPage.catch((error) => this.fail(error));
    return firstPage;
  }

  async #loadFirst(minHits: number): Promise<void> {
    this.#generation += 1;
    const generation = this.#generation;
    const responses: Schema["SearchResponse"][] = [];
    let received = 0;
    do {
      const response = await this.#fetchPage(received);
      responses.push(response);
      received += response.hits.length;
    } while (received < Math.min(minHits, MAX_HITS) && responses.at(-1)!.has_more);
    if (generation !== this.#generation) return;
    this.#items = [];
    this.#received = this.elapsedMs = 0;
    for (const response of responses) this.#addResponse(response);
    this.#notify();
  }

  async #loadNext(): Promise<void> {
    const generation = this.#generation;
    this.more.value = "busy";
    try {
      const response = await this.#fetchPage(this.#received);
      if (generation !== this.#generation) return;
      this.#addResponse(response);
      this.#notify();
    } catch (error) {
      if (generation === this.#generation && !this.abort.signal.aborted) this.more.value = { error };
    }
  }

  #fetchPage(skip: number): Promise<Schema["SearchResponse"]> {
    const body = buildSearchRequest(this.view, this.example, skip, PAGE_SIZE);
    return fetchJson<Schema["SearchResponse"]>("/api/search", { body, signal: this.abort.signal });
  }

  /** Adds a page. The library may have changed meanwhile: clips that are already listed are skipped. */
  #addResponse({ hits, has_more: hasMore, elapsed_ms: elapsedMs }: Schema["SearchResponse"]): void {
    const isFirst = this.#received === 0;
    const existing = new Set(this.#items.map(({ row }) => row.hash));
    const isNew = ({ clip, score }: HitRow) => !existing.has(clip.hash) && (isFirst || score > 0);
    this.#items.push(...hits.filter(isNew).map((hit) => ({ row: hit.clip, hit })));
    this.#received += hits.length;
    this.elapsedMs += elapsedMs;
    const isLast = !hasMore || (hits.at(-1)?.score ?? 0) <= 0; // the following hits have no similarity at all
    this.more.value = isLast ? "none" : this.#received < MAX_HITS ? "some" : "too many";
  }

  #notify(): void {
    this.facets.value = { ...countFacets(this.#items), isPartial: this.more.value !== "none" };
    this.total.value = this.#items.length;
    this.version.value += 1;
  }
}

/**
 * Counts tags and durations of the loaded hits, the most frequent tags first. Hits have no body parts and actions.
 */
export function countFacets(items: readonly Item[]): Facets {
  const counts = new Map<string, number>();
  for (const { row } of items) for (const tag of row.tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const tags = [...counts].map(([tag, count]) => ({ tag, count }));
  return {
    tags: tags.sort((a, b) => b.count - a.count || a.tag.localeCompare(b.tag)),
    durations: countDurations(items),
    body_parts: [],
    actions: [],
  };
}

function countDurations(items: readonly Item[]): Facets["durations"] {
  return MIN_DURATIONS_S.map((min_s, index) => {
    const max_s = MIN_DURATIONS_S[index + 1] ?? null;
    const isInBin = ({ row: { duration_s } }: Item) => duration_s >= min_s && (max_s === null || duration_s < max_s);
    return { min_s, max_s, count: items.filter(isInBin).length };
  });
}
