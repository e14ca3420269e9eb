/** Where the grid's clips come from: pages of the whole list, or the hits of a search. */

import { askJson, type Schema } from "../api/client";
import { Signal } from "../state/signal";
import { type ClipRow, clipsPath, type Example, type Facets, type HitRow, searchTold, type View } from "./view";
import { pagesOf, type Span } from "./windowing";

export interface Item {
  row: ClipRow;
  hit?: HitRow;
}

export interface Source {
  /** How many there are; null: not known yet. */
  readonly total: Signal<number | null>;
  readonly facets: Signal<Facets | null>;
  /** Why there is nothing; null: all is well. */
  readonly failure: Signal<unknown>;
  /** Grows when items have come or changed. */
  readonly version: Signal<number>;
  at(index: number): Item | undefined;
  /** Asks for what is missing of these. */
  want(span: Span): void;
  /** All of these, however long it takes. */
  all(span: Span): Promise<Item[]>;
  /** Asks again for what was asked for; what is there stays until the answer has come. */
  refresh(span: Span): void;
  /** Puts changed rows in the place of what they were. */
  patch(rows: readonly ClipRow[]): void;
  close(): void;
}

const PAGE = 100;
const MOST_HITS = 120;
const LEAST_S = [0, 2, 5, 10, 30, 60]; // as the server counts the clips of a list

abstract class Base {
  readonly total = new Signal<number | null>(null);
  readonly facets = new Signal<Facets | null>(null);
  readonly failure = new Signal<unknown>(null);
  readonly version = new Signal(0);
  protected readonly ended = new AbortController();

  close(): void {
    this.ended.abort();
  }

  protected told(error: unknown): void {
    if (!this.ended.signal.aborted) this.failure.value = error;
  }
}

/** The list of clips, a page at a time. */
export class PagedSource extends Base implements Source {
  #items: (Item | undefined)[] = [];
  #pages = new Map<number, Promise<void>>();
  #age = 0; // answers to what was asked before a refresh are not taken

  constructor(readonly view: View) {
    super();
  }

  at(index: number): Item | undefined {
    return this.#items[index];
  }

  want(span: Span): void {
    if (this.failure.value !== null) return;
    for (const page of pagesOf(span, PAGE)) void this.#page(page).catch((error) => this.told(error));
  }

  async all({ first, end }: Span): Promise<Item[]> {
    for (const page of pagesOf({ first, end }, PAGE)) await this.#page(page);
    return this.#items.slice(first, end).filter((item) => item !== undefined);
  }

  refresh(span: Span): void {
    this.#age += 1;
    this.#pages.clear();
    this.failure.value = null;
    this.want(span.end > span.first ? span : { first: 0, end: 1 });
  }

  patch(rows: readonly ClipRow[]): void {
    const changed = new Map(rows.map((row) => [row.hash, row]));
    this.#items = this.#items.map((item) =>
      item && changed.has(item.row.hash) ? { row: changed.get(item.row.hash)! } : item,
    );
    this.version.value += 1;
  }

  #page(page: number): Promise<void> {
    const asked = this.#pages.get(page) ?? this.#ask(page);
    this.#pages.set(page, asked);
    return asked;
  }

  async #ask(page: number): Promise<void> {
    const age = this.#age;
    try {
      const path = clipsPath(this.view, page * PAGE, PAGE);
      const said = await askJson<Schema["ClipPage"]>(path, { signal: this.ended.signal });
      if (age !== this.#age) return;
      said.clips.forEach((row, index) => {
        this.#items[page * PAGE + index] = { row };
      });
      this.#items.length = Math.min(this.#items.length, said.total);
      this.facets.value = said.facets;
      this.total.value = said.total;
      this.version.value += 1;
    } catch (error) {
      if (age === this.#age) this.#pages.delete(page);
      throw error;
    }
  }
}

/** What a search by example found, all at once. */
export class HitSource extends Base implements Source {
  #items: Item[] = [];
  #asked: Promise<void> | null = null;
  tookMs = 0;

  constructor(
    readonly view: View,
    readonly example: Example,
  ) {
    super();
  }

  at(index: number): Item | undefined {
    return this.#items[index];
  }

  want(_span: Span): void {
    if (this.failure.value !== null) return;
    this.#asked ??= this.#ask();
    this.#asked.catch((error) => this.told(error));
  }

  async all({ first, end }: Span): Promise<Item[]> {
    this.#asked ??= this.#ask();
    await this.#asked;
    return this.#items.slice(first, end);
  }

  refresh(span: Span): void {
    this.#asked = null;
    this.failure.value = null;
    this.want(span);
  }

  patch(rows: readonly ClipRow[]): void {
    const changed = new Map(rows.map((row) => [row.hash, row]));
    this.#items = this.#items.map((item) => ({ ...item, row: changed.get(item.row.hash) ?? item.row }));
    this.facets.value = facetsOf(this.#items);
    this.version.value += 1;
  }

  async #ask(): Promise<void> {
    const told = searchTold(this.view, this.example, MOST_HITS);
    const said = await askJson<Schema["Hits"]>("/api/search", { told, signal: this.ended.signal });
    const isItself = (hit: HitRow) => this.example.kind === "like" && hit.clip.hash === this.example.clip;
    this.#items = said.hits.filter((hit) => !isItself(hit)).map((hit) => ({ row: hit.clip, hit }));
    this.tookMs = said.took_ms;
    this.facets.value = facetsOf(this.#items);
    this.total.value = this.#items.length;
    this.version.value += 1;
  }
}

/** Tags and durations of what was found, the most frequent tags first; the search takes no parts of the body. */
export function facetsOf(items: readonly Item[]): Facets {
  const counts = new Map<string, number>();
  for (const { row } of items) for (const tag of row.tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const tags = [...counts].map(([tag, count]) => ({ tag, count }));
  return {
    tags: tags.sort((a, b) => b.count - a.count || a.tag.localeCompare(b.tag)),
    durations: lengthsOf(items),
    parts: [],
  };
}

function lengthsOf(items: readonly Item[]): Facets["durations"] {
  return LEAST_S.map((least_s, index) => {
    const most_s = LEAST_S[index + 1] ?? null;
    const lasts = ({ row: { duration_s } }: Item) => duration_s >= least_s && (most_s === null || duration_s < most_s);
    return { least_s, most_s, count: items.filter(lasts).length };
  });
}
