import { describe, expect, it } from "vitest";
import { hitAt, nearest } from "./hit_test";
import { type ActionBar, layOutLanes, partition, placeActions } from "./lanes";
import { roundStep, TimeScale } from "./scale";
import { availableRange, changeFromDrag, previewChange } from "./swing_drag";

function createScale(nFrames = 1000, width = 516): TimeScale {
  const scale = new TimeScale(nFrames);
  scale.width = width;
  return scale;
}

describe("frames and pixels", () => {
  it("are mapped both ways", () => {
    const scale = createScale();
    for (const frame of [0, 1, 499, 999]) expect(scale.frameAt(scale.xOf(frame))).toBe(frame);
    expect(scale.frameAt(-50)).toBe(0);
    expect(scale.frameAt(5000)).toBe(999);
  });

  it("keep the frame under the pointer while zooming", () => {
    const scale = createScale();
    const before = scale.positionAt(123);
    for (const factor of [0.5, 0.3, 0.9]) scale.zoom(factor, 123);
    expect(scale.positionAt(123)).toBeCloseTo(before, 6);
    expect(scale.isWhole).toBe(false);
    scale.zoom(1000, 123);
    expect(scale.isWhole).toBe(true);
  });

  it("never leave the clip", () => {
    const scale = createScale();
    scale.zoom(0.1, 0);
    scale.pan(-1e6);
    expect(scale.first).toBe(-0.5);
    scale.pan(1e6);
    expect(scale.last).toBe(999.5);
  });

  it("reveal a frame only if it is not visible", () => {
    const scale = createScale();
    scale.zoom(0.1, 0);
    expect(scale.reveal(10)).toBe(false);
    expect(scale.reveal(700)).toBe(true);
    expect(scale.xOf(700)).toBeGreaterThan(0);
    expect(scale.xOf(700)).toBeLessThan(500);
  });

  it("have round ticks with enough spacing", () => {
    expect([0.2, 1, 3, 11, 40, 180].map(roundStep)).toEqual([1, 1, 5, 20, 50, 200]);
    const { step, frames } = createScale().ticks(70);
    expect(step).toBe(200);
    expect(frames).toEqual([0, 200, 400, 600, 800]);
  });

  it("work for a clip of one frame", () => {
    const scale = createScale(1);
    expect(scale.frameAt(258)).toBe(0);
    scale.zoom(0.1, 100);
    expect(scale.xOf(0)).toBe(258);
  });
});

describe("lanes", () => {
  const bar = { joint: "LeftArm", index: 0, start: 100, end: 200, angle: 30 };
  const groups = [{ name: "left_arm", joints: ["LeftArm", "LeftForeArm"] }];

  it("show the joints of open body parts only", () => {
    const kinds = (open: string[]) =>
      layOutLanes(["left"], groups, [bar], new Set(open), { hasPins: true, hasActions: false }).rows.map(
        (row) => row.kind,
      );
    expect(kinds([])).toEqual(["ruler", "keys", "pins", "contact", "error", "group"]);
    expect(kinds(["left_arm"])).toEqual(["ruler", "keys", "pins", "contact", "error", "group", "joint"]);
  });

  it("assign each joint to one body part", () => {
    const names = ["Hips", "Head", "LeftArm", "Tail"];
    const parts = partition(names, { torso: [0], head: [1], left_arm: [2], all: [0, 1, 2, 3] });
    expect(parts.map(({ name, joints }) => [name, ...joints])).toEqual([
      ["torso", "Hips"],
      ["head", "Head"],
      ["left_arm", "LeftArm"],
      ["other", "Tail"],
    ]);
  });

  it("are hit by the pointer", () => {
    const scale = createScale();
    const layout = layOutLanes([], groups, [bar], new Set(["left_arm"]), { hasPins: true, hasActions: false });
    const row = (kind: string) => layout.rows.find((each) => each.kind === kind)!.top + 4;
    const at = (x: number, y: number) => hitAt(x, y, scale, layout, { keys: [0, 500], range: [100, 300], actions: [] });
    expect(at(scale.xOf(500) + 3, row("keys"))).toEqual({ on: "key", key: 500 });
    expect(at(scale.xOf(400), row("keys")).on).toBe("lane");
    expect(at(scale.xOf(100) + 2, 4)).toEqual({ on: "edge", end: "start" });
    expect(at(scale.xOf(150), row("joint"))).toEqual({ on: "bar", bar, handle: "middle" });
    expect(at(scale.xOf(199), row("joint"))).toEqual({ on: "bar", bar, handle: "end" });
    expect(nearest([], 4)).toBe(null);
    expect(nearest([1, 5, 9], 6)).toBe(5);
  });
});

describe("dragging swings", () => {
  const bar = { joint: "LeftArm", index: 1, start: 100, end: 200, angle: 30 };
  const scale = createScale(); // two frames per pixel
  const drag = (handle: "start" | "middle" | "end", dx: number, dy = 0, range: readonly [number, number] = [0, 999]) =>
    changeFromDrag({ bar, handle }, dx, dy, scale, range);

  it("shifts, lengthens, shortens or scales them", () => {
    expect(drag("middle", 10)).toEqual({ op: "shift", frames: 20 });
    expect(drag("end", 10, 2)).toEqual({ op: "lengthen", frames: 20, anchor: "start" });
    expect(drag("end", -5)).toEqual({ op: "shorten", frames: 10, anchor: "start" });
    expect(drag("start", 5)).toEqual({ op: "shorten", frames: 10, anchor: "end" });
    expect(drag("start", -5)).toEqual({ op: "lengthen", frames: 10, anchor: "end" });
    expect(drag("middle", 0, -90)).toEqual({ op: "scale", factor: 2 });
    expect(drag("middle", 0)).toBe(null);
  });

  it("leaves the other end in place", () => {
    const preview = (handle: "start" | "middle" | "end", dx: number) => {
      const { start, end } = previewChange(bar, drag(handle, dx)!);
      return [start, end];
    };
    expect(preview("end", 10)).toEqual([100, 220]);
    expect(preview("end", -10)).toEqual([100, 180]);
    expect(preview("start", 10)).toEqual([120, 200]);
    expect(preview("start", -10)).toEqual([80, 200]);
    expect(preview("middle", -10)).toEqual([80, 180]);
    expect(previewChange(bar, { op: "lengthen", frames: 5, anchor: "middle" })).toMatchObject({ start: 98, end: 203 });
  });

  it("stays within the available range", () => {
    const range = [90, 204] as const;
    expect(drag("middle", 500, 0, range)).toEqual({ op: "shift", frames: 4 });
    expect(drag("middle", -500, 0, range)).toEqual({ op: "shift", frames: -10 });
    expect(drag("end", 500, 0, range)).toMatchObject({ op: "lengthen", frames: 4 });
    expect(drag("start", -500, 0, range)).toMatchObject({ op: "lengthen", frames: 10 });
    expect(drag("end", -500, 0, range)).toMatchObject({ op: "shorten", frames: 98 });
    expect(drag("start", 500, 0, range)).toMatchObject({ op: "shorten", frames: 98 });
    expect(drag("end", 500, 0, [100, 200])).toBe(null);
  });

  it("leaves neighbours their minimum length", () => {
    const other = (index: number, start: number, end: number, joint = "LeftArm") => ({
      ...bar,
      joint,
      index,
      start,
      end,
    });
    expect(availableRange(bar, [bar], 1000)).toEqual([0, 999]);
    const neighbours = [other(0, 40, 90), bar, other(2, 210, 211), other(0, 99, 300, "Head")];
    expect(availableRange(bar, neighbours, 1000)).toEqual([43, 209]);
    expect(availableRange(bar, [other(0, 98, 99), bar, other(2, 201, 202)], 1000)).toEqual([100, 200]);
  });
});

describe("actions on the timeline", () => {
  const action = (start: number, end: number): ActionBar => ({ kind: "step", limbs: [], start, end, description: "" });

  it("do not cover each other while two rows are enough", () => {
    const placed = placeActions([action(0, 10), action(5, 20), action(11, 30), action(21, 25), action(40, 50)]);
    expect(placed.map(({ row }) => row)).toEqual([0, 1, 0, 1, 0]);
  });

  it("cover the end of the one that ends first if three overlap", () => {
    const placed = placeActions([action(0, 30), action(1, 10), action(2, 20)]);
    expect(placed.map(({ row }) => row)).toEqual([0, 1, 1]);
  });

  it("are hit in their row", () => {
    const scale = createScale();
    const actions = placeActions([action(100, 300), action(200, 400)]);
    const layout = layOutLanes([], [], [], new Set(), { hasPins: true, hasActions: true });
    const lane = layout.rows.find((row) => row.kind === "actions")!;
    const at = (frame: number, y: number) =>
      hitAt(scale.xOf(frame), lane.top + y, scale, layout, { keys: [], range: null, actions });
    expect(at(250, 4)).toMatchObject({ on: "action", action: { start: 100 } });
    expect(at(250, lane.height - 4)).toMatchObject({ on: "action", action: { start: 200 } });
    expect(at(350, 4)).toMatchObject({ on: "lane" });
  });
});

describe("a clip that becomes longer", () => {
  it("stays visible as a whole", () => {
    const scale = createScale(100);
    scale.nFrames = 150;
    expect([scale.first, scale.last]).toEqual([-0.5, 149.5]);
  });

  it("shows the same frames if it was zoomed, as far as they are left", () => {
    const scale = createScale(100);
    scale.show(60, 90);
    const [first, last] = [scale.first, scale.last];
    scale.nFrames = 200;
    expect([scale.first, scale.last]).toEqual([first, last]);
    scale.nFrames = 70;
    expect(scale.last).toBeCloseTo(69.5);
  });
});
