/** Which clips are chosen. Clips are known by hash, so that a choice outlives sorting and scrolling. */

import { Signal } from "../state/signal";

export class Selection {
  readonly chosen = new Signal<ReadonlySet<string>>(new Set());
  /** Where a range starts: the item that was chosen last by itself. */
  anchor: number | null = null;

  get size(): number {
    return this.chosen.value.size;
  }

  has(hash: string): boolean {
    return this.chosen.value.has(hash);
  }

  /** Chooses a clip, or no longer. */
  toggle(hash: string, index: number): void {
    const next = new Set(this.chosen.value);
    if (!next.delete(hash)) next.add(hash);
    this.anchor = index;
    this.chosen.value = next;
  }

  /** Chooses these too. */
  add(hashes: Iterable<string>): void {
    this.chosen.value = new Set([...this.chosen.value, ...hashes]);
  }

  /** From the anchor to an item, both included, whichever comes first. */
  reach(index: number): { first: number; end: number } {
    const from = this.anchor ?? index;
    return { first: Math.min(from, index), end: Math.max(from, index) + 1 };
  }

  drop(hashes: Iterable<string>): void {
    const next = new Set(this.chosen.value);
    for (const hash of hashes) next.delete(hash);
    if (next.size !== this.size) this.chosen.value = next;
  }

  clear(): void {
    this.anchor = null;
    if (this.size > 0) this.chosen.value = new Set();
  }
}
