/** The clock of playback. It runs only while something plays. */

import type { Signal } from "../state/signal";

/** What can be played. */
export interface Played {
  readonly frame: Signal<number>;
  readonly playing: Signal<boolean>;
  readonly fps: number;
  readonly played: readonly [number, number]; // the first and the last frame
  readonly speed: number;
  readonly isLooped: boolean;
  clamp(frame: number): number;
  rested(): void; // playing has stopped somewhere
}

const LONGEST_S = 0.25; // a page that slept does not jump

/** The place after some time, in frames, and whether it goes on. At the end of the stretch it loops or stops. */
export function advanced(
  place: number,
  frames: number,
  [first, last]: readonly [number, number],
  loop: boolean,
): { place: number; goesOn: boolean } {
  const next = (place < first || place > last + 1 ? first : place) + frames;
  if (next < last + 1) return { place: next, goesOn: true };
  if (!loop) return { place: last, goesOn: false };
  const span = last - first + 1;
  return { place: first + ((next - first) % span), goesOn: true };
}

export class Playing {
  readonly #state: Played;
  readonly #stop: () => void;
  #place = 0;
  #before = 0;
  #asked = 0;

  constructor(state: Played) {
    this.#state = state;
    this.#stop = state.playing.watch((isPlaying) => (isPlaying ? this.#start() : this.#end()));
  }

  toggle(): void {
    this.#state.playing.value = !this.#state.playing.value;
  }

  dispose(): void {
    this.#stop();
    cancelAnimationFrame(this.#asked);
  }

  #start(): void {
    const { frame, played, isLooped } = this.#state;
    const isAtEnd = frame.value >= played[1] && !isLooped;
    this.#place = isAtEnd ? played[0] : frame.value;
    this.#before = performance.now();
    this.#asked = requestAnimationFrame(this.#tick);
  }

  #end(): void {
    cancelAnimationFrame(this.#asked);
    this.#asked = 0;
    this.#state.rested();
  }

  readonly #tick = (now: number): void => {
    const state = this.#state;
    if (Math.floor(this.#place) !== state.frame.value) this.#place = state.frame.value; // somebody scrubbed
    const seconds = Math.min(LONGEST_S, Math.max(0, (now - this.#before) / 1000));
    this.#before = now;
    const frames = seconds * state.fps * state.speed;
    const { place, goesOn } = advanced(this.#place, frames, state.played, state.isLooped);
    this.#place = place;
    state.frame.value = state.clamp(Math.floor(place));
    if (goesOn) this.#asked = requestAnimationFrame(this.#tick);
    else state.playing.value = false;
  };
}
