/**
 * Poses while a handle is dragged, before the server returns the exact result: rotated joints, hands and feet that
 * reach for a point.
 */

import { pointAt } from "../player/body";
import {
  add,
  cross,
  length,
  multiply,
  perpendicularPart,
  type Quat,
  rotate,
  rotationBetween,
  scale,
  sub,
  unit,
  type Vec,
} from "../player/vectors";
import type { IkChain, JointTree } from "./ik_chains";

/** Returns the points below a joint: its descendants and their end sites. */
export function descendantPoints({ parents, endJoints }: JointTree, joint: number): number[] {
  const inside = new Set([joint]);
  const below: number[] = [];
  parents.forEach((parent, j) => {
    if (!inside.has(parent)) return;
    inside.add(j);
    below.push(j);
  });
  endJoints.forEach((endJoint, e) => {
    if (inside.has(endJoint)) below.push(parents.length + e);
  });
  return below;
}

/** Returns a pose in which everything below a joint is rotated about it. */
export function rotateJoint(pose: Float32Array, tree: JointTree, joint: number, rotation: Quat): Float32Array {
  const next = pose.slice();
  const pivot = pointAt(pose, joint);
  for (const point of descendantPoints(tree, joint))
    setPoint(next, point, add(pivot, rotate(rotation, sub(pointAt(pose, point), pivot))));
  return next;
}

/** Returns a pose moved as a whole. */
export function shiftPose(pose: Float32Array, by: Vec): Float32Array {
  return pose.map((value, k) => value + by[k % 3]!);
}

/**
 * Solves two-bone IK: returns middle and end such that the end comes as near to the goal as possible; the bend plane
 * rotates with them.
 */
export function solveTwoBones(upper: Vec, middle: Vec, end: Vec, goal: Vec): { middle: Vec; end: Vec } {
  const [a, b] = [length(sub(middle, upper)), length(sub(end, middle))];
  const before = unit(sub(end, upper), unit(sub(middle, upper)));
  const after = unit(sub(goal, upper), before);
  const distance = Math.min(a + b, Math.max(Math.abs(a - b), length(sub(goal, upper))));
  const bend = perpendicularPart(sub(middle, upper), before);
  const bendDirection =
    length(bend) > 1e-6 ? unit(bend) : unit(cross(before, [1, 0, 0]), unit(cross(before, [0, 0, 1])));
  const rotation = rotationBetween(before, after, unit(cross(before, bendDirection)));
  const newBendDirection = unit(perpendicularPart(rotate(rotation, bendDirection), after), bendDirection);
  const along = distance > 1e-9 ? (a * a - b * b + distance * distance) / (2 * distance) : 0;
  const sideways = Math.sqrt(Math.max(0, a * a - along * along));
  return {
    middle: add(upper, add(scale(after, along), scale(newBendDirection, sideways))),
    end: add(upper, scale(after, distance)),
  };
}

/** Returns a pose in which a hand or foot reaches for a goal. It moves rigidly with the bone above it. */
export function reachGoal(pose: Float32Array, tree: JointTree, chain: IkChain, goal: Vec): Float32Array {
  const [upper, middle, end] = [pointAt(pose, chain.upper), pointAt(pose, chain.middle), pointAt(pose, chain.end)];
  const solution = solveTwoBones(upper, middle, end, goal);
  const next = pose.slice();
  const first = alignFrame(sub(middle, upper), sub(end, upper), sub(solution.middle, upper), sub(solution.end, upper));
  const back = sub(upper, middle);
  const second = alignFrame(sub(end, middle), back, sub(solution.end, solution.middle), sub(upper, solution.middle));
  for (const p of descendantPoints(tree, chain.upper))
    setPoint(next, p, add(upper, rotate(first, sub(pointAt(pose, p), upper))));
  for (const p of descendantPoints(tree, chain.middle))
    setPoint(next, p, add(solution.middle, rotate(second, sub(pointAt(pose, p), middle))));
  setPoint(next, chain.middle, solution.middle);
  return next;
}

/** Returns the rotation that takes one direction exactly to another, and a second one as near as possible. */
function alignFrame(from: Vec, fromSide: Vec, to: Vec, toSide: Vec): Quat {
  const [along, target] = [unit(from), unit(to)];
  const axisIfOpposite = unit(cross(along, fromSide), unit(cross(along, [0.3, 0.9, 0.1])));
  const first = rotationBetween(along, target, axisIfOpposite);
  const currentSide = perpendicularPart(rotate(first, fromSide), target);
  const targetSide = perpendicularPart(toSide, target);
  if (length(currentSide) < 1e-6 || length(targetSide) < 1e-6) return first;
  const roll = rotationBetween(unit(currentSide), unit(targetSide), target);
  return multiply(roll, first);
}

function setPoint(points: Float32Array, point: number, [x, y, z]: Vec): void {
  points[3 * point] = x;
  points[3 * point + 1] = y;
  points[3 * point + 2] = z;
}
