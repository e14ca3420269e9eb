/** The state of the clip page: the clip, the settings, the selected keys and their curves. */

import { fetchArrays, fetchJson, type Schema } from "../api/client";
import type { Draft } from "../edit/steps";
import { facingDirection } from "../player/body";
import type { Track } from "../player/track";
import { Signal } from "../state/signal";
import { UrlState } from "../state/url";
import { type Group, partition } from "../timeline/lanes";
import type { FrameErrors } from "../timeline/paint";
import type { Ladder } from "./ladder";
import type { PlaybackState } from "./playback";
import { type ClipDetails, DEFAULT_THRESHOLD, FIELDS, type LibraryInfo, type Settings } from "./settings";
import type { LoadedSwing } from "./swing_loader";

type FramesHeader = Schema["FramesHeader"];

/** Joint positions along the curves or of an edit, with their error. */
export interface Curves {
  track: Track;
  errors: FrameErrors | null;
  score: Score | null;
  extremes: readonly number[];
  extremeParts: ReadonlyMap<number, readonly string[]>; // of keys, the parts of the body at the end of their travel
  jointKeys: readonly (readonly number[])[] | null; // keys of each joint; null: all joints share the keys
  refine: readonly RefineRow[] | null; // the table of curve refinement
}

export type RefineRow = Schema["RefineRow"];

export interface CurvesHeader {
  score: Score | null;
  keys?: readonly number[] | null;
  extremes: readonly number[] | null;
  extreme_parts?: readonly (readonly string[])[];
  joint_keys?: number[][] | null;
  refine?: RefineRow[] | null;
}

export type Action = Schema["ActionRow"];

export type Score = Schema["ScoreFigures"];

export interface LoadedClip {
  details: ClipDetails;
  library: LibraryInfo;
  capture: Track;
  endJoints: readonly number[];
  hasFace: boolean; // the last end site is a point straight ahead of the head
}

/** Loads what a page about this clip needs first. */
export async function loadClip(hash: string, signal: AbortSignal): Promise<LoadedClip> {
  const [details, library, frames] = await Promise.all([
    fetchJson<ClipDetails>(`/api/clips/${hash}`, { signal }),
    fetchJson<Schema["LibraryInfo"]>("/api/library", { signal }),
    fetchArrays<FramesHeader>(`/api/clips/${hash}/frames`, { signal }),
  ]);
  const { end_joints, head } = frames.header;
  const endJoints = head === null ? end_joints : [...end_joints, head];
  return { details, library, capture: parseTrack(frames), endJoints, hasFace: head !== null };
}

/** Returns the track of a packet: joints, and end sites followed by the point in front of the face. */
export function parseTrack({
  arrays,
  shapes,
}: {
  arrays: Record<string, ArrayLike<number>>;
  shapes: Record<string, number[]>;
}): Track {
  const positions = arrays.positions as Float32Array;
  const nFrames = shapes.positions?.[0] ?? 0;
  const blocks = [arrays.ends, arrays.face].filter((block) => block !== undefined) as Float32Array[];
  return { positions, ends: concatRows(blocks, nFrames), nFrames };
}

/** Concatenates the rows of several arrays. */
function concatRows(blocks: readonly Float32Array[], nRows: number): Float32Array {
  const nonEmpty = blocks.filter((block) => block.length > 0);
  if (nonEmpty.length < 2) return nonEmpty[0] ?? new Float32Array(0);
  const widths = nonEmpty.map((block) => block.length / nRows);
  const width = widths.reduce((sum, each) => sum + each, 0);
  const rows = new Float32Array(nRows * width);
  let at = 0;
  for (let row = 0; row < nRows; row++)
    for (const [n, block] of nonEmpty.entries())
      for (let k = 0, from = row * widths[n]!; k < widths[n]!; k++) rows[at++] = block[from + k]!;
  return rows;
}

/** Returns the direction in which the figure faces in the first frame, in degrees about the vertical axis. */
export function facingDegrees({ details, capture }: LoadedClip): number {
  const front = facingDirection(details.joints, capture.positions.subarray(0, 3 * details.joints.length));
  return front ? Math.round((Math.atan2(front[0], front[2]) * 180) / Math.PI) : 0;
}

/** A swing, by its index among the swings of its joint. */
export interface SelectedSwing {
  joint: string;
  index: number;
}

/** The swings of a draft that is displayed. */
export type SwingsDraft = Extract<Draft, { kind: "swings" }>;

export class ClipState implements PlaybackState {
  readonly url: UrlState<typeof FIELDS>;
  readonly frame: Signal<number>;
  readonly playing = new Signal(false);
  readonly ladder = new Signal<Ladder | null>(null);
  /** Whether the ladder is being loaded, is there, was cancelled, or failed. */
  readonly ladderStatus = new Signal<"busy" | "ready" | "cancelled" | { error: unknown }>("busy");
  /**
   * Whether the keys within a tolerance, or the automatic ones, are being selected ("estimated": estimated ones are
   * shown meanwhile), or that failed.
   */
  readonly selectionStatus = new Signal<"idle" | "busy" | "estimated" | { error: unknown }>("idle");
  readonly keys = new Signal<readonly number[]>([]);
  readonly curves = new Signal<Curves | null>(null);
  /** Keys of each joint, if every joint has keys of its own. */
  readonly jointKeys = new Signal<readonly (readonly number[])[] | null>(null);
  /** The number of frames that are displayed: an edit may make the clip longer or shorter. */
  readonly length: Signal<number>;
  /** What the figure beside the capture plays. */
  readonly figureName = new Signal<"Keys" | "Swings">("Keys");
  readonly swingsDraft = new Signal<SwingsDraft | null>(null);
  readonly selectedSwing = new Signal<SelectedSwing | null>(null);
  /** The selected swing, when it is loaded. */
  readonly swing = new Signal<LoadedSwing | null>(null);
  /** The actions of the capture; null until they are loaded. */
  readonly actions = new Signal<readonly Action[] | null>(null);
  readonly bodyParts: readonly Group[];
  readonly jointNames: readonly string[];

  constructor(
    readonly clip: LoadedClip,
    address: URL,
  ) {
    this.url = new UrlState(FIELDS, address);
    this.jointNames = clip.details.joints.map((joint) => joint.name);
    this.length = new Signal(clip.capture.nFrames);
    this.bodyParts = partition(this.jointNames, clip.details.joint_groups);
    this.frame = new Signal(this.clamp(this.settings.frame ?? 0));
  }

  /** Whether every joint has keys of its own. */
  get isPerJoint(): boolean {
    return this.settings.per === "joint";
  }

  /** The joint whose keys are shown if every joint has its own: the chosen one, else the one with most keys. */
  get displayedJoint(): number {
    const chosen = this.jointNames.indexOf(this.settings.joint);
    const counts = this.jointKeys.value?.map((keys) => keys.length) ?? [];
    return chosen >= 0 ? chosen : Math.max(0, counts.indexOf(Math.max(...counts)));
  }

  get isSelecting(): boolean {
    return ["busy", "estimated"].includes(String(this.selectionStatus.value));
  }

  get settings(): Settings {
    return this.url.value;
  }

  get details(): ClipDetails {
    return this.clip.details;
  }

  get nFrames(): number {
    return this.length.value;
  }

  get fps(): number {
    return this.details.fps;
  }

  /** The frames that are played and looped: the range, else the whole clip. */
  get playRange(): readonly [number, number] {
    const { range } = this.settings;
    return range ? [this.clamp(range[0]), this.clamp(range[1])] : [0, this.nFrames - 1];
  }

  get speed(): number {
    return this.settings.speed ?? 1;
  }

  /** The threshold of the swings. */
  get threshold(): number {
    return this.settings.threshold ?? DEFAULT_THRESHOLD;
  }

  get isLooping(): boolean {
    return this.settings.loop;
  }

  onPause(): void {
    this.url.set({ frame: this.frame.value || null });
  }

  clamp(frame: number): number {
    return Math.min(this.nFrames - 1, Math.max(0, Math.round(frame)));
  }

  /** Goes to a frame and stops there. */
  goTo(frame: number): void {
    this.playing.value = false;
    this.frame.value = this.clamp(frame);
    this.onPause();
  }

  /** Returns the key before or after a frame, or null. */
  adjacentKey(frame: number, direction: 1 | -1): number | null {
    const keys = this.keys.value;
    return (direction > 0 ? keys.find((key) => key > frame) : keys.findLast((key) => key < frame)) ?? null;
  }

  /** Marks the range of an action, and goes to its start. */
  markAction({ start, end }: Pick<Action, "start" | "end">): void {
    this.goTo(start);
    this.url.set({ range: [start, end] });
  }

  togglePin(frame: number): void {
    const pins = new Set(this.settings.pins ?? []);
    if (!pins.delete(frame)) pins.add(frame);
    const sorted = [...pins].sort((a, b) => a - b);
    this.url.set({ pins: sorted.length ? sorted : null });
  }
}
