/** What a page shows, kept in the query of its address: reload, back, forward and a shared link show it again. */

import { type Fields, readQuery, type Values, writeQuery } from "./query";
import { Signal } from "./signal";

export * from "./query";

const DELAY_MS = 250; // between the last change and the address, so that dragging a slider writes once

export class UrlState<Of extends Fields> {
  readonly values: Signal<Values<Of>>;
  #timer = 0;

  constructor(
    readonly fields: Of,
    url: URL,
  ) {
    this.values = new Signal(readQuery(fields, url.search));
  }

  get value(): Values<Of> {
    return this.values.value;
  }

  /** Changes some values. The address follows soon; with `push` at once, and "back" undoes it. */
  set(change: Partial<Values<Of>>, { push = false } = {}): void {
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

  /** The address that says the values of now, or these in place of some of them. */
  address(change: Partial<Values<Of>> = {}): string {
    return location.pathname + writeQuery(this.fields, { ...this.value, ...change }, location.search);
  }

  /** Takes the values of an address that was gone back or forward to. */
  follow(url: URL): void {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.values.value = readQuery(this.fields, url.search);
  }

  /** Writes what waits to be written. */
  flush(): void {
    if (this.#timer === 0) return;
    clearTimeout(this.#timer);
    this.#timer = 0;
    history.replaceState(history.state, "", this.address());
  }
}

/** What a page wants to find again when it is gone back to, beside its address; where it was scrolled, say. */
export function keepPlace(place: Record<string, unknown>): void {
  history.replaceState({ ...history.state, place }, "");
}

export function keptPlace(): Record<string, unknown> {
  return (history.state as { place?: Record<string, unknown> } | null)?.place ?? {};
}
