/**
 * The solids of a figure. Each is the hull of up to four balls around joints, end sites, or points derived from them.
 */

import { BodyBuilder } from "./body_builder";
import { cross, perpendicularPart, sub, unit, type Vec } from "./vectors";

export type Side = "left" | "middle" | "right";

export interface JointInfo {
  name: string;
  parent: number;
  body_part: string | null;
  is_auxiliary: boolean; // no limb leads to it
}

export interface Solid {
  points: number[]; // up to four
  radii: number[]; // metres
  side: Side;
  isFace: boolean;
}

/** A point derived from others: `base` plus a vector between two points, scaled by `share`, or `metres` long. */
export interface DerivedPoint {
  base: number;
  from: number;
  to: number;
  share: number;
  metres: number;
}

/** The heel, below and behind the ankle as given by shin and toes. */
export interface Heel {
  ankle: number;
  knee: number;
  ball: number;
}

const HEEL_M = { down: 0.031, back: 0.041 }; // metres from the ankle

export class Body {
  readonly solids: readonly Solid[];
  readonly nJoints: number;
  readonly nEnds: number;
  readonly #derivedPoints: readonly (DerivedPoint | Heel)[];

  /**
   * Builds the body for joints and end sites (`endJoints`: the joint of each); lengths are measured on one pose.
   * `rods` link markers. With `hasFace` the last end site lies straight ahead of its head.
   */
  constructor(
    joints: readonly JointInfo[],
    endJoints: readonly number[],
    pose: Float32Array,
    rods: readonly (readonly [number, number])[] = [],
    hasFace = false,
  ) {
    const { solids, derivedPoints } = new BodyBuilder(joints, endJoints, pose, rods, hasFace);
    this.solids = solids;
    this.#derivedPoints = derivedPoints;
    this.nJoints = joints.length;
    this.nEnds = endJoints.length;
  }

  /** The number of points: joints, end sites, and derived ones. */
  get nPoints(): number {
    return this.nJoints + this.nEnds + this.#derivedPoints.length;
  }

  /** Computes the derived points; `points` already holds joints and end sites. */
  complete(points: Float32Array): void {
    let at = 3 * (this.nJoints + this.nEnds);
    for (const derived of this.#derivedPoints) {
      if ("base" in derived) {
        const { base, from, to } = derived;
        const x = points[3 * to]! - points[3 * from]!;
        const y = points[3 * to + 1]! - points[3 * from + 1]!;
        const z = points[3 * to + 2]! - points[3 * from + 2]!;
        const scale = derived.share + derived.metres / Math.max(1e-6, Math.sqrt(x * x + y * y + z * z));
        points[at] = points[3 * base]! + scale * x;
        points[at + 1] = points[3 * base + 1]! + scale * y;
        points[at + 2] = points[3 * base + 2]! + scale * z;
      } else {
        const ankle = pointAt(points, derived.ankle);
        const ahead = unit(sub(pointAt(points, derived.ball), ankle));
        const below = unit(perpendicularPart(sub(ankle, pointAt(points, derived.knee)), ahead), [0, -1, 0]);
        for (let k = 0; k < 3; k++) points[at + k] = ankle[k]! + HEEL_M.down * below[k]! - HEEL_M.back * ahead[k]!;
      }
      at += 3;
    }
  }
}

/** Returns the position of a point. */
export function pointAt(points: Float32Array, point: number): Vec {
  return [points[3 * point]!, points[3 * point + 1]!, points[3 * point + 2]!];
}

/** Returns the direction in which the figure faces, horizontally; null without thighs and upper arms. */
export function facingDirection(joints: readonly JointInfo[], pose: Float32Array): Vec | null {
  for (const segment of ["thigh", "upper_arm"]) {
    const [left, right] = ["left", "right"].map((side) =>
      joints.findIndex((j) => j.body_part === `${side}_${segment}`),
    );
    if (left === undefined || right === undefined || left < 0 || right < 0) continue;
    const across = sub(pointAt(pose, left), pointAt(pose, right));
    const facing = cross([across[0], 0, across[2]], [0, 1, 0]);
    if (Math.hypot(facing[0], facing[2]) > 1e-4) return unit(facing);
  }
  return null;
}
