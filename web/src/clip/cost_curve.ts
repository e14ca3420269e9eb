/** A chart of the cost for every number of keys, with its cliffs. Pressing it selects a number. */

import { fill, h, svg } from "../ui/dom";
import { countOf } from "../ui/format";
import type { Ladder } from "./ladder";

const WIDTH = 304;
const HEIGHT = 104;
const LEFT = 30; // room for the numbers of the axis
const RIGHT = 6;
const TOP = 8;
const BOTTOM = 16;
const TICK_SPACING = 17; // px between numbers of the axis
const MAX_CLIFFS = 6;

export class CostCurve {
  readonly element = h("div", { class: "cost-curve" });
  readonly #onSelect: (keys: number) => void;
  #ladder: Ladder | null = null;
  #marker: SVGGElement | null = null;

  constructor(onSelect: (keys: number) => void) {
    this.#onSelect = onSelect;
  }

  show(ladder: Ladder | null): void {
    this.#ladder = ladder;
    if (!ladder || ladder.data.counts.length < 2) {
      fill(this.element);
      return;
    }
    const { counts, costs, cliffs, unit } = ladder.data;
    const points = counts.map((count, k) => `${this.#x(count).toFixed(1)},${this.#y(costs[k]!).toFixed(1)}`);
    const line = svg("path", { d: `M${points.join("L")}`, class: "curve" });
    const base = HEIGHT - BOTTOM;
    const area = svg("path", {
      d: `M${this.#x(ladder.min)},${base}L${points.join("L")}L${this.#x(ladder.max)},${base}z`,
      class: "area",
    });
    const strongest = [...cliffs].sort((a, b) => b.strength - a.strength).slice(0, MAX_CLIFFS);
    const marks = strongest.map(({ keys }) => this.#cliff(keys, ladder.cost(keys)));
    const ticks = [2, 5, 10, 20, 50, 100, 200, 500].filter((n) => n >= ladder.min && n <= ladder.max);
    const numbers = ticks.map((n) => svg("text", { x: this.#x(n), y: HEIGHT - 3, "text-anchor": "middle" }, String(n)));
    this.#marker = svg("g", { class: "marker" }, svg("line", { y1: 4, y2: base }), svg("circle", { r: 4 }));
    const cliffList = strongest
      .map(({ keys }) => keys)
      .sort((a, b) => a - b)
      .join(", ");
    const title = unit === "mm" ? "Error (mm) by number of keys" : "Relative error by number of keys";
    const cliffText = cliffList && `; recommended: ${cliffList} keys`;
    const label = `${title}, from ${ladder.min} to ${ladder.max} keys${cliffText}`;
    const picture = svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
      svg("line", { x1: LEFT - 4, x2: WIDTH, y1: base, y2: base, class: "axis" }),
      ...this.#levels(), area, line, ...marks, ...numbers, this.#marker,
    ); // biome-ignore format: one look
    this.#listen(picture);
    const buttons = this.#cliffButtons(strongest.map(({ keys }) => keys));
    const recommended = h("div", { class: "cliffs" }, h("span", { class: "label", text: "Recommended" }), ...buttons);
    fill(this.element, h("p", { class: "label", text: title }), picture, buttons.length > 0 && recommended);
  }

  /** Marks the current number of keys. */
  markCount(keys: number): void {
    if (!this.#ladder || !this.#marker) return;
    const [x, y] = [this.#x(keys), this.#y(this.#ladder.cost(keys))];
    this.#marker.firstElementChild?.setAttribute("transform", `translate(${x} 0)`);
    this.#marker.lastElementChild?.setAttribute("transform", `translate(${x} ${y})`);
    for (const each of this.element.querySelectorAll<HTMLElement>(".cliffs button"))
      each.setAttribute("aria-pressed", String(Number(each.dataset.keys) === keys));
  }

  #cliffButtons(cliffs: number[]): HTMLElement[] {
    const { natural } = this.#ladder!.data;
    const labels = new Map<number, string>(cliffs.map((keys) => [keys, "cliff"]));
    if (natural !== null) labels.set(natural, "suggested by the method");
    const sorted = [...labels].filter(([keys]) => keys >= this.#ladder!.min && keys <= this.#ladder!.max);
    return sorted
      .sort(([a], [b]) => a - b)
      .map(([keys, label]) => {
        const text = label === "cliff" ? String(keys) : `${keys} (${label})`;
        const title =
          label === "cliff"
            ? `Recommended: with fewer than ${keys} keys the error rises sharply`
            : countOf(keys, "key");
        const on = { click: () => this.#onSelect(keys) };
        return h("button", { class: "button small", type: "button", title, "data-keys": keys, on }, text);
      });
  }

  #cliff(keys: number, cost: number): SVGElement {
    const [x, y] = [this.#x(keys), this.#y(cost)];
    return svg("path", { class: "cliff", d: `M${x - 4},${y - 10}h8l-4,7z` }, svg("title", {}, countOf(keys, "key")));
  }

  #listen(picture: SVGSVGElement): void {
    const select = (event: PointerEvent) => {
      const box = picture.getBoundingClientRect();
      this.#onSelect(this.#countAt(((event.clientX - box.left) / box.width) * WIDTH));
    };
    picture.addEventListener("pointerdown", (event) => {
      picture.setPointerCapture(event.pointerId);
      select(event);
    });
    picture.addEventListener("pointermove", (event) => {
      if (picture.hasPointerCapture(event.pointerId)) select(event);
    });
  }

  #x(count: number): number {
    const { min, max } = this.#ladder!;
    const span = Math.log(max / min) || 1;
    return LEFT + (Math.log(Math.max(min, count) / min) / span) * (WIDTH - LEFT - RIGHT);
  }

  #countAt(x: number): number {
    const { min, max } = this.#ladder!;
    return Math.round(min * (max / min) ** Math.min(1, Math.max(0, (x - LEFT) / (WIDTH - LEFT - RIGHT))));
  }

  #y(cost: number): number {
    return TOP + (1 - Math.sqrt(Math.max(0, cost) / this.#maxCost)) * (HEIGHT - BOTTOM - TOP - 2);
  }

  get #maxCost(): number {
    return this.#ladder!.data.costs.reduce((a, b) => Math.max(a, b), 0) || 1;
  }

  /** Returns grid lines and labels at round errors, as many as fit. */
  #levels(): SVGElement[] {
    const base = this.#y(0);
    const elements: SVGElement[] = [svg("text", { x: LEFT - 8, y: base + 3, "text-anchor": "end" }, "0")];
    let lastY = base;
    for (const value of roundNumbers(this.#maxCost)) {
      const y = this.#y(value);
      if (lastY - y < TICK_SPACING || y < TOP - 1) continue;
      lastY = y;
      elements.push(
        svg("line", { x1: LEFT - 4, x2: WIDTH, y1: y, y2: y, class: "level" }),
        svg("text", { x: LEFT - 8, y: y + 4, "text-anchor": "end" }, String(value)),
      );
    }
    return elements;
  }
}

/** Returns 1, 2 and 5 times the two largest powers of ten, up to `max`. */
function roundNumbers(max: number): number[] {
  const power = Math.floor(Math.log10(max));
  const all = [power - 1, power].flatMap((n) => [1, 2, 5].map((digit) => Number((digit * 10 ** n).toPrecision(1))));
  return all.filter((value) => value <= max);
}
