/** The selections for every number of keys, loaded once; browsing them needs no further request. */

import type { Schema } from "../api/client";

export type LadderData = Schema["LadderResponse"];

export class Ladder {
  readonly #framesByCount = new Map<number, readonly number[]>();

  constructor(readonly data: LadderData) {}

  get min(): number {
    return this.data.counts[0] ?? 0;
  }

  get max(): number {
    return this.data.counts.at(-1) ?? 0;
  }

  /** Returns the available count nearest to `count`; the lower one of two. */
  nearestCount(count: number): number {
    const { counts } = this.data;
    let [low, high] = [0, counts.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (counts[middle]! < count) low = middle + 1;
      else high = middle;
    }
    const [above, below] = [counts[low] ?? 0, counts[low - 1]];
    return below !== undefined && count - below <= Math.abs(above - count) ? below : above;
  }

  /** Returns the largest available count up to `count`, else the smallest. */
  maxCountUpTo(count: number): number {
    return this.data.counts.findLast((each) => each <= count) ?? this.min;
  }

  /** Returns the key frames, increasing, for the count nearest to `count`. */
  framesFor(count: number): readonly number[] {
    const nearest = this.nearestCount(count);
    let frames = this.#framesByCount.get(nearest);
    if (!frames) {
      const { order, selections, counts } = this.data;
      frames = order ? order.slice(0, nearest).sort((a, b) => a - b) : (selections?.[counts.indexOf(nearest)] ?? []);
      this.#framesByCount.set(nearest, frames);
    }
    return frames;
  }

  /** Returns frames by importance; null if the method does not rank them. */
  rank(frames: readonly number[]): readonly number[] | null {
    const order = this.data.order?.slice(0, frames.length);
    const selected = new Set(frames);
    return order?.length === frames.length && order.every((frame) => selected.has(frame)) ? order : null;
  }

  cost(count: number): number {
    return this.data.costs[this.data.counts.indexOf(this.nearestCount(count))] ?? Number.NaN;
  }

  /** Returns the fewest keys with a cost of at most `mm`, or null: if there are none, or if costs are not in mm. */
  countWithin(mm: number): number | null {
    const { unit, costs, counts } = this.data;
    return unit === "mm" ? (counts[costs.findIndex((cost) => cost <= mm)] ?? null) : null;
  }

  /** About the count that stays within 1 % of the height; the largest if none does. */
  get estimatedCount(): number {
    return this.nearestCount(this.data.auto ?? this.max);
  }

  /** Returns the next cliff above (1) or below (-1) a count, or null. */
  nextCliff(count: number, direction: 1 | -1): number | null {
    const counts = this.data.cliffs.map((cliff) => cliff.keys).sort((a, b) => direction * (a - b));
    return counts.find((keys) => direction * (keys - count) > 0) ?? null;
  }
}
