/** Which solids make up a figure. Each is the hull of up to four balls around joints, end sites, or points made of them. */

import { Building } from "./building";
import { cross, squareTo, sub, unit, type Vec } from "./vectors";

export type Side = "left" | "middle" | "right";

export interface JointOf {
  name: string;
  parent: number;
  part: string | null;
}

export interface Solid {
  points: number[]; // up to four
  radii: number[]; // metres
  side: Side;
  isFace: boolean;
}

/** A point that is made of others. `base` plus a way from one point to another: a share of it, or metres along it. */
export interface Made {
  base: number;
  from: number;
  to: number;
  share: number;
  metres: number;
}

/** The heel lies below and behind the ankle, as shin and toes say. */
export interface Heel {
  ankle: number;
  knee: number;
  ball: number;
}

const HEEL = { down: 0.031, back: 0.041 }; // metres from the ankle

export class Body {
  readonly solids: readonly Solid[];
  readonly nJoints: number;
  readonly nEnds: number;
  readonly #made: readonly (Made | Heel)[];

  /**
   * A body for joints with `endJoints`; lengths are measured on one pose: joints, then end sites. `rods` link markers.
   * With `hasFace` the last end site lies straight ahead of the head that carries it.
   */
  constructor(
    joints: readonly JointOf[],
    endJoints: readonly number[],
    pose: Float32Array,
    rods: readonly (readonly [number, number])[] = [],
    hasFace = false,
  ) {
    const { solids, made } = new Building(joints, endJoints, pose, rods, hasFace);
    this.solids = solids;
    this.#made = made;
    this.nJoints = joints.length;
    this.nEnds = endJoints.length;
  }

  /** How many points there are in all: joints, end sites, and those made of them. */
  get nPoints(): number {
    return this.nJoints + this.nEnds + this.#made.length;
  }

  /** Fills in the points made of others behind joints and end sites, which `points` holds already. */
  complete(points: Float32Array): void {
    let at = 3 * (this.nJoints + this.nEnds);
    for (const made of this.#made) {
      if ("base" in made) {
        const { base, from, to } = made;
        const x = points[3 * to]! - points[3 * from]!;
        const y = points[3 * to + 1]! - points[3 * from + 1]!;
        const z = points[3 * to + 2]! - points[3 * from + 2]!;
        const scale = made.share + made.metres / Math.max(1e-6, Math.sqrt(x * x + y * y + z * z));
        points[at] = points[3 * base]! + scale * x;
        points[at + 1] = points[3 * base + 1]! + scale * y;
        points[at + 2] = points[3 * base + 2]! + scale * z;
      } else {
        const ankle = place(points, made.ankle);
        const ahead = unit(sub(place(points, made.ball), ankle));
        const below = unit(squareTo(sub(ankle, place(points, made.knee)), ahead), [0, -1, 0]);
        for (let k = 0; k < 3; k++) points[at + k] = ankle[k]! + HEEL.down * below[k]! - HEEL.back * ahead[k]!;
      }
      at += 3;
    }
  }
}

/** Where a point is. */
export function place(points: Float32Array, point: number): Vec {
  return [points[3 * point]!, points[3 * point + 1]!, points[3 * point + 2]!];
}

/** Where the figure looks to, level with the ground; null where no thighs or shoulders say so. */
export function frontOf(joints: readonly JointOf[], pose: Float32Array): Vec | null {
  for (const segment of ["thigh", "upper_arm"]) {
    const [left, right] = ["left", "right"].map((side) => joints.findIndex((j) => j.part === `${side}_${segment}`));
    if (left === undefined || right === undefined || left < 0 || right < 0) continue;
    const across = sub(place(pose, left), place(pose, right));
    const front = cross([across[0], 0, across[2]], [0, 1, 0]);
    if (Math.hypot(front[0], front[2]) > 1e-4) return unit(front);
  }
  return null;
}
