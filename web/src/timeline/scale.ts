/** Frames and pixels: which stretch of the clip is seen, and how wide. */

const MARGIN = 8; // pixels on both sides: marks at the ends are whole

export class TimeScale {
  readonly nFrames: number;
  #first = 0; // seen from here, in frames; half a frame lies beyond either end
  #last: number;
  #width = 1; // pixels

  constructor(nFrames: number) {
    this.nFrames = nFrames;
    this.#first = -0.5;
    this.#last = nFrames - 0.5;
  }

  get first(): number {
    return this.#first;
  }

  get last(): number {
    return this.#last;
  }

  get width(): number {
    return this.#width;
  }

  set width(pixels: number) {
    this.#width = Math.max(1, pixels);
  }

  get pixelsPerFrame(): number {
    return Math.max(1, this.#width - 2 * MARGIN) / (this.#last - this.#first);
  }

  get isWhole(): boolean {
    return this.#first <= -0.5 && this.#last >= this.nFrames - 0.5;
  }

  xOf(frame: number): number {
    return MARGIN + (frame - this.#first) * this.pixelsPerFrame;
  }

  /** The frame at a pixel, never outside the clip. */
  frameAt(x: number): number {
    return Math.min(this.nFrames - 1, Math.max(0, Math.round(this.placeAt(x))));
  }

  /** The same, but between frames and outside the clip too. */
  placeAt(x: number): number {
    return this.#first + (x - MARGIN) / this.pixelsPerFrame;
  }

  /** Shows `factor` times as many frames; the one under pixel `x` stays there. */
  zoom(factor: number, x: number): void {
    const still = this.placeAt(x);
    const least = Math.min(this.nFrames, 8);
    const span = Math.min(this.nFrames, Math.max(least, (this.#last - this.#first) * factor));
    this.#set(still - ((x - MARGIN) / Math.max(1, this.#width - 2 * MARGIN)) * span, span);
  }

  pan(frames: number): void {
    this.#set(this.#first + frames, this.#last - this.#first);
  }

  fit(): void {
    this.#set(-0.5, this.nFrames);
  }

  /** Moves the stretch so that a frame is seen; true if it had to. */
  reveal(frame: number): boolean {
    if (frame >= this.#first && frame <= this.#last) return false;
    this.#set(frame - (this.#last - this.#first) / 4, this.#last - this.#first);
    return true;
  }

  /** Shows a stretch of frames with a little air around it. */
  show(first: number, last: number): void {
    const air = Math.max(2, 0.08 * (last - first));
    this.#set(first - air, Math.min(this.nFrames, last - first + 2 * air));
  }

  #set(first: number, span: number): void {
    this.#first = Math.max(-0.5, Math.min(first, this.nFrames - 0.5 - span));
    this.#last = this.#first + span;
  }

  /** Where the ruler has marks: multiples of a round step, at least `apart` pixels from each other. */
  ticks(apart: number): { step: number; frames: number[] } {
    const step = roundStep(apart / this.pixelsPerFrame);
    const frames: number[] = [];
    for (let f = Math.ceil(Math.max(0, this.#first) / step) * step; f <= this.#last && f < this.nFrames; f += step)
      frames.push(f);
    return { step, frames };
  }
}

/** The least of 1, 2, 5, 10, 20, 50, ... that is not below `least`. */
export function roundStep(least: number): number {
  let step = 1;
  for (let k = 0; step < least; k++) step *= k % 3 === 1 ? 2.5 : 2;
  return step;
}
