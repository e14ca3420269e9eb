/** The state of the compare page: a clip, some methods, the number of keys, and the results. */

import { fetchJson, type Schema } from "../api/client";
import { CurveLoader } from "../clip/curve_loader";
import { Ladder } from "../clip/ladder";
import type { PlaybackState } from "../clip/playback";
import type { Curves, LoadedClip } from "../clip/state";
import { correctUrl, findViewCorrections, type UrlCorrections } from "../clip/url_corrections";
import { Signal } from "../state/signal";
import { flag, integer, list, numbers, UrlState, type Values } from "../state/url";
import { errorMessage, toSentence } from "../ui/states";
import { toast } from "../ui/toast";

export const MAX_METHODS = 6; // methods side by side
const DEFAULT_METHODS = ["salient", "farthest", "uniform"];
const REFERENCE_METHOD = "salient"; // its automatic keys determine the number of keys by default

export const FIELDS = {
  methods: list(DEFAULT_METHODS),
  keys: integer({ min: 2 }),
  frame: integer({ min: 0 }),
  overlay: flag(true),
  camera: numbers(3),
};

/** One method: its ladder, the selected keys and the curves through them. */
export class MethodRun {
  readonly ladder = new Signal<Ladder | null>(null);
  readonly keys = new Signal<readonly number[]>([]);
  readonly curves = new Signal<Curves | null>(null);
  readonly error = new Signal<unknown>(null);
  /** Whether the figures are still those of the quick fit. */
  readonly isApproximate = new Signal(true);
  readonly #curveLoader: CurveLoader;
  readonly #stop: () => void;
  #keyCount: number | null = null;
  #automaticKeys: readonly number[] | null = null;
  #isDisposed = false;

  constructor(
    readonly method: string,
    hash: string,
    ladderPromise: Promise<Ladder>,
  ) {
    this.#curveLoader = new CurveLoader(hash, (curves) => {
      this.curves.value = curves;
    });
    this.#stop = this.#curveLoader.quality.watch((quality) => {
      this.error.value = typeof quality === "object" ? quality.error : null;
      this.isApproximate.value = quality !== "final";
    });
    void this.#awaitLadder(ladderPromise);
  }

  async #awaitLadder(ladderPromise: Promise<Ladder>): Promise<void> {
    try {
      const ladder = await ladderPromise;
      if (this.#isDisposed) return;
      this.ladder.value = ladder;
      this.setKeyCount(this.#keyCount, this.#automaticKeys);
    } catch (error) {
      if (!this.#isDisposed) this.error.value = error;
    }
  }

  /** Selects this number of keys, or the largest that the method has below it; or the automatic keys. */
  setKeyCount(count: number | null, automaticKeys: readonly number[] | null): void {
    this.#keyCount = count;
    this.#automaticKeys = automaticKeys;
    const ladder = this.ladder.value;
    if (!ladder || !count) return;
    const keys = automaticKeys ?? ladder.framesFor(ladder.maxCountUpTo(count));
    if (keys === this.keys.value) return;
    this.keys.value = keys;
    this.#curveLoader.load({ frames: keys, curves: { interpolation: "bezier" }, residual: 0 });
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#curveLoader.cancel();
    this.#stop();
  }
}

export class CompareState implements PlaybackState {
  readonly url: UrlState<typeof FIELDS>;
  readonly frame: Signal<number>;
  readonly playing = new Signal(false);
  readonly runs = new Signal<readonly MethodRun[]>([]);
  readonly speed = 1;
  readonly isLooping = true;
  /** The automatic keys; null until they are known. */
  readonly automaticKeys = new Signal<readonly number[] | null>(null);
  readonly #ladders = new Map<string, Promise<Ladder>>();
  readonly #abort = new AbortController();
  readonly #stop: () => void;

  constructor(
    readonly clip: LoadedClip,
    address: URL,
  ) {
    this.url = new UrlState(FIELDS, address);
    correctUrl(this.url, address.search, this.findCorrections());
    this.frame = new Signal(this.clamp(this.settings.frame ?? 0));
    this.#stop = this.url.values.watchNow(() => this.#update());
    void this.#loadAuto();
  }

  get settings(): Values<typeof FIELDS> {
    return this.url.value;
  }

  get fps(): number {
    return this.clip.details.fps;
  }

  get nFrames(): number {
    return this.clip.capture.nFrames;
  }

  get playRange(): readonly [number, number] {
    return [0, this.nFrames - 1];
  }

  /** The chosen number of keys, else the automatic one; null until it is known. */
  get keys(): number | null {
    return this.settings.keys ?? this.automaticKeys.value?.length ?? null;
  }

  get methodNames(): readonly string[] {
    const knownMethods = this.clip.library.methods.map(({ name }) => name);
    return [...new Set(this.settings.methods)].filter((name) => knownMethods.includes(name)).slice(0, MAX_METHODS);
  }

  clamp(frame: number): number {
    return Math.min(this.nFrames - 1, Math.max(0, Math.round(frame)));
  }

  onPause(): void {
    this.url.set({ frame: this.frame.value || null });
  }

  goTo(frame: number): void {
    this.playing.value = false;
    this.frame.value = this.clamp(frame);
    this.onPause();
  }

  /** Returns the changes needed for invalid values in the address. */
  findCorrections(): UrlCorrections<Values<typeof FIELDS>> {
    const { change, reasons }: UrlCorrections<Values<typeof FIELDS>> = findViewCorrections(this.settings, this.nFrames);
    const { methods } = this.settings;
    const knownMethods = this.clip.library.methods.map(({ name }) => name);
    const unknown = methods.filter((name) => !knownMethods.includes(name));
    if (unknown.length) {
      const valid = methods.filter((name) => knownMethods.includes(name));
      change.methods = valid.length ? valid : DEFAULT_METHODS;
      reasons.push(`there is no method “${unknown[0]}”`);
    }
    return { change, reasons };
  }

  dispose(): void {
    this.#abort.abort();
    this.#stop();
    for (const each of this.runs.value) each.dispose();
    this.url.flush();
  }

  #update(): void {
    const before = this.runs.value;
    const { methodNames } = this;
    if (before.map(({ method }) => method).join() !== methodNames.join()) {
      for (const run of before.filter(({ method }) => !methodNames.includes(method))) run.dispose();
      this.runs.value = methodNames.map(
        (name) => before.find(({ method }) => method === name) ?? this.#createRun(name),
      );
    }
    for (const each of this.runs.value) {
      const isAutomatic = this.settings.keys === null && each.method === REFERENCE_METHOD;
      each.setKeyCount(this.keys, isAutomatic ? this.automaticKeys.value : null);
    }
  }

  #createRun(method: string): MethodRun {
    return new MethodRun(method, this.clip.details.hash, this.#loadLadder(method));
  }

  async #loadAuto(): Promise<void> {
    const { signal } = this.#abort;
    const options = { body: { spec: { method: REFERENCE_METHOD } }, signal };
    try {
      const path = `/api/clips/${this.clip.details.hash}/selection`;
      this.automaticKeys.value = (await fetchJson<Schema["SelectionResponse"]>(path, options)).frames;
      this.#update();
    } catch (error) {
      if (signal.aborted) return;
      toast(toSentence(errorMessage(error)));
      const ladder = await this.#loadLadder(REFERENCE_METHOD).catch(() => null); // its card shows that error
      if (ladder && this.keys === null && !signal.aborted) this.url.set({ keys: ladder.estimatedCount });
    }
  }

  /** Loads each ladder once. */
  #loadLadder(method: string): Promise<Ladder> {
    let ladder = this.#ladders.get(method);
    if (!ladder) {
      const options = { body: { method }, signal: this.#abort.signal };
      ladder = fetchJson<Schema["LadderResponse"]>(`/api/clips/${this.clip.details.hash}/ladder`, options).then(
        (data) => new Ladder(data),
      );
      ladder.catch(() => this.#ladders.delete(method)); // adding the method again retries
      this.#ladders.set(method, ladder);
    }
    return ladder;
  }
}
