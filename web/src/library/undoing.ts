/** What was done with clips and can be taken back, the latest first. It outlives the toasts that offer it. */

import type { ToastAction } from "../ui/toast";

const MOST = 50;

interface Done {
  undo: () => void;
  /** Takes the toast away. */
  hush: () => void;
}

export class Undoing {
  readonly #done: Done[] = [];

  /** `say` shows a toast, and gives what closes it. */
  constructor(readonly say: (text: string, action: ToastAction) => () => void) {}

  get isEmpty(): boolean {
    return this.#done.length === 0;
  }

  /** Something was done; said in a toast, unless `text` is null. What comes back forgets it. */
  did(text: string | null, undo: () => void): () => void {
    const done: Done = { undo, hush: () => {} };
    this.#done.push(done);
    if (this.#done.length > MOST) this.#done.shift();
    if (text !== null) done.hush = this.say(text, { title: "Undo", run: () => this.#take(done) });
    return () => void this.#forget(done);
  }

  /** Takes the latest back. */
  undo(): void {
    const latest = this.#done.at(-1);
    if (latest) this.#take(latest);
  }

  #take(done: Done): void {
    if (!this.#forget(done)) return;
    done.hush();
    done.undo();
  }

  /** False if it was not there. */
  #forget(done: Done): boolean {
    const at = this.#done.indexOf(done);
    if (at >= 0) this.#done.splice(at, 1);
    return at >= 0;
  }
}
