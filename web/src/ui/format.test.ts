import { describe, expect, it } from "vitest";
import { ago, bytes, count, countOf, date, daysLeft, duration, fps, millimetres, timecode } from "./format";

describe("formatting", () => {
  it.each([
    [0, "0.00 s"],
    [0.45, "0.45 s"],
    [0.999, "1.0 s"],
    [4.25, "4.3 s"],
    [9.96, "10 s"],
    [59.4, "59 s"],
    [59.6, "1:00"],
    [65, "1:05"],
    [3723, "1:02:03"],
  ])("%d s lasts %s", (seconds, expected) => expect(duration(seconds)).toBe(expected));

  it.each([
    [812, "812 B"],
    [999, "999 B"],
    [1400, "1.4 kB"],
    [54_000, "54 kB"],
    [999_600, "1.0 MB"],
    [268_435_456, "268 MB"],
  ])("%d bytes are %s", (size, expected) => expect(bytes(size)).toBe(expected));

  it("counts in singular and plural", () => {
    expect([count(1234), countOf(1, "clip"), countOf(1200, "clip")]).toEqual(["1,234", "1 clip", "1,200 clips"]);
  });

  it("formats rates, times, dates and distances", () => {
    expect([fps(120), fps(29.97002997)]).toEqual(["120 fps", "29.97 fps"]);
    expect([timecode(4.25), timecode(59.999), timecode(61.5)]).toEqual(["0:04.25", "1:00.00", "1:01.50"]);
    expect(date("2026-11-18T12:00:00Z")).toMatch(/18/);
    const now = Date.parse("2026-11-18T12:00:00Z");
    expect(
      ["18T11:59:30", "18T11:58", "18T10:59", "17T11:00", "06T12:00"].map((at) => ago(`2026-11-${at}Z`, now)),
    ).toEqual(["just now", "2 minutes ago", "1 hour ago", "yesterday", "12 days ago"]);
    const left = ["18T11:59", "17T12:01", "01T12:00"].map((at) => daysLeft(`2026-11-${at}Z`, 2, now));
    expect(left).toEqual(["2 days left", "2 days left", "deleted soon"]);
    expect([millimetres(0.083), millimetres(12.44), millimetres(120)]).toEqual(["0.08 mm", "12.4 mm", "120 mm"]);
  });
});
