/** The timeline: frames, keys, pins, feet, error and swings on one axis, with a playhead that is a slider. */

import "./timeline.css";
import { fill, h } from "../ui/dom";
import { cssColour } from "../ui/theme";
import { listen, type Meant } from "./gestures";
import type { Hit } from "./hits";
import { laneLabel } from "./labels";
import { type Bar, type Group, type Laid, lay } from "./lanes";
import { type Palette, paint, roundAbove, type Shown } from "./paint";
import { TimeScale } from "./scale";
import { type Stretch, stretched } from "./stretching";

export interface TimelineOf {
  nFrames: number;
  fps: number;
  contacts: Shown["contacts"];
  groups: readonly Group[];
}

export interface Says {
  scrub(frame: number): void;
  pin(frame: number): void;
  range(range: readonly [number, number] | null): void;
  moveKey(from: number, to: number): void;
  /** A swing was changed; null: it was taken hold of. */
  stretch(bar: Bar, change: Stretch | null): void;
}

const COLOURS = {
  ink: "--ink", muted: "--muted", line: "--line", lane: "--lane", accent: "--accent", soft: "--accent-soft",
  key: "--key", good: "--good", left: "--left", right: "--right", middle: "--middle", paper: "--paper",
} as const; // biome-ignore format: one look

export class Timeline {
  readonly element: HTMLElement;
  readonly scale: TimeScale;
  readonly slider: HTMLElement;
  readonly #canvas = h("canvas", { "aria-hidden": "true" });
  readonly #gutter = h("div", { class: "timeline-gutter" });
  readonly #head = h("div", { class: "playhead" });
  readonly #tip = h("div", { class: "timeline-tip", hidden: true });
  readonly #of: TimelineOf;
  readonly says: Says;
  readonly #open = new Set<string>();
  readonly #watch: ResizeObserver;
  readonly #shown: Shown;
  #bars: readonly Bar[] = [];
  #laid: Laid = { rows: [], height: 0 };
  #palette: Palette | null = null;
  #frame = 0;
  #canMoveKeys = false;
  #canStretch = false;

  constructor(of: TimelineOf, says: Says) {
    this.#of = of;
    this.says = says;
    this.scale = new TimeScale(of.nFrames);
    this.#shown = {
      keys: [], pins: [], arePinsKept: true, contacts: of.contacts, error: null, range: null, changed: null,
      extremes: [], isEditing: false, grip: null, chosen: null, moved: null, stretched: null, fps: of.fps,
    }; // biome-ignore format: one look
    this.slider = h("div", {
      class: "timeline-slider", role: "slider", tabindex: 0, "aria-label": "Frame", "aria-orientation": "horizontal",
      "aria-valuemin": 0, "aria-valuemax": of.nFrames - 1, "aria-valuenow": 0,
    }); // biome-ignore format: one look
    const field = h("div", { class: "timeline-field" }, this.#canvas, this.#head, this.slider, this.#tip);
    this.element = h("section", { class: "timeline", "aria-label": "Timeline" }, this.#gutter, field);
    listen(this.#canvas, this.scale, () => this.#now(), this.#meant());
    this.#watch = new ResizeObserver(() => this.#resize());
    this.#watch.observe(field);
    this.#lay();
  }

  /** Changes what is shown, and draws it at once. */
  show(change: Partial<Shown>): void {
    Object.assign(this.#shown, change);
    this.paint();
  }

  set bars(bars: readonly Bar[]) {
    this.#bars = bars;
    this.#lay();
  }

  /** What may be dragged. */
  allow(keys: boolean, swings: boolean): void {
    this.#canMoveKeys = keys;
    this.#canStretch = swings;
    this.#shown.isEditing = keys;
    this.element.classList.toggle("stretching", swings);
    this.paint();
  }

  /** Opens all parts of the body, so that swings can be taken hold of. */
  openAll(): void {
    for (const group of this.#of.groups) this.#open.add(group.name);
    this.#lay();
  }

  set frame(frame: number) {
    this.#frame = frame;
    this.#placeHead();
    this.slider.setAttribute("aria-valuenow", String(frame));
    const isKey = this.#shown.keys.includes(frame) ? ", key" : "";
    const seconds = (frame / this.#of.fps).toFixed(2);
    this.slider.setAttribute("aria-valuetext", `Frame ${frame} of ${this.#of.nFrames - 1}, ${seconds} s${isKey}`);
  }

  /** Reads the colours of the page anew. */
  recolour(): void {
    this.#palette = this.#colours();
    this.paint();
  }

  #colours(): Palette {
    const read = Object.fromEntries(Object.entries(COLOURS).map(([name, css]) => [name, cssColour(css)]));
    return { ...read, font: getComputedStyle(document.body).fontFamily } as Palette;
  }

  rezoom(change: (scale: TimeScale) => void): void {
    change(this.scale);
    this.paint();
  }

  paint(): void {
    const to = this.#canvas.getContext("2d");
    if (!to || this.scale.width <= 1) return;
    if (!this.#palette) this.#palette = this.#colours();
    const ratio = window.devicePixelRatio || 1;
    to.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint(to, this.scale, this.#laid, this.#shown, this.#palette);
    this.#placeHead();
    this.#sayError();
  }

  dispose(): void {
    this.#watch.disconnect();
  }

  #now() {
    const { keys, range } = this.#shown;
    return {
      laid: this.#laid,
      keys,
      bars: this.#bars,
      range,
      canMoveKeys: this.#canMoveKeys,
      canStretch: this.#canStretch,
    };
  }

  #meant(): Meant {
    return {
      scrub: (frame) => this.says.scrub(frame),
      pin: (frame) => this.says.pin(frame),
      range: (range) => this.says.range(range),
      changed: () => this.paint(),
      hover: (hit) => this.#hover(hit),
      moveKey: (from, to, done) => {
        const keys = this.#shown.keys;
        const at = keys.indexOf(from);
        const least = (keys[at - 1] ?? -1) + 1;
        const most = (keys[at + 1] ?? this.#of.nFrames) - 1;
        const free = Math.min(most, Math.max(least, to));
        this.show({ moved: done ? null : { from, to: free } });
        if (done && free !== from) this.says.moveKey(from, free);
        else this.says.scrub(free);
      },
      take: (bar) => this.says.stretch(bar, null),
      stretch: (bar, change, done) => {
        this.show({ stretched: done || !change ? null : stretched(bar, change) });
        if (change) this.#tip.hidden = true; // what is said beside the bar is enough
        if (done && change) this.says.stretch(bar, change);
      },
    };
  }

  #hover(hit: Hit | null): void {
    const grip = hit?.on === "bar" ? hit.bar : null;
    const cursors = { key: "pointer", pin: "copy", edge: "ew-resize", lane: "default", bar: "default" };
    let cursor: string = hit ? cursors[hit.on] : "default";
    if (hit?.on === "bar" && this.#canStretch) cursor = hit.grip === "middle" ? "move" : "ew-resize";
    if (hit?.on === "key" && this.#canMoveKeys) cursor = "ew-resize";
    this.#canvas.style.cursor = cursor;
    if (grip !== this.#shown.grip) this.show({ grip });
    this.#tip.hidden = !grip;
    if (!grip) return;
    const row = this.#laid.rows.find((each) => each.kind === "joint" && each.name === grip.joint);
    const how = this.#canStretch ? " · drag: move, edges: length, up and down: strength" : "";
    const seconds = ((grip.end - grip.start) / this.#of.fps).toFixed(2);
    this.#tip.textContent = `${grip.joint}: ${Math.round(grip.angle)}° in ${seconds} s${how}`;
    const x = Math.min(this.scale.width - this.#tip.offsetWidth - 4, Math.max(4, this.scale.xOf(grip.start)));
    this.#tip.style.transform = `translate(${x}px, ${(row?.top ?? 0) - 26}px)`;
  }

  #lay(): void {
    this.#laid = lay(Object.keys(this.#of.contacts), this.#of.groups, this.#bars, this.#open, true);
    const labels = this.#laid.rows.map((row) => {
      const label = laneLabel(row, () => this.#toggle(row.name));
      label.style.top = `${row.top}px`;
      label.style.height = `${row.height}px`;
      return label;
    });
    const focused = this.#gutter.contains(document.activeElement) ? document.activeElement?.id : null;
    fill(this.#gutter, ...labels);
    if (focused) document.getElementById(focused)?.focus();
    this.#gutter.style.height = `${this.#laid.height}px`;
    this.#resize();
  }

  #toggle(group: string): void {
    if (!this.#open.delete(group)) this.#open.add(group);
    this.#lay();
  }

  #sayError(): void {
    const label = this.#gutter.querySelector(".lane-error");
    const { error } = this.#shown;
    if (!label) return;
    const most = error?.reduce((a, b) => Math.max(a, b), 0) ?? 0;
    fill(label, "Error", h("small", { text: error ? `up to ${roundAbove(most)} mm` : "" }));
  }

  #resize(): void {
    const width = this.#canvas.parentElement?.clientWidth ?? 0;
    if (!width) return;
    const ratio = window.devicePixelRatio || 1;
    this.scale.width = width;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(this.#laid.height * ratio);
    this.#canvas.style.height = `${this.#laid.height}px`;
    this.paint();
  }

  #placeHead(): void {
    const x = this.scale.xOf(this.#frame);
    const isSeen = x >= -1 && x <= this.scale.width + 1;
    this.#head.hidden = !isSeen;
    this.slider.style.transform = this.#head.style.transform = `translateX(${x.toFixed(1)}px)`;
  }
}
