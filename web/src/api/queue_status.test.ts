import { describe, expect, it } from "vitest";
import { describeQueue } from "./queue_status";

describe("describeQueue", () => {
  it.each([
    [{ running: 1, waiting: 0 }, "Exporting…"],
    [{ running: 2, waiting: 0 }, "Exporting…"],
    [{ running: 0, waiting: 1 }, "Exporting…"],
    [{ running: 1, waiting: 1 }, "Exporting… The server is busy: 1 other export or comparison is running or waiting."],
    [
      { running: 1, waiting: 4 },
      "Exporting… The server is busy: 4 other exports or comparisons are running or waiting.",
    ],
  ])("%j", (queue, text) => {
    expect(describeQueue(queue)).toBe(text);
  });
});
