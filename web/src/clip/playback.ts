/** The playback clock. It runs only while something plays. */

import type { Signal } from "../state/signal";

/** State that can be played. */
export interface PlaybackState {
  readonly frame: Signal<number>;
  readonly playing: Signal<boolean>;
  readonly fps: number;
  readonly playRange: readonly [number, number]; // first and last frame
  readonly speed: number;
  readonly isLooping: boolean;
  clamp(frame: number): number;
  onPause(): void; // called when playback has stopped or the frame was set
}

const MAX_STEP_S = 0.25; // playback does not jump after the page was suspended

/**
 * Returns the position, in frames, after `frames` more, and whether playback goes on. At the end of the range it
 * loops or stops.
 */
export function advance(
  position: number,
  frames: number,
  [first, last]: readonly [number, number],
  loop: boolean,
): { position: number; isRunning: boolean } {
  const next = (position < first || position > last + 1 ? first : position) + frames;
  if (next < last + 1) return { position: next, isRunning: true };
  if (!loop) return { position: last, isRunning: false };
  const span = last - first + 1;
  return { position: first + ((next - first) % span), isRunning: true };
}

export class Playback {
  readonly #state: PlaybackState;
  readonly #stop: () => void;
  #position = 0;
  #lastTickMs = 0;
  #animationFrame = 0;

  constructor(state: PlaybackState) {
    this.#state = state;
    this.#stop = state.playing.watch((isPlaying) => (isPlaying ? this.#start() : this.#pause()));
  }

  toggle(): void {
    this.#state.playing.value = !this.#state.playing.value;
  }

  dispose(): void {
    this.#stop();
    cancelAnimationFrame(this.#animationFrame);
  }

  #start(): void {
    const { frame, playRange, isLooping } = this.#state;
    const isAtEnd = frame.value >= playRange[1] && !isLooping;
    this.#position = isAtEnd ? playRange[0] : frame.value;
    this.#lastTickMs = performance.now();
    this.#animationFrame = requestAnimationFrame(this.#tick);
  }

  #pause(): void {
    cancelAnimationFrame(this.#animationFrame);
    this.#animationFrame = 0;
    this.#state.onPause();
  }

  readonly #tick = (now: number): void => {
    const state = this.#state;
    if (Math.floor(this.#position) !== state.frame.value) this.#position = state.frame.value; // the user scrubbed
    const seconds = Math.min(MAX_STEP_S, Math.max(0, (now - this.#lastTickMs) / 1000));
    this.#lastTickMs = now;
    const frames = seconds * state.fps * state.speed;
    const { position, isRunning } = advance(this.#position, frames, state.playRange, state.isLooping);
    this.#position = position;
    state.frame.value = state.clamp(Math.floor(position));
    if (isRunning) this.#animationFrame = requestAnimationFrame(this.#tick);
    else state.playing.value = false;
  };
}
