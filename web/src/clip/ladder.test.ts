import { describe, expect, it } from "vitest";
import type { Schema } from "../api/client";
import { readQuery } from "../state/url";
import { Ladder, type LadderData } from "./ladder";
import { LatestOnly } from "./latest_only";
import { readOption } from "./option_form";
import { advance } from "./playback";
import {
  buildCurveSettings,
  buildExtremesSettings,
  buildJointKeysSpec,
  buildSelectionSpec,
  changeText,
  FIELDS,
  formatWeights,
  interpolationOf,
  keyTarget,
  parseWeights,
  type Settings,
} from "./settings";
import { selectEvenly } from "./strip_layout";

function ladderData(change: Partial<LadderData>): LadderData {
  const defaults = {
    method: "salient",
    options: {},
    counts: [2, 3, 5],
    costs: [9, 4, 1],
    unit: "mm",
    order: null,
    selections: null,
    natural: null,
  };
  return { ...defaults, auto: 3, cliffs: [], elapsed_ms: 1, ...change };
}

describe("a ladder", () => {
  it("reads nested keys from one order", () => {
    const ladder = new Ladder(ladderData({ order: [99, 0, 40, 20, 60] }));
    expect(ladder.framesFor(2)).toEqual([0, 99]);
    expect(ladder.framesFor(3)).toEqual([0, 40, 99]);
    expect(ladder.framesFor(5)).toEqual([0, 20, 40, 60, 99]);
    expect(ladder.framesFor(3)).toBe(ladder.framesFor(3)); // computed once
    expect(ladder.data.order).toEqual([99, 0, 40, 20, 60]);
  });

  it("reads other keys from the selection of each count", () => {
    const selections = [[0, 9], [0, 4, 9], [0, 2, 4, 6, 9]]; // biome-ignore format: short
    const ladder = new Ladder(ladderData({ selections }));
    expect(ladder.framesFor(3)).toEqual([0, 4, 9]);
    expect(ladder.cost(5)).toBe(1);
  });

  it("uses the nearest count if one is missing", () => {
    const ladder = new Ladder(ladderData({ selections: [[0], [1], [2]] }));
    expect([0, 2, 3, 4, 5, 100].map((count) => ladder.nearestCount(count))).toEqual([2, 2, 3, 3, 5, 5]);
    expect([0, 2, 4, 5, 100].map((count) => ladder.maxCountUpTo(count))).toEqual([2, 2, 3, 5, 5]);
    expect(ladder.estimatedCount).toBe(3);
    expect(new Ladder(ladderData({ auto: null })).estimatedCount).toBe(5);
  });

  it("finds the fewest keys within an error in mm", () => {
    const ladder = new Ladder(ladderData({}));
    expect([9, 8.9, 4, 1, 0.5].map((mm) => ladder.countWithin(mm))).toEqual([2, 3, 3, 5, null]);
    expect(new Ladder(ladderData({ unit: "units of the features" })).countWithin(9)).toBe(null);
  });

  it("goes from cliff to cliff", () => {
    const ladder = new Ladder(ladderData({ cliffs: [{ keys: 9, strength: 1 }, { keys: 4, strength: 2 }] })); // biome-ignore format: short
    expect(ladder.nextCliff(4, 1)).toBe(9);
    expect(ladder.nextCliff(9, -1)).toBe(4);
    expect(ladder.nextCliff(9, 1)).toBe(null);
  });
});

describe("LatestOnly", () => {
  it("runs the first request, then the newest of the waiting ones", async () => {
    const [started, done]: [number[], number[]] = [[], []];
    const finish: (() => void)[] = [];
    const latest = new LatestOnly<number, number>(
      (request) => new Promise((resolve) => { started.push(request); finish.push(() => resolve(request)); }), // biome-ignore format: short
      (result) => void done.push(result),
      () => {},
    );
    for (const request of [1, 2, 3, 4]) latest.submit(request);
    finish.shift()?.();
    await new Promise((resolve) => setTimeout(resolve));
    finish.shift()?.();
    await new Promise((resolve) => setTimeout(resolve));
    expect(started).toEqual([1, 4]);
    expect(done).toEqual([1, 4]);
  });

  it("aborts the running request when it is cancelled", async () => {
    const signals: AbortSignal[] = [];
    const latest = new LatestOnly<number, void>(
      (_, signal) => {
        signals.push(signal);
        return new Promise((_, reject) => signal.addEventListener("abort", reject));
      },
      () => {},
      () => {
        throw new Error("reported");
      },
    );
    latest.submit(1);
    latest.cancel();
    latest.submit(2);
    await new Promise((resolve) => setTimeout(resolve));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it("ignores cancelled requests and continues after an error", async () => {
    const done: string[] = [];
    const latest = new LatestOnly<number, number>(
      async (request) => {
        if (request === 2) throw new Error("two");
        return request;
      },
      (result) => void done.push(`did ${result}`),
      (error) => void done.push(String(error)),
    );
    latest.submit(1);
    latest.cancel();
    await new Promise((resolve) => setTimeout(resolve));
    latest.submit(2);
    await new Promise((resolve) => setTimeout(resolve));
    latest.submit(3);
    await new Promise((resolve) => setTimeout(resolve));
    expect(done).toEqual(["Error: two", "did 3"]);
  });
});

describe("the importance of keys", () => {
  it("is the order in which the method selected them", () => {
    const ladder = new Ladder(ladderData({ order: [99, 0, 40, 20, 60] }));
    expect(ladder.rank([0, 40, 99])).toEqual([99, 0, 40]);
    expect(ladder.rank(ladder.framesFor(5))).toEqual([99, 0, 40, 20, 60]);
  });

  it("is unknown for other keys, and for methods that do not rank them", () => {
    expect(new Ladder(ladderData({ order: [99, 0, 40, 20, 60] })).rank([0, 40, 60])).toBeNull();
    expect(new Ladder(ladderData({ order: [99, 0] })).rank([0, 40, 99])).toBeNull();
    expect(new Ladder(ladderData({ selections: [[0], [0, 99]] })).rank([0, 99])).toBeNull();
  });
});

describe("the poses of a strip", () => {
  it("are all keys, or as many as fit, evenly spread", () => {
    expect(selectEvenly([3, 5, 9], 3)).toEqual([3, 5, 9]);
    const frames = Array.from({ length: 834 }, (_, k) => 24 * k);
    const poses = selectEvenly(frames, 300);
    expect([poses.length, new Set(poses).size, poses[0], poses.at(-1)]).toEqual([300, 300, 0, 24 * 833]);
    const gaps = poses.slice(1).map((frame, k) => frame - poses[k]!);
    expect(Math.max(...gaps) - Math.min(...gaps)).toBe(24);
  });
});

describe("the selection spec of an address", () => {
  const details = {
    n_frames: 100,
    joint_groups: { torso: [0, 1], head: [2], left_arm: [3, 4], major: [0, 4] },
    joints: ["hips", "chest", "skull", "upper", "lower"].map((name) => ({ name })),
  } as unknown as Schema["ClipDetails"];
  const bodyParts = [
    { name: "torso", joints: ["hips", "chest"] },
    { name: "head", joints: ["skull"] },
    { name: "left_arm", joints: ["upper", "lower"] },
  ];
  const number = { kind: "number", help: "", unit: "", default: 0.5, min_value: 0 } as const;
  const options = [
    { ...number, name: "limit_mm" },
    { ...number, name: "cost", kind: "choice", choices: ["chord", "inbetween"], default: "chord" },
    { ...number, name: "loop", kind: "flag", default: false },
    { ...number, name: "min_gap_frames", kind: "integer", default: 1, min_value: 1 },
  ] as const;
  const methods = [
    { name: "salient", takes_pins: true, options },
    { name: "uniform", takes_pins: false, options: [] },
    { name: "farthest", takes_pins: false, options: [], joints: "major" },
  ];
  const library = {
    methods,
    feature_options: [{ ...number, name: "smoothing_s" }],
    extremes_options: [
      { ...number, name: "extremes_first", kind: "flag", default: null },
      { ...number, name: "leading", kind: "choice", choices: ["hips", "left_hand"], default: null },
    ],
    curve_options: [
      { ...number, name: "interpolation", kind: "choice", choices: ["bezier"] },
      { ...number, name: "jump_penalty" },
    ],
  } as unknown as Schema["LibraryInfo"];
  const read = (query: string) => readQuery(FIELDS, query) as Settings;
  const spec = (query: string, parts = bodyParts) => buildSelectionSpec(read(query), details, library, parts);

  it("has defaults", () => {
    expect(spec("")).toMatchObject({ method: "salient", joints: null, weights: null, pins: [], first_frame: null });
    expect(keyTarget(read(""))).toEqual({ by: "auto" });
    expect(keyTarget(read("?keys=12&tolerance=3"))).toEqual({ by: "keys", keys: 12 });
    expect(keyTarget(read("?tolerance=3.5"))).toEqual({ by: "tolerance", mm: 3.5 });
  });

  it("excludes body parts with weight 0 and passes other weights", () => {
    expect(spec("?weights=head:0,left_arm:2")).toMatchObject({
      joints: ["torso", "left_arm"],
      weights: { left_arm: 2 },
    });
    expect(spec("?weights=head:0,torso:0,left_arm:0").joints).toBe(null); // nothing left: all joints
    const withRest = [...bodyParts, { name: "other", joints: ["tail", "hat"] }]; // which the server does not know
    expect(spec("?weights=head:0,left_arm:0", withRest).joints).toEqual(["torso", "tail", "hat"]);
    expect(formatWeights(parseWeights(["head:0", "torso:1", "nonsense", "left_arm:99"]))).toEqual(["head:0"]);
  });

  it("passes weights of joints, whose names may hold any character", () => {
    const named = [{ name: "torso", joints: ["a:hips", "b,%"] }, bodyParts[1]!, bodyParts[2]!];
    const weights = new Map([["joint.a:hips", 3], ["joint.b,%", 0]]); // biome-ignore format: one look
    expect(parseWeights(formatWeights(weights))).toEqual(weights);
    const { joints, weights: passed } = spec(`?weights=${encodeURIComponent(formatWeights(weights).join(","))}`, named);
    expect(joints).toEqual(["a:hips", "head", "left_arm"]);
    expect(passed).toEqual({ "a:hips": 3 });
    // a joint keeps its own weight in a body part with another one, even 1
    expect(spec("?weights=left_arm:2,joint.upper:1").weights).toEqual({ left_arm: 2, upper: 1 });
    expect(spec("?weights=left_arm:0,joint.upper:1.5")).toMatchObject({
      joints: ["torso", "head", "upper"],
      weights: { upper: 1.5 },
    });
    expect(Object.keys(spec("?weights=joint.upper:3,left_arm:2").weights!)).toEqual(["left_arm", "upper"]);
  });

  it("leaves out weights of joints that the method does not see", () => {
    expect(spec("?method=farthest&weights=head:2,left_arm:3,joint.upper:4").weights).toEqual({ left_arm: 3 });
    expect(spec("?method=farthest&weights=head:2").weights).toBe(null);
    expect(spec("?method=salient&weights=head:2").weights).toEqual({ head: 2 });
    // if joints are ignored, all others count
    expect(spec("?method=farthest&weights=head:2,joint.hips:0").weights).toEqual({ head: 2 });
  });

  it("passes a preference for extremes for keys that can be moved to them", () => {
    const extremes = (query: string) => buildExtremesSettings(read(query), library);
    expect(extremes("")).toEqual({});
    expect(extremes("?extremes=leading:left_hand,extremes_first:1")).toEqual({
      leading: "left_hand",
      extremes_first: true,
    });
    expect(extremes("?extremes=extremes_first:0,leading:tail")).toEqual({ extremes_first: false });
    expect(extremes("?extremes=leading:left_hand&method=farthest")).toEqual({});
    expect(extremes("?extremes=leading:left_hand&per=joint")).toEqual({});
  });

  it("passes the options that the server declares, with their types", () => {
    expect(spec("?options=limit_mm:0.5,cost:inbetween,loop:1,min_gap_frames:3").options).toEqual({
      limit_mm: 0.5,
      cost: "inbetween",
      loop: true,
      min_gap_frames: 3,
    });
    expect(spec("?options=limit_mm:-1,cost:none,loop:yes,min_gap_frames:1.5,unknown:3").options).toBe(null);
    expect(spec("?features=smoothing_s:0.2").smoothing_s).toBe(0.2);
    expect(buildCurveSettings(read("?curves=jump_penalty:0.1,interpolation:linear"), library)).toEqual({
      interpolation: "bezier",
      jump_penalty: 0.1,
    });
    expect(changeText(["cost:chord"], "limit_mm", "3")).toEqual(["cost:chord", "limit_mm:3"]);
    expect(changeText(["cost:chord", "limit_mm:3"], "cost", null)).toEqual(["limit_mm:3"]);
  });

  it("describes what is expected of an option", () => {
    const expected = (name: string, text: string) =>
      readOption(options.find((each) => each.name === name)! as never, text);
    expect(expected("limit_mm", "-1")).toEqual({ expected: "a number of at least 0" });
    expect(expected("min_gap_frames", "1.5")).toEqual({ expected: "a whole number of at least 1" });
    expect(expected("cost", "none")).toEqual({ expected: "one of chord, inbetween" });
  });

  it("gives every joint keys of its own, with natural splines where a method sees angles", () => {
    const keys = (query: string) => buildJointKeysSpec(read(query), details, library);
    expect(keys("?per=joint&keys=7&pins=3")).toMatchObject({ keys: 7, tolerance_mm: null, pins: [3] });
    expect(keys("?per=joint&tolerance=2.5")).toMatchObject({ keys: null, tolerance_mm: 2.5 });
    expect(interpolationOf(read("?per=joint&method=refine"))).toBe("natural");
    expect(interpolationOf(read("?per=joint"))).toBe("bezier");
    expect(interpolationOf(read("?method=refine"))).toBe("bezier");
    expect(interpolationOf(read("?per=joint&method=refine&interpolation=linear"))).toBe("linear");
  });

  it("passes pins inside the clip to methods that support them", () => {
    expect(spec("?pins=40,7,40,500").pins).toEqual([7, 40]);
    expect(spec("?pins=40,7&range=30-60&range_only=1")).toMatchObject({
      pins: [40],
      first_frame: 30,
      last_frame: 60,
    });
    expect(spec("?pins=40&method=uniform").pins).toEqual([]);
    expect(spec("?method=unheard_of").method).toBe("salient");
  });
});

describe("playback", () => {
  it("loops in the range, or stops at its end", () => {
    expect(advance(10, 5, [0, 99], true)).toEqual({ position: 15, isRunning: true });
    expect(advance(98, 5, [0, 99], true)).toEqual({ position: 3, isRunning: true });
    expect(advance(98, 5, [0, 99], false)).toEqual({ position: 99, isRunning: false });
    expect(advance(5, 1, [20, 40], true)).toEqual({ position: 21, isRunning: true });
    expect(advance(0, 3, [0, 0], true).position).toBe(0);
  });
});
