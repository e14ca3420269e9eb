/** What the page that compares knows: a clip, some methods, as many keys for each, what came of it. */

import { askArrays, askJson, type Schema } from "../api/client";
import { curvesOf } from "../clip/choosing";
import { Rungs } from "../clip/ladder";
import { Latest } from "../clip/latest";
import type { Played } from "../clip/playing";
import type { Curves, CurvesHeader, Opened } from "../clip/state";
import { Signal } from "../state/signal";
import { flag, integer, list, numbers, UrlState, type Values } from "../state/url";

export const MOST = 6; // methods side by side
const FIRST = ["salient", "farthest", "uniform"];

export const FIELDS = {
  methods: list(FIRST),
  keys: integer({ least: 2 }),
  frame: integer({ least: 0 }),
  over: flag(true),
  camera: numbers(3),
};

/** One method: its ladder, the keys that it chose, and the curves through them. */
export class Contender {
  readonly rungs = new Signal<Rungs | null>(null);
  readonly keys = new Signal<readonly number[]>([]);
  readonly curves = new Signal<Curves | null>(null);
  readonly error = new Signal<unknown>(null);
  readonly #unbaking: Latest<readonly number[], Curves>;
  readonly #abort = new AbortController();
  #wanted = 0;

  constructor(
    readonly method: string,
    readonly hash: string,
  ) {
    const path = `/api/clips/${hash}/unbaked`;
    this.#unbaking = new Latest(
      async (frames) => curvesOf(await askArrays<CurvesHeader>(path, { told: { frames } })),
      (curves) => {
        this.curves.value = curves;
      },
      (error) => {
        this.error.value = error;
      },
    );
  }

  async climb(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const told = { method: this.method };
      const said = await askJson<Schema["LadderSaid"]>(`/api/clips/${this.hash}/ladder`, { told, signal });
      this.rungs.value = new Rungs(said);
      this.want(this.#wanted);
    } catch (error) {
      if (!signal.aborted) this.error.value = error;
    }
  }

  /** So many keys, or the nearest number that the method has. */
  want(count: number): void {
    this.#wanted = count;
    if (!this.rungs.value || !count) return;
    const keys = this.rungs.value.at(count);
    if (keys === this.keys.value) return;
    this.keys.value = keys;
    this.#unbaking.ask(keys);
  }

  dispose(): void {
    this.#abort.abort();
    this.#unbaking.forget();
  }
}

export class CompareState implements Played {
  readonly url: UrlState<typeof FIELDS>;
  readonly frame: Signal<number>;
  readonly playing = new Signal(false);
  readonly contenders = new Signal<readonly Contender[]>([]);
  readonly speed = 1;
  readonly isLooped = true;
  readonly #stop: () => void;

  constructor(
    readonly opened: Opened,
    address: URL,
  ) {
    this.url = new UrlState(FIELDS, address);
    this.frame = new Signal(this.clamp(this.settings.frame ?? 0));
    this.#stop = this.url.values.show(() => this.#update());
  }

  get settings(): Values<typeof FIELDS> {
    return this.url.value;
  }

  get fps(): number {
    return this.opened.facts.fps;
  }

  get nFrames(): number {
    return this.opened.capture.nFrames;
  }

  get played(): readonly [number, number] {
    return [0, this.nFrames - 1];
  }

  /** As many keys as was said, else as the library's own strip has. */
  get keys(): number {
    return this.settings.keys ?? Math.max(4, this.opened.facts.key_frames.length);
  }

  get names(): readonly string[] {
    const known = this.opened.library.methods.map(({ name }) => name);
    return [...new Set(this.settings.methods)].filter((name) => known.includes(name)).slice(0, MOST);
  }

  clamp(frame: number): number {
    return Math.min(this.nFrames - 1, Math.max(0, Math.round(frame)));
  }

  rested(): void {
    this.url.set({ frame: this.frame.value || null });
  }

  goTo(frame: number): void {
    this.playing.value = false;
    this.frame.value = this.clamp(frame);
    this.rested();
  }

  dispose(): void {
    this.#stop();
    for (const each of this.contenders.value) each.dispose();
    this.url.flush();
  }

  #update(): void {
    const before = this.contenders.value;
    const { names } = this;
    if (before.map(({ method }) => method).join() !== names.join()) {
      for (const gone of before.filter(({ method }) => !names.includes(method))) gone.dispose();
      this.contenders.value = names.map((name) => before.find(({ method }) => method === name) ?? this.#new(name));
    }
    for (const each of this.contenders.value) each.want(this.keys);
  }

  #new(method: string): Contender {
    const contender = new Contender(method, this.opened.facts.hash);
    void contender.climb();
    return contender;
  }
}
