/** Where the grid's clips come from: pages of the whole list, or the hits of a search. */

import { askJson, type Schema } from "../api/client";
import { Signal } from "../state/signal";
import { type ClipRow, clipsPath, type Facets, type HitRow, type View } from "./view";
import { pagesOf, type Span } from "./windowing";

export interface Item {
  row: ClipRow;
  hit?: HitRow;
}

/** By what one may choose. */
export type Counted = Facets & {
  /** Of some of the clips only: there may be more of each. */
  isPartial?: boolean;
};

export interface Source {
  /** How many there are; null: not known yet. */
  readonly total: Signal<number | null>;
  readonly facets: Signal<Counted | null>;
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

export abstract class Base {
  readonly total = new Signal<number | null>(null);
  readonly facets = new Signal<Counted | null>(null);
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
