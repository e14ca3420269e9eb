/** The steps of an edit, and its undo history. */

import type { Schema } from "../api/client";
import type { Bar } from "../timeline/lanes";
import type { SwingChange } from "../timeline/swing_drag";
import { countOf } from "../ui/format";

/** Makes the fields that have a default on the server optional. */
type WithDefaults<T> = T extends unknown ? Omit<T, Default> & Partial<Pick<T, Extract<keyof T, Default>>> : never;
type Default = "spread_s" | "keep_feet" | "space" | "ripple" | "anchor" | "return_s" | "keep_contacts";

export type KeyStep = WithDefaults<Schema["KeysDraft"]["steps"][number]>;
type AnySwingStep = WithDefaults<Schema["SwingsDraft"]["steps"][number]>;
type RetimeStep = Omit<Extract<AnySwingStep, { op: "retime" }>, "joint"> & { joint?: string };
export type SwingStep = Exclude<AnySwingStep, { op: "retime" }> | RetimeStep;
export type Step = KeyStep | SwingStep;
/** Keys that all joints share, and how their curves are fitted. */
type KeysStart = Omit<Partial<Schema["KeysDraft"]>, "kind" | "frames" | "joint_keys" | "residual" | "steps"> & {
  kind: "keys";
  frames: readonly number[];
};

export type Start = KeysStart | { kind: "swings"; threshold: number; captured_detail?: boolean };

export type Draft =
  | (KeysStart & { residual: number; steps: readonly Step[] })
  | { kind: "swings"; threshold: number; captured_detail?: boolean; steps: readonly Step[] };

/** Returns the step for a drag of a bar. */
export function swingStep(bar: Bar, change: SwingChange): SwingStep {
  const { joint, index } = bar;
  if (change.op === "scale") return { op: "scale", joint, index, factor: change.factor };
  const step = { op: change.op, joint, index, by_frames: change.frames };
  return "anchor" in change ? { ...step, anchor: change.anchor } : step;
}

/** A state in the history: the number of applied steps, and the share of detail. */
type UndoState = Readonly<Schema["UndoState"]>;

/** A draft as it is saved. Without `undo_states` each step is one state. */
export interface SavedDraft {
  draft: Draft;
  n_applied: number;
  undo_states?: readonly UndoState[] | null;
  undo_index?: number | null;
}

/** Immutable history of an edit: all steps, and how many are applied. A new step drops what was undone. */
export class EditHistory {
  private constructor(
    readonly start: Start,
    readonly steps: readonly Step[],
    readonly states: readonly UndoState[],
    readonly index: number,
  ) {}

  static create(start: Start): EditHistory {
    return new EditHistory(start, [], [{ n_steps: 0, residual: 0 }], 0);
  }

  /** Restores the history of a saved draft. */
  static fromSaved(saved: SavedDraft): EditHistory {
    const { draft, n_applied: nApplied } = saved;
    const { steps } = draft;
    const { start, residual } = splitDraft(draft);
    const { undo_states: states, undo_index: index } = saved;
    if (states && isValidHistory(states, steps.length) && index != null && states[index]?.n_steps === nApplied)
      return new EditHistory(start, steps, states, index);
    const defaultStates = Array.from({ length: steps.length + 1 }, (_, count) => ({ n_steps: count, residual }));
    return new EditHistory(start, steps, defaultStates, Math.min(nApplied, steps.length));
  }

  get canUndo(): boolean {
    return this.index > 0;
  }

  get canRedo(): boolean {
    return this.index < this.states.length - 1;
  }

  get current(): UndoState {
    return this.states[this.index]!;
  }

  get appliedSteps(): readonly Step[] {
    return this.steps.slice(0, this.current.n_steps);
  }

  apply(step: Step): EditHistory {
    const steps = [...this.appliedSteps, step];
    const states = [
      ...this.states.slice(0, this.index + 1),
      { n_steps: steps.length, residual: this.current.residual },
    ];
    return new EditHistory(this.start, steps, states, this.index + 1);
  }

  /**
   * Changes the share of captured detail. Consecutive changes count as one, and as none if they end where they began.
   */
  withResidual(residual: number): EditHistory {
    if (residual === this.current.residual) return this;
    const previous = this.states[this.index - 1];
    const isRepeated = previous !== undefined && previous.n_steps === this.current.n_steps;
    const earlier = this.states.slice(0, isRepeated ? this.index : this.index + 1);
    if (isRepeated && previous.residual === residual)
      return new EditHistory(this.start, this.appliedSteps, earlier, this.index - 1);
    return new EditHistory(
      this.start,
      this.appliedSteps,
      [...earlier, { n_steps: this.current.n_steps, residual }],
      earlier.length,
    );
  }

  /** Changes whether a draft of swings has the captured detail. That is no step: undo does not change it. */
  withCapturedDetail(capturedDetail: boolean): EditHistory {
    if (this.start.kind !== "swings") return this;
    return new EditHistory({ ...this.start, captured_detail: capturedDetail }, this.steps, this.states, this.index);
  }

  goTo(index: number): EditHistory {
    return new EditHistory(this.start, this.steps, this.states, Math.min(this.states.length - 1, Math.max(0, index)));
  }

  undo(): EditHistory {
    return this.goTo(this.index - 1);
  }

  redo(): EditHistory {
    return this.goTo(this.index + 1);
  }

  /** Drops the last step without a trace, because the server refused it. */
  dropLast(): EditHistory {
    const states = this.states.slice(0, this.index);
    return this.index
      ? new EditHistory(this.start, this.steps.slice(0, states.at(-1)!.n_steps), states, this.index - 1)
      : this;
  }

  /** The draft with the applied steps, which the server evaluates. */
  draft(): Draft {
    return this.#draftWith(this.appliedSteps);
  }

  /** The draft with all steps, including undone ones, as it is saved. */
  toSaved(): SavedDraft {
    const saved = { draft: this.#draftWith(this.steps), n_applied: this.current.n_steps };
    const { states, index } = this;
    return states.some(({ residual }) => residual) ? { ...saved, undo_states: states, undo_index: index } : saved;
  }

  /** Describes each state; the first one is the start. */
  describe(jointLabel = (joint: string) => joint): string[] {
    return this.states.map(({ n_steps: nSteps, residual }, k) => {
      const previous = this.states[k - 1];
      if (!previous)
        return this.start.kind === "keys"
          ? `Start: ${countOf(this.start.frames.length, "key")}`
          : "Start: captured swings";
      return previous.n_steps === nSteps
        ? `Captured detail ${Math.round(100 * residual)} %`
        : describeStep(this.steps[nSteps - 1]!, jointLabel);
    });
  }

  #draftWith(steps: readonly Step[]): Draft {
    return this.start.kind === "keys"
      ? { ...this.start, residual: this.current.residual, steps }
      : { ...this.start, steps };
  }
}

/** Whether the states lead from the start through all steps one by one. */
function isValidHistory(states: readonly UndoState[], count: number): boolean {
  const increments = states.map(({ n_steps: nSteps }, k) => nSteps - (states[k - 1]?.n_steps ?? 0));
  return (
    states[0]?.n_steps === 0 &&
    states.at(-1)?.n_steps === count &&
    increments.every((increment) => increment === 0 || increment === 1)
  );
}

/** Describes a step; `jointLabel` gives the name of a hand or foot. */
export function describeStep(step: Step, jointLabel = (joint: string) => joint): string {
  if (!("frame" in step)) return describeSwingStep(step);
  const at = `at frame ${step.frame}`;
  switch (step.op) {
    case "rotate":
      return `Rotate ${step.joint} ${formatDegrees(step)}${at}`;
    case "reach":
      return `Move ${jointLabel(step.joint)} ${formatCentimetres(step.by)}${at}`;
    case "shift":
      return `Move hips ${formatCentimetres(step.by)}${at}`;
    case "move_key":
      return `Move key from frame ${step.frame} to ${step.to}`;
    case "insert_key":
      return `Add key ${at}`;
    case "delete_key":
      return `Remove key ${at}`;
    case "mirror":
      return `Mirror pose ${at}`;
    case "paste":
      return `Paste pose from frame ${step.from_frame} ${at}`;
  }
}

function describeSwingStep(step: SwingStep): string {
  if (step.op === "retime") {
    const { from_frame: first, to_frame: last } = step;
    const subject = first == null || last == null ? "Whole clip" : `Frames ${first} to ${last}`;
    return `${subject}: ${step.factor} times as long`;
  }
  const { joint } = step;
  if (step.op === "intensify") return `${joint}: strength × ${step.factor}`;
  const subject = step.index === undefined || step.index === null ? joint : `${joint}, swing ${step.index + 1}`;
  switch (step.op) {
    case "scale":
      return `${subject}: strength × ${step.factor}`;
    case "shift":
      return `${subject}: ${countOf(Math.abs(step.by_frames), "frame")} ${step.by_frames > 0 ? "later" : "earlier"}`;
    case "lengthen":
    case "shorten": {
      const isLonger = step.op === "lengthen";
      const frames = countOf(step.by_frames, "frame");
      if (step.anchor === "start") return `${subject}: ends ${frames} ${isLonger ? "later" : "earlier"}`;
      if (step.anchor === "end") return `${subject}: starts ${frames} ${isLonger ? "earlier" : "later"}`;
      return `${subject}: ${frames} ${isLonger ? "longer" : "shorter"}`;
    }
    case "set_angle":
      return `${subject}: angle ${step.degrees}°`;
    case "set_axis":
      return `${subject}: axis ${step.axis.map((value) => Number(value.toFixed(2))).join(", ")}`;
    case "delete":
      return `${subject}: removed`;
  }
}

function formatDegrees({
  quaternion,
  euler_degrees: euler,
}: Pick<Schema["Rotate"], "quaternion" | "euler_degrees">): string {
  if (quaternion) return `${Math.round((2 * Math.acos(Math.min(1, Math.abs(quaternion[0]))) * 180) / Math.PI)}° `;
  return euler ? `${Math.round(Math.hypot(...euler))}° ` : "";
}

function formatCentimetres(by: readonly number[] | null | undefined): string {
  return by ? `${Number((100 * Math.hypot(...by)).toFixed(1))} cm ` : "";
}

/** Returns what a draft starts from, and its share of captured detail. */
function splitDraft(draft: Draft): { start: Start; residual: number } {
  if (draft.kind === "swings") {
    const { kind, threshold, captured_detail = true } = draft;
    return { start: { kind, threshold, captured_detail }, residual: 0 };
  }
  const { residual, steps: _steps, ...start } = draft;
  return { start, residual };
}
