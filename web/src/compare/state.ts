/** What the page that compares knows: a clip, some methods, as many keys for each, what came of it. */

import { askJson, type Schema } from "../api/client";
import { type Fixes, placeFixes, putRight } from "../clip/address";
import { Curving } from "../clip/curving";
import { Rungs } from "../clip/ladder";
import type { Played } from "../clip/playing";
import type { Curves, Opened } from "../clip/state";
import { Signal } from "../state/signal";
import { flag, integer, list, numbers, UrlState, type Values } from "../state/url";

export const MOST = 6; // methods side by side
const FIRST = ["salient", "farthest", "uniform"];
const BEST = "salient"; // whose curve of errors says how many keys, unless somebody does

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
  /** Whether the figures are only about those of a file. */
  readonly isRough = new Signal(true);
  readonly #curving: Curving;
  readonly #stop: () => void;
  #wanted: number | null = null;
  #isGone = false;

  constructor(
    readonly method: string,
    hash: string,
    climbed: Promise<Rungs>,
  ) {
    this.#curving = new Curving(hash, (curves) => {
      this.curves.value = curves;
    });
    this.#stop = this.#curving.worth.watch((worth) => {
      this.error.value = typeof worth === "object" ? worth.error : null;
      this.isRough.value = worth !== "fine";
    });
    void this.#climb(climbed);
  }

  async #climb(climbed: Promise<Rungs>): Promise<void> {
    try {
      const rungs = await climbed;
      if (this.#isGone) return;
      this.rungs.value = rungs;
      this.want(this.#wanted);
    } catch (error) {
      if (!this.#isGone) this.error.value = error;
    }
  }

  /** So many keys, or the most that the method has up to there. */
  want(count: number | null): void {
    this.#wanted = count;
    const rungs = this.rungs.value;
    if (!rungs || !count) return;
    const keys = rungs.at(rungs.within(count));
    if (keys === this.keys.value) return;
    this.keys.value = keys;
    this.#curving.ask({ frames: keys, interpolation: "bezier", residual: 0 });
  }

  dispose(): void {
    this.#isGone = true;
    this.#curving.forget();
    this.#stop();
  }
}

export class CompareState implements Played {
  readonly url: UrlState<typeof FIELDS>;
  readonly frame: Signal<number>;
  readonly playing = new Signal(false);
  readonly contenders = new Signal<readonly Contender[]>([]);
  readonly speed = 1;
  readonly isLooped = true;
  /** As many keys as the curve of errors says; null: not known yet. */
  readonly auto = new Signal<number | null>(null);
  readonly #ladders = new Map<string, Promise<Rungs>>();
  readonly #abort = new AbortController();
  readonly #stop: () => void;

  constructor(
    readonly opened: Opened,
    address: URL,
  ) {
    this.url = new UrlState(FIELDS, address);
    putRight(this.url, address.search, this.fixes());
    this.frame = new Signal(this.clamp(this.settings.frame ?? 0));
    this.#stop = this.url.values.show(() => this.#update());
    void this.#ladder(BEST).then(
      (rungs) => {
        this.auto.value = rungs.usual;
        this.#update();
      },
      () => {}, // the method itself says why
    );
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

  /** As many keys as was said, else as the curve of errors says; null: not known yet. */
  get keys(): number | null {
    return this.settings.keys ?? this.auto.value;
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

  /** What the address says that cannot be. */
  fixes(): Fixes<Values<typeof FIELDS>> {
    const { change, said }: Fixes<Values<typeof FIELDS>> = placeFixes(this.settings, this.nFrames);
    const { methods } = this.settings;
    const known = this.opened.library.methods.map(({ name }) => name);
    const unknown = methods.filter((name) => !known.includes(name));
    if (unknown.length) {
      const left = methods.filter((name) => known.includes(name));
      change.methods = left.length ? left : FIRST;
      said.push(`there is no method “${unknown[0]}”`);
    }
    return { change, said };
  }

  dispose(): void {
    this.#abort.abort();
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
    return new Contender(method, this.opened.facts.hash, this.#ladder(method));
  }

  /** Each ladder is asked for once. */
  #ladder(method: string): Promise<Rungs> {
    let ladder = this.#ladders.get(method);
    if (!ladder) {
      const asked = { told: { method }, signal: this.#abort.signal };
      ladder = askJson<Schema["LadderSaid"]>(`/api/clips/${this.opened.facts.hash}/ladder`, asked).then(
        (said) => new Rungs(said),
      );
      ladder.catch(() => this.#ladders.delete(method)); // who adds the method again may have more luck
      this.#ladders.set(method, ladder);
    }
    return ladder;
  }
}
