import { describe, expect, it } from "vitest";
import { Body, facingDirection, pointAt } from "./body";
import { countUpTo, keyAtOrBefore } from "./key_lookup";
import { findMarkerLinks } from "./marker_links";
import { parseView, viewToNumbers } from "./orbit";
import { copyPose, jointPosition, smoothPath } from "./track";

const PARTS: [string, string | null, number, [number, number, number]][] = [
  ["Hips", "hips", -1, [0, 0.95, 0]],
  ["Spine", "spine", 0, [0, 1.1, 0]],
  ["Neck", "neck", 1, [0, 1.45, 0]],
  ["Head", "head", 2, [0, 1.52, 0]],
  ["LeftArm", "left_upper_arm", 1, [0.2, 1.4, 0]],
  ["LeftForeArm", "left_forearm", 4, [0.45, 1.4, 0]],
  ["LeftHand", "left_hand", 5, [0.7, 1.4, 0]],
  ["LeftUpLeg", "left_thigh", 0, [0.1, 0.9, 0]],
  ["LeftLeg", "left_shin", 7, [0.1, 0.5, 0]],
  ["LeftFoot", "left_foot", 8, [0.1, 0.1, 0]],
  ["LeftToe", "left_toes", 9, [0.1, 0.03, 0.12]],
  ["RightUpLeg", "right_thigh", 0, [-0.1, 0.9, 0]],
  ["Tail", null, 0, [0, 0.9, -0.4]],
];
const toJoint = (name: string, body_part: string | null, parent: number, is_auxiliary = false) => ({
  ...{ name, body_part, parent, is_auxiliary },
});
const JOINTS = PARTS.map(([name, body_part, parent]) => toJoint(name, body_part, parent));
const POSE = new Float32Array(PARTS.flatMap(([, , , at]) => at));

describe("a body", () => {
  const body = new Body(JOINTS, [], POSE);
  const points = new Float32Array(3 * body.nPoints);
  points.set(POSE);
  body.complete(points);

  it("has solids for known body parts and plain bones for the rest", () => {
    const sides = (side: string) => body.solids.filter((solid) => solid.side === side).length;
    expect(sides("left")).toBe(6); // two bones of arm and leg, hand, foot
    expect(body.solids.some(({ points: p }) => p.includes(12))).toBe(true); // the tail
    expect(body.solids.every(({ points: p, radii }) => p.length === radii.length && p.length <= 4)).toBe(true);
    expect(body.solids.flatMap(({ points: p }) => p).every((point) => point < body.nPoints)).toBe(true);
  });

  it("has no bones to auxiliary joints, nor to joints beside the hips", () => {
    const joints = [
      toJoint("Root", "root", -1),
      ...JOINTS.map((joint) => ({ ...joint, parent: joint.parent + 1 })),
      toJoint("IKFoot", null, 0),
      toJoint("PoleTarget", "pole_target", 1, true),
    ];
    const rig = new Body(joints, [15], new Float32Array([0, 0, 0, ...POSE, 0.5, 0, 0, 0, 0.5, 1, 0, 0.5, 2]));
    expect(rig.solids.length).toBe(body.solids.length);
  });

  it("has hands up to the tips of its fingers", () => {
    const fingers = ["index", "middle", "ring", "pinky"].flatMap((finger, k) => [
      toJoint(`${finger}1`, `left_${finger}1`, 6),
      toJoint(`${finger}2`, `left_${finger}2`, PARTS.length + 2 * k),
    ]);
    const pose = new Float32Array([...POSE, ...fingers.flatMap((_, k) => [0.8 + 0.05 * (k % 2), 1.4, 0.01 * k])]);
    const { solids } = new Body([...JOINTS, ...fingers], [], pose);
    const n = PARTS.length;
    expect(solids.find(({ points: p }) => p[0] === 6)?.points).toEqual([6, n + 1, n + 3, n + 7]);
    const three = new Body([...JOINTS, ...fingers.slice(0, 6)], [], pose.slice(0, 3 * (n + 6))); // as in cartoons
    expect(three.solids.find(({ points: p }) => p[0] === 6)?.points).toEqual([6, n + 1, n + 3, n + 5]);
  });

  it("derives points: the hand extends the forearm, the heel lies behind the ankle", () => {
    const solidPoint = (solid: number, k: number) => pointAt(points, body.solids[solid]!.points[k]!);
    const hand = body.solids.findIndex(({ points: p }) => p[0] === 6);
    expect(solidPoint(hand, 2)[0]).toBeGreaterThan(0.8);
    const foot = body.solids.findIndex(({ points: p }) => p[0] === 9);
    expect(solidPoint(foot, 1)[2]).toBeLessThan(-0.02);
    expect(points.every(Number.isFinite)).toBe(true);
  });

  it("has a face in front of its head, which turns with it", () => {
    const isFace = (other: Body) => other.solids.filter((solid) => solid.isFace);
    expect(isFace(body)).toEqual([]);
    const faced = new Body(JOINTS, [3], new Float32Array([...POSE, 0, 1.52, 0.17]), [], true);
    const lookAt = (x: number, z: number) => {
      const all = new Float32Array(3 * faced.nPoints);
      all.set([...POSE, x, 1.52, z]);
      faced.complete(all);
      return isFace(faced).map(({ points: p }) => pointAt(all, p[0]!));
    };
    for (const [x, , z] of lookAt(0, 0.17)) expect([Math.abs(x) < 1e-6, z > 0.02]).toEqual([true, true]);
    for (const [x, , z] of lookAt(0.17, 0)) expect([x > 0.02, Math.abs(z) < 1e-6]).toEqual([true, true]);
    const without = (other: Body) =>
      other.solids.filter((solid) => !solid.isFace).map(({ radii, side }) => [radii, side]);
    expect(without(faced)).toEqual(without(body)); // the head itself is the same
  });

  it("consists of balls if nothing is connected", () => {
    const markers = Array.from({ length: 4 }, (_, k) => toJoint(`M${k}`, null, -1));
    const cloud = new Body(markers, [], new Float32Array(12));
    expect(cloud.solids.map(({ points: p }) => p)).toEqual([[0], [1], [2], [3]]);
  });

  it("consists of balls if its bones have no length", () => {
    const box = new Body(
      [-1, 0, 1].map((parent, k) => toJoint(`node ${k}`, null, parent)),
      [],
      new Float32Array(9),
    );
    expect(box.solids.map(({ points: p }) => p)).toEqual([[0], [1], [2]]);
  });

  it("links markers at constant distance, in the colours of their sides", () => {
    const markers = ["LKNE", "LANK", "RKNE", "subject:L_TOE", "CLAV"].map((name) => toJoint(name, null, -1));
    const at = (x: number) => [x, 0, 0, x, 0.4, 0, 1 - x, 0, 0, 0, 0, 3 * x, 0, 1.7, 0];
    const track = { positions: new Float32Array([0, 0.5, 1].flatMap(at)), ends: new Float32Array(0), nFrames: 3 };
    const rods = findMarkerLinks(track, 5);
    expect(rods).toEqual([[0, 1]]);
    const { solids } = new Body(markers, [], track.positions.slice(0, 15), rods);
    expect(solids.map(({ side, points: p }) => [side, ...p])).toEqual([
      ["middle", 0, 1], // LANK has no partner here
      ["left", 0],
      ["middle", 1],
      ["right", 2],
      ["left", 3],
      ["middle", 4],
    ]);
  });

  it("has a facing direction", () => {
    const front = facingDirection(JOINTS, POSE)!;
    expect(front[2]).toBeCloseTo(1, 6);
    expect(facingDirection([toJoint("a", null, -1)], new Float32Array(3))).toBe(null);
  });
});

describe("tracks", () => {
  const track = {
    positions: new Float32Array([0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0]),
    ends: new Float32Array(0),
    nFrames: 4,
  };

  it("give poses, clamped to the clip", () => {
    const points = new Float32Array(3);
    copyPose(points, track, 9);
    expect([...points]).toEqual([3, 0, 0]);
    expect(jointPosition(track, 2, 0)).toEqual([2, 0, 0]);
  });

  it("are smoothed from the first to the last frame", () => {
    const path = smoothPath(track, 0, 2);
    expect([path[0], path[3], path[9]]).toEqual([0, 1, 3]);
  });
});

describe("keys and views", () => {
  it("hold the last key", () => {
    expect([0, 9, 10, 15, 30].map((frame) => keyAtOrBefore([0, 10, 20], frame))).toEqual([0, 0, 10, 10, 20]);
    expect(keyAtOrBefore([5], 2)).toBe(5);
    expect(countUpTo([0, 10, 20], 10)).toBe(2);
  });

  it("round-trip through an address", () => {
    const view = { azimuth: -30.5, elevation: 12, distance: 4.25, offset: [0.1, 0, -0.2] as const };
    expect(parseView(viewToNumbers(view))).toEqual(view);
    expect(viewToNumbers({ ...view, offset: [0, 0, 0] })).toEqual([-30.5, 12, 4.25]);
    expect(parseView([1, 2])).toBe(null);
    expect(parseView([1, 2, Number.NaN])).toBe(null);
    expect(parseView([370, 400, 1000])).toEqual({ azimuth: 10, elevation: 89.5, distance: 40, offset: [0, 0, 0] });
  });
});
