/**
 * The state of a page, stored in the query of its address, so that reload, back, forward and shared links restore it.
 */

import { type Fields, readQuery, type Values, writeQuery } from "./query";
import { Signal } from "./signal";

export * from "./query";

const DELAY_MS = 250; // between the last change and the update of the address, so that dragging a slider writes once

export class UrlState<FieldSet extends Fields> {
  readonly values: Signal<Values<FieldSet>>;
  #timer = 0;

  constructor(
    readonly fields: FieldSet,
    url: URL,
  ) {
    this.values = new Signal(readQuery(fields, url.search));
  }

  get value(): Values<FieldSet> {
    return this.values.value;
  }

  /** Changes some values. The address follows after a delay; with `push` immediately, as a new history entry. */
  set(change: Partial<Values<FieldSet>>, { push = false } = {}): void {
    const before = writeQuery(this.fields, this.value);
    const next = { ...this.value, ...change };
    if (writeQuery(this.fields, next) === before) return;
    if (push) this.flush();
    this.values.value = next;
    if (push) history.pushState({}, "", this.address());
    else {
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.flush(), DELAY_MS);
    }
  }

  /** The address for the current values, with some replaced. */
  address(change: Partial<Values<FieldSet>> = {}): string {
    return location.pathname + writeQuery(this.fields, { ...this.value, ...change }, location.search);
  }

  /** Reads the values of an address after back or forward. */
  onUrlChange(url: URL): void {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.values.value = readQuery(this.fields, url.search);
  }

  /** Writes a pending change to the address. */
  flush(): void {
    if (this.#timer === 0) return;
    clearTimeout(this.#timer);
    this.#timer = 0;
    history.replaceState(history.state, "", this.address());
  }
}

/** Stores the page's position in the history entry, to restore it after going back. */
export function savePosition(position: Record<string, unknown>): void {
  history.replaceState({ ...history.state, position }, "");
}

export function savedPosition(): Record<string, unknown> {
  return (history.state as { position?: Record<string, unknown> } | null)?.position ?? {};
}
