/** What every number of keys costs, as a curve with its cliffs. A press chooses. */

import { fill, h, svg } from "../ui/dom";
import type { Rungs } from "./ladder";

const WIDTH = 304;
const HEIGHT = 104;
const LEFT = 30; // numbers stand there
const RIGHT = 6;
const TOP = 8;
const BOTTOM = 16;
const TICK_APART = 17; // px between numbers of the error
const MOST_CLIFFS = 6;

export class CostCurve {
  readonly element = h("div", { class: "cost-curve" });
  readonly #chose: (keys: number) => void;
  #rungs: Rungs | null = null;
  #here: SVGGElement | null = null;

  constructor(chose: (keys: number) => void) {
    this.#chose = chose;
  }

  show(rungs: Rungs | null): void {
    this.#rungs = rungs;
    if (!rungs || rungs.said.counts.length < 2) {
      fill(this.element);
      return;
    }
    const { counts, costs, cliffs, unit } = rungs.said;
    const points = counts.map((count, k) => `${this.#x(count).toFixed(1)},${this.#y(costs[k]!).toFixed(1)}`);
    const line = svg("path", { d: `M${points.join("L")}`, class: "curve" });
    const base = HEIGHT - BOTTOM;
    const area = svg("path", {
      d: `M${this.#x(rungs.least)},${base}L${points.join("L")}L${this.#x(rungs.most)},${base}z`,
      class: "area",
    });
    const strongest = [...cliffs].sort((a, b) => b.strength - a.strength).slice(0, MOST_CLIFFS);
    const marks = strongest.map(({ keys }) => this.#cliff(keys, rungs.cost(keys)));
    const ticks = [2, 5, 10, 20, 50, 100, 200, 500].filter((n) => n >= rungs.least && n <= rungs.most);
    const numbers = ticks.map((n) => svg("text", { x: this.#x(n), y: HEIGHT - 3, "text-anchor": "middle" }, String(n)));
    this.#here = svg("g", { class: "here" }, svg("line", { y1: 4, y2: base }), svg("circle", { r: 4 }));
    const spoken = strongest
      .map(({ keys }) => keys)
      .sort((a, b) => a - b)
      .join(", ");
    const says = `Cost in ${unit} for ${rungs.least} to ${rungs.most} keys; it falls steeply before ${spoken || "none"} keys`;
    const picture = svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": says },
      svg("line", { x1: LEFT - 4, x2: WIDTH, y1: base, y2: base, class: "axis" }),
      ...this.#levels(), area, line, ...marks, ...numbers, this.#here,
    ); // biome-ignore format: one look
    this.#listen(picture);
    const found = h("div", { class: "cliffs" }, ...this.#cliffButtons(strongest.map(({ keys }) => keys)));
    fill(this.element, h("p", { class: "label" }, `Error (${unit}) by number of keys`), picture, found);
  }

  /** Marks the number of keys that is shown. */
  mark(keys: number): void {
    if (!this.#rungs || !this.#here) return;
    const [x, y] = [this.#x(keys), this.#y(this.#rungs.cost(keys))];
    this.#here.firstElementChild?.setAttribute("transform", `translate(${x} 0)`);
    this.#here.lastElementChild?.setAttribute("transform", `translate(${x} ${y})`);
    for (const each of this.element.querySelectorAll<HTMLElement>(".cliffs button"))
      each.setAttribute("aria-pressed", String(Number(each.dataset.keys) === keys));
  }

  #cliffButtons(cliffs: number[]): HTMLElement[] {
    const { auto, natural } = this.#rungs!.said;
    const titled = new Map<number, string>(cliffs.map((keys) => [keys, "cliff"]));
    if (natural !== null) titled.set(natural, "the method's own");
    if (auto !== null) titled.set(auto, "auto");
    const sorted = [...titled].filter(([keys]) => keys >= this.#rungs!.least && keys <= this.#rungs!.most);
    return sorted
      .sort(([a], [b]) => a - b)
      .map(([keys, why]) => {
        const text = why === "cliff" ? String(keys) : `${keys} ${why}`;
        const title = why === "cliff" ? `${keys} keys: one less costs much more` : `${keys} keys`;
        const press = { click: () => this.#chose(keys) };
        return h("button", { class: "button small", type: "button", title, "data-keys": keys, on: press }, text);
      });
  }

  #cliff(keys: number, cost: number): SVGElement {
    const [x, y] = [this.#x(keys), this.#y(cost)];
    return svg("path", { class: "cliff", d: `M${x - 4},${y - 10}h8l-4,7z` }, svg("title", {}, `${keys} keys`));
  }

  #listen(picture: SVGSVGElement): void {
    const choose = (event: PointerEvent) => {
      const box = picture.getBoundingClientRect();
      this.#chose(this.#countAt(((event.clientX - box.left) / box.width) * WIDTH));
    };
    picture.addEventListener("pointerdown", (event) => {
      picture.setPointerCapture(event.pointerId);
      choose(event);
    });
    picture.addEventListener("pointermove", (event) => {
      if (picture.hasPointerCapture(event.pointerId)) choose(event);
    });
  }

  #x(count: number): number {
    const { least, most } = this.#rungs!;
    const span = Math.log(most / least) || 1;
    return LEFT + (Math.log(Math.max(least, count) / least) / span) * (WIDTH - LEFT - RIGHT);
  }

  #countAt(x: number): number {
    const { least, most } = this.#rungs!;
    return Math.round(least * (most / least) ** Math.min(1, Math.max(0, (x - LEFT) / (WIDTH - LEFT - RIGHT))));
  }

  #y(cost: number): number {
    return TOP + (1 - Math.sqrt(Math.max(0, cost) / this.#most)) * (HEIGHT - BOTTOM - TOP - 2);
  }

  get #most(): number {
    return this.#rungs!.said.costs.reduce((a, b) => Math.max(a, b), 0) || 1;
  }

  /** Round numbers of the error, as many as have room. */
  #levels(): SVGElement[] {
    const base = this.#y(0);
    const found: SVGElement[] = [svg("text", { x: LEFT - 8, y: base + 3, "text-anchor": "end" }, "0")];
    let above = base;
    for (const value of roundNumbers(this.#most)) {
      const y = this.#y(value);
      if (above - y < TICK_APART || y < TOP - 1) continue;
      above = y;
      found.push(
        svg("line", { x1: LEFT - 4, x2: WIDTH, y1: y, y2: y, class: "level" }),
        svg("text", { x: LEFT - 8, y: y + 4, "text-anchor": "end" }, String(value)),
      );
    }
    return found;
  }
}

/** 1, 2, 5, 10, ... times powers of ten up to `most`, over two of them. */
function roundNumbers(most: number): number[] {
  const power = Math.floor(Math.log10(most));
  const all = [power - 1, power].flatMap((n) => [1, 2, 5].map((digit) => Number((digit * 10 ** n).toPrecision(1))));
  return all.filter((value) => value <= most);
}
