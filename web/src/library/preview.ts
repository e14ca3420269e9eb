/** Plays the clip of the hovered or focused card in place of its strip, one at a time. */

import { fetchArrays } from "../api/client";
import { h } from "../ui/dom";
import { reducedMotion } from "../ui/motion";
import { cssColour, theme } from "../ui/theme";
import { type Colours, StickFigure } from "./stick_figure";

interface FramesHeader {
  fps: number;
  parents: number[];
  names: string[];
  end_joints: number[];
}

const FPS = 15;
const MAX_FRAMES = 240;
const START_DELAY_MS = 140; // no preview for a pointer that only passes over the card
const CACHE_SIZE = 32;

export class Preview {
  readonly #canvas = h("canvas", { class: "card-preview", "aria-hidden": "true" });
  readonly #figures = new Map<string, StickFigure>();
  #colours: Colours | null = null;
  #current: { container: HTMLElement; hash: string; abort: AbortController } | null = null;
  readonly #unwatch: (() => void)[];

  constructor() {
    this.#unwatch = [
      theme.watch(() => {
        this.#colours = null;
      }),
      reducedMotion.watch(() => this.stop()),
    ];
  }

  /** Plays a clip in `container` until another one starts or `stop` is called. */
  start(container: HTMLElement, hash: string): void {
    if (this.#current?.container === container && this.#current.hash === hash) return;
    this.stop();
    if (reducedMotion.value) return;
    const abort = new AbortController();
    this.#current = { container, hash, abort };
    window.setTimeout(() => {
      if (!abort.signal.aborted) void this.#play(container, hash, abort.signal);
    }, START_DELAY_MS);
  }

  /** Stops the preview; with `container` only if it plays there. */
  stop(container?: HTMLElement): void {
    if (!this.#current || (container && this.#current.container !== container)) return;
    this.#current.abort.abort();
    this.#current = null;
    this.#canvas.remove();
  }

  /** Stops the preview if `isCurrent` says that its container does not show its clip any more; returns whether it did. */
  stopUnless(isCurrent: (container: HTMLElement, hash: string) => boolean): boolean {
    if (!this.#current || isCurrent(this.#current.container, this.#current.hash)) return false;
    this.stop();
    return true;
  }

  close(): void {
    this.stop();
    for (const unwatch of this.#unwatch) unwatch();
  }

  async #play(container: HTMLElement, hash: string, signal: AbortSignal): Promise<void> {
    let figure: StickFigure;
    try {
      figure = await this.#loadFigure(hash, signal);
    } catch {
      return; // keep the strip: the clip's page shows the error
    }
    if (signal.aborted) return;
    const box = container.getBoundingClientRect();
    const [width, height] = [box.width, box.height];
    this.#canvas.width = Math.round(width * devicePixelRatio);
    this.#canvas.height = Math.round(height * devicePixelRatio);
    container.append(this.#canvas);
    const context = this.#canvas.getContext("2d");
    if (!context) return;
    const startMs = performance.now();
    let lastFrame = -1;
    const step = (now: number) => {
      if (signal.aborted) return;
      const frame = Math.floor((Math.max(0, now - startMs) / 1000) * figure.motion.fps) % figure.motion.nFrames;
      if (frame !== lastFrame) {
        context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
        const colours = this.#readColours();
        figure.draw(context, frame, width, height, colours);
        context.fillStyle = colours.floor;
        context.fillRect(0, height - 2, (width * (frame + 1)) / figure.motion.nFrames, 2);
        lastFrame = frame;
      }
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  async #loadFigure(hash: string, signal: AbortSignal): Promise<StickFigure> {
    const cached = this.#figures.get(hash);
    if (cached) return cached;
    const path = `/api/clips/${hash}/frames?fps=${FPS}&max_frames=${MAX_FRAMES}`;
    const { header, arrays, shapes } = await fetchArrays<FramesHeader>(path, { signal });
    const figure = new StickFigure({
      fps: header.fps,
      nFrames: shapes.positions?.[0] ?? 0,
      nJoints: header.parents.length,
      parents: header.parents,
      names: header.names,
      positions: arrays.positions as Float32Array,
      ends: (arrays.ends ?? new Float32Array()) as Float32Array,
      endJoints: header.end_joints ?? [],
    });
    this.#figures.set(hash, figure);
    const oldest = this.#figures.keys().next().value;
    if (this.#figures.size > CACHE_SIZE && oldest !== undefined) this.#figures.delete(oldest);
    return figure;
  }

  #readColours(): Colours {
    const names = { paper: "--paper", floor: "--line-strong", left: "--left", middle: "--middle", right: "--right" };
    this.#colours ??= Object.fromEntries(
      Object.entries(names).map(([name, variable]) => [name, cssColour(variable)]),
    ) as unknown as Colours;
    return this.#colours;
  }
}
