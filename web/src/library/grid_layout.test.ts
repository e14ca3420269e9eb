import { describe, expect, it } from "vitest";
import { computeLayout, pagesForSpan, targetIndex, visibleRows } from "./grid_layout";

const layout = computeLayout(1000, 1120, 300, 16, 144); // 3 columns, 334 rows of 160 px

describe("the virtualized grid", () => {
  it("has as many columns as fit, and at least one", () => {
    expect(layout).toEqual({ columns: 3, rows: 334, rowPx: 160, heightPx: 334 * 160 - 16 });
    expect(computeLayout(5, 200, 300, 16, 144).columns).toBe(1);
    expect(computeLayout(0, 1120, 300, 16, 144).heightPx).toBe(0);
    expect(computeLayout(3, 932, 300, 16, 144).columns).toBe(3);
    expect(computeLayout(3, 931, 300, 16, 144).columns).toBe(2);
  });

  it("has the visible rows and some more", () => {
    expect(visibleRows(layout, 0, 800, 2)).toEqual({ first: 0, end: 7 });
    expect(visibleRows(layout, 1600, 800, 2)).toEqual({ first: 8, end: 17 });
    expect(visibleRows(layout, 334 * 160, 800, 2)).toEqual({ first: 332, end: 334 });
    expect(visibleRows(layout, 1e9, 800, 2)).toEqual({ first: 334, end: 334 });
    expect(visibleRows(layout, -500, 800, 0)).toEqual({ first: 0, end: 2 });
  });

  it("loads the pages of its items", () => {
    expect(pagesForSpan({ first: 95, end: 201 }, 100)).toEqual([0, 1, 2]);
    expect(pagesForSpan({ first: 100, end: 200 }, 100)).toEqual([1]);
    expect(pagesForSpan({ first: 5, end: 5 }, 100)).toEqual([]);
  });
});

describe("keys in the grid", () => {
  const step = (key: string, at: number) => targetIndex(key, at, 11, 4, 2); // rows of 4, 4 and 3

  it("move by items, rows and views, and stop at the edges", () => {
    expect([step("ArrowRight", 3), step("ArrowRight", 10), step("ArrowLeft", 0)]).toEqual([4, 10, 0]);
    expect([step("ArrowDown", 2), step("ArrowDown", 7), step("ArrowDown", 9)]).toEqual([6, 10, 9]);
    expect([step("ArrowUp", 6), step("ArrowUp", 2)]).toEqual([2, 2]);
    expect([step("PageDown", 1), step("PageUp", 9), step("PageDown", 5)]).toEqual([9, 1, 9]);
    expect([step("Home", 6), step("End", 5), step("End", 9)]).toEqual([4, 7, 10]);
    expect([step("Mod+Home", 6), step("Mod+End", 5), step("x", 5)]).toEqual([0, 10, null]);
  });
});
