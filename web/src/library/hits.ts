/** What a search by example found, the best first: some hits at once, the next ones when one comes to their end. */

import { askJson, type Schema } from "../api/client";
import { Signal } from "../state/signal";
import { Base, type Item, type Source } from "./source";
import { type ClipRow, type Example, type Facets, type HitRow, searchTold, type View } from "./view";
import type { Span } from "./windowing";

const PAGE = 100;
const MOST = 1000; // the server skips no more than 900
const AHEAD = 30; // hits before the end when the next are asked for
const LEAST_S = [0, 2, 5, 10, 30, 60]; // as the server counts the clips of a list

/** What lies behind the hits: nothing, some that can be asked for or are on their way, more than anybody is shown. */
export type More = "none" | "some" | "busy" | "too many" | { error: unknown };

export class HitSource extends Base implements Source {
  readonly more = new Signal<More>("none");
  tookMs = 0;
  #items: Item[] = [];
  #received = 0; // of the server
  #asked: Promise<void> | null = null;
  #age = 0; // answers to what was asked before a refresh are not taken

  /** `atLeast`: so many hits are asked for at first, as far as there are any. */
  constructor(
    readonly view: View,
    readonly example: Example,
    readonly atLeast = 1,
  ) {
    super();
  }

  at(index: number): Item | undefined {
    return this.#items[index];
  }

  want({ end }: Span): void {
    if (this.failure.value !== null) return;
    if (this.#asked === null) this.#begin(this.atLeast);
    else if (this.more.value === "some" && end >= this.#items.length - AHEAD) this.askMore();
  }

  async all({ first, end }: Span): Promise<Item[]> {
    await (this.#asked ?? this.#begin(this.atLeast));
    return this.#items.slice(first, end);
  }

  refresh(_span: Span): void {
    this.failure.value = null;
    this.#begin(Math.max(this.atLeast, this.#items.length));
  }

  /** Asks for the hits behind those that are there. */
  askMore(): void {
    const { value } = this.more;
    if (value === "some" || typeof value === "object") void this.#goOn();
  }

  patch(rows: readonly ClipRow[]): void {
    const changed = new Map(rows.map((row) => [row.hash, row]));
    this.#items = this.#items.map((item) => ({ ...item, row: changed.get(item.row.hash) ?? item.row }));
    this.#tell();
  }

  #begin(atLeast: number): Promise<void> {
    const asked = this.#ask(atLeast);
    this.#asked = asked;
    asked.catch((error) => this.told(error));
    return asked;
  }

  async #ask(atLeast: number): Promise<void> {
    this.#age += 1;
    const age = this.#age;
    const answers: Schema["Hits"][] = [];
    let received = 0;
    do {
      const said = await this.#page(received);
      answers.push(said);
      received += said.hits.length;
    } while (received < Math.min(atLeast, MOST) && answers.at(-1)!.more);
    if (age !== this.#age) return;
    this.#items = [];
    this.#received = this.tookMs = 0;
    for (const said of answers) this.#take(said);
    this.#tell();
  }

  async #goOn(): Promise<void> {
    const age = this.#age;
    this.more.value = "busy";
    try {
      const said = await this.#page(this.#received);
      if (age !== this.#age) return;
      this.#take(said);
      this.#tell();
    } catch (error) {
      if (age === this.#age && !this.ended.signal.aborted) this.more.value = { error };
    }
  }

  #page(skip: number): Promise<Schema["Hits"]> {
    const told = searchTold(this.view, this.example, skip, PAGE);
    return askJson<Schema["Hits"]>("/api/search", { told, signal: this.ended.signal });
  }

  /** Adds an answer. Meanwhile the library may have changed: what is there already is not there twice. */
  #take({ hits, more, took_ms }: Schema["Hits"]): void {
    const isFirst = this.#received === 0;
    const known = new Set(this.#items.map(({ row }) => row.hash));
    const isNew = ({ clip, score }: HitRow) => !known.has(clip.hash) && (isFirst || score > 0);
    this.#items.push(...hits.filter(isNew).map((hit) => ({ row: hit.clip, hit })));
    this.#received += hits.length;
    this.tookMs += took_ms;
    const isLast = !more || (hits.at(-1)?.score ?? 0) <= 0; // behind them nothing is alike
    this.more.value = isLast ? "none" : this.#received < MOST ? "some" : "too many";
  }

  #tell(): void {
    this.facets.value = { ...facetsOf(this.#items), isPartial: this.more.value !== "none" };
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
