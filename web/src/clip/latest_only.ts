/** Runs one request at a time and, of those that are waiting, only the newest. */

export class LatestOnly<Request, Result> {
  #next: { request: Request } | null = null;
  #busy = false;
  #generation = 0;

  constructor(
    readonly run: (request: Request) => Promise<Result>,
    readonly onResult: (result: Result, request: Request) => void,
    readonly onError: (error: unknown, request: Request) => void,
  ) {}

  submit(request: Request): void {
    this.#next = { request };
    if (!this.#busy) void this.#work();
  }

  /** Drops the waiting request and ignores the result of the running one. */
  cancel(): void {
    this.#next = null;
    this.#generation += 1;
  }

  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#next) {
      const { request } = this.#next;
      this.#next = null;
      const generation = this.#generation;
      try {
        const result = await this.run(request);
        if (generation === this.#generation) this.onResult(result, request);
      } catch (error) {
        if (generation === this.#generation) this.onError(error, request);
      }
    }
    this.#busy = false;
  }
}
