/** The virtualized grid: only visible rows exist, and they are reused while scrolling. */

import { h } from "../ui/dom";
import { reducedMotion } from "../ui/motion";
import { Card } from "./card";
import type { ClipSource } from "./clip_source";
import { computeLayout, type GridLayout, type Span, targetIndex, visibleRows } from "./grid_layout";
import type { Selection } from "./selection";

const MIN_COLUMN_PX = 300;
const GAP_PX = 16;
const EXTRA_ROWS = 2;
const CARD_REM = 9.75;
const HIT_CARD_REM = 14.75;
const FAST_PX_PER_S = 4000; // above this speed no strips are loaded
const SETTLE_DELAY_MS = 110;
const MAX_STRIP_LOADS = 6;
const MAX_STRIP_LOADS_SCROLLING = 2; // each takes some milliseconds to decode

interface GridListeners {
  /** Scrolling has stopped. */
  onSettled: () => void;
  /** Cards may show other clips now. */
  onDraw: () => void;
}

interface Row {
  element: HTMLElement;
  cards: Card[];
}

export class Grid {
  readonly element = h("div", { class: "grid", role: "grid", "aria-label": "Clips", "aria-multiselectable": "true" });
  active = 0;
  #source: ClipSource | null = null;
  #layout: GridLayout = computeLayout(0, 0, MIN_COLUMN_PX, GAP_PX, 1);
  #rows = new Map<number, Row>();
  #freeRows: Row[] = [];
  #animationFrame = 0; // 0 if none is requested
  #lastScroll = { at: 0, y: 0 };
  #settleTimer = 0;
  #isFast = false;
  /** Whether the page is being scrolled: no previews meanwhile. */
  isScrolling = false;
  readonly #resizeObserver = new ResizeObserver(() => this.#measure());
  readonly #cleanups: (() => void)[] = [];
  #unwatchSource = () => {};

  constructor(
    readonly selection: Selection,
    readonly setUpCard: (card: Card) => void,
    readonly listeners: GridListeners,
  ) {
    this.#resizeObserver.observe(this.element);
    const onScroll = () => this.#onScroll();
    addEventListener("scroll", onScroll, { passive: true });
    this.#cleanups.push(() => removeEventListener("scroll", onScroll));
    this.#cleanups.push(selection.hashes.watch(() => this.update()));
  }

  get columns(): number {
    return this.#layout.columns;
  }

  /** The number of rows that fit below the top bar. */
  get rowsPerView(): number {
    return Math.floor((innerHeight - 80) / this.#layout.rowPx);
  }

  get count(): number {
    return this.#source?.total.value ?? 0;
  }

  /** Shows the clips of another source. */
  setSource(source: ClipSource, isHits: boolean): void {
    this.#unwatchSource();
    this.#source = source;
    this.element.classList.toggle("hits", isHits);
    this.active = 0;
    const unwatch = [source.version.watch(() => this.#measure()), source.total.watch(() => this.#measure())];
    this.#unwatchSource = () => {
      for (const stop of unwatch) stop();
    };
    this.#measure();
  }

  /** Returns the span of items that are on the screen or near it. */
  visibleItems(): Span {
    const top = -this.element.getBoundingClientRect().top;
    const rows = visibleRows(this.#layout, top, innerHeight, EXTRA_ROWS);
    return { first: rows.first * this.columns, end: Math.min(this.count, rows.end * this.columns) };
  }

  /** Redraws in the next animation frame. */
  update(): void {
    if (this.#animationFrame === 0) this.#animationFrame = requestAnimationFrame(() => this.#draw());
  }

  /** Makes an item the one that Tab reaches; with `focus` it is also focused and scrolled into view. */
  activate(index: number, focus = true): void {
    if (this.count === 0) return;
    this.active = Math.min(this.count - 1, Math.max(0, index));
    if (focus) this.#reveal(this.active);
    this.#draw();
    if (focus) this.cardAt(this.active)?.element.focus({ preventScroll: true });
  }

  /** Returns the target of a key from the active item, or null. */
  step(key: string): number | null {
    return this.count === 0 ? null : targetIndex(key, this.active, this.count, this.columns, this.rowsPerView);
  }

  cardAt(index: number): Card | undefined {
    return this.#rows.get(Math.floor(index / this.columns))?.cards[index % this.columns];
  }

  /** The cards that exist. */
  cards(): Card[] {
    return [...this.#rows.values()].flatMap((row) => row.cards);
  }

  close(): void {
    cancelAnimationFrame(this.#animationFrame);
    clearTimeout(this.#settleTimer);
    this.#resizeObserver.disconnect();
    this.#unwatchSource();
    for (const cleanup of this.#cleanups) cleanup();
  }

  #measure(): void {
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    const cardPx = Math.round(rem * (this.element.classList.contains("hits") ? HIT_CARD_REM : CARD_REM));
    const before = this.columns;
    this.#layout = computeLayout(this.count, this.element.clientWidth, MIN_COLUMN_PX, GAP_PX, cardPx);
    this.element.style.height = `${this.#layout.heightPx}px`;
    this.element.style.setProperty("--card-height", `${cardPx}px`);
    this.element.setAttribute("aria-rowcount", String(this.#layout.rows));
    this.element.setAttribute("aria-colcount", String(this.columns));
    if (before !== this.columns) this.#dropRows();
    this.active = Math.max(0, Math.min(this.active, this.count - 1));
    this.#draw();
  }

  #dropRows(): void {
    for (const row of [...this.#rows.values(), ...this.#freeRows]) row.element.remove();
    this.#rows.clear();
    this.#freeRows = [];
  }

  #onScroll(): void {
    const now = performance.now();
    const speed = (1000 * Math.abs(scrollY - this.#lastScroll.y)) / Math.max(1, now - this.#lastScroll.at);
    this.#isFast = speed > FAST_PX_PER_S;
    this.#lastScroll = { at: now, y: scrollY };
    this.isScrolling = true;
    clearTimeout(this.#settleTimer);
    this.#settleTimer = window.setTimeout(() => {
      this.#isFast = false;
      this.isScrolling = false;
      this.update();
      this.listeners.onSettled();
    }, SETTLE_DELAY_MS);
    this.update();
  }

  #draw(): void {
    cancelAnimationFrame(this.#animationFrame);
    this.#animationFrame = 0;
    const source = this.#source;
    if (!source) return;
    const top = -this.element.getBoundingClientRect().top;
    const rows = visibleRows(this.#layout, top, innerHeight, EXTRA_ROWS);
    const activeRow = Math.floor(this.active / this.columns);
    const isNeeded = (row: number) =>
      row < this.#layout.rows && ((row >= rows.first && row < rows.end) || row === activeRow);
    for (const [index, row] of this.#rows) {
      if (isNeeded(index)) continue;
      this.#rows.delete(index);
      row.element.hidden = true;
      this.#freeRows.push(row);
    }
    if (this.#layout.rows > 0 && !this.#rows.has(activeRow)) this.#showRow(activeRow);
    for (let index = rows.first; index < rows.end; index++) if (!this.#rows.has(index)) this.#showRow(index);
    for (const [index, row] of this.#rows) this.#fillRow(index, row, source);
    if (!this.#isFast)
      source.load({ first: rows.first * this.columns, end: Math.min(this.count, rows.end * this.columns) });
    this.#loadStrips(rows);
    this.listeners.onDraw();
  }

  /** Loads a few strips at a time, from the top: decoding them must not slow down scrolling. */
  #loadStrips(rows: Span): void {
    if (this.#isFast) return;
    const cards = [...this.#rows]
      .filter(([index]) => index >= rows.first && index < rows.end)
      .sort(([a], [b]) => a - b);
    const all = cards.flatMap(([, row]) => row.cards);
    let free =
      (this.isScrolling ? MAX_STRIP_LOADS_SCROLLING : MAX_STRIP_LOADS) -
      all.filter((card) => card.isStripLoading).length;
    for (const card of all) {
      if (free <= 0) break;
      if (!card.needsStrip) continue;
      card.loadStrip();
      free -= 1;
    }
  }

  #showRow(index: number): void {
    const row = this.#freeRows.pop() ?? this.#makeRow();
    row.element.hidden = false;
    row.element.style.transform = `translateY(${index * this.#layout.rowPx}px)`;
    row.element.setAttribute("aria-rowindex", String(index + 1));
    this.#rows.set(index, row);
  }

  #makeRow(): Row {
    const cards = Array.from({ length: this.columns }, (_, column) => {
      const card = new Card();
      card.element.setAttribute("aria-colindex", String(column + 1));
      card.picture.querySelector("img")?.addEventListener("load", () => this.update());
      card.picture.querySelector("img")?.addEventListener("error", () => this.update());
      this.setUpCard(card);
      return card;
    });
    const element = h("div", { class: "grid-row", role: "row" }, ...cards.map((card) => card.element));
    element.style.setProperty("--columns", String(this.columns));
    this.element.append(element);
    return { element, cards };
  }

  #fillRow(row: number, { element, cards }: Row, source: ClipSource): void {
    element.style.transform = `translateY(${row * this.#layout.rowPx}px)`;
    cards.forEach((card, column) => {
      const index = row * this.columns + column;
      card.element.hidden = index >= this.count;
      const item = index < this.count ? source.at(index) : undefined;
      card.show(index, item, item !== undefined && this.selection.has(item.row.hash));
      card.setActive(index === this.active);
    });
  }

  #reveal(index: number): void {
    const top = this.element.getBoundingClientRect().top + Math.floor(index / this.columns) * this.#layout.rowPx;
    const barPx = 72;
    const above = top - barPx;
    const below = top + this.#layout.rowPx - innerHeight + GAP_PX;
    const by = above < 0 ? above : Math.max(below, 0);
    if (by !== 0)
      scrollBy({ top: by, behavior: reducedMotion.value || Math.abs(by) > innerHeight ? "instant" : "smooth" });
  }
}
