/** Keys and error curves of all methods on one time axis. */

import { Signal } from "../state/signal";
import { maxOf, roundUp } from "../timeline/paint";
import { TimeScale } from "../timeline/scale";
import { fill, h } from "../ui/dom";
import { cssColour } from "../ui/theme";
import type { CompareState } from "./state";

const RULER = 20;
const LANE = 20;
const CHART = 120;

/** Colours of the methods by position, distinguishable in light and dark. */
export const METHOD_COLOURS = [
  "light-dark(#1864ab, #74b0e4)", "light-dark(#b93a0a, #f39a6b)", "light-dark(#237032, #7fcf8f)",
  "light-dark(#862e9c, #cf9be0)", "light-dark(#8f5000, #f0b15f)", "light-dark(#0b7285, #66c7d6)",
]; // biome-ignore format: one look

export class ErrorAxis {
  readonly element: HTMLElement;
  readonly scale: TimeScale;
  readonly slider: HTMLElement;
  readonly #state: CompareState;
  readonly #canvas = h("canvas", { "aria-hidden": "true" });
  readonly #playhead = h("div", { class: "playhead" });
  readonly #gutter = h("div", { class: "timeline-gutter" });
  readonly #maxMm = new Signal(1); // mm at the top of the chart
  readonly #resizeObserver: ResizeObserver;

  constructor(state: CompareState) {
    this.#state = state;
    this.scale = new TimeScale(state.nFrames);
    this.slider = h("div", {
      class: "timeline-slider", role: "slider", tabindex: 0, "aria-label": "Frame", "aria-valuemin": 0,
      "aria-valuemax": state.nFrames - 1,
    }); // biome-ignore format: one look
    const field = h("div", { class: "timeline-field" }, this.#canvas, this.#playhead, this.slider);
    this.element = h(
      "section",
      { class: "timeline compare-axis", "aria-label": "Keys and errors over time" },
      this.#gutter,
      field,
    );
    this.#listen();
    this.#resizeObserver = new ResizeObserver(() => this.layOut());
    this.#resizeObserver.observe(field);
  }

  /** Lays out one lane for each method, then the chart. */
  layOut(): void {
    const { runs } = this.#state;
    const width = this.#canvas.parentElement?.clientWidth ?? 0;
    const height = RULER + LANE * runs.value.length + CHART;
    const ratio = window.devicePixelRatio || 1;
    this.scale.width = width;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(height * ratio);
    this.#canvas.style.height = `${height}px`;
    const labels = runs.value.map(({ method }, n) => {
      const label = h("div", { class: "lane-label", text: method });
      label.style.top = `${RULER + n * LANE}px`;
      label.style.height = `${LANE}px`;
      label.style.color = METHOD_COLOURS[n % METHOD_COLOURS.length]!;
      return label;
    });
    const error = h(
      "div",
      { class: "lane-label lane-error" },
      "Mean error",
      h("small", { text: `up to ${this.#maxMm.value} mm` }),
    );
    error.style.top = `${RULER + LANE * runs.value.length}px`;
    error.style.height = `${CHART}px`;
    fill(this.#gutter, ...labels, error);
    this.paint();
  }

  paint(): void {
    const context = this.#canvas.getContext("2d");
    const { scale } = this;
    if (!context || scale.width <= 1) return;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, scale.width, this.#canvas.height);
    const colours = METHOD_COLOURS.map(resolveColour);
    this.#paintRuler(context);
    const { value: all } = this.#state.runs;
    const peaks = all.map(({ curves }) => maxOf(curves.value?.errors?.mean ?? new Float32Array()));
    const max = Math.max(0, ...peaks);
    const top = roundUp(max);
    if (top !== this.#maxMm.value) {
      this.#maxMm.value = top;
      const label = this.#gutter.querySelector("small");
      if (label) label.textContent = `up to ${top} mm`;
    }
    this.#paintLevels(context, top);
    all.forEach(({ keys, curves }, n) => {
      context.fillStyle = cssColour("--lane");
      context.fillRect(0, RULER + n * LANE + 1, scale.width, LANE - 2);
      context.fillStyle = context.strokeStyle = colours[n % colours.length]!;
      for (const key of keys.value) paintKey(context, scale.xOf(key), RULER + (n + 0.5) * LANE);
      if (curves.value?.errors) this.#paintCurve(context, curves.value.errors.mean, top);
    });
    this.placePlayhead();
  }

  /** Moves the playhead to the current frame. */
  placePlayhead(): void {
    const frame = this.#state.frame.value;
    const x = this.scale.xOf(frame);
    this.slider.style.transform = this.#playhead.style.transform = `translateX(${x.toFixed(1)}px)`;
    this.slider.setAttribute("aria-valuenow", String(frame));
    this.slider.setAttribute("aria-valuetext", `Frame ${frame}, ${(frame / this.#state.fps).toFixed(2)} s`);
  }

  dispose(): void {
    this.#resizeObserver.disconnect();
  }

  #paintRuler(context: CanvasRenderingContext2D): void {
    context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = "middle";
    context.fillStyle = cssColour("--muted");
    for (const frame of this.scale.ticks(72).frames) {
      const x = Math.round(this.scale.xOf(frame));
      context.fillRect(x, RULER - 6, 1, 5);
      context.fillText(String(frame), x + 4, 9);
    }
  }

  /** Draws the grid lines of the error. */
  #paintLevels(context: CanvasRenderingContext2D, top: number): void {
    context.textAlign = "right";
    for (const mm of [top, top / 10]) {
      const y = Math.round(this.#yOf(mm, top));
      context.fillStyle = cssColour("--line");
      context.fillRect(0, y, this.scale.width, 1);
      context.fillStyle = cssColour("--muted");
      context.fillText(`${Number(mm.toPrecision(2))} mm`, this.scale.width - 2, y + 8);
    }
    context.textAlign = "left";
  }

  /** Maps an error to the chart by its square root, so that small errors stay distinguishable beside a large one. */
  #yOf(mm: number, top: number): number {
    const base = RULER + LANE * this.#state.runs.value.length + CHART - 2;
    return base - Math.sqrt(Math.max(0, mm) / top) * (CHART - 10);
  }

  #paintCurve(context: CanvasRenderingContext2D, mm: Float32Array, top: number): void {
    context.beginPath();
    mm.forEach((value, frame) => {
      context.lineTo(this.scale.xOf(frame), this.#yOf(value, top));
    });
    context.lineWidth = 1.4;
    context.stroke();
  }

  #listen(): void {
    const goToPointer = (event: PointerEvent) => {
      this.#state.goTo(this.scale.frameAt(event.clientX - this.#canvas.getBoundingClientRect().left));
    };
    this.#canvas.addEventListener("pointerdown", (event) => {
      this.#canvas.setPointerCapture(event.pointerId);
      this.slider.focus({ preventScroll: true });
      event.preventDefault();
      goToPointer(event);
    });
    this.#canvas.addEventListener("pointermove", (event) => {
      if (this.#canvas.hasPointerCapture(event.pointerId)) goToPointer(event);
    });
  }
}

function paintKey(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.beginPath();
  context.moveTo(x, y - 7);
  context.lineTo(x + 5, y);
  context.lineTo(x, y + 7);
  context.lineTo(x - 5, y);
  context.fill();
}

function resolveColour(css: string): string {
  const probe = h("i", { hidden: true });
  probe.style.color = css;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
