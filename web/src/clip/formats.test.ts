import { describe, expect, it } from "vitest";
import type { Draft } from "../edit/steps";
import { contentOf, hasTolerance, refusal } from "./formats";

const format = (suffix: string, needs: string | null = null) => ({ suffix, label: suffix, needs });
const edit = (residual: number): Draft => ({
  kind: "keys",
  frames: [0, 9],
  interpolation: "bezier",
  residual,
  steps: [],
});

describe("what is in a file", () => {
  it("is sparse only where the format has curves and no detail was put back", () => {
    const keys = { what: "keys", draft: null } as const;
    expect(contentOf(format(".glb"), keys)).toContain("Just the keys");
    expect(contentOf(format(".bvh"), keys)).toContain("Every frame, sampled from the curves");
    expect(contentOf(format(".usda"), keys)).toContain("The keys are noted");
    expect(contentOf(format(".glb"), { what: "draft", draft: edit(0) })).toContain("Just the edited keys");
    expect(contentOf(format(".glb"), { what: "draft", draft: edit(0.4) })).toMatch(/^Every frame: 40 %(?!.*add-on)/);
    expect(contentOf(format(".keys.json"), { what: "draft", draft: edit(0.4) })).toContain("detail beside them");
    expect(contentOf(format(".glb"), { what: "capture", draft: null })).toContain("Every frame of the capture");
    const capture = { what: "capture", draft: null } as const;
    expect(contentOf(format(".kps"), capture)).toContain("small file");
    expect(contentOf(format(".kps"), capture, true)).toContain("every number as it is");
  });

  it("is refused where it cannot be", () => {
    const capture = { what: "capture", draft: null } as const;
    expect(refusal(format(".fbx", "pip install x"), capture)).toBe("needs pip install x");
    expect(refusal(format(".swings.json"), { what: "draft", draft: edit(0) })).toBe("not of an edit of keys");
    expect(refusal(format(".swings.json"), capture)).toBe(null);
    expect(hasTolerance(format(".kps"), capture)).toBe(true);
    expect(hasTolerance(format(".kps"), { what: "keys", draft: null })).toBe(false);
  });
});
