/** Posing in the view: the selected joint, the preview while a handle is dragged, and the resulting step. */

import type { ClipState } from "../clip/state";
import { pointAt } from "../player/body";
import type { Player } from "../player/player";
import { add, cross, perpendicularPart, type Quat, sub, unit, type Vec } from "../player/vectors";
import { Signal } from "../state/signal";
import type { Axes, Handles, IkHandle } from "./handles";
import { findIkChains, type JointTree } from "./ik_chains";
import type { Panels } from "./panels";
import type { KeyStep } from "./steps";

export interface PoseOptions {
  spread_s: number;
  keep_feet: boolean;
}

const WORLD_AXES: Axes = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];

export class PoseTool {
  readonly selected = new Signal<number | null>(null);
  readonly axes = new Signal<"world" | "bone">("bone");
  readonly options: Signal<PoseOptions>;
  readonly #state: ClipState;
  readonly #player: Player | null;
  readonly #tree: JointTree;
  readonly #chains;
  readonly #applyStep: (step: KeyStep) => void;
  #handles: Handles | null = null;
  #panels: Panels | null = null; // loaded when there is a draft
  #startPose: Float32Array | null = null; // the pose at the start of the drag

  constructor(state: ClipState, player: Player | null, applyStep: (step: KeyStep) => void) {
    this.#state = state;
    this.#player = player;
    this.#applyStep = applyStep;
    const { joints } = state.details;
    this.#tree = { parents: joints.map((joint) => joint.parent), endJoints: state.clip.endJoints };
    this.#chains = findIkChains(joints);
    this.options = new Signal<PoseOptions>({ spread_s: 0.25, keep_feet: this.#chains.size > 0 });
    this.selected.watch(() => this.update());
    this.axes.watch(() => this.update());
  }

  /** The joints with an IK handle: hands, feet and hips. */
  get ikHandles(): { joint: number; kind: IkHandle["kind"] }[] {
    const hips = this.#state.details.joints.findIndex((joint) => joint.body_part === "hips");
    const root = hips >= 0 ? hips : this.#state.details.joints.findIndex((joint) => joint.parent < 0);
    const chainEnds = [...this.#chains.keys()].map((joint) => {
      const bodyPart = this.#state.details.joints[joint]?.body_part ?? "";
      return { joint, kind: bodyPart.endsWith("foot") ? ("foot" as const) : ("hand" as const) };
    });
    return [...chainEnds, ...(root >= 0 ? [{ joint: root, kind: "hips" as const }] : [])];
  }

  /** Returns the IK handle for a joint: the end of its IK chain, or the hips; null if there is none. */
  findIkHandle(joint: number): number | null {
    const isOnChain = (end: number) => {
      const chain = this.#chains.get(end);
      return end === joint || (chain !== undefined && (chain.upper === joint || chain.middle === joint));
    };
    return this.ikHandles.find((each) => isOnChain(each.joint))?.joint ?? null;
  }

  get isAtKey(): boolean {
    return this.#state.keys.value.includes(this.#state.frame.value);
  }

  /** Shows the handles on the figure. */
  open(panels: Panels): void {
    if (!this.#player || this.#handles) return;
    this.#panels = panels;
    this.#handles = new panels.Handles(this.#player, {
      onRotate: (rotation, done) => this.#previewRotation(rotation, done),
      onMove: (handle, to, done) => this.#previewMove(handle, to, done),
      onCancel: () => {
        this.#startPose = null;
        if (this.#player) this.#player.preview = null;
        this.update();
      },
      onSelect: (joint) => {
        this.selected.value = joint;
      },
      onPressView: (x, y) => {
        this.selected.value = this.#player?.pickJoint(x, y, 22) ?? null;
      },
    });
    this.update();
  }

  close(): void {
    this.#handles?.dispose();
    this.#handles = null;
    if (this.#player) this.#player.preview = null;
  }

  /** Moves the handles to the current pose; they are shown at keys only. */
  update(): void {
    if (!this.#handles || !this.#player || this.#startPose) return;
    const isVisible = this.isAtKey && !this.#state.playing.value && this.#state.settings.view_mode !== "capture";
    if (!isVisible) {
      this.#handles.show(null, WORLD_AXES, []);
      return;
    }
    this.#placeHandles(this.#player.currentPose());
  }

  /** Rotates the selected joint about one of its axes. */
  rotateBy(axis: 0 | 1 | 2, degrees: number): void {
    const joint = this.selected.value;
    if (joint === null || !this.isAtKey) return;
    const half = (degrees * Math.PI) / 360;
    const [x, y, z] = this.boneAxes(joint)[axis];
    const s = Math.sin(half);
    this.#rotate(joint, [Math.cos(half), x * s, y * s, z * s]);
  }

  /** Moves a hand, a foot or the hips by an offset in metres. */
  moveBy(joint: number, kind: IkHandle["kind"], by: Vec): void {
    if (!this.isAtKey) return;
    const frame = this.#state.frame.value;
    const offset: [number, number, number] = [...by];
    if (kind === "hips") this.#applyStep({ op: "shift", frame, by: offset, ...this.options.value });
    else this.#applyStep({ op: "reach", frame, joint: this.#jointName(joint), by: offset, ...this.options.value });
  }

  /** Returns the axes of the rings: the world's, or along and across the bone. */
  boneAxes(joint: number, pose = this.#player?.currentPose()): Axes {
    if (this.axes.value === "world" || !pose) return WORLD_AXES;
    const child = this.#tree.parents.indexOf(joint);
    const end = this.#tree.endJoints.indexOf(joint);
    const tip = child >= 0 ? child : end >= 0 ? this.#tree.parents.length + end : -1;
    if (tip < 0) return WORLD_AXES;
    const along = unit(sub(pointAt(pose, tip), pointAt(pose, joint)));
    const across = perpendicularPart(Math.abs(along[1]) > 0.95 ? [0, 0, 1] : [0, 1, 0], along);
    const second = unit(across, [1, 0, 0]);
    return [along, second, unit(cross(along, second))];
  }

  #placeHandles(pose: Float32Array): void {
    const offset = this.#player!.offset;
    const joint = this.selected.value;
    const at = (point: number) => add(pointAt(pose, point), offset);
    const ikHandles = this.ikHandles.map((each) => ({ ...each, at: at(each.joint) }));
    const axes = joint === null ? WORLD_AXES : this.boneAxes(joint, pose);
    this.#handles?.show(joint === null ? null : at(joint), axes, ikHandles);
  }

  #previewRotation(rotation: Quat, done: boolean): void {
    const joint = this.selected.value;
    if (joint === null || !this.#player || !this.#panels) return;
    this.#startPose ??= this.#player.currentPose();
    this.#player.preview = this.#panels.rotateJoint(this.#startPose, this.#tree, joint, rotation);
    if (!done) return;
    this.#startPose = null;
    if (Math.abs(rotation[0]) < 0.999999) this.#rotate(joint, rotation);
    else this.#player.preview = null;
  }

  #previewMove(handle: IkHandle, to: Vec, done: boolean): void {
    if (!this.#player || !this.#panels) return;
    const { reachGoal, shiftPose } = this.#panels;
    this.#startPose ??= this.#player.currentPose();
    const goal = sub(to, this.#player.offset);
    const by = sub(goal, pointAt(this.#startPose, handle.joint));
    const chain = this.#chains.get(handle.joint);
    const pose = chain ? reachGoal(this.#startPose, this.#tree, chain, goal) : shiftPose(this.#startPose, by);
    this.#player.preview = pose;
    this.#placeHandles(pose);
    if (!done) return;
    this.#startPose = null;
    this.selected.value = handle.joint;
    if (Math.hypot(...by) > 5e-4) this.moveBy(handle.joint, handle.kind, by);
    else this.#player.preview = null;
  }

  #rotate(joint: number, rotation: Quat): void {
    const { options } = this;
    const quaternion: [number, number, number, number] = [...rotation];
    const frame = this.#state.frame.value;
    this.#applyStep({
      op: "rotate",
      frame,
      joint: this.#jointName(joint),
      quaternion,
      space: "world",
      ...options.value,
    });
  }

  #jointName(joint: number): string {
    return this.#state.jointNames[joint] ?? "";
  }
}
