/** Selects keys: loads the ladder once per selection spec and reads every number of keys from it. */

import { ApiError, fetchJson, type Schema } from "../api/client";
import { errorMessage, toSentence } from "../ui/states";
import { toast } from "../ui/toast";
import { CurveLoader } from "./curve_loader";
import { Ladder } from "./ladder";
import { buildSelectionSpec, type KeyTarget, keyTarget, type SelectionSpec } from "./settings";
import type { ClipState } from "./state";

export { parseCurves } from "./curve_loader";

export class SelectionController {
  readonly curveLoader: CurveLoader;
  readonly #state: ClipState;
  readonly #stop: (() => void)[] = [];
  #specKey = "";
  #toleranceKey = "";
  #abort = new AbortController();
  #toleranceAbort = new AbortController();
  #isDraftOpen = false; // while a draft is open, its own keys are displayed

  constructor(state: ClipState) {
    this.#state = state;
    this.curveLoader = new CurveLoader(state.details.hash, (curves) => {
      if (!this.#isDraftOpen) state.curves.value = curves;
    });
    this.#stop.push(
      this.curveLoader.quality.watch((quality) => {
        if (typeof quality === "object") toast(toSentence(errorMessage(quality.error)));
      }),
    );
    this.#stop.push(state.url.values.watch(() => this.update()));
    this.#stop.push(state.keys.watch(() => this.#updateCurves()));
  }

  /** Applies the settings: loads the ladder if the spec has changed, else reads the keys from it. */
  update(): void {
    if (this.#isDraftOpen) return;
    const { settings, details, clip } = this.#state;
    const spec = buildSelectionSpec(
      settings,
      details,
      clip.library,
      this.#state.bodyParts.map((bodyPart) => bodyPart.name),
    );
    const specKey = JSON.stringify(spec);
    if (specKey !== this.#specKey) {
      this.#specKey = specKey;
      this.#toleranceKey = "";
      void this.#loadLadder(spec);
    } else this.#selectKeys(keyTarget(settings), spec);
    this.#updateCurves();
  }

  /** Selects this number of keys. */
  setKeyCount(count: number): void {
    const ladder = this.#state.ladder.value;
    if (!ladder) return;
    const start = performance.now();
    this.#state.url.set({ keys: ladder.nearestCount(count), tolerance: null });
    requestAnimationFrame(() => performance.measure("keys-redrawn", { start, end: performance.now() }));
  }

  /** While a draft is open, its keys replace the selected ones. */
  setDraftOpen(isOpen: boolean): void {
    this.#isDraftOpen = isOpen;
    this.curveLoader.cancel();
    this.#toleranceKey = "";
    if (!isOpen) this.update();
  }

  dispose(): void {
    this.#abort.abort();
    this.#toleranceAbort.abort();
    this.curveLoader.cancel();
    for (const stop of this.#stop) stop();
  }

  async #loadLadder(spec: SelectionSpec): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const state = this.#state;
    state.ladderStatus.value = "busy";
    try {
      const path = `/api/clips/${state.details.hash}/ladder`;
      const ladder = new Ladder(await fetchJson<Schema["LadderResponse"]>(path, { body: spec, signal }));
      if (signal.aborted) return;
      state.ladder.value = ladder;
      state.ladderStatus.value = "ready";
      this.#selectKeys(keyTarget(state.settings), spec);
    } catch (error) {
      if (!signal.aborted) state.ladderStatus.value = { error };
    }
  }

  #selectKeys(target: KeyTarget, spec: SelectionSpec): void {
    const { ladder, keys } = this.#state;
    if (this.#isDraftOpen || !ladder.value || this.#state.ladderStatus.value !== "ready") return;
    if (target.by === "tolerance") void this.#selectWithin(target.mm, spec);
    else {
      this.#toleranceKey = "";
      const frames = ladder.value.framesFor(target.by === "keys" ? target.keys : ladder.value.defaultCount);
      if (!isSameFrames(frames, keys.value)) keys.value = frames;
    }
  }

  async #selectWithin(mm: number, spec: SelectionSpec): Promise<void> {
    const requestKey = `${mm} ${JSON.stringify(spec)}`;
    if (requestKey === this.#toleranceKey) return;
    this.#toleranceKey = requestKey;
    this.#toleranceAbort.abort();
    this.#toleranceAbort = new AbortController();
    const { signal } = this.#toleranceAbort;
    try {
      const path = `/api/clips/${this.#state.details.hash}/selection`;
      const result = await fetchJson<Schema["SelectionResponse"]>(path, { body: { spec, tolerance_mm: mm }, signal });
      if (!signal.aborted && !this.#isDraftOpen && this.#toleranceKey === requestKey)
        this.#state.keys.value = result.frames;
    } catch (error) {
      if (signal.aborted) return;
      toast(toSentence(error instanceof ApiError ? errorMessage(error) : String(error)));
    }
  }

  /** Loads the curves for the current keys. */
  #updateCurves(): void {
    if (this.#isDraftOpen) return;
    const frames = this.#state.keys.value;
    const { interpolation, residual } = this.#state.settings;
    if (frames.length) this.curveLoader.load({ frames, interpolation, residual: residual ?? 0 });
  }
}

function isSameFrames(a: readonly number[], b: readonly number[]): boolean {
  return a === b || (a.length === b.length && a.every((frame, k) => frame === b[k]));
}
