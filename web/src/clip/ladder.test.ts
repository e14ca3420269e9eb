import { describe, expect, it } from "vitest";
import type { Schema } from "../api/client";
import { readQuery } from "../state/url";
import { type LadderSaid, Rungs } from "./ladder";
import { Latest } from "./latest";
import { advanced } from "./playing";
import { FIELDS, partsOf, recipeOf, type Settings, wantedOf, weightsOf } from "./recipe";

function said(change: Partial<LadderSaid>): LadderSaid {
  const plain = {
    method: "salient",
    options: {},
    counts: [2, 3, 5],
    costs: [9, 4, 1],
    unit: "mm",
    order: null,
    selections: null,
    natural: null,
  };
  return { ...plain, auto: 3, cliffs: [], took_ms: 1, ...change };
}

describe("a ladder in memory", () => {
  it("reads nested keys from one order", () => {
    const rungs = new Rungs(said({ order: [99, 0, 40, 20, 60] }));
    expect(rungs.at(2)).toEqual([0, 99]);
    expect(rungs.at(3)).toEqual([0, 40, 99]);
    expect(rungs.at(5)).toEqual([0, 20, 40, 60, 99]);
    expect(rungs.at(3)).toBe(rungs.at(3)); // nothing is made twice
    expect(rungs.said.order).toEqual([99, 0, 40, 20, 60]);
  });

  it("reads other keys from the selection of each count", () => {
    const selections = [[0, 9], [0, 4, 9], [0, 2, 4, 6, 9]]; // biome-ignore format: short
    const rungs = new Rungs(said({ selections }));
    expect(rungs.at(3)).toEqual([0, 4, 9]);
    expect(rungs.cost(5)).toBe(1);
  });

  it("has the nearest count where one is missing", () => {
    const rungs = new Rungs(said({ selections: [[0], [1], [2]] }));
    expect([0, 2, 3, 4, 5, 100].map((count) => rungs.nearest(count))).toEqual([2, 2, 3, 3, 5, 5]);
    expect([0, 2, 4, 5, 100].map((count) => rungs.within(count))).toEqual([2, 2, 3, 5, 5]);
    expect(rungs.usual).toBe(3);
    expect(new Rungs(said({ auto: null, natural: 5 })).usual).toBe(5);
  });

  it("goes from cliff to cliff", () => {
    const rungs = new Rungs(said({ cliffs: [{ keys: 9, strength: 1 }, { keys: 4, strength: 2 }] })); // biome-ignore format: short
    expect(rungs.cliffBeside(4, 1)).toBe(9);
    expect(rungs.cliffBeside(9, -1)).toBe(4);
    expect(rungs.cliffBeside(9, 1)).toBe(null);
  });
});

describe("work of which only the latest counts", () => {
  it("does the first at once, then the newest of those that waited", async () => {
    const [begun, done]: [number[], number[]] = [[], []];
    const finish: (() => void)[] = [];
    const latest = new Latest<number, number>(
      (asked) => new Promise((resolve) => { begun.push(asked); finish.push(() => resolve(asked)); }), // biome-ignore format: short
      (answer) => void done.push(answer),
      () => {},
    );
    for (const asked of [1, 2, 3, 4]) latest.ask(asked);
    finish.shift()?.();
    await new Promise((resolve) => setTimeout(resolve));
    finish.shift()?.();
    await new Promise((resolve) => setTimeout(resolve));
    expect(begun).toEqual([1, 4]);
    expect(done).toEqual([1, 4]);
  });

  it("keeps quiet about what was forgotten, and goes on after an error", async () => {
    const done: string[] = [];
    const latest = new Latest<number, number>(
      async (asked) => {
        if (asked === 2) throw new Error("two");
        return asked;
      },
      (answer) => void done.push(`did ${answer}`),
      (error) => void done.push(String(error)),
    );
    latest.ask(1);
    latest.forget();
    await new Promise((resolve) => setTimeout(resolve));
    latest.ask(2);
    await new Promise((resolve) => setTimeout(resolve));
    latest.ask(3);
    await new Promise((resolve) => setTimeout(resolve));
    expect(done).toEqual(["Error: two", "did 3"]);
  });
});

describe("the recipe of an address", () => {
  const facts = { n_frames: 100 } as Schema["ClipFacts"];
  const methods = [
    { name: "salient", options: ["pins"] },
    { name: "uniform", options: [] },
  ];
  const library = { methods } as unknown as Schema["LibraryFacts"];
  const read = (query: string) => readQuery(FIELDS, query) as Settings;
  const recipe = (query: string) => recipeOf(read(query), facts, library, ["torso", "head", "left_arm"]);

  it("is the usual one where nothing is said", () => {
    expect(recipe("")).toMatchObject({ method: "salient", joints: null, weights: null, pins: [], first: null });
    expect(wantedOf(read(""))).toEqual({ by: "auto" });
    expect(wantedOf(read("?keys=12&tolerance=3"))).toEqual({ by: "keys", keys: 12 });
    expect(wantedOf(read("?tolerance=3.5"))).toEqual({ by: "tolerance", mm: 3.5 });
  });

  it("leaves out parts that weigh nothing, and weighs the others", () => {
    expect(recipe("?parts=head:0,left_arm:2")).toMatchObject({
      joints: ["torso", "left_arm"],
      weights: { left_arm: 2 },
    });
    expect(recipe("?parts=head:0,torso:0,left_arm:0").joints).toBe(null); // nothing left: all of it
    expect(partsOf(weightsOf(["head:0", "torso:1", "nonsense", "left_arm:9"]))).toEqual(["head:0"]);
  });

  it("keeps pins inside the clip, for methods that know pins", () => {
    expect(recipe("?pins=40,7,40,500").pins).toEqual([7, 40]);
    expect(recipe("?pins=40,7&range=30-60&only=1")).toMatchObject({ pins: [40], first: 30, last: 60 });
    expect(recipe("?pins=40&method=uniform").pins).toEqual([]);
    expect(recipe("?method=unheard_of").method).toBe("salient");
  });
});

describe("the clock", () => {
  it("loops in the range, or stops at its end", () => {
    expect(advanced(10, 5, [0, 99], true)).toEqual({ place: 15, goesOn: true });
    expect(advanced(98, 5, [0, 99], true)).toEqual({ place: 3, goesOn: true });
    expect(advanced(98, 5, [0, 99], false)).toEqual({ place: 99, goesOn: false });
    expect(advanced(5, 1, [20, 40], true)).toEqual({ place: 21, goesOn: true });
    expect(advanced(0, 3, [0, 0], true).place).toBe(0);
  });
});
