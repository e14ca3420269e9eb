/** The selected clips, by hash, so that the selection survives sorting and scrolling. */

import { Signal } from "../state/signal";

export class Selection {
  readonly hashes = new Signal<ReadonlySet<string>>(new Set());
  /** Where a range starts: the item that was last selected individually. */
  anchor: number | null = null;

  get size(): number {
    return this.hashes.value.size;
  }

  has(hash: string): boolean {
    return this.hashes.value.has(hash);
  }

  /** Selects or deselects a clip. */
  toggle(hash: string, index: number): void {
    const next = new Set(this.hashes.value);
    if (!next.delete(hash)) next.add(hash);
    this.anchor = index;
    this.hashes.value = next;
  }

  /** Adds clips to the selection. */
  add(hashes: Iterable<string>): void {
    this.hashes.value = new Set([...this.hashes.value, ...hashes]);
  }

  /** Returns the range between the anchor and an item, both included. */
  rangeTo(index: number): { first: number; end: number } {
    const from = this.anchor ?? index;
    return { first: Math.min(from, index), end: Math.max(from, index) + 1 };
  }

  drop(hashes: Iterable<string>): void {
    const next = new Set(this.hashes.value);
    for (const hash of hashes) next.delete(hash);
    if (next.size !== this.size) this.hashes.value = next;
  }

  clear(): void {
    this.anchor = null;
    if (this.size > 0) this.hashes.value = new Set();
  }
}
