/** Keys for every number of keys, as the server said them once. Browsing them asks nobody. */

import type { Schema } from "../api/client";

export type LadderSaid = Schema["LadderSaid"];

export class Rungs {
  readonly #kept = new Map<number, readonly number[]>();

  constructor(readonly said: LadderSaid) {}

  get least(): number {
    return this.said.counts[0] ?? 0;
  }

  get most(): number {
    return this.said.counts.at(-1) ?? 0;
  }

  /** The count that there are keys for and that is nearest to `count`; of two the lower. */
  nearest(count: number): number {
    const { counts } = this.said;
    let [low, high] = [0, counts.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (counts[middle]! < count) low = middle + 1;
      else high = middle;
    }
    const [above, below] = [counts[low] ?? 0, counts[low - 1]];
    return below !== undefined && count - below <= Math.abs(above - count) ? below : above;
  }

  /** The most that there are keys for up to `count`, else the fewest. */
  within(count: number): number {
    return this.said.counts.findLast((each) => each <= count) ?? this.least;
  }

  /** The frames, increasing, of the count nearest to `count`. */
  at(count: number): readonly number[] {
    const found = this.nearest(count);
    let frames = this.#kept.get(found);
    if (!frames) {
      const { order, selections, counts } = this.said;
      frames = order ? order.slice(0, found).sort((a, b) => a - b) : (selections?.[counts.indexOf(found)] ?? []);
      this.#kept.set(found, frames);
    }
    return frames;
  }

  cost(count: number): number {
    return this.said.costs[this.said.counts.indexOf(this.nearest(count))] ?? Number.NaN;
  }

  /** Where to start: where the curve says to stop, else the method's own count, else a few. */
  get usual(): number {
    return this.nearest(this.said.auto ?? this.said.natural ?? 8);
  }

  /** The cliff next to a count, upwards or downwards; null: none. */
  cliffBeside(count: number, way: 1 | -1): number | null {
    const counts = this.said.cliffs.map((cliff) => cliff.keys).sort((a, b) => way * (a - b));
    return counts.find((keys) => way * (keys - count) > 0) ?? null;
  }
}
