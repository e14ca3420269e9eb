/**
 * Draws the lanes of the timeline on a canvas. The playhead is a separate element, so that playback redraws nothing.
 */

import type { ActionBar, Bar, LaneLayout, PlacedAction, Row } from "./lanes";
import type { TimeScale } from "./scale";

/** The error in each frame, mm: the mean of all joints, and that of the joint with the largest error. */
export interface FrameErrors {
  mean: Float32Array;
  max: Float32Array;
}

export interface TimelineContent {
  keys: readonly number[];
  pins: readonly number[];
  arePinsUsed: boolean;
  contacts: Readonly<Record<string, readonly (readonly [number, number])[]>>;
  errors: FrameErrors | null;
  isEdited: boolean; // the errors are those of an edit, which changes the motion on purpose
  range: readonly [number, number] | null;
  changedFrames: readonly [number, number] | null; // by the last edit step
  extremes: readonly number[];
  extremeParts: ReadonlyMap<number, readonly string[]>; // of keys, the parts of the body at the end of their travel
  isEditing: boolean;
  actions: readonly PlacedAction[];
  hoveredAction: ActionBar | null; // the action under the pointer
  hoveredSwing: Bar | null; // the swing under the pointer
  selectedSwing: Pick<Bar, "joint" | "index"> | null; // the swing that is edited
  draggedKey: { from: number; to: number } | null; // the key that is being dragged
  draggedSwing: { bar: Bar; start: number; end: number; label: string } | null; // the swing that is being dragged
  fps: number;
}

export interface Palette {
  ink: string;
  muted: string;
  line: string;
  lane: string;
  accent: string;
  soft: string;
  key: string;
  good: string;
  left: string;
  right: string;
  middle: string;
  paper: string;
  font: string;
}

type Context = CanvasRenderingContext2D;

export function paint(
  context: Context,
  scale: TimeScale,
  layout: LaneLayout,
  content: TimelineContent,
  colours: Palette,
): void {
  context.clearRect(0, 0, scale.width, layout.height);
  context.font = `11px ${colours.font}`;
  context.textBaseline = "middle";
  for (const row of layout.rows) {
    if (row.kind !== "ruler" && row.kind !== "group" && row.kind !== "joint") {
      context.fillStyle = colours.lane;
      context.fillRect(0, row.top, scale.width, row.height);
    }
  }
  fillSpan(context, scale, layout, content.changedFrames, colours.soft);
  for (const row of layout.rows) PAINTERS[row.kind](context, scale, row, content, colours);
  paintRange(context, scale, layout, content, colours);
}

function fillSpan(
  context: Context,
  scale: TimeScale,
  layout: LaneLayout,
  range: readonly [number, number] | null,
  fill: string,
): void {
  if (!range) return;
  const [a, b] = [scale.xOf(range[0] - 0.5), scale.xOf(range[1] + 0.5)];
  context.fillStyle = fill;
  context.fillRect(a, 20, b - a, layout.height - 20);
}

function paintRange(
  context: Context,
  scale: TimeScale,
  layout: LaneLayout,
  { range }: TimelineContent,
  colours: Palette,
): void {
  if (!range) return;
  const [a, b] = [scale.xOf(range[0]), scale.xOf(range[1])];
  context.globalAlpha = 0.1;
  context.fillStyle = colours.accent;
  context.fillRect(a, 0, b - a, layout.height);
  context.globalAlpha = 1;
  context.fillRect(a, 0, b - a, 3);
  for (const [x, direction] of [
    [a, 1],
    [b, -1],
  ] as const) {
    context.fillRect(x - 0.5, 0, 1, layout.height);
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x + 9 * direction, 0);
    context.lineTo(x, 12);
    context.fill();
  }
}

type Painter = (context: Context, scale: TimeScale, row: Row, content: TimelineContent, colours: Palette) => void;

const MIN_TICK_PX = 72;
const TICK_GAP_PX = 14; // between the labels of two ticks

const paintRuler: Painter = (context, scale, row, content, colours) => {
  const secondsAt = (frame: number) => ` ${Number((frame / content.fps).toFixed(2))} s`;
  const widest = context.measureText(`${Math.ceil(scale.last)}${secondsAt(Math.ceil(scale.last))}`).width;
  const { step, frames } = scale.ticks(Math.max(MIN_TICK_PX, widest + TICK_GAP_PX));
  context.fillStyle = colours.line;
  context.fillRect(0, row.height - 1, scale.width, 1);
  const minor = step >= 5 ? step / 5 : 0;
  context.fillStyle = colours.line;
  if (minor)
    for (let f = Math.max(0, Math.ceil(scale.first / minor) * minor); f <= scale.last; f += minor)
      context.fillRect(Math.round(scale.xOf(f)), row.height - 4, 1, 4);
  for (const frame of frames) {
    const x = Math.round(scale.xOf(frame));
    context.fillStyle = colours.muted;
    context.fillRect(x, row.height - 7, 1, 7);
    const text = String(frame);
    const seconds = secondsAt(frame);
    const width = context.measureText(text + seconds).width;
    if (x + 4 + width > scale.width) continue;
    context.fillText(text, x + 4, 8);
    context.globalAlpha = 0.65;
    context.fillText(seconds, x + 4 + context.measureText(text).width, 8);
    context.globalAlpha = 1;
  }
};

const paintKeys: Painter = (context, scale, row, content, colours) => {
  const middle = row.top + row.height / 2;
  const extremes = new Set(content.extremes);
  const pins = new Set(content.arePinsUsed ? content.pins : []);
  const size = Math.min(7, Math.max(3.5, 0.45 * scale.pixelsPerFrame * 4));
  for (const key of content.keys) {
    const at = content.draggedKey && key === content.draggedKey.from ? content.draggedKey.to : key;
    const x = scale.xOf(at);
    if (x < -8 || x > scale.width + 8) continue;
    traceDiamond(context, x, middle, size);
    context.fillStyle = colours.key;
    if (content.isEditing && !extremes.has(key)) {
      context.strokeStyle = colours.key;
      context.lineWidth = 1.6;
      context.fillStyle = colours.paper;
      context.fill();
      context.stroke();
    } else context.fill();
    if (pins.has(key)) {
      context.strokeStyle = colours.ink;
      context.lineWidth = 1.4;
      context.stroke();
    }
  }
};

const paintPins: Painter = (context, scale, row, content, colours) => {
  context.fillStyle = content.arePinsUsed ? colours.ink : colours.muted;
  for (const pin of content.pins) {
    const x = scale.xOf(pin);
    context.beginPath();
    context.arc(x, row.top + 5, 3.4, 0, 2 * Math.PI);
    context.fill();
    context.fillRect(x - 0.6, row.top + 6, 1.2, row.height - 7);
  }
};

const paintContacts: Painter = (context, scale, row, content, colours) => {
  context.fillStyle = row.name === "left" ? colours.left : row.name === "right" ? colours.right : colours.middle;
  for (const [a, b] of content.contacts[row.name] ?? []) {
    const [x, end] = [scale.xOf(a - 0.5), scale.xOf(b + 0.5)];
    if (end > 0 && x < scale.width) fillRoundedRect(context, x, row.top + 1, Math.max(1.5, end - x), row.height - 2, 3);
  }
};

/** Draws the mean error as an area and the error of the worst joint as a line, on one scale. */
const paintError: Painter = (context, scale, row, { errors }, colours) => {
  if (!errors?.max.length) return;
  const top = maxOf(errors.max) || 1;
  const base = row.top + row.height;
  const yOf = (value: number) => base - 1 - (value / top) * (row.height - 6);
  const nFrames = errors.max.length;
  const [from, to] = [Math.max(0, Math.floor(scale.first)), Math.min(nFrames - 1, Math.ceil(scale.last))];
  const step = Math.max(1, Math.floor(0.7 / scale.pixelsPerFrame));
  const trace = (mm: Float32Array) => {
    for (let f = from; f <= to; f += step)
      context.lineTo(scale.xOf(f), yOf(maxOf(mm.subarray(f, Math.min(to + 1, f + step)))));
  };
  context.beginPath();
  context.moveTo(scale.xOf(from), base);
  trace(errors.mean);
  context.lineTo(scale.xOf(to), base);
  context.globalAlpha = 0.35;
  context.fillStyle = colours.accent;
  context.fill();
  context.globalAlpha = 1;
  context.beginPath();
  trace(errors.max);
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.3;
  context.stroke();
};

const paintBars: Painter = (context, scale, row, content, colours) => {
  const side = row.name.toLowerCase();
  context.fillStyle = colours.line;
  context.fillRect(0, row.top + row.height / 2, scale.width, 1);
  for (const bar of row.bars ?? []) {
    const change = content.draggedSwing && isSameSwing(content.draggedSwing.bar, bar) ? content.draggedSwing : null;
    const [a, b] = change ? [change.start, change.end] : [bar.start, bar.end];
    const [x, end] = [scale.xOf(a), scale.xOf(b)];
    if (end < 0 || x > scale.width) continue;
    context.fillStyle = side.includes("left") ? colours.left : side.includes("right") ? colours.right : colours.middle;
    const strength = Math.min(1, Math.abs(bar.angle) / 60);
    context.globalAlpha = change ? 1 : 0.28 + 0.62 * strength;
    fillRoundedRect(context, x + 0.5, row.top + 2, Math.max(2, end - x - 1), row.height - 4, 3);
    context.globalAlpha = 1;
    const isSelected = content.selectedSwing !== null && isSameSwing(content.selectedSwing, bar);
    if (change || isSelected || (content.hoveredSwing && isSameSwing(content.hoveredSwing, bar))) {
      context.strokeStyle = colours.ink;
      context.lineWidth = isSelected ? 2 : 1.4;
      context.stroke();
    }
  }
  const { draggedSwing } = content;
  if (draggedSwing && row.bars?.some((bar) => isSameSwing(bar, draggedSwing.bar)))
    paintLabel(context, scale, row, draggedSwing, colours);
};

const ACTION_PADDING_PX = 4; // of the name of an action

const paintActions: Painter = (context, scale, row, content, colours) => {
  const height = row.height / 2;
  for (const { action, row: at } of content.actions) {
    const [x, end] = [scale.xOf(action.start - 0.5), scale.xOf(action.end + 0.5)];
    if (end < 0 || x > scale.width) continue;
    const top = row.top + at * height + 1;
    const isMarked = content.range?.[0] === action.start && content.range[1] === action.end;
    context.fillStyle = colours.paper;
    fillRoundedRect(context, x + 0.5, top, Math.max(2, end - x - 1), height - 2, 3);
    context.fillStyle = actionColour(action, colours);
    context.globalAlpha = isMarked ? 0.5 : 0.26;
    context.fill();
    context.globalAlpha = 1;
    if (isMarked || content.hoveredAction === action) {
      context.strokeStyle = colours.ink;
      context.lineWidth = 1.4;
      context.stroke();
    }
    paintName(context, scale, action.kind, [x, end], top + height / 2, colours);
  }
};

/** Writes a name into the visible part of a bar, shortened to what fits. */
function paintName(
  context: Context,
  scale: TimeScale,
  name: string,
  [start, end]: readonly [number, number],
  y: number,
  colours: Palette,
): void {
  const left = Math.max(0, start) + ACTION_PADDING_PX;
  const space = Math.min(scale.width, end) - ACTION_PADDING_PX - left;
  let text = name;
  while (text && context.measureText(text === name ? name : `${text}…`).width > space) text = text.slice(0, -1);
  if (text.length < Math.min(3, name.length)) return;
  context.fillStyle = colours.ink;
  context.fillText(text === name ? name : `${text}…`, left, y);
}

function actionColour({ limbs }: ActionBar, colours: Palette): string {
  const isOf = (side: string) => limbs.length > 0 && limbs.every((limb) => limb.startsWith(side));
  return isOf("left") ? colours.left : isOf("right") ? colours.right : colours.middle;
}

/** Draws the label of a dragged bar to the right of it. */
function paintLabel(
  context: Context,
  scale: TimeScale,
  row: Row,
  change: NonNullable<TimelineContent["draggedSwing"]>,
  colours: Palette,
) {
  const { width } = context.measureText(change.label);
  const x = Math.min(scale.xOf(change.end) + 6, scale.width - width - 6);
  context.fillStyle = colours.paper;
  fillRoundedRect(context, x - 3, row.top, width + 6, row.height, 3);
  context.fillStyle = colours.ink;
  context.fillText(change.label, x, row.top + row.height / 2);
}

const PAINTERS: Record<Row["kind"], Painter> = {
  ruler: paintRuler,
  keys: paintKeys,
  pins: paintPins,
  contact: paintContacts,
  error: paintError,
  actions: paintActions,
  group: paintBars,
  joint: paintBars,
};

export function isSameSwing(a: Pick<Bar, "joint" | "index">, b: Pick<Bar, "joint" | "index">): boolean {
  return a.joint === b.joint && a.index === b.index;
}

export function maxOf(values: Float32Array): number {
  return values.reduce((a, b) => Math.max(a, b), 0);
}

/** Rounds up to 1, 2 or 5 times a power of ten. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((k) => k * power).find((step) => step >= value * 0.999) ?? 10 * power;
}

function traceDiamond(context: Context, x: number, y: number, size: number): void {
  context.beginPath();
  context.moveTo(x, y - 1.25 * size);
  context.lineTo(x + size, y);
  context.lineTo(x, y + 1.25 * size);
  context.lineTo(x - size, y);
  context.closePath();
}

function fillRoundedRect(context: Context, x: number, y: number, width: number, height: number, radius: number): void {
  context.beginPath();
  context.roundRect(x, y, width, height, Math.min(radius, width / 2));
  context.fill();
}
