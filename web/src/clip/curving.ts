/** Curves through keys: at once while one browses, and once more, as files have them, when nothing changes any more. */

import { askArrays } from "../api/client";
import type { Packet } from "../api/packet";
import { Signal } from "../state/signal";
import { Latest } from "./latest";
import { type Curves, type CurvesHeader, trackOf } from "./state";

export interface Unbaking {
  frames: readonly number[];
  interpolation: "bezier" | "natural" | "linear";
  residual: number;
}

/** What the curves that are shown are worth: those of a file, quick ones, those of keys before, or why there are none. */
export type Worth = "fine" | "rough" | "stays rough" | "old" | { error: unknown };

const REST_MS = 400;
const PASSING_MS = 200; // between curves of keys that are chosen no longer: drawing them takes time from the next

export class Curving {
  readonly worth = new Signal<Worth>("old");
  readonly #path: string;
  readonly #shown: (curves: Curves) => void;
  readonly #quick: Latest<Unbaking, { curves: Curves; asked: Unbaking }>;
  #wanted: Unbaking | null = null;
  #said = "";
  #abort = new AbortController();
  #timer = 0;
  #shownAt = 0;
  /** Resolves when what is seen first is there: curves can wait. */
  before: () => Promise<void> = async () => {};

  constructor(hash: string, shown: (curves: Curves) => void) {
    this.#path = `/api/clips/${hash}/unbaked`;
    this.#shown = shown;
    this.#quick = new Latest(
      async (first) => {
        await null; // all that follows the keys has been asked for by then
        await this.before();
        const asked = this.#wanted ?? first; // others may be wanted by now
        return { curves: await this.#ask(asked), asked };
      },
      ({ curves, asked }) => this.#take(curves, asked),
      (error) => this.#fail(error),
    );
  }

  /** These are wanted from now on. */
  ask(wanted: Unbaking): void {
    const said = JSON.stringify(wanted);
    if (said === this.#said) return;
    this.#rest();
    this.#said = said;
    this.#wanted = wanted;
    this.worth.value = "old";
    this.#quick.ask(wanted);
    if (hasPolish(wanted)) this.#timer = window.setTimeout(() => void this.#polish(wanted), REST_MS);
  }

  /** The same once more, after they failed. */
  again(): void {
    const wanted = this.#wanted;
    this.forget();
    if (wanted) this.ask(wanted);
  }

  /** None are wanted. */
  forget(): void {
    this.#rest();
    this.#quick.forget();
    this.#said = "";
    this.#wanted = null;
  }

  /** What is on its way as files have it is not wanted any more. */
  #rest(): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  #take(curves: Curves, asked: Unbaking): void {
    const isWanted = asked === this.#wanted;
    if (isWanted && this.worth.value === "fine") return; // the better ones came first
    const now = performance.now();
    if (!isWanted && now - this.#shownAt < PASSING_MS) return;
    this.#shownAt = now;
    this.#shown(curves);
    if (isWanted) this.worth.value = hasPolish(asked) ? "rough" : "fine";
  }

  #fail(error: unknown): void {
    if (this.worth.value === "old") this.worth.value = { error };
  }

  async #polish(wanted: Unbaking): Promise<void> {
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    try {
      const curves = await this.#ask(wanted, signal);
      if (signal.aborted) return;
      this.#shown(curves);
      this.worth.value = "fine";
    } catch (error) {
      if (signal.aborted) return;
      console.warn(error); // the quick ones stay, and are marked as such
      if (this.worth.value === "rough") this.worth.value = "stays rough";
    }
  }

  async #ask(asked: Unbaking, signal?: AbortSignal): Promise<Curves> {
    const told = signal ? { ...asked, polish: true } : asked;
    return curvesOf(await askArrays<CurvesHeader>(this.#path, { told, signal }));
  }
}

/** Only Bézier curves are improved when there is time. */
function hasPolish({ interpolation }: Unbaking): boolean {
  return interpolation === "bezier";
}

/** Curves that came as a packet. */
export function curvesOf(packet: Packet<CurvesHeader>): Curves {
  const perFrame = (packet.arrays.per_frame_mm as Float32Array | undefined) ?? null;
  const { score, extremes } = packet.header;
  return { track: trackOf(packet), perFrame, score, extremes: extremes ?? [] };
}
