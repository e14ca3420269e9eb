/** The grid: only the rows that are seen exist, and they are used again as one scrolls. */

import { h } from "../ui/dom";
import { calm } from "../ui/motion";
import { Card } from "./card";
import type { Selection } from "./selection";
import type { Source } from "./source";
import { rowsSeen, type Shape, type Span, shapeOf, stepTo } from "./windowing";

const LEAST_COLUMN_PX = 300;
const GAP_PX = 16;
const SPARE_ROWS = 2;
const CARD_REM = 9.75;
const HIT_CARD_REM = 14.75;
const FAST_PX_PER_S = 4000; // faster than this nobody looks at strips
const SETTLED_MS = 110;
const STRIPS_AT_ONCE = 6;
const STRIPS_WHILE_SCROLLING = 2; // each costs some milliseconds to take in

interface Row {
  element: HTMLElement;
  cards: Card[];
}

export class Grid {
  readonly element = h("div", { class: "grid", role: "grid", "aria-label": "Clips", "aria-multiselectable": "true" });
  active = 0;
  #source: Source | null = null;
  #shape: Shape = shapeOf(0, 0, LEAST_COLUMN_PX, GAP_PX, 1);
  #rows = new Map<number, Row>();
  #spare: Row[] = [];
  #asked = 0; // of the next frame
  #scrolled = { at: 0, y: 0 };
  #settling = 0;
  #isFast = false;
  /** Whether the page is being scrolled: nothing plays meanwhile. */
  isScrolling = false;
  readonly #size = new ResizeObserver(() => this.#measure());
  readonly #forget: (() => void)[] = [];
  #forgetSource = () => {};

  constructor(
    readonly selection: Selection,
    readonly dressCard: (card: Card) => void,
    /** Scrolling has come to an end. */
    readonly onSettled: () => void = () => {},
  ) {
    this.#size.observe(this.element);
    const scrolled = () => this.#onScroll();
    addEventListener("scroll", scrolled, { passive: true });
    this.#forget.push(() => removeEventListener("scroll", scrolled));
    this.#forget.push(selection.chosen.watch(() => this.update()));
  }

  get columns(): number {
    return this.#shape.columns;
  }

  /** How many rows fit between the top bar and the foot of the window. */
  get rowsPerView(): number {
    return Math.floor((innerHeight - 80) / this.#shape.rowPx);
  }

  get count(): number {
    return this.#source?.total.value ?? 0;
  }

  /** Shows other clips. */
  setSource(source: Source, isHits: boolean): void {
    this.#forgetSource();
    this.#source = source;
    this.element.classList.toggle("hits", isHits);
    this.active = 0;
    const ends = [source.version.watch(() => this.#measure()), source.total.watch(() => this.#measure())];
    this.#forgetSource = () => {
      for (const end of ends) end();
    };
    this.#measure();
  }

  /** The items that are on the screen or near it. */
  seen(): Span {
    const top = -this.element.getBoundingClientRect().top;
    const rows = rowsSeen(this.#shape, top, innerHeight, SPARE_ROWS);
    return { first: rows.first * this.columns, end: Math.min(this.count, rows.end * this.columns) };
  }

  /** Brings what is shown up to date, in the next frame. */
  update(): void {
    if (this.#asked === 0) this.#asked = requestAnimationFrame(() => this.#draw());
  }

  /** Makes an item the one that Tab goes to; with `focus` goes there and scrolls it into view. */
  activate(index: number, focus = true): void {
    if (this.count === 0) return;
    this.active = Math.min(this.count - 1, Math.max(0, index));
    if (focus) this.#reveal(this.active);
    this.#draw();
    if (focus) this.cardAt(this.active)?.element.focus({ preventScroll: true });
  }

  /** Where a key leads from the active item; null: nowhere. */
  step(key: string): number | null {
    return this.count === 0 ? null : stepTo(key, this.active, this.count, this.columns, this.rowsPerView);
  }

  cardAt(index: number): Card | undefined {
    return this.#rows.get(Math.floor(index / this.columns))?.cards[index % this.columns];
  }

  /** The cards that exist. */
  cards(): Card[] {
    return [...this.#rows.values()].flatMap((row) => row.cards);
  }

  close(): void {
    cancelAnimationFrame(this.#asked);
    clearTimeout(this.#settling);
    this.#size.disconnect();
    this.#forgetSource();
    for (const forget of this.#forget) forget();
  }

  #measure(): void {
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    const cardPx = Math.round(rem * (this.element.classList.contains("hits") ? HIT_CARD_REM : CARD_REM));
    const before = this.columns;
    this.#shape = shapeOf(this.count, this.element.clientWidth, LEAST_COLUMN_PX, GAP_PX, cardPx);
    this.element.style.height = `${this.#shape.heightPx}px`;
    this.element.style.setProperty("--card-height", `${cardPx}px`);
    this.element.setAttribute("aria-rowcount", String(this.#shape.rows));
    this.element.setAttribute("aria-colcount", String(this.columns));
    if (before !== this.columns) this.#dropRows();
    this.active = Math.max(0, Math.min(this.active, this.count - 1));
    this.#draw();
  }

  #dropRows(): void {
    for (const row of [...this.#rows.values(), ...this.#spare]) row.element.remove();
    this.#rows.clear();
    this.#spare = [];
  }

  #onScroll(): void {
    const now = performance.now();
    const speed = (1000 * Math.abs(scrollY - this.#scrolled.y)) / Math.max(1, now - this.#scrolled.at);
    this.#isFast = speed > FAST_PX_PER_S;
    this.#scrolled = { at: now, y: scrollY };
    this.isScrolling = true;
    clearTimeout(this.#settling);
    this.#settling = window.setTimeout(() => {
      this.#isFast = false;
      this.isScrolling = false;
      this.update();
      this.onSettled();
    }, SETTLED_MS);
    this.update();
  }

  #draw(): void {
    cancelAnimationFrame(this.#asked);
    this.#asked = 0;
    const source = this.#source;
    if (!source) return;
    const top = -this.element.getBoundingClientRect().top;
    const rows = rowsSeen(this.#shape, top, innerHeight, SPARE_ROWS);
    const activeRow = Math.floor(this.active / this.columns);
    const kept = (row: number) =>
      row < this.#shape.rows && ((row >= rows.first && row < rows.end) || row === activeRow);
    for (const [index, row] of this.#rows) {
      if (kept(index)) continue;
      this.#rows.delete(index);
      row.element.hidden = true;
      this.#spare.push(row);
    }
    if (this.#shape.rows > 0 && !this.#rows.has(activeRow)) this.#takeRow(activeRow);
    for (let index = rows.first; index < rows.end; index++) if (!this.#rows.has(index)) this.#takeRow(index);
    for (const [index, row] of this.#rows) this.#fillRow(index, row, source);
    if (!this.#isFast)
      source.want({ first: rows.first * this.columns, end: Math.min(this.count, rows.end * this.columns) });
    this.#loadStrips(rows);
  }

  /** A few strips at a time, from the top: each one costs a little to draw, and scrolling comes first. */
  #loadStrips(rows: Span): void {
    if (this.#isFast) return;
    const cards = [...this.#rows]
      .filter(([index]) => index >= rows.first && index < rows.end)
      .sort(([a], [b]) => a - b);
    const all = cards.flatMap(([, row]) => row.cards);
    let free =
      (this.isScrolling ? STRIPS_WHILE_SCROLLING : STRIPS_AT_ONCE) - all.filter((card) => card.isStripLoading).length;
    for (const card of all) {
      if (free <= 0) break;
      if (!card.needsStrip) continue;
      card.loadStrip();
      free -= 1;
    }
  }

  #takeRow(index: number): void {
    const row = this.#spare.pop() ?? this.#makeRow();
    row.element.hidden = false;
    row.element.style.transform = `translateY(${index * this.#shape.rowPx}px)`;
    row.element.setAttribute("aria-rowindex", String(index + 1));
    this.#rows.set(index, row);
  }

  #makeRow(): Row {
    const cards = Array.from({ length: this.columns }, (_, column) => {
      const card = new Card();
      card.element.setAttribute("aria-colindex", String(column + 1));
      card.look.querySelector("img")?.addEventListener("load", () => this.update());
      card.look.querySelector("img")?.addEventListener("error", () => this.update());
      this.dressCard(card);
      return card;
    });
    const element = h("div", { class: "grid-row", role: "row" }, ...cards.map((card) => card.element));
    element.style.setProperty("--columns", String(this.columns));
    this.element.append(element);
    return { element, cards };
  }

  #fillRow(row: number, { element, cards }: Row, source: Source): void {
    element.style.transform = `translateY(${row * this.#shape.rowPx}px)`;
    cards.forEach((card, column) => {
      const index = row * this.columns + column;
      card.element.hidden = index >= this.count;
      const item = index < this.count ? source.at(index) : undefined;
      card.show(index, item, item !== undefined && this.selection.has(item.row.hash));
      card.setActive(index === this.active);
    });
  }

  #reveal(index: number): void {
    const top = this.element.getBoundingClientRect().top + Math.floor(index / this.columns) * this.#shape.rowPx;
    const bar = 72;
    const over = top - bar;
    const under = top + this.#shape.rowPx - innerHeight + GAP_PX;
    const by = over < 0 ? over : Math.max(under, 0);
    if (by !== 0) scrollBy({ top: by, behavior: calm.value || Math.abs(by) > innerHeight ? "instant" : "smooth" });
  }
}
