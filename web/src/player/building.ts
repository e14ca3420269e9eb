/** Finds the solids of a body: a trunk, limbs, hands, feet and a head where its parts are known, plain limbs elsewhere. */

import { type Heel, type JointOf, type Made, place, type Side, type Solid } from "./body";
import { areMarkers, sideOfMarker } from "./links";
import { sub } from "./vectors";

const HEIGHT = 1.7; // metres: every figure is scaled to it
const LIMBS: [string, string, number, number][] = [
  ["thigh", "shin", 0.047, 0.031],
  ["shin", "foot", 0.032, 0.02],
  ["upper_arm", "forearm", 0.031, 0.022],
  ["forearm", "hand", 0.023, 0.0155],
];
const PELVIS = 0.056;
const WAIST = 0.056;
const CHEST = 0.062;
const SHOULDER = 0.036;
const NECK = 0.029;
const SKULL = 0.053;
const JAW = 0.038;
// How far before skull and jaw the balls of a face lie, and how much smaller they are: a plate that stands out in front.
const FACE = { before: 0.021, smaller: 0.013 };
const NOSE = { root: 0.057, rootSize: 0.006, tip: 0.058, tipSize: 0.0115 }; // before the skull, and lower
const HAND = 0.085; // its length
const FINGERS = ["index", "pinky", "middle"];
const MARKER = 0.011;
const ROD = 0.0045; // between markers
const PLAIN = { least: 0.006, perLength: 0.16, most: 0.036 };

export class Building {
  readonly solids: Solid[] = [];
  readonly made: (Made | Heel)[] = [];
  readonly #joints: readonly JointOf[];
  readonly #ends: readonly number[]; // the joint of each end site
  readonly #of = new Map<string, number>(); // part -> joint
  readonly #covered = new Set<number>(); // points whose limbs are drawn as something else
  readonly #pose: Float32Array; // one pose, of which lengths are measured
  readonly #face: number; // the end site before the face; -1: there is none

  constructor(
    joints: readonly JointOf[],
    endJoints: readonly number[],
    pose: Float32Array,
    rods: readonly (readonly [number, number])[],
    hasFace: boolean,
  ) {
    this.#joints = joints;
    this.#face = hasFace ? endJoints.length - 1 : -1;
    this.#ends = endJoints;
    this.#pose = pose;
    joints.forEach((joint, j) => {
      if (joint.part) this.#of.set(joint.part, j);
    });
    if (areMarkers(joints)) {
      this.#markers(rods);
      return;
    }
    if (this.#of.has("hips")) this.#human();
    this.#plain();
  }

  get #nJoints(): number {
    return this.#joints.length;
  }

  /** The point that was made last. */
  get #last(): number {
    return this.#nJoints + this.#ends.length + this.made.length - 1;
  }

  #human(): void {
    const hips = this.#of.get("hips")!;
    for (let above = this.#joints[hips]!.parent; above >= 0; above = this.#joints[above]!.parent)
      this.#covered.add(above);
    this.#covered.add(hips);
    this.#trunk(hips);
    for (const side of ["left", "right"] as const) {
      for (const [upper, lower, thick, thin] of LIMBS) {
        const a = this.#of.get(`${side}_${upper}`);
        const b = this.#of.get(`${side}_${lower}`);
        if (a === undefined || b === undefined) continue;
        this.#add([a, b], [thick, thin], side);
        this.#cover(b, a);
      }
      this.#hand(side);
      this.#foot(side);
    }
    this.#head();
  }

  #trunk(hips: number): void {
    const base = this.#of.get("neck") ?? this.#of.get("neck1") ?? this.#of.get("head") ?? this.#topOfSpine(hips);
    if (base === hips) return;
    const thighs = this.#both("thigh");
    const shoulders = this.#both("upper_arm");
    const middle = this.#along(hips, hips, base, 0.5, 0);
    this.#add([hips, ...thighs], [PELVIS, ...thighs.map(() => 0.86 * PELVIS)], "middle");
    this.#add([hips, middle], [PELVIS, WAIST], "middle");
    this.#add([middle, base, ...shoulders], [CHEST, 0.036, ...shoulders.map(() => SHOULDER)], "middle");
    for (const joint of [...thighs, ...shoulders, base]) this.#cover(joint, hips);
    const head = this.#of.get("head");
    if (head !== undefined && head !== base) {
      this.#add([base, head], [NECK, NECK], "middle");
      this.#cover(head, base);
    }
  }

  #topOfSpine(hips: number): number {
    let top = hips;
    this.#joints.forEach((joint, j) => {
      if (joint.part?.startsWith("spine")) top = j;
    });
    return top;
  }

  #hand(side: Side): void {
    const wrist = this.#of.get(`${side}_hand`);
    if (wrist === undefined) return;
    const tips = FINGERS.map((finger) => this.#of.get(`${side}_${finger}2`)).filter((j) => j !== undefined);
    if (tips.length > 2) {
      const ends = tips.map((j) => this.#lastBelow(j));
      this.#add([wrist, ...ends], [0.017, 0.01, 0.01, 0.01], side);
    } else {
      const elbow = this.#of.get(`${side}_forearm`);
      const below = this.#childrenOf(wrist).filter((point) => this.#length(wrist, point) > 0.02);
      const straight = below.find((point) => /middle|index|end/i.test(this.#joints[point]?.part ?? "end")) ?? below[0];
      const [from, to] = straight !== undefined ? [wrist, straight] : [elbow, wrist];
      if (from === undefined || to === undefined) return;
      const palm = this.#along(wrist, from, to, 0, 0.5 * HAND * HEIGHT);
      const tip = this.#along(wrist, from, to, 0, HAND * HEIGHT);
      this.#add([wrist, palm, tip], [0.016, 0.022, 0.011], side);
    }
    this.#coverBelow(wrist);
  }

  #foot(side: Side): void {
    const ankle = this.#of.get(`${side}_foot`);
    const knee = this.#of.get(`${side}_shin`);
    if (ankle === undefined || knee === undefined) return;
    const toes = this.#of.get(`${side}_toes`);
    const ball = toes ?? this.#childrenOf(ankle).find((point) => this.#length(ankle, point) > 0.03);
    if (ball === undefined || this.#length(ankle, ball) < 1e-3) return;
    this.made.push({ ankle, knee, ball });
    const heel = this.#last;
    const end = this.#childrenOf(ball).find((point) => this.#length(ball, point) > 0.025);
    const isLong = this.#length(ankle, ball) > 0.17; // the point lies at the tip of the toes already
    const tip = end ?? this.#along(ball, ankle, ball, 0, isLong ? 0 : 0.035 * HEIGHT);
    this.#add([ankle, heel, ball, tip], [0.021, 0.017, isLong ? 0.012 : 0.018, 0.011], side);
    this.#coverBelow(ankle);
  }

  #head(): void {
    const head = this.#of.get("head");
    if (head === undefined) return;
    const neck = this.#joints[head]!.parent;
    const crown = this.#childrenOf(head).find((point) => {
      const reach = this.#length(head, point);
      return reach > 0.068 && reach < 0.26;
    });
    const [from, to] = crown !== undefined ? [head, crown] : neck >= 0 ? [neck, head] : [head, head];
    const reach = crown !== undefined ? this.#length(head, crown) : 0.17;
    const skull = this.#along(head, from, to, 0, reach - SKULL * HEIGHT);
    const jaw = this.#along(head, from, to, 0, Math.max(0, reach - 0.115 * HEIGHT + JAW * HEIGHT));
    this.#add([skull, jaw], [SKULL, JAW], "middle");
    this.#coverBelow(head);
    if (this.#face < 0) return;
    const ahead = (point: number, heights: number) =>
      this.#along(point, head, this.#nJoints + this.#face, 0, heights * HEIGHT);
    const plate = [ahead(skull, FACE.before), ahead(jaw, FACE.before)];
    this.#add(plate, [SKULL - FACE.smaller, JAW - FACE.smaller], "middle", true);
    const middle = this.#along(skull, skull, jaw, 0.5, 0);
    const nose = [ahead(skull, NOSE.root), ahead(middle, NOSE.tip)];
    this.#add(nose, [NOSE.rootSize, NOSE.tipSize], "middle", true);
  }

  /** Balls, and rods between those that keep their distance. */
  #markers(rods: readonly (readonly [number, number])[]): void {
    const names = new Set(this.#joints.map((joint) => joint.name));
    const sides = this.#joints.map(({ name, part }) => {
      const said = part?.split("_")[0];
      return said === "left" || said === "right" ? said : sideOfMarker(name, names);
    });
    for (const [a, b] of rods) this.#add([a, b], [ROD, ROD], sides[a] === sides[b] ? sides[a]! : "middle");
    for (const [j, side] of sides.entries()) this.#add([j], [MARKER], side);
  }

  /** Limbs that are no known part of a body, and balls for points that hang on nothing. */
  #plain(): void {
    const isAlone = new Set(this.#joints.keys());
    const limb = (child: number, parent: number, name: number) => {
      isAlone.delete(child);
      isAlone.delete(parent);
      const size = this.#length(parent, child);
      if (this.#covered.has(child) || size < 0.003 * HEIGHT) return;
      const radius = Math.min(PLAIN.most * HEIGHT, Math.max(PLAIN.least * HEIGHT, PLAIN.perLength * size)) / HEIGHT;
      this.#add([parent, child], [radius, 0.7 * radius], this.#sideOf(name));
    };
    this.#joints.forEach((joint, j) => {
      if (joint.parent >= 0) limb(j, joint.parent, j);
    });
    this.#ends.forEach((joint, e) => {
      if (e !== this.#face) limb(this.#nJoints + e, joint, joint);
    });
    if (this.solids.length) return;
    for (const j of isAlone) this.#add([j], [MARKER], this.#sideOf(j));
  }

  #sideOf(joint: number): Side {
    const said = this.#joints[joint]?.part ?? this.#joints[joint]?.name ?? "";
    if (/^(left|l[_.\s-]|l[A-Z])/.test(said) || /^Left/.test(said)) return "left";
    return /^(right|r[_.\s-]|r[A-Z])/.test(said) || /^Right/.test(said) ? "right" : "middle";
  }

  #both(segment: string): number[] {
    return ["left", "right"].map((side) => this.#of.get(`${side}_${segment}`)).filter((j) => j !== undefined);
  }

  #childrenOf(point: number): number[] {
    const joints = [...this.#joints.keys()].filter((j) => this.#joints[j]!.parent === point);
    const isHere = (e: number) => this.#ends[e] === point && e !== this.#face;
    const ends = [...this.#ends.keys()].filter(isHere).map((e) => this.#nJoints + e);
    return [...joints, ...ends];
  }

  #lastBelow(joint: number): number {
    let last = joint;
    for (let below = this.#childrenOf(last); below.length; below = this.#childrenOf(last)) last = below[0]!;
    return last;
  }

  #cover(joint: number, above: number): void {
    for (let j = joint; j >= 0 && j !== above; j = this.#joints[j]!.parent) this.#covered.add(j);
  }

  #coverBelow(joint: number): void {
    for (const below of this.#childrenOf(joint)) {
      this.#covered.add(below);
      if (below < this.#nJoints) this.#coverBelow(below);
    }
  }

  #along(base: number, from: number, to: number, share: number, metres: number): number {
    this.made.push({ base, from, to, share, metres });
    return this.#last;
  }

  #length(a: number, b: number): number {
    const [x, y, z] = sub(place(this.#pose, a), place(this.#pose, b));
    return Math.hypot(x, y, z);
  }

  #add(points: number[], radii: number[], side: Side, isFace = false): void {
    this.solids.push({ points: points.slice(0, 4), radii: radii.slice(0, 4).map((r) => r * HEIGHT), side, isFace });
  }
}
