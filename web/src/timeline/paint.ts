/** Draws the lanes of the timeline on a canvas. The playhead is no part of it, so that playing draws nothing here. */

import type { Bar, Laid, Row } from "./lanes";
import type { TimeScale } from "./scale";

export interface Shown {
  keys: readonly number[];
  pins: readonly number[];
  arePinsKept: boolean;
  contacts: Readonly<Record<string, readonly (readonly [number, number])[]>>;
  error: Float32Array | null; // mm, for each frame
  range: readonly [number, number] | null;
  changed: readonly [number, number] | null; // what the last edit touched
  extremes: readonly number[];
  isEditing: boolean;
  grip: Bar | null; // the swing under the pointer
  chosen: Pick<Bar, "joint" | "index"> | null; // the swing that is edited
  moved: { from: number; to: number } | null; // a key on its way
  stretched: { bar: Bar; start: number; end: number; says: string } | null; // a swing on its way
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

export function paint(to: Context, scale: TimeScale, laid: Laid, shown: Shown, colours: Palette): void {
  to.clearRect(0, 0, scale.width, laid.height);
  to.font = `11px ${colours.font}`;
  to.textBaseline = "middle";
  for (const row of laid.rows) {
    if (row.kind !== "ruler" && row.kind !== "group" && row.kind !== "joint") {
      to.fillStyle = colours.lane;
      to.fillRect(0, row.top, scale.width, row.height);
    }
  }
  span(to, scale, laid, shown.changed, colours.soft);
  for (const row of laid.rows) PAINTERS[row.kind](to, scale, row, shown, colours);
  range(to, scale, laid, shown, colours);
}

function span(to: Context, scale: TimeScale, laid: Laid, range: readonly [number, number] | null, fill: string): void {
  if (!range) return;
  const [a, b] = [scale.xOf(range[0] - 0.5), scale.xOf(range[1] + 0.5)];
  to.fillStyle = fill;
  to.fillRect(a, 20, b - a, laid.height - 20);
}

function range(to: Context, scale: TimeScale, laid: Laid, { range: marked }: Shown, colours: Palette): void {
  if (!marked) return;
  const [a, b] = [scale.xOf(marked[0]), scale.xOf(marked[1])];
  to.globalAlpha = 0.1;
  to.fillStyle = colours.accent;
  to.fillRect(a, 0, b - a, laid.height);
  to.globalAlpha = 1;
  to.fillRect(a, 0, b - a, 3);
  for (const [x, way] of [
    [a, 1],
    [b, -1],
  ] as const) {
    to.fillRect(x - 0.5, 0, 1, laid.height);
    to.beginPath();
    to.moveTo(x, 0);
    to.lineTo(x + 9 * way, 0);
    to.lineTo(x, 12);
    to.fill();
  }
}

type Painter = (to: Context, scale: TimeScale, row: Row, shown: Shown, colours: Palette) => void;

const ruler: Painter = (to, scale, row, shown, colours) => {
  const { step, frames } = scale.ticks(72);
  to.fillStyle = colours.line;
  to.fillRect(0, row.height - 1, scale.width, 1);
  const minor = step >= 5 ? step / 5 : 0;
  to.fillStyle = colours.line;
  if (minor)
    for (let f = Math.max(0, Math.ceil(scale.first / minor) * minor); f <= scale.last; f += minor)
      to.fillRect(Math.round(scale.xOf(f)), row.height - 4, 1, 4);
  for (const frame of frames) {
    const x = Math.round(scale.xOf(frame));
    to.fillStyle = colours.muted;
    to.fillRect(x, row.height - 7, 1, 7);
    const text = String(frame);
    const seconds = ` ${Number((frame / shown.fps).toFixed(2))} s`;
    const width = to.measureText(text + seconds).width;
    if (x + 4 + width > scale.width) continue;
    to.fillText(text, x + 4, 8);
    to.globalAlpha = 0.65;
    to.fillText(seconds, x + 4 + to.measureText(text).width, 8);
    to.globalAlpha = 1;
  }
};

const keys: Painter = (to, scale, row, shown, colours) => {
  const middle = row.top + row.height / 2;
  const extremes = new Set(shown.extremes);
  const pins = new Set(shown.arePinsKept ? shown.pins : []);
  const most = Math.min(7, Math.max(3.5, 0.45 * scale.pixelsPerFrame * 4));
  for (const key of shown.keys) {
    const at = shown.moved && key === shown.moved.from ? shown.moved.to : key;
    const x = scale.xOf(at);
    if (x < -8 || x > scale.width + 8) continue;
    diamond(to, x, middle, most);
    to.fillStyle = colours.key;
    if (shown.isEditing && !extremes.has(key)) {
      to.strokeStyle = colours.key;
      to.lineWidth = 1.6;
      to.fillStyle = colours.paper;
      to.fill();
      to.stroke();
    } else to.fill();
    if (pins.has(key)) {
      to.strokeStyle = colours.ink;
      to.lineWidth = 1.4;
      to.stroke();
    }
  }
};

const pins: Painter = (to, scale, row, shown, colours) => {
  to.fillStyle = shown.arePinsKept ? colours.ink : colours.muted;
  for (const pin of shown.pins) {
    const x = scale.xOf(pin);
    to.beginPath();
    to.arc(x, row.top + 5, 3.4, 0, 2 * Math.PI);
    to.fill();
    to.fillRect(x - 0.6, row.top + 6, 1.2, row.height - 7);
  }
};

const contact: Painter = (to, scale, row, shown, colours) => {
  to.fillStyle = row.name === "left" ? colours.left : row.name === "right" ? colours.right : colours.middle;
  for (const [a, b] of shown.contacts[row.name] ?? []) {
    const [x, end] = [scale.xOf(a - 0.5), scale.xOf(b + 0.5)];
    if (end > 0 && x < scale.width) rounded(to, x, row.top + 1, Math.max(1.5, end - x), row.height - 2, 3);
  }
};

const error: Painter = (to, scale, row, { error: mm }, colours) => {
  if (!mm?.length) return;
  let most = 0;
  for (const value of mm) most = Math.max(most, value);
  const top = roundAbove(most);
  const base = row.top + row.height;
  const yOf = (value: number) => base - 1 - (value / (top || 1)) * (row.height - 6);
  to.beginPath();
  to.moveTo(scale.xOf(0), base);
  const [from, till] = [Math.max(0, Math.floor(scale.first)), Math.min(mm.length - 1, Math.ceil(scale.last))];
  const step = Math.max(1, Math.floor(0.7 / scale.pixelsPerFrame));
  for (let f = from; f <= till; f += step) {
    let worst = mm[f]!;
    for (let k = f + 1; k < Math.min(till + 1, f + step); k++) worst = Math.max(worst, mm[k]!);
    to.lineTo(scale.xOf(f), yOf(worst));
  }
  to.strokeStyle = colours.accent;
  to.lineWidth = 1.3;
  to.stroke();
  to.lineTo(scale.xOf(till), base);
  to.lineTo(scale.xOf(from), base);
  to.globalAlpha = 0.16;
  to.fillStyle = colours.accent;
  to.fill();
  to.globalAlpha = 1;
};

const bars: Painter = (to, scale, row, shown, colours) => {
  const side = row.name.toLowerCase();
  to.fillStyle = colours.line;
  to.fillRect(0, row.top + row.height / 2, scale.width, 1);
  for (const bar of row.bars ?? []) {
    const moving = shown.stretched && isSame(shown.stretched.bar, bar) ? shown.stretched : null;
    const [a, b] = moving ? [moving.start, moving.end] : [bar.start, bar.end];
    const [x, end] = [scale.xOf(a), scale.xOf(b)];
    if (end < 0 || x > scale.width) continue;
    to.fillStyle = side.includes("left") ? colours.left : side.includes("right") ? colours.right : colours.middle;
    const strength = Math.min(1, Math.abs(bar.angle) / 60);
    to.globalAlpha = moving ? 1 : 0.28 + 0.62 * strength;
    rounded(to, x + 0.5, row.top + 2, Math.max(2, end - x - 1), row.height - 4, 3);
    to.globalAlpha = 1;
    const isChosen = shown.chosen !== null && isSame(shown.chosen, bar);
    if (moving || isChosen || (shown.grip && isSame(shown.grip, bar))) {
      to.strokeStyle = colours.ink;
      to.lineWidth = isChosen ? 2 : 1.4;
      to.stroke();
    }
  }
  const { stretched } = shown;
  if (stretched && row.bars?.some((bar) => isSame(bar, stretched.bar))) beside(to, scale, row, stretched, colours);
};

/** How far a bar has come, right of it, over what is there. */
function beside(to: Context, scale: TimeScale, row: Row, moving: NonNullable<Shown["stretched"]>, colours: Palette) {
  const { width } = to.measureText(moving.says);
  const x = Math.min(scale.xOf(moving.end) + 6, scale.width - width - 6);
  to.fillStyle = colours.paper;
  rounded(to, x - 3, row.top, width + 6, row.height, 3);
  to.fillStyle = colours.ink;
  to.fillText(moving.says, x, row.top + row.height / 2);
}

const PAINTERS: Record<Row["kind"], Painter> = { ruler, keys, pins, contact, error, group: bars, joint: bars };

export function isSame(a: Pick<Bar, "joint" | "index">, b: Pick<Bar, "joint" | "index">): boolean {
  return a.joint === b.joint && a.index === b.index;
}

/** The least of 1, 2, 5, 10, ... and their tenths that is not below. */
export function roundAbove(value: number): number {
  if (value <= 0) return 1;
  const ten = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((k) => k * ten).find((step) => step >= value * 0.999) ?? 10 * ten;
}

function diamond(to: Context, x: number, y: number, size: number): void {
  to.beginPath();
  to.moveTo(x, y - 1.25 * size);
  to.lineTo(x + size, y);
  to.lineTo(x, y + 1.25 * size);
  to.lineTo(x - size, y);
  to.closePath();
}

function rounded(to: Context, x: number, y: number, width: number, height: number, radius: number): void {
  to.beginPath();
  to.roundRect(x, y, width, height, Math.min(radius, width / 2));
  to.fill();
}
