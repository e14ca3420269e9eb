import { describe, expect, it } from "vitest";
import { matches } from "./keys";
import { matchCost } from "./palette";

const press = (key: string, more: Partial<Record<"ctrlKey" | "metaKey" | "shiftKey" | "altKey", boolean>> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...more,
});

describe("shortcuts", () => {
  it("maps Mod to Ctrl or Cmd", () => {
    expect(matches(press("k", { ctrlKey: true }), "Mod+K", false)).toBe(true);
    expect(matches(press("k", { metaKey: true }), "Mod+K", true)).toBe(true);
    expect(matches(press("k", { ctrlKey: true }), "Mod+K", true)).toBe(false);
    expect(matches(press("k"), "Mod+K", false)).toBe(false);
  });

  it("requires Shift for letters and arrows, not for signs", () => {
    expect(matches(press("A", { shiftKey: true }), "A", false)).toBe(false);
    expect(matches(press("A", { shiftKey: true }), "Shift+A", false)).toBe(true);
    expect(matches(press("?", { shiftKey: true }), "?", false)).toBe(true);
    expect(matches(press("+", { shiftKey: true }), "+", false)).toBe(true);
    expect(matches(press("ArrowLeft", { shiftKey: true }), "ArrowLeft", false)).toBe(false);
    expect(matches(press(" "), "Space", false)).toBe(true);
    expect(matches(press("a", { ctrlKey: true }), "A", false)).toBe(false);
  });
});

describe("matching commands", () => {
  it("prefers beginnings of words", () => {
    const titles = ["Resort", "Sort: by name", "Show the keys"].filter((title) => matchCost("sort", title) !== null);
    expect(titles).toEqual(["Resort", "Sort: by name"]);
    expect(matchCost("sort", "Sort: by name")!).toBeLessThan(matchCost("sort", "Resort")!);
    expect(matchCost("name sort", "Sort: by name")).not.toBeNull();
    expect(matchCost("xyz", "Sort")).toBeNull();
  });
});
