/** Actions that can be undone, newest last. Each can still be undone after its toast has closed. */

import type { ToastAction } from "../ui/toast";

const MAX_ENTRIES = 50;

interface UndoEntry {
  undo: () => void;
  /** Closes the toast. */
  closeToast: () => void;
}

export class UndoStack {
  readonly #entries: UndoEntry[] = [];

  /** `showToast` returns a function that closes the toast. */
  constructor(readonly showToast: (text: string, action: ToastAction) => () => void) {}

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Adds an action, announced by a toast unless `text` is null. The returned function drops it. */
  push(text: string | null, undo: () => void): () => void {
    const entry: UndoEntry = { undo, closeToast: () => {} };
    this.#entries.push(entry);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
    if (text !== null) entry.closeToast = this.showToast(text, { title: "Undo", run: () => this.#undoEntry(entry) });
    return () => void this.#drop(entry);
  }

  /** Undoes the latest action. */
  undo(): void {
    const latest = this.#entries.at(-1);
    if (latest) this.#undoEntry(latest);
  }

  #undoEntry(entry: UndoEntry): void {
    if (!this.#drop(entry)) return;
    entry.closeToast();
    entry.undo();
  }

  /** Returns whether the entry was on the stack. */
  #drop(entry: UndoEntry): boolean {
    const at = this.#entries.indexOf(entry);
    if (at >= 0) this.#entries.splice(at, 1);
    return at >= 0;
  }
}
