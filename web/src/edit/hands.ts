/** Posing in the view: which joint is meant, what it looks like while it is held, and the step that comes of it. */

import type { ClipState } from "../clip/state";
import { place } from "../player/body";
import type { Player } from "../player/player";
import { add, cross, type Quat, squareTo, sub, unit, type Vec } from "../player/vectors";
import { Signal } from "../state/signal";
import type { Axes, Grip, Handles } from "./handles";
import { limbsOf, type Tree } from "./limbs";
import type { Panels } from "./panels";
import type { KeyStep } from "./steps";

export interface PoseOptions {
  spread_s: number;
  keep_feet: boolean;
}

const WORLD: Axes = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];

export class Hands {
  readonly selected = new Signal<number | null>(null);
  readonly axes = new Signal<"world" | "bone">("bone");
  readonly options: Signal<PoseOptions>;
  readonly #state: ClipState;
  readonly #player: Player | null;
  readonly #tree: Tree;
  readonly #limbs;
  readonly #do: (step: KeyStep) => void;
  #handles: Handles | null = null;
  #posing: Panels | null = null; // loaded when there is something to hold
  #held: Float32Array | null = null; // the pose as it was when something was taken hold of

  constructor(state: ClipState, player: Player | null, doIt: (step: KeyStep) => void) {
    this.#state = state;
    this.#player = player;
    this.#do = doIt;
    const { joints } = state.facts;
    this.#tree = { parents: joints.map((joint) => joint.parent), endJoints: state.opened.endJoints };
    this.#limbs = limbsOf(joints);
    this.options = new Signal<PoseOptions>({ spread_s: 0.25, keep_feet: this.#limbs.size > 0 });
    this.selected.watch(() => this.update());
    this.axes.watch(() => this.update());
  }

  /** Joints that can be pulled: hands, feet, hips. */
  get pulled(): { joint: number; kind: Grip["kind"] }[] {
    const hips = this.#state.facts.joints.findIndex((joint) => joint.part === "hips");
    const root = hips >= 0 ? hips : this.#state.facts.joints.findIndex((joint) => joint.parent < 0);
    const ends = [...this.#limbs.keys()].map((joint) => {
      const part = this.#state.facts.joints[joint]?.part ?? "";
      return { joint, kind: part.endsWith("foot") ? ("foot" as const) : ("hand" as const) };
    });
    return [...ends, ...(root >= 0 ? [{ joint: root, kind: "hips" as const }] : [])];
  }

  /** What is pulled where a joint is: the hand or foot of its limb, or the hips; null: nothing. */
  pulledWith(joint: number): number | null {
    const isIn = (end: number) => {
      const limb = this.#limbs.get(end);
      return end === joint || (limb !== undefined && (limb.upper === joint || limb.middle === joint));
    };
    return this.pulled.find((each) => isIn(each.joint))?.joint ?? null;
  }

  get isAtKey(): boolean {
    return this.#state.keys.value.includes(this.#state.frame.value);
  }

  /** Puts handles on the figure. */
  open(panels: Panels): void {
    if (!this.#player || this.#handles) return;
    this.#posing = panels;
    this.#handles = new panels.Handles(this.#player, {
      turning: (turn, done) => this.#turning(turn, done),
      pulling: (grip, to, done) => this.#pulling(grip, to, done),
      cancelled: () => {
        this.#held = null;
        if (this.#player) this.#player.preview = null;
        this.update();
      },
      selected: (joint) => {
        this.selected.value = joint;
      },
      pressed: (x, y) => {
        this.selected.value = this.#player?.pick(x, y, 22) ?? null;
      },
    });
    this.update();
  }

  close(): void {
    this.#handles?.dispose();
    this.#handles = null;
    if (this.#player) this.#player.preview = null;
  }

  /** Puts the handles where the figure is now; there are some at keys only. */
  update(): void {
    if (!this.#handles || !this.#player || this.#held) return;
    const isShown = this.isAtKey && !this.#state.playing.value && this.#state.settings.show !== "capture";
    if (!isShown) {
      this.#handles.show(null, WORLD, []);
      return;
    }
    this.#arrange(this.#player.poseNow());
  }

  /** Turns the selected joint about one of its axes. */
  turnBy(axis: 0 | 1 | 2, degrees: number): void {
    const joint = this.selected.value;
    if (joint === null || !this.isAtKey) return;
    const half = (degrees * Math.PI) / 360;
    const [x, y, z] = this.axesOf(joint)[axis];
    const s = Math.sin(half);
    this.#turn(joint, [Math.cos(half), x * s, y * s, z * s]);
  }

  /** Pulls a hand, a foot or the hips by a way in metres. */
  pullBy(joint: number, kind: Grip["kind"], by: Vec): void {
    if (!this.isAtKey) return;
    const frame = this.#state.frame.value;
    const way: [number, number, number] = [...by];
    if (kind === "hips") this.#do({ op: "shift", frame, by: way, ...this.options.value });
    else this.#do({ op: "reach", frame, joint: this.#name(joint), by: way, ...this.options.value });
  }

  /** The axes that rings turn about: the world's, or along and across the bone. */
  axesOf(joint: number, pose = this.#player?.poseNow()): Axes {
    if (this.axes.value === "world" || !pose) return WORLD;
    const child = this.#tree.parents.indexOf(joint);
    const end = this.#tree.endJoints.indexOf(joint);
    const tip = child >= 0 ? child : end >= 0 ? this.#tree.parents.length + end : -1;
    if (tip < 0) return WORLD;
    const along = unit(sub(place(pose, tip), place(pose, joint)));
    const across = squareTo(Math.abs(along[1]) > 0.95 ? [0, 0, 1] : [0, 1, 0], along);
    const second = unit(across, [1, 0, 0]);
    return [along, second, unit(cross(along, second))];
  }

  #arrange(pose: Float32Array): void {
    const offset = this.#player!.offset;
    const joint = this.selected.value;
    const at = (point: number) => add(place(pose, point), offset);
    const grips = this.pulled.map((each) => ({ ...each, at: at(each.joint) }));
    const axes = joint === null ? WORLD : this.axesOf(joint, pose);
    this.#handles?.show(joint === null ? null : at(joint), axes, grips);
  }

  #turning(turn: Quat, done: boolean): void {
    const joint = this.selected.value;
    if (joint === null || !this.#player || !this.#posing) return;
    this.#held ??= this.#player.poseNow();
    this.#player.preview = this.#posing.turned(this.#held, this.#tree, joint, turn);
    if (!done) return;
    this.#held = null;
    if (Math.abs(turn[0]) < 0.999999) this.#turn(joint, turn);
    else this.#player.preview = null;
  }

  #pulling(grip: Grip, to: Vec, done: boolean): void {
    if (!this.#player || !this.#posing) return;
    const { reached, shifted } = this.#posing;
    this.#held ??= this.#player.poseNow();
    const goal = sub(to, this.#player.offset);
    const by = sub(goal, place(this.#held, grip.joint));
    const limb = this.#limbs.get(grip.joint);
    const pose = limb ? reached(this.#held, this.#tree, limb, goal) : shifted(this.#held, by);
    this.#player.preview = pose;
    this.#arrange(pose);
    if (!done) return;
    this.#held = null;
    this.selected.value = grip.joint;
    if (Math.hypot(...by) > 5e-4) this.pullBy(grip.joint, grip.kind, by);
    else this.#player.preview = null;
  }

  #turn(joint: number, turn: Quat): void {
    const { options } = this;
    const quaternion: [number, number, number, number] = [...turn];
    const frame = this.#state.frame.value;
    this.#do({ op: "rotate", frame, joint: this.#name(joint), quaternion, space: "world", ...options.value });
  }

  #name(joint: number): string {
    return this.#state.names[joint] ?? "";
  }
}
