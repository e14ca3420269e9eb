/**
 * Loads the curves through the keys: a quick fit while the selection changes, then the polished fit that files
 * contain.
 */

import { fetchArrays } from "../api/client";
import type { Packet } from "../api/packet";
import { Signal } from "../state/signal";
import { LatestOnly } from "./latest_only";
import type { CurveSettings, JointKeysSpec } from "./settings";
import { type Curves, type CurvesHeader, parseTrack } from "./state";

export interface CurveRequest {
  frames?: readonly number[];
  joint_keys?: JointKeysSpec; // keys of its own for every joint
  curves: CurveSettings;
  residual: number;
}

/**
 * The state of the displayed curves: as in files, quickly fitted (for now or for good), of earlier keys (for now, or
 * for good because loading was cancelled), or failed.
 */
export type CurveQuality = "final" | "quick" | "quick only" | "stale" | "cancelled" | { error: unknown };

const POLISH_DELAY_MS = 400;
const STALE_REDRAW_MS = 200; // between redraws with curves of earlier keys: drawing them delays the next ones

export class CurveLoader {
  readonly quality = new Signal<CurveQuality>("stale");
  readonly #path: string;
  readonly #onLoad: (curves: Curves) => void;
  readonly #quickRequests: LatestOnly<CurveRequest, { curves: Curves; request: CurveRequest }>;
  #current: CurveRequest | null = null;
  #currentKey = "";
  #abort = new AbortController();
  #timer = 0;
  #lastDrawnMs = 0;
  /** Resolves when more urgent content is loaded; curves are requested after it. */
  waitFor: () => Promise<void> = async () => {};

  constructor(hash: string, onLoad: (curves: Curves) => void) {
    this.#path = `/api/clips/${hash}/curves`;
    this.#onLoad = onLoad;
    this.#quickRequests = new LatestOnly(
      async (first, signal) => {
        await null; // by then everything else that depends on the keys has been requested
        await this.waitFor();
        const request = this.#current ?? first; // the keys may have changed meanwhile
        return { curves: await this.#fetch(request, hasPolish(request), signal), request };
      },
      ({ curves, request }) => this.#show(curves, request),
      (error) => this.#fail(error),
    );
  }

  /** Loads these curves unless they are the current ones. */
  load(request: CurveRequest): void {
    const key = JSON.stringify(request);
    if (key === this.#currentKey) return;
    this.#cancelPolish();
    this.#currentKey = key;
    this.#current = request;
    this.quality.value = "stale";
    this.#quickRequests.submit(request);
    if (hasPolish(request)) this.#timer = window.setTimeout(() => void this.#polish(request), POLISH_DELAY_MS);
  }

  /** Loads the current curves again after a failure. */
  retry(): void {
    const request = this.#current;
    this.cancel();
    if (request) this.load(request);
  }

  /** Drops the current request. */
  cancel(): void {
    this.#cancelPolish();
    this.#quickRequests.cancel();
    this.#currentKey = "";
    this.#current = null;
  }

  /** Stops loading at the user's request; the displayed curves stay. */
  stop(): void {
    this.#cancelPolish();
    this.#quickRequests.cancel();
    if (this.quality.value === "quick") this.quality.value = "quick only";
    else if (this.quality.value === "stale") this.quality.value = "cancelled";
  }

  /** Drops the polished fit that is waiting or being loaded. */
  #cancelPolish(): void {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  #show(curves: Curves, request: CurveRequest): void {
    const isCurrent = request === this.#current;
    if (isCurrent && this.quality.value === "final") return; // the polished curves came first
    const now = performance.now();
    if (!isCurrent && now - this.#lastDrawnMs < STALE_REDRAW_MS) return;
    this.#lastDrawnMs = now;
    this.#onLoad(curves);
    if (isCurrent) this.quality.value = hasPolish(request) ? "quick" : "final";
  }

  #fail(error: unknown): void {
    if (this.quality.value === "stale") this.quality.value = { error };
  }

  async #polish(request: CurveRequest): Promise<void> {
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    try {
      const curves = await this.#fetch(request, false, signal);
      if (signal.aborted) return;
      this.#onLoad(curves);
      this.quality.value = "final";
    } catch (error) {
      if (signal.aborted) return;
      console.warn(error); // keep the quick curves, marked as such
      if (this.quality.value === "quick") this.quality.value = "quick only";
    }
  }

  async #fetch({ curves, ...request }: CurveRequest, quick: boolean, signal: AbortSignal): Promise<Curves> {
    const body = { ...request, ...curves, quick };
    return parseCurves(await fetchArrays<CurvesHeader>(this.#path, { body, signal }));
  }
}

/** Whether the curves have a quick fit first. Those of joints with keys of their own are not polished. */
function hasPolish({ curves, joint_keys: jointKeys }: CurveRequest): boolean {
  return curves.interpolation === "bezier" && jointKeys === undefined && curves.polish !== false;
}

/** Converts a packet to curves. */
export function parseCurves(packet: Packet<CurvesHeader>): Curves {
  const { per_frame_mm: mean, max_per_frame_mm: max } = packet.arrays as Record<string, Float32Array | undefined>;
  const { score, keys, extremes, extreme_parts: parts, joint_keys: jointKeys, refine } = packet.header;
  return {
    track: parseTrack(packet),
    errors: mean && max ? { mean, max } : null,
    score,
    extremes: extremes ?? [],
    extremeParts: new Map((parts ?? []).map((names, k) => [keys?.[k] ?? -1, names])),
    jointKeys: jointKeys ?? null,
    refine: refine ?? null,
  };
}
