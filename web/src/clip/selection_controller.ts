/** Selects keys: loads the ladder once per selection spec and reads every number of keys from it. */

import { fetchJson, type Schema } from "../api/client";
import { errorMessage, toSentence } from "../ui/states";
import { toast } from "../ui/toast";
import { CurveLoader, type CurveQuality } from "./curve_loader";
import { Ladder } from "./ladder";
import {
  buildCurveSettings,
  buildExtremesSettings,
  buildJointKeysSpec,
  buildSelectionSpec,
  type KeyTarget,
  keyTarget,
  type SelectionSpec,
} from "./settings";
import type { ClipState } from "./state";

const EXTREMES_DELAY_MS = 300; // after the slider stops moving: moving keys to extremes takes longer than one step
const ESTIMATE_DELAY_MS = 1000; // without keys, until some are shown that are not selected by their curves

export { parseCurves } from "./curve_loader";

export class SelectionController {
  readonly curveLoader: CurveLoader;
  readonly #state: ClipState;
  readonly #stop: (() => void)[] = [];
  #specKey = "";
  #selectionKey = "";
  #abort = new AbortController();
  #selectionAbort = new AbortController();
  #isDraftOpen = false; // while a draft is open, its own keys are displayed
  #areCurvesReplaced = false; // while swings are displayed, the curves through the keys are not

  constructor(state: ClipState) {
    this.#state = state;
    this.curveLoader = new CurveLoader(state.details.hash, (curves) => {
      if (this.#isDraftOpen || this.#areCurvesReplaced || (curves.jointKeys !== null) !== state.isPerJoint) return;
      state.curves.value = curves;
      if (curves.jointKeys) this.#showJointKeys(curves.jointKeys);
    });
    this.#stop.push(
      this.curveLoader.quality.watch((quality) => {
        if (state.isPerJoint) this.#updateJointStatus(quality);
        else if (typeof quality === "object") toast(toSentence(errorMessage(quality.error)));
      }),
    );
    this.#stop.push(state.url.values.watch(() => this.update()));
    this.#stop.push(state.keys.watch(() => this.#updateCurves()));
  }

  /** Applies the settings: loads the ladder if the spec has changed, else reads the keys from it. */
  update(): void {
    if (this.#isDraftOpen) return;
    const { settings, details, clip } = this.#state;
    if (this.#state.isPerJoint) {
      this.#updateJointKeys();
      return;
    }
    if (this.#state.jointKeys.value) {
      this.#state.jointKeys.value = null;
      this.#specKey = "";
    }
    const spec = buildSelectionSpec(settings, details, clip.library, this.#state.bodyParts);
    const specKey = JSON.stringify(spec);
    if (specKey !== this.#specKey) {
      this.#specKey = specKey;
      this.#abortSelection();
      void this.#loadLadder(spec);
    } else this.#selectKeys(keyTarget(settings), spec);
    this.#updateCurves();
  }

  /** Selects this number of keys. */
  setKeyCount(count: number): void {
    const ladder = this.#state.ladder.value;
    if (this.#state.isPerJoint) this.#state.url.set({ keys: Math.max(2, Math.round(count)), tolerance: null });
    if (!ladder) return;
    const start = performance.now();
    this.#state.url.set({ keys: ladder.nearestCount(count), tolerance: null });
    requestAnimationFrame(() => performance.measure("keys-redrawn", { start, end: performance.now() }));
  }

  /** While a draft is open, its keys replace the selected ones. */
  setDraftOpen(isOpen: boolean): void {
    this.#isDraftOpen = isOpen;
    this.curveLoader.cancel();
    this.#abortSelection();
    if (!isOpen) this.update();
  }

  /** While swings are displayed, they replace the curves through the keys. */
  setCurvesReplaced(areReplaced: boolean): void {
    this.#areCurvesReplaced = areReplaced;
    if (areReplaced) this.curveLoader.cancel();
    else this.update();
  }

  /** Stops selecting keys at the user's request; the displayed keys stay. */
  cancel(): void {
    if (this.#state.isPerJoint) this.curveLoader.stop();
    else if (this.#state.ladderStatus.value === "busy") {
      this.#abort.abort();
      this.#state.ladderStatus.value = "cancelled";
    } else if (this.#state.isSelecting && keyTarget(this.#state.settings).by === "keys") {
      this.#selectionAbort.abort(); // the key of the request stays, so that it is not sent again
      this.#state.selectionStatus.value = "idle";
    } else if (this.#state.isSelecting) {
      this.#abortSelection();
      this.#showEstimate();
      this.#state.url.set({ keys: this.#state.keys.value.length, tolerance: null });
    }
  }

  /** Selects keys again after a failure or a cancellation. */
  retry(): void {
    this.#specKey = "";
    if (this.#state.isPerJoint) this.curveLoader.retry();
    else this.update();
  }

  dispose(): void {
    this.#abort.abort();
    this.#selectionAbort.abort();
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
    const { settings, clip } = this.#state;
    const extremes = buildExtremesSettings(settings, clip.library);
    const preferred = { ...spec, ...extremes };
    if (target.by !== "keys") {
      const mm = target.by === "tolerance" ? target.mm : null;
      void this.#select({ ...buildCurveSettings(settings, clip.library), spec: preferred, tolerance_mm: mm });
      return;
    }
    const frames = ladder.value.framesFor(target.keys);
    const prefersExtremes = Boolean(extremes.extremes_first || extremes.leading);
    const body = { spec: preferred, keys: frames.length };
    if (prefersExtremes && JSON.stringify(body) === this.#selectionKey) return;
    this.#abortSelection();
    if (!isSameFrames(frames, keys.value)) keys.value = frames;
    if (prefersExtremes) void this.#select(body, EXTREMES_DELAY_MS);
  }

  /**
   * Selects keys in a request of their own: the fewest whose curves stay within a tolerance, or a number of keys that
   * are moved to extremes.
   */
  async #select(body: Record<string, unknown>, delayMs = 0): Promise<void> {
    const requestKey = JSON.stringify(body);
    if (requestKey === this.#selectionKey) return;
    this.#abortSelection();
    this.#selectionKey = requestKey;
    this.#selectionAbort = new AbortController();
    const { signal } = this.#selectionAbort;
    if (delayMs) await new Promise((resolve) => window.setTimeout(resolve, delayMs));
    if (signal.aborted) return;
    this.#state.selectionStatus.value = "busy";
    window.setTimeout(() => {
      if (!signal.aborted && this.#state.selectionStatus.value === "busy" && this.#showEstimate())
        this.#state.selectionStatus.value = "estimated";
    }, ESTIMATE_DELAY_MS);
    try {
      const path = `/api/clips/${this.#state.details.hash}/selection`;
      const result = await fetchJson<Schema["SelectionResponse"]>(path, { body, signal });
      if (signal.aborted) return;
      this.#state.selectionStatus.value = "idle";
      if (!isSameFrames(result.frames, this.#state.keys.value)) this.#state.keys.value = result.frames;
    } catch (error) {
      if (signal.aborted) return;
      this.#state.selectionStatus.value = { error };
      this.#showEstimate();
    }
  }

  /** Shows the keys of the ladder that are likely to do, unless others are shown; returns whether it did. */
  #showEstimate(): boolean {
    const { ladder, keys } = this.#state;
    if (!ladder.value || keys.value.length) return false;
    keys.value = ladder.value.framesFor(ladder.value.estimatedCount);
    return true;
  }

  #abortSelection(): void {
    this.#selectionKey = "";
    this.#selectionAbort.abort();
    this.#state.selectionStatus.value = "idle";
  }

  /** Loads the curves for the current keys. */
  #updateCurves(): void {
    if (this.#isDraftOpen || this.#areCurvesReplaced || this.#state.isPerJoint) return;
    const frames = this.#state.keys.value;
    const { settings, clip } = this.#state;
    const curves = buildCurveSettings(settings, clip.library);
    if (frames.length) this.curveLoader.load({ frames, curves, residual: settings.residual ?? 0 });
  }

  /** Loads the keys of each joint with their curves, in one request. */
  #updateJointKeys(): void {
    const { settings, details, clip, ladder, jointKeys } = this.#state;
    this.#abort.abort();
    this.#abortSelection();
    ladder.value = null;
    this.curveLoader.load({
      joint_keys: buildJointKeysSpec(settings, details, clip.library),
      curves: buildCurveSettings(settings, clip.library),
      residual: settings.residual ?? 0,
    });
    this.#updateJointStatus(this.curveLoader.quality.value);
    if (jointKeys.value) this.#showJointKeys(jointKeys.value);
  }

  #showJointKeys(jointKeys: readonly (readonly number[])[]): void {
    const state = this.#state;
    state.jointKeys.value = jointKeys;
    const frames = jointKeys[state.displayedJoint] ?? [];
    if (!isSameFrames(frames, state.keys.value)) state.keys.value = frames;
  }

  #updateJointStatus(quality: CurveQuality): void {
    if (this.#isDraftOpen) return;
    const { ladderStatus } = this.#state;
    if (quality === "stale") ladderStatus.value = "busy";
    else if (quality === "cancelled") ladderStatus.value = "cancelled";
    else ladderStatus.value = typeof quality === "object" ? quality : "ready";
  }
}

function isSameFrames(a: readonly number[], b: readonly number[]): boolean {
  return a === b || (a.length === b.length && a.every((frame, k) => frame === b[k]));
}
