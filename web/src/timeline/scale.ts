/** Maps frames to pixels for the visible part of the clip. */

const MARGIN = 8; // pixels on both sides, so that marks at the ends are complete

export class TimeScale {
  #nFrames: number;
  #first = 0; // first visible position, in frames; half a frame lies beyond either end
  #last: number;
  #width = 1; // pixels

  constructor(nFrames: number) {
    this.#nFrames = nFrames;
    this.#first = -0.5;
    this.#last = nFrames - 0.5;
  }

  get nFrames(): number {
    return this.#nFrames;
  }

  /** Changes the length of the clip: all of it stays visible, or else the visible part. */
  set nFrames(nFrames: number) {
    const { isWhole } = this;
    this.#nFrames = nFrames;
    if (isWhole) this.fit();
    else this.#set(this.#first, Math.min(nFrames, this.#last - this.#first));
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

  /** Returns the frame at a pixel, clamped to the clip. */
  frameAt(x: number): number {
    return Math.min(this.nFrames - 1, Math.max(0, Math.round(this.positionAt(x))));
  }

  /** Returns the position at a pixel, in frames, fractional and not clamped. */
  positionAt(x: number): number {
    return this.#first + (x - MARGIN) / this.pixelsPerFrame;
  }

  /** Shows `factor` times as many frames; the position at pixel `x` stays. */
  zoom(factor: number, x: number): void {
    const anchor = this.positionAt(x);
    const minSpan = Math.min(this.nFrames, 8);
    const span = Math.min(this.nFrames, Math.max(minSpan, (this.#last - this.#first) * factor));
    this.#set(anchor - ((x - MARGIN) / Math.max(1, this.#width - 2 * MARGIN)) * span, span);
  }

  pan(frames: number): void {
    this.#set(this.#first + frames, this.#last - this.#first);
  }

  fit(): void {
    this.#set(-0.5, this.nFrames);
  }

  /** Scrolls so that a frame is visible; returns whether that was necessary. */
  reveal(frame: number): boolean {
    if (frame >= this.#first && frame <= this.#last) return false;
    this.#set(frame - (this.#last - this.#first) / 4, this.#last - this.#first);
    return true;
  }

  /** Shows a range of frames with a margin. */
  show(first: number, last: number): void {
    const margin = Math.max(2, 0.08 * (last - first));
    this.#set(first - margin, Math.min(this.nFrames, last - first + 2 * margin));
  }

  #set(first: number, span: number): void {
    this.#first = Math.max(-0.5, Math.min(first, this.nFrames - 0.5 - span));
    this.#last = this.#first + span;
  }

  /** Returns the ticks of the ruler: multiples of a round step, at least `minSpacing` pixels apart. */
  ticks(minSpacing: number): { step: number; frames: number[] } {
    const step = roundStep(minSpacing / this.pixelsPerFrame);
    const frames: number[] = [];
    for (let f = Math.ceil(Math.max(0, this.#first) / step) * step; f <= this.#last && f < this.nFrames; f += step)
      frames.push(f);
    return { step, frames };
  }
}

/** Returns the smallest of 1, 2, 5, 10, 20, 50, ... that is not below `min`. */
export function roundStep(min: number): number {
  let step = 1;
  for (let k = 0; step < min; k++) step *= k % 3 === 1 ? 2.5 : 2;
  return step;
}
