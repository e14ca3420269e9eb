/** All that one clip's page knows: what the clip is, what was chosen, what the server said about it. */

import { askArrays, askJson, type Schema } from "../api/client";
import { frontOf } from "../player/body";
import type { Track } from "../player/track";
import { Signal } from "../state/signal";
import { UrlState } from "../state/url";
import { type Group, partition } from "../timeline/lanes";
import type { Rungs } from "./ladder";
import type { Played } from "./playing";
import { type Facts, FIELDS, type LibraryFacts, type Settings } from "./recipe";

type FramesHeader = Schema["FramesHeader"];

/** Curves through keys, or an edit: where joints are, and how far they are off. */
export interface Curves {
  track: Track;
  perFrame: Float32Array | null; // mm
  score: Score | null;
  extremes: readonly number[];
}

export interface CurvesHeader {
  score: Score | null;
  extremes: readonly number[] | null;
}

export type Score = Schema["ScoreSaid"];

export interface Opened {
  facts: Facts;
  library: LibraryFacts;
  capture: Track;
  endJoints: readonly number[];
  hasFace: boolean; // the last end site is a point straight ahead of the head
}

/** Asks for all that a page of this clip starts with. */
export async function openClip(hash: string, signal: AbortSignal): Promise<Opened> {
  const [facts, library, frames] = await Promise.all([
    askJson<Facts>(`/api/clips/${hash}`, { signal }),
    askJson<Schema["LibraryFacts"]>("/api/library", { signal }),
    askArrays<FramesHeader>(`/api/clips/${hash}/frames`, { signal }),
  ]);
  const { end_joints, head } = frames.header;
  const endJoints = head === null ? end_joints : [...end_joints, head];
  return { facts, library, capture: trackOf(frames), endJoints, hasFace: head !== null };
}

/** Where joints, end sites and behind them the point before the face are, of a packet. */
export function trackOf({
  arrays,
  shapes,
}: {
  arrays: Record<string, ArrayLike<number>>;
  shapes: Record<string, number[]>;
}): Track {
  const positions = arrays.positions as Float32Array;
  const nFrames = shapes.positions?.[0] ?? 0;
  const parts = [arrays.ends, arrays.face].filter((part) => part !== undefined) as Float32Array[];
  return { positions, ends: joined(parts, nFrames), nFrames };
}

/** Rows of several arrays behind each other. */
function joined(parts: readonly Float32Array[], nRows: number): Float32Array {
  const some = parts.filter((part) => part.length > 0);
  if (some.length < 2) return some[0] ?? new Float32Array(0);
  const widths = some.map((part) => part.length / nRows);
  const width = widths.reduce((sum, each) => sum + each, 0);
  const rows = new Float32Array(nRows * width);
  let at = 0;
  for (let row = 0; row < nRows; row++)
    for (const [n, part] of some.entries())
      for (let k = 0, from = row * widths[n]!; k < widths[n]!; k++) rows[at++] = part[from + k]!;
  return rows;
}

/** Degrees about the upright axis that the figure looks to at first. */
export function facingOf({ facts, capture }: Opened): number {
  const front = frontOf(facts.joints, capture.positions.subarray(0, 3 * facts.joints.length));
  return front ? Math.round((Math.atan2(front[0], front[2]) * 180) / Math.PI) : 0;
}

export class ClipState implements Played {
  readonly url: UrlState<typeof FIELDS>;
  readonly frame: Signal<number>;
  readonly playing = new Signal(false);
  readonly rungs = new Signal<Rungs | null>(null);
  /** What the ladder is about: at work, or why there is none. */
  readonly choosing = new Signal<"busy" | "ready" | { error: unknown }>("busy");
  readonly keys = new Signal<readonly number[]>([]);
  readonly curves = new Signal<Curves | null>(null);
  readonly parts: readonly Group[];
  readonly names: readonly string[];

  constructor(
    readonly opened: Opened,
    address: URL,
  ) {
    this.url = new UrlState(FIELDS, address);
    this.names = opened.facts.joints.map((joint) => joint.name);
    this.parts = partition(this.names, opened.facts.groups);
    this.frame = new Signal(this.clamp(this.settings.frame ?? 0));
  }

  get settings(): Settings {
    return this.url.value;
  }

  get facts(): Facts {
    return this.opened.facts;
  }

  get nFrames(): number {
    return this.opened.capture.nFrames;
  }

  get fps(): number {
    return this.facts.fps;
  }

  /** The stretch that is played and looped: the range, else everything. */
  get played(): readonly [number, number] {
    const { range } = this.settings;
    return range ? [this.clamp(range[0]), this.clamp(range[1])] : [0, this.nFrames - 1];
  }

  get speed(): number {
    return this.settings.speed ?? 1;
  }

  get isLooped(): boolean {
    return this.settings.loop;
  }

  rested(): void {
    this.url.set({ frame: this.frame.value || null });
  }

  clamp(frame: number): number {
    return Math.min(this.nFrames - 1, Math.max(0, Math.round(frame)));
  }

  /** Goes to a frame and stops there. */
  goTo(frame: number): void {
    this.playing.value = false;
    this.frame.value = this.clamp(frame);
    this.rested();
  }

  /** The key before or after a frame; null: none. */
  keyBeside(frame: number, way: 1 | -1): number | null {
    const keys = this.keys.value;
    return (way > 0 ? keys.find((key) => key > frame) : keys.findLast((key) => key < frame)) ?? null;
  }

  togglePin(frame: number): void {
    const pins = new Set(this.settings.pins ?? []);
    if (!pins.delete(frame)) pins.add(frame);
    const sorted = [...pins].sort((a, b) => a - b);
    this.url.set({ pins: sorted.length ? sorted : null });
  }
}
