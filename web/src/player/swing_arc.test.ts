import { describe, expect, it } from "vitest";
import { arrowHead, band } from "./swing_arc";

/** A quarter of a circle of radius 0.4 about Z, from X to Y. */
const ARC = Float32Array.from(
  Array.from({ length: 31 }, (_, k) => (k * Math.PI) / 60).flatMap((at) => [0.4 * Math.cos(at), 0.4 * Math.sin(at), 0]),
);

describe("the arc of a swing", () => {
  it("has a band of constant width along its inner side", () => {
    const [points, triangles] = band(ARC);
    for (let k = 0; k < 31; k++) {
      const [outer, inner] = [points.slice(6 * k, 6 * k + 3), points.slice(6 * k + 3, 6 * k + 6)];
      expect(Math.hypot(...outer)).toBeCloseTo(0.4, 5);
      expect(Math.hypot(...inner)).toBeCloseTo(0.386, 5);
    }
    expect(triangles).toHaveLength(30 * 6);
    expect(Math.max(...triangles)).toBe(61);
  });

  it("ends in an arrow head that points along it", () => {
    const [x, y, z, ...corners] = arrowHead(ARC) as [number, number, number, ...number[]];
    expect([x, y, z].map((value) => Number(value.toFixed(6)))).toEqual([0, 0.4, 0]);
    const middle = [0, 1, 2].map((k) => (corners[k]! + corners[k + 3]!) / 2);
    expect(middle[0]).toBeGreaterThan(0.05); // it comes from the side of X
    expect(Math.abs(corners[1]! - corners[4]!)).toBeGreaterThan(0.04); // corners on both sides of the arc
    for (const at of [2, 5]) expect(corners[at]).toBeCloseTo(0, 9);
  });

  it("has a smaller arrow head if it is short", () => {
    const short = ARC.slice(0, 6);
    const length = Math.hypot(short[3]! - short[0]!, short[4]! - short[1]!);
    const [x, y, , cx, cy] = arrowHead(short) as number[];
    expect(Math.hypot(cx! - x!, cy! - y!)).toBeLessThan(length);
  });
});
