import { describe, expect, it } from "vitest";
import type { Draft } from "../edit/steps";
import { describeCharacter, describeContent, type Format, hasTolerance, unavailableReason } from "./formats";

const plain: Format = {
  suffix: "",
  label: "",
  variant: "",
  purpose: "",
  content: "motion",
  keeps_keys: false,
  keys_as_metadata: false,
  stores_residual: false,
  has_tolerance: false,
  blender_needs_addon: false,
  install_command: null,
};
const bvh: Format = { ...plain, suffix: ".bvh" };
const glb: Format = { ...plain, suffix: ".glb", keeps_keys: true, blender_needs_addon: true };
const usd: Format = { ...plain, suffix: ".usda", keys_as_metadata: true };
const keysJson: Format = { ...plain, suffix: ".keys.json", keeps_keys: true, stores_residual: true };
const kps: Format = { ...plain, suffix: ".kps", purpose: "A compact format.", keeps_keys: true, has_tolerance: true };
const swings: Format = { ...plain, suffix: ".swings.json", content: "swings" };
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
    expect(describeContent(glb, keys)).toContain("Only the keys");
    expect(describeContent(bvh, keys)).toContain("Every frame, sampled from the curves");
    expect(describeContent(usd, keys)).toContain("records which frames are keys");
    expect(describeContent(glb, { source: "draft", draft: edit(0) })).toContain("Only the edited keys");
    expect(describeContent(glb, { source: "draft", draft: edit(0.4) })).toMatch(/^Every frame, with 40 %(?!.*add-on)/);
    expect(describeContent(keysJson, { source: "draft", draft: edit(0.4) })).toContain("captured detail separately");
    expect(describeContent(glb, { source: "capture", draft: null })).toContain("Every frame of the capture");
    const capture = { source: "capture", draft: null } as const;
    expect(describeContent(kps, capture)).toContain("A compact format.");
    expect(describeContent(kps, capture, true)).toContain("Every number is stored exactly");
  });

  it("are unavailable with a reason", () => {
    const capture = { source: "capture", draft: null } as const;
    expect(unavailableReason({ ...plain, install_command: "pip install x" }, capture)).toBe(
      "Not installed on the server: pip install x",
    );
    expect(unavailableReason(swings, { source: "draft", draft: edit(0) })).toBe("Not available for edited keys");
    expect(unavailableReason(swings, capture)).toBe(null);
    expect(hasTolerance(kps, capture)).toBe(true);
    expect(hasTolerance(kps, { source: "keys", draft: null })).toBe(false);
  });
});

it("describes what stays in the file of a character", () => {
  const text = (nMeshes: number, nTracks: number) => describeCharacter({ n_meshes: nMeshes, n_tracks: nTracks });
  expect(text(1, 0)).toContain("replaced. 1 mesh, materials");
  expect(text(2, 1)).toContain("replaced. 2 meshes and 1 track of scale and morph weights, materials");
  expect(text(0, 3)).toContain("replaced. 3 tracks of scale and morph weights, materials");
});
