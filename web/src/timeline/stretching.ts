/** What dragging a swing means: earlier or later, longer or shorter, stronger or weaker, as far as there is room. */

import type { Bar } from "./lanes";
import type { TimeScale } from "./scale";

export type Stretch =
  | { op: "shift"; frames: number }
  | { op: "lengthen" | "shorten"; frames: number; anchor: "start" | "middle" | "end" } // which stays where it is
  | { op: "scale"; factor: number };

const STRENGTH_PX = 90; // upwards for twice as strong
const LEAST_FACTOR = 0.05;
const LEAST_FRAMES = 3; // that a swing keeps, as on the server

/** The first and the last frame that a swing can have. Swings beside it give way until little is left of them. */
export function roomOf(bar: Bar, bars: readonly Bar[], nFrames: number): readonly [number, number] {
  const own = bars.filter(({ joint }) => joint === bar.joint);
  const beside = (index: number) => own.find((other) => other.index === index);
  const left = ({ start, end }: Bar) => Math.min(LEAST_FRAMES, end - start + 1);
  const [before, after] = [beside(bar.index - 1), beside(bar.index + 1)];
  const first = before ? before.start + left(before) : 0;
  const last = after ? after.end - left(after) : nFrames - 1;
  return [Math.min(bar.start, first), Math.max(bar.end, last)];
}

/** What dragging a bar by so many pixels means. An end takes only itself along. */
export function stretchOf(
  { bar, grip }: { bar: Bar; grip: "start" | "middle" | "end" },
  dx: number,
  dy: number,
  scale: TimeScale,
  [first, last]: readonly [number, number],
): Stretch | null {
  if (grip === "middle" && Math.abs(dy) > Math.max(6, 1.5 * Math.abs(dx)))
    return { op: "scale", factor: Math.max(LEAST_FACTOR, Math.round(100 * 2 ** (-dy / STRENGTH_PX)) / 100) };
  const spare = Math.max(0, bar.end - bar.start + 1 - LEAST_FRAMES);
  const least = grip === "end" ? -spare : first - bar.start;
  const most = grip === "start" ? spare : last - bar.end;
  const frames = Math.min(most, Math.max(least, Math.round(dx / scale.pixelsPerFrame)));
  if (!frames) return null;
  if (grip === "middle") return { op: "shift", frames };
  const more = grip === "end" ? frames : -frames;
  const anchor = grip === "end" ? "start" : "end";
  return { op: more > 0 ? "lengthen" : "shorten", frames: Math.abs(more), anchor };
}

/** A bar on its way: where it would be, and what is said beside it. */
export function stretched(bar: Bar, change: Stretch): { bar: Bar; start: number; end: number; says: string } {
  const { start, end } = bar;
  if (change.op === "scale") return { bar, start, end, says: `×${change.factor.toFixed(2)}` };
  const by = change.op === "shorten" ? -change.frames : change.frames;
  const says = `${by > 0 ? "+" : "−"}${Math.abs(by)} frames`;
  if (change.op === "shift") return { bar, start: start + by, end: end + by, says };
  const before = { start: 0, middle: Math.floor(Math.abs(by) / 2) * Math.sign(by), end: by }[change.anchor];
  return { bar, start: start - before, end: end + by - before, says };
}
