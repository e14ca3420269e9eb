/** What is under the pointer on the timeline. */

import type { ActionBar, Bar, LaneLayout, PlacedAction, Row } from "./lanes";
import type { TimeScale } from "./scale";

export type Hit =
  | { on: "key"; key: number }
  | { on: "pin"; frame: number }
  | { on: "edge"; end: "start" | "end" } // of the range
  | { on: "bar"; bar: Bar; handle: "start" | "middle" | "end" }
  | { on: "action"; action: ActionBar }
  | { on: "lane"; row: Row | null };

const HIT_PX = 7; // pixels
const EDGE_PX = 6; // of a bar: changes its length

interface HitTargets {
  keys: readonly number[];
  range: readonly [number, number] | null;
  actions: readonly PlacedAction[];
}

export function hitAt(
  x: number,
  y: number,
  scale: TimeScale,
  layout: LaneLayout,
  { keys, range, actions }: HitTargets,
): Hit {
  const row = layout.rows.find((each) => y >= each.top && y < each.top + each.height + 2) ?? null;
  if (range && y < 16) {
    if (Math.abs(x - scale.xOf(range[0]) - 3) < HIT_PX) return { on: "edge", end: "start" };
    if (Math.abs(x - scale.xOf(range[1]) + 3) < HIT_PX) return { on: "edge", end: "end" };
  }
  if (row?.kind === "keys") {
    const nearestKey = nearest(keys, scale.positionAt(x));
    if (nearestKey !== null && Math.abs(scale.xOf(nearestKey) - x) <= HIT_PX) return { on: "key", key: nearestKey };
  }
  if (row?.kind === "pins") return { on: "pin", frame: scale.frameAt(x) };
  if (row?.kind === "actions") {
    const at = y < row.top + row.height / 2 ? 0 : 1;
    const hit = actions.findLast(
      ({ action, row: placed }) =>
        placed === at && x >= scale.xOf(action.start - 0.5) - 1 && x <= scale.xOf(action.end + 0.5) + 1,
    );
    if (hit) return { on: "action", action: hit.action };
  }
  if (row?.kind === "joint") {
    for (const bar of row.bars ?? []) {
      const [start, end] = [scale.xOf(bar.start), scale.xOf(bar.end)];
      if (x < start - 2 || x > end + 2) continue;
      const edge = Math.min(EDGE_PX, (end - start) / 4);
      return { on: "bar", bar, handle: x < start + edge ? "start" : x > end - edge ? "end" : "middle" };
    }
  }
  return { on: "lane", row };
}

/** Returns the nearest of increasing numbers; null if there are none. */
export function nearest(numbers: readonly number[], to: number): number | null {
  let best: number | null = null;
  for (const each of numbers) {
    if (best !== null && Math.abs(each - to) > Math.abs(best - to)) break;
    best = each;
  }
  return best;
}
