/**
 * Builds the solids of a body: trunk, arms, legs, hands, feet and head where the body parts are known, plain bones
 * elsewhere.
 */

import { type DerivedPoint, type Heel, type JointInfo, pointAt, type Side, type Solid } from "./body";
import { areMarkers, sideOfMarker } from "./marker_links";
import { sub } from "./vectors";

const HEIGHT = 1.7; // metres: every figure is scaled to it
const BONES: [string, string, number, number][] = [
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
// The face is a plate in front of skull and jaw: how far in front, and how much smaller its balls are.
const FACE = { before: 0.021, smaller: 0.013 };
const NOSE = { root: 0.057, rootSize: 0.006, tip: 0.058, tipSize: 0.0115 }; // in front of the skull, and lower
const HAND = 0.085; // its length
const FINGERS = ["index", "middle", "ring", "pinky"];
const MARKER = 0.011;
const ROD = 0.0045; // between markers
const JOINT = 0.022; // of a figure without bones
const PLAIN_BONE = { minRadius: 0.006, perLength: 0.16, maxRadius: 0.036 };

export class BodyBuilder {
  readonly solids: Solid[] = [];
  readonly derivedPoints: (DerivedPoint | Heel)[] = [];
  readonly #joints: readonly JointInfo[];
  readonly #ends: readonly number[]; // the joint of each end site
  readonly #jointByPart = new Map<string, number>(); // body part -> joint
  readonly #coveredPoints = new Set<number>(); // points whose bones are drawn as other solids
  readonly #pose: Float32Array; // the pose on which lengths are measured
  readonly #face: number; // the end site in front of the face; -1 if there is none

  constructor(
    joints: readonly JointInfo[],
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
      if (joint.body_part) this.#jointByPart.set(joint.body_part, j);
    });
    if (areMarkers(joints.map(({ parent }) => parent))) {
      this.#addMarkers(rods);
      return;
    }
    if (this.#jointByPart.has("hips")) this.#addHuman();
    this.#addPlainBones();
  }

  get #nJoints(): number {
    return this.#joints.length;
  }

  /** The point that was derived last. */
  get #lastDerived(): number {
    return this.#nJoints + this.#ends.length + this.derivedPoints.length - 1;
  }

  #addHuman(): void {
    const hips = this.#jointByPart.get("hips")!;
    for (let above = this.#joints[hips]!.parent; above >= 0; above = this.#joints[above]!.parent)
      for (const point of [above, ...this.#childrenOf(above)]) this.#coveredPoints.add(point);
    this.#coveredPoints.add(hips);
    this.#addTrunk(hips);
    for (const side of ["left", "right"] as const) {
      for (const [upper, lower, thick, thin] of BONES) {
        const a = this.#jointByPart.get(`${side}_${upper}`);
        const b = this.#jointByPart.get(`${side}_${lower}`);
        if (a === undefined || b === undefined) continue;
        this.#addSolid([a, b], [thick, thin], side);
        this.#coverChain(b, a);
      }
      this.#addHand(side);
      this.#addFoot(side);
    }
    this.#addHead();
  }

  #addTrunk(hips: number): void {
    const base =
      this.#jointByPart.get("neck") ??
      this.#jointByPart.get("neck1") ??
      this.#jointByPart.get("head") ??
      this.#topOfSpine(hips);
    if (base === hips) return;
    const thighs = this.#jointPair("thigh");
    const shoulders = this.#jointPair("upper_arm");
    const middle = this.#addPointAlong(hips, hips, base, 0.5, 0);
    this.#addSolid([hips, ...thighs], [PELVIS, ...thighs.map(() => 0.86 * PELVIS)], "middle");
    this.#addSolid([hips, middle], [PELVIS, WAIST], "middle");
    this.#addSolid([middle, base, ...shoulders], [CHEST, 0.036, ...shoulders.map(() => SHOULDER)], "middle");
    for (const joint of [...thighs, ...shoulders, base]) this.#coverChain(joint, hips);
    const head = this.#jointByPart.get("head");
    if (head !== undefined && head !== base) {
      this.#addSolid([base, head], [NECK, NECK], "middle");
      this.#coverChain(head, base);
    }
  }

  #topOfSpine(hips: number): number {
    let top = hips;
    this.#joints.forEach((joint, j) => {
      if (joint.body_part?.startsWith("spine")) top = j;
    });
    return top;
  }

  #addHand(side: Side): void {
    const wrist = this.#jointByPart.get(`${side}_hand`);
    if (wrist === undefined) return;
    const tips = FINGERS.map((finger) => this.#jointByPart.get(`${side}_${finger}2`)).filter((j) => j !== undefined);
    if (tips.length > 2) {
      const ends = [tips[0]!, tips[1]!, tips.at(-1)!].map((j) => this.#lastBelow(j));
      this.#addSolid([wrist, ...ends], [0.017, 0.01, 0.01, 0.01], side);
    } else {
      const elbow = this.#jointByPart.get(`${side}_forearm`);
      const below = this.#childrenOf(wrist).filter((point) => this.#distance(wrist, point) > 0.02);
      const straight =
        below.find((point) => /middle|index|end/i.test(this.#joints[point]?.body_part ?? "end")) ?? below[0];
      const [from, to] = straight !== undefined ? [wrist, straight] : [elbow, wrist];
      if (from === undefined || to === undefined) return;
      const palm = this.#addPointAlong(wrist, from, to, 0, 0.5 * HAND * HEIGHT);
      const tip = this.#addPointAlong(wrist, from, to, 0, HAND * HEIGHT);
      this.#addSolid([wrist, palm, tip], [0.016, 0.022, 0.011], side);
    }
    this.#coverBelow(wrist);
  }

  #addFoot(side: Side): void {
    const ankle = this.#jointByPart.get(`${side}_foot`);
    const knee = this.#jointByPart.get(`${side}_shin`);
    if (ankle === undefined || knee === undefined) return;
    const toes = this.#jointByPart.get(`${side}_toes`);
    const ball = toes ?? this.#childrenOf(ankle).find((point) => this.#distance(ankle, point) > 0.03);
    if (ball === undefined || this.#distance(ankle, ball) < 1e-3) return;
    this.derivedPoints.push({ ankle, knee, ball });
    const heel = this.#lastDerived;
    const end = this.#childrenOf(ball).find((point) => this.#distance(ball, point) > 0.025);
    const isLong = this.#distance(ankle, ball) > 0.17; // the point is already at the tip of the toes
    const tip = end ?? this.#addPointAlong(ball, ankle, ball, 0, isLong ? 0 : 0.035 * HEIGHT);
    this.#addSolid([ankle, heel, ball, tip], [0.021, 0.017, isLong ? 0.012 : 0.018, 0.011], side);
    this.#coverBelow(ankle);
  }

  #addHead(): void {
    const head = this.#jointByPart.get("head");
    if (head === undefined) return;
    const neck = this.#joints[head]!.parent;
    const crown = this.#childrenOf(head).find((point) => {
      const reach = this.#distance(head, point);
      return reach > 0.068 && reach < 0.26;
    });
    const [from, to] = crown !== undefined ? [head, crown] : neck >= 0 ? [neck, head] : [head, head];
    const reach = crown !== undefined ? this.#distance(head, crown) : 0.17;
    const skull = this.#addPointAlong(head, from, to, 0, reach - SKULL * HEIGHT);
    const jaw = this.#addPointAlong(head, from, to, 0, Math.max(0, reach - 0.115 * HEIGHT + JAW * HEIGHT));
    this.#addSolid([skull, jaw], [SKULL, JAW], "middle");
    this.#coverBelow(head);
    if (this.#face < 0) return;
    const ahead = (point: number, heights: number) =>
      this.#addPointAlong(point, head, this.#nJoints + this.#face, 0, heights * HEIGHT);
    const plate = [ahead(skull, FACE.before), ahead(jaw, FACE.before)];
    this.#addSolid(plate, [SKULL - FACE.smaller, JAW - FACE.smaller], "middle", true);
    const middle = this.#addPointAlong(skull, skull, jaw, 0.5, 0);
    const nose = [ahead(skull, NOSE.root), ahead(middle, NOSE.tip)];
    this.#addSolid(nose, [NOSE.rootSize, NOSE.tipSize], "middle", true);
  }

  /** Adds balls, and rods between markers at constant distance. */
  #addMarkers(rods: readonly (readonly [number, number])[]): void {
    const names = new Set(this.#joints.map((joint) => joint.name));
    const sides = this.#joints.map(({ name, body_part: bodyPart }) => {
      const side = bodyPart?.split("_")[0];
      return side === "left" || side === "right" ? side : sideOfMarker(name, names);
    });
    for (const [a, b] of rods) this.#addSolid([a, b], [ROD, ROD], sides[a] === sides[b] ? sides[a]! : "middle");
    for (const [j, side] of sides.entries()) this.#addSolid([j], [MARKER], side);
  }

  /** Adds bones of unknown body parts; balls at the joints of a figure without any. */
  #addPlainBones(): void {
    const addBone = (child: number, parent: number, name: number) => {
      const size = this.#distance(parent, child);
      if (this.#coveredPoints.has(child) || size < 0.003 * HEIGHT) return;
      const radius =
        Math.min(PLAIN_BONE.maxRadius * HEIGHT, Math.max(PLAIN_BONE.minRadius * HEIGHT, PLAIN_BONE.perLength * size)) /
        HEIGHT;
      this.#addSolid([parent, child], [radius, 0.7 * radius], this.#sideOf(name));
    };
    this.#joints.forEach((joint, j) => {
      if (joint.parent >= 0 && !joint.is_auxiliary) addBone(j, joint.parent, j);
    });
    this.#ends.forEach((joint, e) => {
      if (e !== this.#face && !this.#joints[joint]!.is_auxiliary) addBone(this.#nJoints + e, joint, joint);
    });
    if (this.solids.length) return;
    for (const j of this.#joints.keys()) this.#addSolid([j], [JOINT], this.#sideOf(j));
  }

  #sideOf(joint: number): Side {
    const name = this.#joints[joint]?.body_part ?? this.#joints[joint]?.name ?? "";
    if (/^(left|l[_.\s-]|l[A-Z])/.test(name) || /^Left/.test(name)) return "left";
    return /^(right|r[_.\s-]|r[A-Z])/.test(name) || /^Right/.test(name) ? "right" : "middle";
  }

  #jointPair(segment: string): number[] {
    return ["left", "right"].map((side) => this.#jointByPart.get(`${side}_${segment}`)).filter((j) => j !== undefined);
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

  #coverChain(joint: number, above: number): void {
    for (let j = joint; j >= 0 && j !== above; j = this.#joints[j]!.parent) this.#coveredPoints.add(j);
  }

  #coverBelow(joint: number): void {
    for (const below of this.#childrenOf(joint)) {
      this.#coveredPoints.add(below);
      if (below < this.#nJoints) this.#coverBelow(below);
    }
  }

  #addPointAlong(base: number, from: number, to: number, share: number, metres: number): number {
    this.derivedPoints.push({ base, from, to, share, metres });
    return this.#lastDerived;
  }

  #distance(a: number, b: number): number {
    const [x, y, z] = sub(pointAt(this.#pose, a), pointAt(this.#pose, b));
    return Math.hypot(x, y, z);
  }

  #addSolid(points: number[], radii: number[], side: Side, isFace = false): void {
    this.solids.push({ points: points.slice(0, 4), radii: radii.slice(0, 4).map((r) => r * HEIGHT), side, isFace });
  }
}
