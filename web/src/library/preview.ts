/** Plays the clip of the card that is hovered or has the focus, in the place of its strip. One at a time. */

import { askArrays } from "../api/client";
import { h } from "../ui/dom";
import { calm } from "../ui/motion";
import { cssColour, theme } from "../ui/theme";
import { type Colours, Figure } from "./figure";

interface FramesHeader {
  fps: number;
  parents: number[];
  names: string[];
  end_joints: number[];
}

const FPS = 15;
const MOST_FRAMES = 240;
const WAIT_MS = 140; // a pointer that only passes by starts nothing
const KEPT = 32;

export class Preview {
  readonly #canvas = h("canvas", { class: "card-play", "aria-hidden": "true" });
  readonly #figures = new Map<string, Figure>();
  #colours: Colours | null = null;
  #over: { place: HTMLElement; hash: string; ended: AbortController } | null = null;
  readonly #forget: (() => void)[];

  constructor() {
    this.#forget = [
      theme.watch(() => {
        this.#colours = null;
      }),
      calm.watch(() => this.stop()),
    ];
  }

  /** Plays a clip in `place` until another one starts or `stop` is called. */
  start(place: HTMLElement, hash: string): void {
    if (this.#over?.place === place && this.#over.hash === hash) return;
    this.stop();
    if (calm.value) return;
    const ended = new AbortController();
    this.#over = { place, hash, ended };
    window.setTimeout(() => {
      if (!ended.signal.aborted) void this.#play(place, hash, ended.signal);
    }, WAIT_MS);
  }

  /** Ends playing, or only if it is in `place`. */
  stop(place?: HTMLElement): void {
    if (!this.#over || (place && this.#over.place !== place)) return;
    this.#over.ended.abort();
    this.#over = null;
    this.#canvas.remove();
  }

  close(): void {
    this.stop();
    for (const forget of this.#forget) forget();
  }

  async #play(place: HTMLElement, hash: string, ended: AbortSignal): Promise<void> {
    let figure: Figure;
    try {
      figure = await this.#figure(hash, ended);
    } catch {
      return; // the strip stays: the clip's own page says what is wrong with it
    }
    if (ended.aborted) return;
    const box = place.getBoundingClientRect();
    const [width, height] = [box.width, box.height];
    this.#canvas.width = Math.round(width * devicePixelRatio);
    this.#canvas.height = Math.round(height * devicePixelRatio);
    place.append(this.#canvas);
    const context = this.#canvas.getContext("2d");
    if (!context) return;
    const started = performance.now();
    let drawn = -1;
    const step = (now: number) => {
      if (ended.aborted) return;
      const frame = Math.floor((Math.max(0, now - started) / 1000) * figure.walk.fps) % figure.walk.nFrames;
      if (frame !== drawn) {
        context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
        const colours = this.#looks();
        figure.draw(context, frame, width, height, colours);
        context.fillStyle = colours.floor;
        context.fillRect(0, height - 2, (width * (frame + 1)) / figure.walk.nFrames, 2);
        drawn = frame;
      }
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  async #figure(hash: string, signal: AbortSignal): Promise<Figure> {
    const kept = this.#figures.get(hash);
    if (kept) return kept;
    const path = `/api/clips/${hash}/frames?fps=${FPS}&most_frames=${MOST_FRAMES}`;
    const { header, arrays, shapes } = await askArrays<FramesHeader>(path, { signal });
    const figure = new Figure({
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
    if (this.#figures.size > KEPT && oldest !== undefined) this.#figures.delete(oldest);
    return figure;
  }

  #looks(): Colours {
    const names = { paper: "--paper", floor: "--line-strong", left: "--left", middle: "--middle", right: "--right" };
    this.#colours ??= Object.fromEntries(
      Object.entries(names).map(([name, variable]) => [name, cssColour(variable)]),
    ) as unknown as Colours;
    return this.#colours;
  }
}
