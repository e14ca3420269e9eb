/** An observable value. Setting an equal value notifies no watcher. */
export class Signal<Value> {
  readonly #watchers = new Set<(value: Value, before: Value) => void>();
  #value: Value;

  constructor(value: Value) {
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  set value(value: Value) {
    if (Object.is(value, this.#value)) return;
    const before = this.#value;
    this.#value = value;
    for (const watcher of [...this.#watchers]) watcher(value, before);
  }

  /** Calls `watcher` at every change. The returned function removes it. */
  watch(watcher: (value: Value, before: Value) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** The same, and calls it immediately with the current value. */
  watchNow(watcher: (value: Value) => void): () => void {
    watcher(this.#value);
    return this.watch(watcher);
  }
}
