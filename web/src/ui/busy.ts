/** A line about work that takes long: what is done, for how long already, and a button to cancel it. */

import { fill, h } from "./dom";
import { progressBar } from "./progress";

const SHOW_DELAY_MS = 300; // quick work shows nothing
const TICK_MS = 1000;
const MIN_TIME_S = 2; // below that the time is not shown

export interface Work {
  text: string; // "Selecting keys…"
  cancel: (() => void) | null; // null: there is a button elsewhere
  delayMs?: number; // until it is shown
}

export class BusyLine {
  readonly element = h("div", { class: "busy", hidden: true });
  readonly #text = h("span", { role: "status" });
  readonly #time = h("span", { class: "busy-time" }); // outside the status: it would be read every second
  readonly #cancelButton = h("button", { type: "button", class: "button small", text: "Cancel" });
  #work: Work | null = null;
  #startMs = 0;
  #timer = 0;

  constructor() {
    const progress = progressBar("In progress");
    progress.set(null);
    this.#cancelButton.addEventListener("click", () => this.#work?.cancel?.());
    fill(this.element, this.#text, this.#time, this.#cancelButton, progress.element);
  }

  /** Shows this work, after a delay if the line is hidden; null hides it. */
  show(work: Work | null): void {
    if (work?.text !== this.#work?.text) this.#startMs = performance.now();
    this.#work = work;
    clearTimeout(this.#timer);
    if (!work) {
      this.element.hidden = true;
      this.#text.textContent = ""; // so that the same text is announced again
    } else if (this.element.hidden) {
      const elapsedMs = performance.now() - this.#startMs;
      this.#timer = window.setTimeout(() => this.#tick(), Math.max(0, (work.delayMs ?? SHOW_DELAY_MS) - elapsedMs));
    } else this.#tick();
  }

  #tick(): void {
    if (!this.#work) return;
    if (this.#text.textContent !== this.#work.text) this.#text.textContent = this.#work.text;
    this.#cancelButton.hidden = this.#work.cancel === null;
    const seconds = Math.floor((performance.now() - this.#startMs) / 1000);
    this.#time.textContent = seconds < MIN_TIME_S ? "" : `${seconds} s`;
    this.element.hidden = false;
    this.#timer = window.setTimeout(() => this.#tick(), TICK_MS);
  }
}
