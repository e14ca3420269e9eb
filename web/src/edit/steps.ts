/** An edit as it grows: steps, the detail of the capture, and a way back and forth through all of it. */

import type { Schema } from "../api/client";
import type { Bar } from "../timeline/lanes";
import type { Stretch } from "../timeline/stretching";

export type KeyStep = Pick<Schema["KeyStep"], "op" | "frame"> & Partial<Schema["KeyStep"]>;
export type SwingStep = Pick<Schema["SwingStep"], "op" | "joint"> & Partial<Schema["SwingStep"]>;
export type Step = KeyStep | SwingStep;
export type Interpolation = Schema["KeysDraft"]["interpolation"];

export type Start =
  | { kind: "keys"; frames: readonly number[]; interpolation: Interpolation }
  | { kind: "swings"; threshold: number };

export type Draft =
  | { kind: "keys"; frames: readonly number[]; interpolation: Interpolation; residual: number; steps: readonly Step[] }
  | { kind: "swings"; threshold: number; steps: readonly Step[] };

const POSE = ["spread_s", "keep_feet"];
const TAKES: Record<Step["op"], readonly string[]> = {
  rotate: ["frame", "joint", "quaternion", "euler_degrees", "space", ...POSE],
  reach: ["frame", "joint", "to", "by", ...POSE],
  mirror: ["frame", ...POSE],
  paste: ["frame", "from_frame", ...POSE],
  move_key: ["frame", "to", "ripple"],
  insert_key: ["frame"],
  delete_key: ["frame"],
  shift: ["frame", "joint", "index", "to", "by", "by_frames", ...POSE], // of the hips, or of a swing
  scale: ["joint", "index", "factor"],
  lengthen: ["joint", "index", "by_frames", "anchor"],
  shorten: ["joint", "index", "by_frames", "anchor"],
  delete: ["joint", "index"],
  intensify: ["joint", "factor"],
};

/** A step with what its operation takes, and nothing that says nothing. */
export function lean(step: Step): Step {
  const isSwing = !("frame" in step) || step.frame === undefined;
  const takes = TAKES[step.op].filter((name) => !(isSwing && POSE.includes(name)));
  const said = Object.entries(step).filter(
    ([name, value]) => name === "op" || (takes.includes(name) && value !== null),
  );
  return Object.fromEntries(said) as Step;
}

/** The step that a drag of a bar means. */
export function stepOf(bar: Bar, change: Stretch): SwingStep {
  const { joint, index } = bar;
  if (change.op === "scale") return { op: "scale", joint, index, factor: change.factor };
  const step = { op: change.op, joint, index, by_frames: change.frames };
  return "anchor" in change ? { ...step, anchor: change.anchor } : step;
}

/** A place in the history: so many steps, and so much detail. */
type Moment = Readonly<Schema["Moment"]>;

/** What is kept of an edit. Without `moments` each step is one. */
export interface Kept {
  draft: Draft;
  done: number;
  moments?: readonly Moment[] | null;
  at?: number | null;
}

/** Everything that was done, in order, and how much of it counts. A new deed forgets what was undone. */
export class Story {
  private constructor(
    readonly start: Start,
    readonly steps: readonly Step[],
    readonly moments: readonly Moment[],
    readonly at: number,
  ) {}

  static begin(start: Start): Story {
    return new Story(start, [], [{ steps: 0, residual: 0 }], 0);
  }

  /** An edit that was kept. */
  static of(kept: Kept): Story {
    const { draft, done } = kept;
    const { kind } = draft;
    const start: Start =
      kind === "keys"
        ? { kind, frames: draft.frames, interpolation: draft.interpolation }
        : { kind, threshold: draft.threshold };
    const residual = kind === "keys" ? draft.residual : 0;
    const steps = draft.steps.map(lean);
    const { moments, at } = kept;
    if (moments && fits(moments, steps.length) && at != null && moments[at]?.steps === done)
      return new Story(start, steps, moments, at);
    const plain = Array.from({ length: steps.length + 1 }, (_, count) => ({ steps: count, residual }));
    return new Story(start, steps, plain, Math.min(done, steps.length));
  }

  get canUndo(): boolean {
    return this.at > 0;
  }

  get canRedo(): boolean {
    return this.at < this.moments.length - 1;
  }

  get now(): Moment {
    return this.moments[this.at]!;
  }

  get done(): readonly Step[] {
    return this.steps.slice(0, this.now.steps);
  }

  did(step: Step): Story {
    const steps = [...this.done, step];
    const moments = [...this.moments.slice(0, this.at + 1), { steps: steps.length, residual: this.now.residual }];
    return new Story(this.start, steps, moments, this.at + 1);
  }

  /** More or less of the capture's detail. Changes in a row count as one, and as none if they end where they began. */
  withResidual(residual: number): Story {
    if (residual === this.now.residual) return this;
    const before = this.moments[this.at - 1];
    const isInRow = before !== undefined && before.steps === this.now.steps;
    const kept = this.moments.slice(0, isInRow ? this.at : this.at + 1);
    if (isInRow && before.residual === residual) return new Story(this.start, this.done, kept, this.at - 1);
    return new Story(this.start, this.done, [...kept, { steps: this.now.steps, residual }], kept.length);
  }

  goTo(at: number): Story {
    return new Story(this.start, this.steps, this.moments, Math.min(this.moments.length - 1, Math.max(0, at)));
  }

  undone(): Story {
    return this.goTo(this.at - 1);
  }

  redone(): Story {
    return this.goTo(this.at + 1);
  }

  /** Without what was done last and cannot be: it leaves no trace. */
  without(): Story {
    const moments = this.moments.slice(0, this.at);
    return this.at ? new Story(this.start, this.steps.slice(0, moments.at(-1)!.steps), moments, this.at - 1) : this;
  }

  /** The draft as it counts now: what the server is asked to make. */
  draft(): Draft {
    return this.#with(this.done);
  }

  /** The draft with what was undone, as it is kept. */
  kept(): Kept {
    const kept = { draft: this.#with(this.steps), done: this.now.steps };
    const { moments, at } = this;
    return moments.some(({ residual }) => residual) ? { ...kept, moments, at } : kept;
  }

  /** What happened from the start on, in words; the first is the start itself. */
  words(spoken = (joint: string) => joint): string[] {
    return this.moments.map(({ steps, residual }, k) => {
      const before = this.moments[k - 1];
      if (!before) return this.start.kind === "keys" ? `${this.start.frames.length} keys` : "Swings of the capture";
      return before.steps === steps
        ? `Detail ${Math.round(100 * residual)} %`
        : inWords(this.steps[steps - 1]!, spoken);
    });
  }

  #with(steps: readonly Step[]): Draft {
    return this.start.kind === "keys"
      ? { ...this.start, residual: this.now.residual, steps }
      : { ...this.start, steps };
  }
}

/** Whether moments lead from the start through all steps, one by one. */
function fits(moments: readonly Moment[], count: number): boolean {
  const ups = moments.map(({ steps }, k) => steps - (moments[k - 1]?.steps ?? 0));
  return moments[0]?.steps === 0 && moments.at(-1)?.steps === count && ups.every((up) => up === 0 || up === 1);
}

/** A step as people say it; `spoken` is the name of a hand or foot. */
export function inWords(step: Step, spoken = (joint: string) => joint): string {
  if (!("frame" in step)) return swingInWords(step);
  const at = `at ${step.frame}`;
  switch (step.op) {
    case "rotate":
      return `Turn ${step.joint} ${degreesOf(step)}${at}`;
    case "reach":
      return `Move ${spoken(step.joint ?? "")} ${centimetres(step.by)}${at}`;
    case "shift":
      return `Shift the hips ${centimetres(step.by)}${at}`;
    case "move_key":
      return `Key ${step.frame} to ${String(step.to)}`;
    case "insert_key":
      return `Key added ${at}`;
    case "delete_key":
      return `Key removed ${at}`;
    case "mirror":
      return `Mirror the pose ${at}`;
    case "paste":
      return `Pose of ${step.from_frame} pasted ${at}`;
  }
}

function swingInWords({ op, joint, index, factor, by_frames: frames, anchor }: SwingStep): string {
  const what = index === undefined || index === null ? joint : `${joint}, swing ${index + 1}`;
  switch (op) {
    case "scale":
    case "intensify":
      return `${what}: × ${factor}`;
    case "shift":
      return `${what}: ${Math.abs(frames ?? 0)} frames ${(frames ?? 0) > 0 ? "later" : "earlier"}`;
    case "lengthen":
    case "shorten": {
      const isLonger = op === "lengthen";
      if (anchor === "start") return `${what}: ends ${frames} frames ${isLonger ? "later" : "earlier"}`;
      if (anchor === "end") return `${what}: starts ${frames} frames ${isLonger ? "earlier" : "later"}`;
      return `${what}: ${frames} frames ${isLonger ? "longer" : "shorter"}`;
    }
    case "delete":
      return `${what}: removed`;
  }
}

function degreesOf({ quaternion, euler_degrees: euler }: KeyStep): string {
  if (quaternion) return `${Math.round((2 * Math.acos(Math.min(1, Math.abs(quaternion[0]))) * 180) / Math.PI)}° `;
  return euler ? `${Math.round(Math.hypot(...euler))}° ` : "";
}

function centimetres(by: readonly number[] | null | undefined): string {
  return by ? `${Number((100 * Math.hypot(...by)).toFixed(1))} cm ` : "";
}
