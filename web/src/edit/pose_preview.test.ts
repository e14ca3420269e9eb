import { describe, expect, it } from "vitest";
import { pointAt } from "../player/body";
import { axisRotation, length, sub, type Vec } from "../player/vectors";
import { findIkChains } from "./ik_chains";
import { descendantPoints, reachGoal, rotateJoint, solveTwoBones } from "./pose_preview";

const distance = (a: Vec, b: Vec) => length(sub(a, b));
// shoulder, elbow, wrist, finger; a second finger as end site of the wrist; a foot without a parent
const TREE = { parents: [-1, 0, 1, 2, -1], endJoints: [2] };
const POSE = new Float32Array([0, 1.4, 0, 0.3, 1.4, 0.02, 0.55, 1.4, 0, 0.65, 1.4, 0, 0, 0, 0, 0.62, 1.45, 0]);
const CHAIN = { upper: 0, middle: 1, end: 2 };

describe("two-bone IK", () => {
  const [upper, middle, end] = [pointAt(POSE, 0), pointAt(POSE, 1), pointAt(POSE, 2)];
  const lengths = [distance(upper, middle), distance(middle, end)];

  it("reaches goals within reach and keeps bone lengths", () => {
    for (const goal of [
      [0.3, 1.1, 0.2],
      [-0.2, 1.6, 0.1],
      [0.1, 1.4, -0.4],
      [0.5, 1.4, 0],
    ] as Vec[]) {
      const solution = solveTwoBones(upper, middle, end, goal);
      expect(distance(solution.end, goal)).toBeLessThan(1e-6);
      expect(distance(upper, solution.middle)).toBeCloseTo(lengths[0]!, 6);
      expect(distance(solution.middle, solution.end)).toBeCloseTo(lengths[1]!, 6);
    }
  });

  it("stretches towards goals out of reach", () => {
    const solution = solveTwoBones(upper, middle, end, [5, 1.4, 0]);
    expect(distance(upper, solution.end)).toBeCloseTo(lengths[0]! + lengths[1]!, 6);
    expect(solution.end[1]).toBeCloseTo(1.4, 6);
  });

  it("keeps the bend direction", () => {
    const solution = solveTwoBones(upper, middle, end, [0.4, 1.4, 0]);
    expect(solution.middle[2]).toBeGreaterThan(0.05);
  });

  it("handles goals at the root and straight chains", () => {
    for (const goal of [upper, end]) {
      const solution = solveTwoBones(upper, [0.3, 1.4, 0], [0.55, 1.4, 0], goal);
      expect([...solution.middle, ...solution.end].every(Number.isFinite)).toBe(true);
    }
  });
});

describe("pose previews", () => {
  it("rotate only the descendants of the joint", () => {
    expect(descendantPoints(TREE, 1)).toEqual([2, 3, 5]);
    expect(descendantPoints(TREE, 4)).toEqual([]);
    const pose = rotateJoint(POSE, TREE, 1, axisRotation([0, 0, 1], Math.PI / 2));
    expect(pointAt(pose, 0)).toEqual(pointAt(POSE, 0));
    expect(pointAt(pose, 4)).toEqual(pointAt(POSE, 4));
    expect(pointAt(pose, 2)[1]).toBeCloseTo(1.4 + 0.25, 5);
    expect(distance(pointAt(pose, 3), pointAt(pose, 2))).toBeCloseTo(0.1, 5);
  });

  it("keep all bone lengths while a hand reaches", () => {
    const goal: Vec = [0.2, 1.1, 0.3];
    const pose = reachGoal(POSE, TREE, CHAIN, goal);
    expect(distance(pointAt(pose, 2), goal)).toBeLessThan(1e-5);
    for (const [a, b] of [
      [0, 1],
      [1, 2],
      [2, 3],
      [2, 5],
      [1, 3],
    ] as const)
      expect(distance(pointAt(pose, a), pointAt(pose, b))).toBeCloseTo(distance(pointAt(POSE, a), pointAt(POSE, b)), 5);
    expect(pointAt(pose, 4)).toEqual(pointAt(POSE, 4));
  });

  it("find the IK chains of a body", () => {
    const joints = ["hips", "left_upper_arm", "left_forearm", "left_hand", "right_thigh"].map((body_part) => ({
      body_part,
    }));
    expect([...findIkChains(joints)]).toEqual([[3, { upper: 1, middle: 2, end: 3 }]]);
  });
});
