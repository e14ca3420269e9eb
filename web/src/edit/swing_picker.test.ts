import { describe, expect, it } from "vitest";
import { bestMatch } from "./swing_picker";

const bar = (joint: string, index: number, start: number, end: number) => ({ joint, index, start, end, angle: 20 });

describe("the swing after a change of the threshold", () => {
  const bars = [bar("Hips", 0, 0, 40), bar("Head", 0, 0, 9), bar("Head", 1, 12, 30), bar("Head", 2, 31, 60)];

  it("is the one of the same joint that shares most frames", () => {
    expect(bestMatch(bar("Head", 5, 25, 50), bars)?.index).toBe(2);
    expect(bestMatch(bar("Head", 5, 10, 20), bars)?.index).toBe(1);
  });

  it("is none if no swing shares a frame", () => {
    expect(bestMatch(bar("Head", 5, 70, 80), bars)).toBeNull();
    expect(bestMatch(bar("Neck", 0, 0, 40), bars)).toBeNull();
  });
});
