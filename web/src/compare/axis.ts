/** Key marks and error curves of all methods on one time axis. */

import { Signal } from "../state/signal";
import { roundAbove } from "../timeline/paint";
import { TimeScale } from "../timeline/scale";
import { fill, h } from "../ui/dom";
import { cssColour } from "../ui/theme";
import type { CompareState } from "./state";

const RULER = 20;
const LANE = 20;
const CHART = 120;

/** Colours of methods, by their place: told apart in light and dark. */
export const LINES = [
  "light-dark(#1864ab, #74b0e4)", "light-dark(#b93a0a, #f39a6b)", "light-dark(#237032, #7fcf8f)",
  "light-dark(#862e9c, #cf9be0)", "light-dark(#8f5000, #f0b15f)", "light-dark(#0b7285, #66c7d6)",
]; // biome-ignore format: one look

export class Axis {
  readonly element: HTMLElement;
  readonly scale: TimeScale;
  readonly slider: HTMLElement;
  readonly #state: CompareState;
  readonly #canvas = h("canvas", { "aria-hidden": "true" });
  readonly #head = h("div", { class: "playhead" });
  readonly #gutter = h("div", { class: "timeline-gutter" });
  readonly #most = new Signal(1); // mm at the top of the chart
  readonly #watch: ResizeObserver;

  constructor(state: CompareState) {
    this.#state = state;
    this.scale = new TimeScale(state.nFrames);
    this.slider = h("div", {
      class: "timeline-slider", role: "slider", tabindex: 0, "aria-label": "Frame", "aria-valuemin": 0,
      "aria-valuemax": state.nFrames - 1,
    }); // biome-ignore format: one look
    const field = h("div", { class: "timeline-field" }, this.#canvas, this.#head, this.slider);
    this.element = h(
      "section",
      { class: "timeline compare-axis", "aria-label": "Keys and errors over time" },
      this.#gutter,
      field,
    );
    this.#listen();
    this.#watch = new ResizeObserver(() => this.lay());
    this.#watch.observe(field);
  }

  /** One lane for each method, then the chart. */
  lay(): void {
    const { contenders } = this.#state;
    const width = this.#canvas.parentElement?.clientWidth ?? 0;
    const height = RULER + LANE * contenders.value.length + CHART;
    const ratio = window.devicePixelRatio || 1;
    this.scale.width = width;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    this.#canvas.style.height = `${height}px`;
    const labels = contenders.value.map(({ method }, n) => {
      const label = h("div", { class: "lane-label", text: method });
      label.style.top = `${RULER + n * LANE}px`;
      label.style.height = `${LANE}px`;
      label.style.color = LINES[n % LINES.length]!;
      return label;
    });
    const error = h(
      "div",
      { class: "lane-label lane-error" },
      "Error",
      h("small", { text: `up to ${this.#most.value} mm` }),
    );
    error.style.top = `${RULER + LANE * contenders.value.length}px`;
    error.style.height = `${CHART}px`;
    fill(this.#gutter, ...labels, error);
    this.paint();
  }

  paint(): void {
    const to = this.#canvas.getContext("2d");
    const { scale } = this;
    if (!to || scale.width <= 1) return;
    const ratio = window.devicePixelRatio || 1;
    to.setTransform(ratio, 0, 0, ratio, 0, 0);
    to.clearRect(0, 0, scale.width, this.#canvas.height);
    const colours = LINES.map(asColour);
    this.#ruler(to);
    const { value: all } = this.#state.contenders;
    const peaks = all.map(({ curves }) =>
      (curves.value?.perFrame ?? new Float32Array()).reduce((a, b) => Math.max(a, b), 0),
    );
    const most = Math.max(0, ...peaks);
    const top = roundAbove(most);
    if (top !== this.#most.value) {
      this.#most.value = top;
      const label = this.#gutter.querySelector("small");
      if (label) label.textContent = `up to ${top} mm`;
    }
    this.#heights(to, top);
    all.forEach(({ keys, curves }, n) => {
      to.fillStyle = cssColour("--lane");
      to.fillRect(0, RULER + n * LANE + 1, scale.width, LANE - 2);
      to.fillStyle = to.strokeStyle = colours[n % colours.length]!;
      for (const key of keys.value) mark(to, scale.xOf(key), RULER + (n + 0.5) * LANE);
      if (curves.value?.perFrame) this.#curve(to, curves.value.perFrame, top);
    });
    this.place();
  }

  /** Puts the playhead where the frame is. */
  place(): void {
    const frame = this.#state.frame.value;
    const x = this.scale.xOf(frame);
    this.slider.style.transform = this.#head.style.transform = `translateX(${x.toFixed(1)}px)`;
    this.slider.setAttribute("aria-valuenow", String(frame));
    this.slider.setAttribute("aria-valuetext", `Frame ${frame}, ${(frame / this.#state.fps).toFixed(2)} s`);
  }

  dispose(): void {
    this.#watch.disconnect();
  }

  #ruler(to: CanvasRenderingContext2D): void {
    to.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    to.textBaseline = "middle";
    to.fillStyle = cssColour("--muted");
    for (const frame of this.scale.ticks(72).frames) {
      const x = Math.round(this.scale.xOf(frame));
      to.fillRect(x, RULER - 6, 1, 5);
      to.fillText(String(frame), x + 4, 9);
    }
  }

  /** Lines that say how high errors are. */
  #heights(to: CanvasRenderingContext2D, top: number): void {
    to.textAlign = "right";
    for (const mm of [top, top / 10]) {
      const y = Math.round(this.#yOf(mm, top));
      to.fillStyle = cssColour("--line");
      to.fillRect(0, y, this.scale.width, 1);
      to.fillStyle = cssColour("--muted");
      to.fillText(`${Number(mm.toPrecision(2))} mm`, this.scale.width - 2, y + 8);
    }
    to.textAlign = "left";
  }

  /** Where an error lies: by its root, so that small ones can be told apart beside a large one. */
  #yOf(mm: number, top: number): number {
    const base = RULER + LANE * this.#state.contenders.value.length + CHART - 2;
    return base - Math.sqrt(Math.max(0, mm) / top) * (CHART - 10);
  }

  #curve(to: CanvasRenderingContext2D, mm: Float32Array, top: number): void {
    to.beginPath();
    mm.forEach((value, frame) => {
      to.lineTo(this.scale.xOf(frame), this.#yOf(value, top));
    });
    to.lineWidth = 1.4;
    to.stroke();
  }

  #listen(): void {
    const go = (event: PointerEvent) => {
      this.#state.goTo(this.scale.frameAt(event.clientX - this.#canvas.getBoundingClientRect().left));
    };
    this.#canvas.addEventListener("pointerdown", (event) => {
      this.#canvas.setPointerCapture(event.pointerId);
      this.slider.focus({ preventScroll: true });
      event.preventDefault();
      go(event);
    });
    this.#canvas.addEventListener("pointermove", (event) => {
      if (this.#canvas.hasPointerCapture(event.pointerId)) go(event);
    });
  }
}

function mark(to: CanvasRenderingContext2D, x: number, y: number): void {
  to.beginPath();
  to.moveTo(x, y - 7);
  to.lineTo(x + 5, y);
  to.lineTo(x, y + 7);
  to.lineTo(x - 5, y);
  to.fill();
}

function asColour(css: string): string {
  const probe = h("i", { hidden: true });
  probe.style.color = css;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
