import { describe, expect, it } from "vitest";
import { choice, flag, integer, list, number, numbers, range, readQuery, text, texts, writeQuery } from "./query";

const FIELDS = {
  words: text(),
  tag: texts(),
  methods: list(["salient"]),
  sort: choice(["name", "newest"], "newest"),
  ghosts: flag(true),
  min: number({ min: 0 }),
  frame: integer({ min: 0 }),
  camera: numbers(2),
  range: range(),
};

describe("the query of an address", () => {
  it("omits defaults", () => {
    expect(writeQuery(FIELDS, readQuery(FIELDS, ""))).toBe("");
  });

  it("round-trips", () => {
    const values = {
      words: "a b&c=d",
      tag: ["walk", "take 3"],
      methods: ["a", "b"],
      sort: "name" as const,
      ghosts: false,
      min: 2.5,
      frame: 12,
      camera: [1.5, -0.25, 3],
      range: [10, 80] as const,
    };
    const search = writeQuery(FIELDS, values);
    expect(readQuery(FIELDS, search)).toEqual(values);
    expect(search).toContain("methods=a,b");
    expect(search).toContain("range=10-80");
  });

  it("replaces invalid values by the fallback", () => {
    const search = "?sort=sideways&min=-3&frame=1.5&camera=1,x&range=80-10&ghosts=0";
    const values = readQuery(FIELDS, search);
    expect(values.sort).toBe("newest");
    expect([values.min, values.frame, values.camera, values.range]).toEqual([null, null, null, null]);
    expect(values.ghosts).toBe(false);
    expect(readQuery(FIELDS, "?min=&frame=1e999").min).toBeNull();
    expect(readQuery(FIELDS, "?frame=1e999").frame).toBeNull();
  });

  it("keeps an empty list that is not the default, and drops duplicates", () => {
    expect(readQuery(FIELDS, writeQuery(FIELDS, { ...readQuery(FIELDS, ""), methods: [] })).methods).toEqual([]);
    expect(readQuery(FIELDS, "?tag=a&tag=a&tag=b").tag).toEqual(["a", "b"]);
  });

  it("keeps other parameters", () => {
    const values = { ...readQuery(FIELDS, ""), words: "x" };
    expect(writeQuery(FIELDS, values, "?other=1&words=old")).toBe("?other=1&words=x");
  });
});
