import { describe, expect, it } from "vitest";
import { matches } from "./keys";
import { distance } from "./palette";

const press = (key: string, more: Partial<Record<"ctrlKey" | "metaKey" | "shiftKey" | "altKey", boolean>> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...more,
});

describe("keys by name", () => {
  it("knows Ctrl here and Cmd there", () => {
    expect(matches(press("k", { ctrlKey: true }), "Mod+K", false)).toBe(true);
    expect(matches(press("k", { metaKey: true }), "Mod+K", true)).toBe(true);
    expect(matches(press("k", { ctrlKey: true }), "Mod+K", true)).toBe(false);
    expect(matches(press("k"), "Mod+K", false)).toBe(false);
  });

  it("minds Shift for letters and arrows, not for signs", () => {
    expect(matches(press("A", { shiftKey: true }), "A", false)).toBe(false);
    expect(matches(press("A", { shiftKey: true }), "Shift+A", false)).toBe(true);
    expect(matches(press("?", { shiftKey: true }), "?", false)).toBe(true);
    expect(matches(press("+", { shiftKey: true }), "+", false)).toBe(true);
    expect(matches(press("ArrowLeft", { shiftKey: true }), "ArrowLeft", false)).toBe(false);
    expect(matches(press(" "), "Space", false)).toBe(true);
    expect(matches(press("a", { ctrlKey: true }), "A", false)).toBe(false);
  });
});

describe("commands by some of their letters", () => {
  it("prefers beginnings of words", () => {
    const found = ["Resort", "Sort: by name", "Show the keys"].filter((title) => distance("sort", title) !== null);
    expect(found).toEqual(["Resort", "Sort: by name"]);
    expect(distance("sort", "Sort: by name")!).toBeLessThan(distance("sort", "Resort")!);
    expect(distance("name sort", "Sort: by name")).not.toBeNull();
    expect(distance("xyz", "Sort")).toBeNull();
  });
});
