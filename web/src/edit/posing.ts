/** A pose under the hand, before the server has made it exact: turned below a joint, or bent to reach a place. */

import { place } from "../player/body";
import {
  add,
  cross,
  length,
  multiply,
  type Quat,
  rotate,
  squareTo,
  sub,
  times,
  turnBetween,
  unit,
  type Vec,
} from "../player/vectors";
import type { Limb, Tree } from "./limbs";

/** All points that a joint carries: joints below it, and end sites. */
export function carried({ parents, endJoints }: Tree, joint: number): number[] {
  const inside = new Set([joint]);
  const below: number[] = [];
  parents.forEach((parent, j) => {
    if (!inside.has(parent)) return;
    inside.add(j);
    below.push(j);
  });
  endJoints.forEach((of, e) => {
    if (inside.has(of)) below.push(parents.length + e);
  });
  return below;
}

/** A pose with all that a joint carries turned about it. */
export function turned(pose: Float32Array, tree: Tree, joint: number, turn: Quat): Float32Array {
  const next = pose.slice();
  const about = place(pose, joint);
  for (const point of carried(tree, joint)) put(next, point, add(about, rotate(turn, sub(place(pose, point), about))));
  return next;
}

/** A pose moved as a whole. */
export function shifted(pose: Float32Array, by: Vec): Float32Array {
  return pose.map((value, k) => value + by[k % 3]!);
}

/** Where two bones meet so that the end comes as near to the goal as it can; the plane they bend in goes along. */
export function twoBones(upper: Vec, middle: Vec, end: Vec, goal: Vec): { middle: Vec; end: Vec } {
  const [a, b] = [length(sub(middle, upper)), length(sub(end, middle))];
  const before = unit(sub(end, upper), unit(sub(middle, upper)));
  const after = unit(sub(goal, upper), before);
  const far = Math.min(a + b, Math.max(Math.abs(a - b), length(sub(goal, upper))));
  const bend = squareTo(sub(middle, upper), before);
  const beside = length(bend) > 1e-6 ? unit(bend) : unit(cross(before, [1, 0, 0]), unit(cross(before, [0, 0, 1])));
  const turn = turnBetween(before, after, unit(cross(before, beside)));
  const out = unit(squareTo(rotate(turn, beside), after), beside);
  const along = far > 1e-9 ? (a * a - b * b + far * far) / (2 * far) : 0;
  const aside = Math.sqrt(Math.max(0, a * a - along * along));
  return { middle: add(upper, add(times(after, along), times(out, aside))), end: add(upper, times(after, far)) };
}

/** A pose in which a limb reaches for a goal. Hand and foot go along with the bone above them. */
export function reached(pose: Float32Array, tree: Tree, limb: Limb, goal: Vec): Float32Array {
  const [upper, middle, end] = [place(pose, limb.upper), place(pose, limb.middle), place(pose, limb.end)];
  const bent = twoBones(upper, middle, end, goal);
  const next = pose.slice();
  const first = frameTurn(sub(middle, upper), sub(end, upper), sub(bent.middle, upper), sub(bent.end, upper));
  const back = sub(upper, middle);
  const second = frameTurn(sub(end, middle), back, sub(bent.end, bent.middle), sub(upper, bent.middle));
  for (const p of carried(tree, limb.upper)) put(next, p, add(upper, rotate(first, sub(place(pose, p), upper))));
  for (const p of carried(tree, limb.middle))
    put(next, p, add(bent.middle, rotate(second, sub(place(pose, p), middle))));
  put(next, limb.middle, bent.middle);
  return next;
}

/** The turn that takes one direction exactly to another, and a second one as near as it can. */
function frameTurn(from: Vec, fromBeside: Vec, to: Vec, toBeside: Vec): Quat {
  const [along, target] = [unit(from), unit(to)];
  const half = unit(cross(along, fromBeside), unit(cross(along, [0.3, 0.9, 0.1])));
  const first = turnBetween(along, target, half);
  const was = squareTo(rotate(first, fromBeside), target);
  const wanted = squareTo(toBeside, target);
  if (length(was) < 1e-6 || length(wanted) < 1e-6) return first;
  const roll = turnBetween(unit(was), unit(wanted), target);
  return multiply(roll, first);
}

function put(points: Float32Array, point: number, [x, y, z]: Vec): void {
  points[3 * point] = x;
  points[3 * point + 1] = y;
  points[3 * point + 2] = z;
}
