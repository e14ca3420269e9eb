import { describe, expect, it } from "vitest";
import type { Draft } from "../edit/steps";
import { describeContent, hasTolerance, unavailableReason } from "./formats";

const format = (suffix: string, command: string | null = null) => ({ suffix, label: suffix, install_command: command });
const edit = (residual: number): Draft => ({
  kind: "keys",
  frames: [0, 9],
  interpolation: "bezier",
  residual,
  steps: [],
});

describe("export formats", () => {
  it("are sparse only if they have curves and no detail was added", () => {
    const keys = { source: "keys", draft: null } as const;
    expect(describeContent(format(".glb"), keys)).toContain("Just the keys");
    expect(describeContent(format(".bvh"), keys)).toContain("Every frame, sampled from the curves");
    expect(describeContent(format(".usda"), keys)).toContain("records which frames are keys");
    expect(describeContent(format(".glb"), { source: "draft", draft: edit(0) })).toContain("Just the edited keys");
    expect(describeContent(format(".glb"), { source: "draft", draft: edit(0.4) })).toMatch(
      /^Every frame, with 40 %(?!.*add-on)/,
    );
    expect(describeContent(format(".keys.json"), { source: "draft", draft: edit(0.4) })).toContain(
      "captured detail separately",
    );
    expect(describeContent(format(".glb"), { source: "capture", draft: null })).toContain("Every frame of the capture");
    const capture = { source: "capture", draft: null } as const;
    expect(describeContent(format(".kps"), capture)).toContain("compact format");
    expect(describeContent(format(".kps"), capture, true)).toContain("every number exactly preserved");
  });

  it("are unavailable with a reason", () => {
    const capture = { source: "capture", draft: null } as const;
    expect(unavailableReason(format(".fbx", "pip install x"), capture)).toBe("needs: pip install x");
    expect(unavailableReason(format(".swings.json"), { source: "draft", draft: edit(0) })).toBe(
      "not available for edited keys",
    );
    expect(unavailableReason(format(".swings.json"), capture)).toBe(null);
    expect(hasTolerance(format(".kps"), capture)).toBe(true);
    expect(hasTolerance(format(".kps"), { source: "keys", draft: null })).toBe(false);
  });
});
