import { describe, expect, it } from "vitest";
import { place } from "../player/body";
import { aboutAxis, length, sub, type Vec } from "../player/vectors";
import { limbsOf } from "./limbs";
import { carried, reached, turned, twoBones } from "./posing";

const apart = (a: Vec, b: Vec) => length(sub(a, b));
// shoulder, elbow, wrist, finger; a second finger as end site of the wrist; a foot that hangs on nothing
const TREE = { parents: [-1, 0, 1, 2, -1], endJoints: [2] };
const POSE = new Float32Array([0, 1.4, 0, 0.3, 1.4, 0.02, 0.55, 1.4, 0, 0.65, 1.4, 0, 0, 0, 0, 0.62, 1.45, 0]);
const LIMB = { upper: 0, middle: 1, end: 2 };

describe("two bones", () => {
  const [upper, middle, end] = [place(POSE, 0), place(POSE, 1), place(POSE, 2)];
  const lengths = [apart(upper, middle), apart(middle, end)];

  it("reach what is within reach, and keep their lengths", () => {
    for (const goal of [
      [0.3, 1.1, 0.2],
      [-0.2, 1.6, 0.1],
      [0.1, 1.4, -0.4],
      [0.5, 1.4, 0],
    ] as Vec[]) {
      const bent = twoBones(upper, middle, end, goal);
      expect(apart(bent.end, goal)).toBeLessThan(1e-6);
      expect(apart(upper, bent.middle)).toBeCloseTo(lengths[0]!, 6);
      expect(apart(bent.middle, bent.end)).toBeCloseTo(lengths[1]!, 6);
    }
  });

  it("stretch towards what is out of reach", () => {
    const bent = twoBones(upper, middle, end, [5, 1.4, 0]);
    expect(apart(upper, bent.end)).toBeCloseTo(lengths[0]! + lengths[1]!, 6);
    expect(bent.end[1]).toBeCloseTo(1.4, 6);
  });

  it("bend to the side that they were bent to", () => {
    const bent = twoBones(upper, middle, end, [0.4, 1.4, 0]);
    expect(bent.middle[2]).toBeGreaterThan(0.05);
  });

  it("bear goals where they start from and straight limbs", () => {
    for (const goal of [upper, end]) {
      const bent = twoBones(upper, [0.3, 1.4, 0], [0.55, 1.4, 0], goal);
      expect([...bent.middle, ...bent.end].every(Number.isFinite)).toBe(true);
    }
  });
});

describe("poses under the hand", () => {
  it("carry what hangs below, and nothing else", () => {
    expect(carried(TREE, 1)).toEqual([2, 3, 5]);
    expect(carried(TREE, 4)).toEqual([]);
    const pose = turned(POSE, TREE, 1, aboutAxis([0, 0, 1], Math.PI / 2));
    expect(place(pose, 0)).toEqual(place(POSE, 0));
    expect(place(pose, 4)).toEqual(place(POSE, 4));
    expect(place(pose, 2)[1]).toBeCloseTo(1.4 + 0.25, 5);
    expect(apart(place(pose, 3), place(pose, 2))).toBeCloseTo(0.1, 5);
  });

  it("keep all lengths while a limb reaches", () => {
    const goal: Vec = [0.2, 1.1, 0.3];
    const pose = reached(POSE, TREE, LIMB, goal);
    expect(apart(place(pose, 2), goal)).toBeLessThan(1e-5);
    for (const [a, b] of [
      [0, 1],
      [1, 2],
      [2, 3],
      [2, 5],
      [1, 3],
    ] as const)
      expect(apart(place(pose, a), place(pose, b))).toBeCloseTo(apart(place(POSE, a), place(POSE, b)), 5);
    expect(place(pose, 4)).toEqual(place(POSE, 4));
  });

  it("find the limbs of a body", () => {
    const joints = ["hips", "left_upper_arm", "left_forearm", "left_hand", "right_thigh"].map((part) => ({ part }));
    expect([...limbsOf(joints)]).toEqual([[3, { upper: 1, middle: 2, end: 3 }]]);
  });
});
