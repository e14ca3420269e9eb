/** The timeline: frames, keys, pins, contacts, error and swings on one axis, with a playhead that is a slider. */

import "./timeline.css";
import { fill, h } from "../ui/dom";
import { millimetres } from "../ui/format";
import { toSentence } from "../ui/states";
import { cssColour } from "../ui/theme";
import { type GestureListeners, listenToGestures } from "./gestures";
import type { Hit } from "./hit_test";
import { describeKey, laneLabel } from "./labels";
import { type ActionBar, type Bar, type Group, type LaneLayout, layOutLanes, placeActions } from "./lanes";
import { maxOf, type Palette, paint, type TimelineContent } from "./paint";
import { TimeScale } from "./scale";
import { previewChange, type SwingChange } from "./swing_drag";

export interface TimelineOptions {
  nFrames: number;
  fps: number;
  contacts: TimelineContent["contacts"];
  groups: readonly Group[];
  hasActions: boolean;
}

export interface TimelineListeners {
  scrub(frame: number): void;
  pin(frame: number): void;
  range(range: readonly [number, number] | null): void;
  moveKey(from: number, to: number): void;
  selectAction(action: ActionBar): void;
  /** A swing was changed; null if it was only selected. */
  changeSwing(bar: Bar, change: SwingChange | null): void;
}

const ERROR_TITLE =
  "Distance from the capture in each frame: the line is the joint that is farthest away, the area the mean of all joints";
const CHANGE_TITLE = `${ERROR_TITLE}. It includes what you have changed.`;
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
  readonly #playhead = h("div", { class: "playhead" });
  readonly #tip = h("div", { class: "timeline-tip", hidden: true });
  readonly #options: TimelineOptions;
  readonly listeners: TimelineListeners;
  readonly #openGroups = new Set<string>();
  readonly #resizeObserver: ResizeObserver;
  readonly #content: TimelineContent;
  #bars: readonly Bar[] = [];
  #layout: LaneLayout = { rows: [], height: 0 };
  #palette: Palette | null = null;
  #frame = 0;
  #canMoveKeys = false;
  #canSelectSwings = false;
  #canChangeSwings = false;

  constructor(options: TimelineOptions, listeners: TimelineListeners) {
    this.#options = options;
    this.listeners = listeners;
    this.scale = new TimeScale(options.nFrames);
    this.#content = {
      keys: [], pins: [], arePinsUsed: true, contacts: options.contacts, errors: null, isEdited: false, range: null, changedFrames: null,
      extremes: [], extremeParts: new Map(), isEditing: false, actions: [], hoveredAction: null, hoveredSwing: null, selectedSwing: null, draggedKey: null, draggedSwing: null, fps: options.fps,
    }; // biome-ignore format: one look
    this.slider = h("div", {
      class: "timeline-slider", role: "slider", tabindex: 0, "aria-label": "Frame", "aria-orientation": "horizontal",
      "aria-valuemin": 0, "aria-valuemax": options.nFrames - 1, "aria-valuenow": 0,
    }); // biome-ignore format: one look
    const field = h("div", { class: "timeline-field" }, this.#canvas, this.#playhead, this.slider, this.#tip);
    this.element = h("section", { class: "timeline", "aria-label": "Timeline" }, this.#gutter, field);
    listenToGestures(this.#canvas, this.scale, () => this.#gestureState(), this.#gestureListeners());
    this.#resizeObserver = new ResizeObserver(() => this.#resize());
    this.#resizeObserver.observe(field);
    this.#layOut();
  }

  /** Changes the content and redraws. */
  show(change: Partial<TimelineContent>): void {
    Object.assign(this.#content, change);
    this.paint();
  }

  set bars(bars: readonly Bar[]) {
    this.#bars = bars;
    this.#layOut();
  }

  /** The number of frames: an edit may make the clip longer or shorter. */
  set nFrames(nFrames: number) {
    this.scale.nFrames = nFrames;
    this.slider.setAttribute("aria-valuemax", String(nFrames - 1));
    this.frame = this.#frame;
    this.paint();
  }

  set actions(actions: readonly ActionBar[]) {
    this.show({ actions: placeActions(actions), hoveredAction: null });
  }

  /** Whether a swing is selected by pressing it. */
  set canSelectSwings(canSelect: boolean) {
    this.#canSelectSwings = canSelect;
  }

  /** Sets what may be dragged. */
  setDraggable(canMoveKeys: boolean, canChangeSwings: boolean): void {
    this.#canMoveKeys = canMoveKeys;
    this.#canChangeSwings = canChangeSwings;
    this.#content.isEditing = canMoveKeys;
    this.element.classList.toggle("can-change-swings", canChangeSwings);
    this.paint();
  }

  /** Opens all body parts, so that swings can be dragged. */
  openAll(): void {
    for (const group of this.#options.groups) this.#openGroups.add(group.name);
    this.#layOut();
  }

  set frame(frame: number) {
    this.#frame = frame;
    this.#placePlayhead();
    this.slider.setAttribute("aria-valuenow", String(frame));
    const key = this.#content.keys.includes(frame) ? `, ${this.#describeKey(frame)}` : "";
    const seconds = (frame / this.#options.fps).toFixed(2);
    this.slider.setAttribute("aria-valuetext", `Frame ${frame} of ${this.scale.nFrames - 1}, ${seconds} s${key}`);
  }

  /** Reads the colours of the page again. */
  updateColours(): void {
    this.#palette = this.#readPalette();
    this.paint();
  }

  #readPalette(): Palette {
    const colours = Object.fromEntries(Object.entries(COLOURS).map(([name, css]) => [name, cssColour(css)]));
    return { ...colours, font: getComputedStyle(document.body).fontFamily } as Palette;
  }

  changeScale(change: (scale: TimeScale) => void): void {
    change(this.scale);
    this.paint();
  }

  paint(): void {
    const context = this.#canvas.getContext("2d");
    if (!context || this.scale.width <= 1) return;
    if (!this.#palette) this.#palette = this.#readPalette();
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paint(context, this.scale, this.#layout, this.#content, this.#palette);
    this.#placePlayhead();
    this.#updateErrorLabel();
  }

  dispose(): void {
    this.#resizeObserver.disconnect();
  }

  #gestureState() {
    const { keys, range, actions } = this.#content;
    return {
      layout: this.#layout,
      keys,
      bars: this.#bars,
      range,
      actions,
      canMoveKeys: this.#canMoveKeys,
      canSelectSwings: this.#canSelectSwings,
      canChangeSwings: this.#canChangeSwings,
    };
  }

  #gestureListeners(): GestureListeners {
    return {
      scrub: (frame) => this.listeners.scrub(frame),
      pin: (frame) => this.listeners.pin(frame),
      range: (range) => this.listeners.range(range),
      onViewChange: () => this.paint(),
      hover: (hit) => this.#hover(hit),
      moveKey: (from, to, done) => {
        const keys = this.#content.keys;
        const at = keys.indexOf(from);
        const min = (keys[at - 1] ?? -1) + 1;
        const max = (keys[at + 1] ?? this.scale.nFrames) - 1;
        const target = Math.min(max, Math.max(min, to));
        this.show({ draggedKey: done ? null : { from, to: target } });
        if (done && target !== from) this.listeners.moveKey(from, target);
        else this.listeners.scrub(target);
      },
      selectSwing: (bar) => this.listeners.changeSwing(bar, null),
      selectAction: (action) => this.listeners.selectAction(action),
      changeSwing: (bar, change, done) => {
        this.show({ draggedSwing: done || !change ? null : previewChange(bar, change) });
        if (change) this.#tip.hidden = true; // the label beside the bar is enough
        if (done && change) this.listeners.changeSwing(bar, change);
      },
    };
  }

  #hover(hit: Hit | null): void {
    const bar = hit?.on === "bar" ? hit.bar : null;
    const action = hit?.on === "action" ? hit.action : null;
    const cursors = {
      key: "pointer", pin: "copy", edge: "ew-resize", lane: "default", bar: "default", action: "pointer",
    }; // biome-ignore format: one look
    let cursor: string = hit ? cursors[hit.on] : "default";
    if (hit?.on === "bar" && this.#canChangeSwings) cursor = hit.handle === "middle" ? "move" : "ew-resize";
    if (hit?.on === "key" && this.#canMoveKeys) cursor = "ew-resize";
    this.#canvas.style.cursor = cursor;
    if (bar !== this.#content.hoveredSwing || action !== this.#content.hoveredAction)
      this.show({ hoveredSwing: bar, hoveredAction: action });
    const key = hit?.on === "key" && !this.#content.draggedKey ? hit.key : null;
    this.#tip.hidden = !bar && !action && key === null;
    if (key !== null) {
      const lane = this.#layout.rows.find((each) => each.kind === "keys");
      this.#placeTip(`Frame ${key}: ${this.#describeKey(key)}`, key, (lane?.top ?? 0) + (lane?.height ?? 0) + 28);
    }
    if (action) {
      const lane = this.#layout.rows.find((each) => each.kind === "actions");
      this.#placeTip(`${toSentence(action.description)} Click to mark its range`, action.start, lane?.top ?? 0);
    }
    if (!bar) return;
    const row = this.#layout.rows.find((each) => each.kind === "joint" && each.name === bar.joint);
    const hint = this.#canChangeSwings
      ? " · drag to move, drag an end to change the length, drag up or down to change the strength"
      : "";
    const seconds = ((bar.end - bar.start) / this.#options.fps).toFixed(2);
    this.#placeTip(`${bar.joint}: ${Math.round(bar.angle)}° in ${seconds} s${hint}`, bar.start, row?.top ?? 0);
  }

  #describeKey(frame: number): string {
    return describeKey(this.#content.extremeParts.get(frame), this.#content.extremes.includes(frame));
  }

  /** Shows a text above a lane, from a frame on. */
  #placeTip(text: string, frame: number, top: number): void {
    this.#tip.textContent = text;
    const x = Math.min(this.scale.width - this.#tip.offsetWidth - 4, Math.max(4, this.scale.xOf(frame)));
    this.#tip.style.transform = `translate(${x}px, ${top - 26}px)`;
  }

  #layOut(): void {
    this.#layout = layOutLanes(
      Object.keys(this.#options.contacts),
      this.#options.groups,
      this.#bars,
      this.#openGroups,
      { hasPins: true, hasActions: this.#options.hasActions },
    );
    const labels = this.#layout.rows.map((row) => {
      const label = laneLabel(row, () => this.#toggle(row.name));
      label.style.top = `${row.top}px`;
      label.style.height = `${row.height}px`;
      return label;
    });
    const focused = this.#gutter.contains(document.activeElement) ? document.activeElement?.id : null;
    fill(this.#gutter, ...labels);
    if (focused) document.getElementById(focused)?.focus();
    this.#gutter.style.height = `${this.#layout.height}px`;
    this.#resize();
  }

  #toggle(group: string): void {
    if (!this.#openGroups.delete(group)) this.#openGroups.add(group);
    this.#layOut();
  }

  #updateErrorLabel(): void {
    const label = this.#gutter.querySelector(".lane-error");
    const { errors, isEdited } = this.#content;
    if (!label) return;
    const peak = (mm: Float32Array) => `≤ ${millimetres(maxOf(mm))}`;
    fill(
      label,
      isEdited ? "Change" : "Error",
      errors && h("small", { class: "lane-error-max", text: `Worst ${peak(errors.max)}` }),
      errors && h("small", { class: "lane-error-mean", text: `Mean ${peak(errors.mean)}` }),
    );
    label.setAttribute("title", isEdited ? CHANGE_TITLE : ERROR_TITLE);
  }

  #resize(): void {
    const width = this.#canvas.parentElement?.clientWidth ?? 0;
    if (!width) return;
    const ratio = window.devicePixelRatio || 1;
    this.scale.width = width;
    this.#canvas.width = Math.round(width * ratio);
    this.#canvas.height = Math.round(this.#layout.height * ratio);
    this.#canvas.style.height = `${this.#layout.height}px`;
    this.paint();
  }

  #placePlayhead(): void {
    const x = this.scale.xOf(this.#frame);
    const isVisible = x >= -1 && x <= this.scale.width + 1;
    this.#playhead.hidden = !isVisible;
    this.slider.style.transform = this.#playhead.style.transform = `translateX(${x.toFixed(1)}px)`;
  }
}
