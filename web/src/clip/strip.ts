/**
 * The strip of key poses, rendered by the server. It is replaced only when the next one is complete, so nothing
 * flickers.
 */

import { fetchFile } from "../api/client";
import type { Draft } from "../edit/steps";
import { h } from "../ui/dom";
import { count, countOf } from "../ui/format";
import { theme } from "../ui/theme";
import { LatestOnly } from "./latest_only";
import { StripBox } from "./strip_box";
import { selectEvenly } from "./strip_layout";

interface StripJob {
  url: string;
  draft: Draft | null; // poses of an edit; null for poses of the capture
  frames: readonly number[]; // of all keys, or evenly selected from them
  order: readonly number[] | null; // the same by importance, if less important poses are more transparent
  nKeys: number;
  theme: string;
  heightPx: number;
  start: number; // time of the request, in ms
}

/** A strip that has been loaded. */
export interface LoadedStrip {
  image: HTMLImageElement;
  loadSvg: () => Promise<string>; // the SVG text, from which the layout is measured
  frames: readonly number[];
  note: string; // that only some of the keys are shown; "" if all are
}

const SETTLE_TIMEOUT_MS = 400;
const CACHE_SIZE = 64; // recent strips that are shown without a request

export class Strip {
  readonly element: HTMLElement;
  readonly #scroller: HTMLElement;
  readonly #box: StripBox;
  readonly #hash: string;
  readonly #heightPx: number;
  readonly #maxPoses: number;
  readonly #jobs: LatestOnly<StripJob, LoadedStrip>;
  readonly #cache = new Map<string, LoadedStrip>();
  #frames: readonly number[] = [];
  #draft: Draft | null = null;
  #order: readonly number[] | null = null;
  #isRanked = false;
  #currentKey = "";
  readonly #stop: () => void;
  readonly #settleCallbacks: (() => void)[] = [];

  /** `onSelect` gets the frame of the pose that was pressed. A strip has at most `maxPoses`. */
  constructor(
    hash: string,
    heightPx: number,
    maxPoses: number,
    onSelect: (frame: number) => void,
    onRank: (isRanked: boolean) => void,
  ) {
    this.#hash = hash;
    this.#heightPx = heightPx;
    this.#maxPoses = maxPoses;
    this.#box = new StripBox(
      onSelect,
      () => this.#retry(),
      () => onRank(!this.#isRanked),
    );
    this.element = this.#box.element;
    this.#scroller = this.#box.scroller;
    this.element.style.setProperty("--strip-height", `${heightPx}px`);
    this.#jobs = new LatestOnly(
      (job, signal) => loadStrip(job, signal),
      (strip, job) => {
        this.#addToCache(job, strip);
        this.#showStrip(strip, job.start);
      },
      (error, job) => {
        if (cacheKey(job) === this.#currentKey) this.#box.showError(error);
        this.#setSettled();
      },
    );
    this.#stop = theme.watch(() => this.#update());
  }

  /** Shows poses of the capture, or of an edit. `order` has the frames by importance, if the method ranks them. */
  show(frames: readonly number[], draft: Draft | null = null, order: readonly number[] | null = null): void {
    this.#frames = frames;
    this.#draft = draft;
    this.#order = order;
    this.#update();
  }

  /** Makes less important poses more transparent, if they are ranked. */
  set isRanked(isRanked: boolean) {
    this.#isRanked = isRanked;
    this.#update();
  }

  /** Marks the pose of the key at or before this frame. */
  set frame(frame: number) {
    this.#box.frame = frame;
  }

  /** Resolves when nothing is being loaded, or after a timeout. */
  async whenSettled(): Promise<void> {
    if (this.#scroller.getAttribute("aria-busy") !== "true") return;
    await new Promise<void>((resolve) => {
      this.#settleCallbacks.push(resolve);
      window.setTimeout(resolve, SETTLE_TIMEOUT_MS);
    });
  }

  dispose(): void {
    this.#jobs.cancel();
    this.#box.dispose();
    this.#stop();
  }

  #update(): void {
    this.#box.showRank(this.#order !== null, this.#isRanked);
    if (!this.#frames.length) return;
    const start = performance.now();
    const job = { ...this.#createJob(), start };
    const key = cacheKey(job);
    if (key === this.#currentKey) return;
    this.#currentKey = key;
    const cached = this.#cache.get(key);
    if (cached) {
      this.#jobs.cancel();
      this.#addToCache(job, cached);
      this.#showStrip(cached, start);
      return;
    }
    this.#scroller.setAttribute("aria-busy", "true");
    this.#jobs.submit(job);
  }

  #retry(): void {
    this.#currentKey = "";
    this.#update();
  }

  #createJob(): Omit<StripJob, "start"> {
    const url = `/api/clips/${this.#hash}/strip.svg`;
    const frames = selectEvenly(this.#frames, this.#maxPoses);
    const nKeys = this.#frames.length;
    const drawn = new Set(frames);
    const order = (this.#isRanked && this.#order?.filter((frame) => drawn.has(frame))) || null;
    return { url, draft: this.#draft, frames, order, nKeys, theme: theme.value, heightPx: this.#heightPx };
  }

  #addToCache(job: StripJob, strip: LoadedStrip): void {
    const key = cacheKey(job);
    this.#cache.delete(key);
    this.#cache.set(key, strip);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > CACHE_SIZE && oldest !== undefined) this.#cache.delete(oldest);
  }

  #setSettled(): void {
    this.#scroller.setAttribute("aria-busy", "false");
    for (const resolve of this.#settleCallbacks.splice(0)) resolve();
  }

  #showStrip(strip: LoadedStrip, start: number): void {
    this.#box.show(strip);
    this.#setSettled();
    requestAnimationFrame(() => performance.measure("strip-redrawn", { start, end: performance.now() }));
  }
}

function cacheKey({ draft, frames, order, nKeys, theme, heightPx }: Omit<StripJob, "start">): string {
  return JSON.stringify([draft, frames, order, nKeys, theme, heightPx]);
}

async function loadStrip(job: StripJob, signal: AbortSignal): Promise<LoadedStrip> {
  const { draft, frames, order, nKeys, theme } = job;
  const poses = countOf(nKeys, draft ? "edited pose" : "key pose");
  const note = frames.length < nKeys ? `${count(frames.length)} of ${poses}` : "";
  const ranked = order ? "; less important ones are more transparent" : "";
  const alt = `${note || poses}, at ${frames.length === 1 ? "frame" : "frames"} ${frames.join(", ")}${ranked}`;
  const image = h("img", { alt, draggable: "false", "data-theme": theme });
  const loadSvg = draft ? await loadEditSource(image, job, draft, signal) : setCaptureSource(image, job);
  const stopLoading = () => image.removeAttribute("src");
  signal.addEventListener("abort", stopLoading);
  try {
    await image.decode();
  } catch (error) {
    if (!signal.aborted) await loadSvg(); // throws the reason for which the server did not send it
    throw error;
  } finally {
    signal.removeEventListener("abort", stopLoading);
  }
  return { image, loadSvg, frames, note };
}

/** An image URL is the fastest way to show it; the text is requested again only if it is needed. */
function setCaptureSource(image: HTMLImageElement, job: StripJob): LoadedStrip["loadSvg"] {
  const { url, frames, order, theme, heightPx } = job;
  const query = `frames=${(order ?? frames).join(",")}&theme=${theme}&height_px=${heightPx}`;
  image.src = `${url}?${query}${order ? "&rank=true" : ""}`;
  const { src } = image;
  return async () => (await fetchFile(src)).blob.text();
}

async function loadEditSource(
  image: HTMLImageElement,
  job: StripJob,
  draft: Draft,
  signal: AbortSignal,
): Promise<LoadedStrip["loadSvg"]> {
  const { url, frames, theme, heightPx } = job;
  const { blob } = await fetchFile(url, { body: { draft, frames, theme, height_px: heightPx }, signal });
  image.src = URL.createObjectURL(blob);
  const revoke = () => URL.revokeObjectURL(image.src);
  image.addEventListener("load", revoke, { once: true });
  image.addEventListener("error", revoke, { once: true });
  return () => blob.text();
}
