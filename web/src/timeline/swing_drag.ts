/** Converts drags of a swing to changes: shift, lengthen, shorten or scale, within the available range. */

import { countOf } from "../ui/format";
import type { Bar } from "./lanes";
import type { TimeScale } from "./scale";

export type SwingChange =
  | { op: "shift"; frames: number }
  | { op: "lengthen" | "shorten"; frames: number; anchor: "start" | "middle" | "end" } // the end that stays in place
  | { op: "scale"; factor: number };

const DOUBLE_STRENGTH_PX = 90; // upwards, for twice the strength
const MIN_FACTOR = 0.05;
const MIN_FRAMES = 3; // minimum length of a swing, as on the server

/** Returns the first and last frame that a swing can have. Its neighbours shrink to their minimum length. */
export function availableRange(bar: Bar, bars: readonly Bar[], nFrames: number): readonly [number, number] {
  const jointBars = bars.filter(({ joint }) => joint === bar.joint);
  const findBar = (index: number) => jointBars.find((other) => other.index === index);
  const minLength = ({ start, end }: Bar) => Math.min(MIN_FRAMES, end - start + 1);
  const [previous, next] = [findBar(bar.index - 1), findBar(bar.index + 1)];
  const first = previous ? previous.start + minLength(previous) : 0;
  const last = next ? next.end - minLength(next) : nFrames - 1;
  return [Math.min(bar.start, first), Math.max(bar.end, last)];
}

/** Returns the change for a drag in pixels. Dragging an end moves only that end. */
export function changeFromDrag(
  { bar, handle }: { bar: Bar; handle: "start" | "middle" | "end" },
  dx: number,
  dy: number,
  scale: TimeScale,
  [first, last]: readonly [number, number],
): SwingChange | null {
  if (handle === "middle" && Math.abs(dy) > Math.max(6, 1.5 * Math.abs(dx)))
    return { op: "scale", factor: Math.max(MIN_FACTOR, Math.round(100 * 2 ** (-dy / DOUBLE_STRENGTH_PX)) / 100) };
  const removable = Math.max(0, bar.end - bar.start + 1 - MIN_FRAMES);
  const min = handle === "end" ? -removable : first - bar.start;
  const max = handle === "start" ? removable : last - bar.end;
  const frames = Math.min(max, Math.max(min, Math.round(dx / scale.pixelsPerFrame)));
  if (!frames) return null;
  if (handle === "middle") return { op: "shift", frames };
  const added = handle === "end" ? frames : -frames;
  const anchor = handle === "end" ? "start" : "end";
  return { op: added > 0 ? "lengthen" : "shorten", frames: Math.abs(added), anchor };
}

/** Returns the position of a bar while it is dragged, and its label. */
export function previewChange(bar: Bar, change: SwingChange): { bar: Bar; start: number; end: number; label: string } {
  const { start, end } = bar;
  if (change.op === "scale") return { bar, start, end, label: `×${change.factor.toFixed(2)}` };
  const by = change.op === "shorten" ? -change.frames : change.frames;
  const label = `${by > 0 ? "+" : "−"}${countOf(Math.abs(by), "frame")}`;
  if (change.op === "shift") return { bar, start: start + by, end: end + by, label };
  const startShift = { start: 0, middle: Math.floor(Math.abs(by) / 2) * Math.sign(by), end: by }[change.anchor];
  return { bar, start: start - startShift, end: end + by - startShift, label };
}
