/** Runs one request at a time and, of those that are waiting, only the newest. */

export class LatestOnly<Request, Result> {
  #next: { request: Request } | null = null;
  #busy = false;
  #abort = new AbortController(); // of the running request

  constructor(
    readonly run: (request: Request, signal: AbortSignal) => Promise<Result>,
    readonly onResult: (result: Result, request: Request) => void,
    readonly onError: (error: unknown, request: Request) => void,
  ) {}

  submit(request: Request): void {
    this.#next = { request };
    if (!this.#busy) void this.#work();
  }

  /** Drops the waiting request, and aborts the running one, whose result is ignored. */
  cancel(): void {
    this.#next = null;
    this.#abort.abort();
  }

  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#next) {
      const { request } = this.#next;
      this.#next = null;
      this.#abort = new AbortController();
      const { signal } = this.#abort;
      try {
        const result = await this.run(request, signal);
        if (!signal.aborted) this.onResult(result, request);
      } catch (error) {
        if (!signal.aborted) this.onError(error, request);
      }
    }
    this.#busy = false;
  }
}
