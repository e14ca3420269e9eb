/** Work of which only the latest counts: one piece at a time, and of those that wait only the newest. */

export class Latest<Asked, Answer> {
  #waiting: { asked: Asked } | null = null;
  #busy = false;
  #turn = 0;

  constructor(
    readonly work: (asked: Asked) => Promise<Answer>,
    readonly done: (answer: Answer, asked: Asked) => void,
    readonly failed: (error: unknown, asked: Asked) => void,
  ) {}

  ask(asked: Asked): void {
    this.#waiting = { asked };
    if (!this.#busy) void this.#run();
  }

  /** What is under way or waits is not wanted any more. */
  forget(): void {
    this.#waiting = null;
    this.#turn += 1;
  }

  async #run(): Promise<void> {
    this.#busy = true;
    while (this.#waiting) {
      const { asked } = this.#waiting;
      this.#waiting = null;
      const turn = this.#turn;
      try {
        const answer = await this.work(asked);
        if (turn === this.#turn) this.done(answer, asked);
      } catch (error) {
        if (turn === this.#turn) this.failed(error, asked);
      }
    }
    this.#busy = false;
  }
}
