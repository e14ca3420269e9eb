import { expect, it } from "vitest";
import { describeKey, listParts } from "./labels";

it("lists the parts of the body at the end of their travel", () => {
  expect(listParts([])).toBe("");
  expect(listParts(["hips"])).toBe("hips");
  expect(listParts(["left_hand", "right_foot", "feet"])).toBe("left hand, right foot and feet");
});

it("describes a key by them once they are known", () => {
  expect(describeKey(undefined, false)).toBe("key");
  expect(describeKey(["left_hand"], true)).toBe("key, end of travel of left hand");
  expect(describeKey([], true)).toBe("key, extreme");
  expect(describeKey([], false)).toBe("key, breakdown");
});
