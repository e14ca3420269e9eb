import { describe, expect, it } from "vitest";
import { inWords, lean, type Step, Story } from "./steps";

const START = { kind: "keys", frames: [0, 40, 80], interpolation: "bezier" } as const;
const turn = {
  op: "rotate",
  frame: 40,
  joint: "LeftArm",
  quaternion: [Math.SQRT1_2, Math.SQRT1_2, 0, 0],
  space: "world",
} as const;
const insert = { op: "insert_key", frame: 20 } as const;

describe("a story of edits", () => {
  it("goes back and forth through everything", () => {
    let story = Story.begin(START)
      .did({ ...turn, quaternion: [...turn.quaternion] })
      .did(insert)
      .withResidual(0.4);
    expect(story.draft()).toMatchObject({ residual: 0.4, steps: [{ op: "rotate" }, { op: "insert_key" }] });
    story = story.undone();
    expect(story.draft()).toMatchObject({ residual: 0, steps: [{ op: "rotate" }, { op: "insert_key" }] });
    story = story.undone();
    expect(story.draft().steps).toHaveLength(1);
    expect(story.canRedo).toBe(true);
    expect(story.redone().redone().draft()).toMatchObject({ residual: 0.4 });
    expect(story.undone().canUndo).toBe(false);
    expect(story.undone().undone().at).toBe(0);
  });

  it("forgets what was undone when something new is done", () => {
    const story = Story.begin(START)
      .did(insert)
      .did({ op: "delete_key", frame: 40 })
      .undone()
      .did({ op: "mirror", frame: 20 });
    expect(story.draft().steps.map(({ op }) => op)).toEqual(["insert_key", "mirror"]);
    expect(story.canRedo).toBe(false);
  });

  it("counts one drag of the detail as one deed", () => {
    const story = Story.begin(START).did(insert).withResidual(0.1).withResidual(0.2).withResidual(0.3);
    expect(story.moments).toHaveLength(3);
    expect(story.undone().now.residual).toBe(0);
    expect(story.undone().withResidual(0.5).moments).toHaveLength(3);
    expect(story.withResidual(0).words()).toEqual(["3 keys", "Key added at 20"]); // as it was
    expect(story.withResidual(0).withResidual(0.6).undone().now.residual).toBe(0);
  });

  it("is kept with what was undone, and found again", () => {
    const story = Story.begin(START).did(insert).did({ op: "mirror", frame: 20 }).undone();
    const kept = story.kept();
    expect(kept.draft.steps).toHaveLength(2);
    expect(kept.done).toBe(1);
    expect(kept.moments).toBeUndefined();
    const again = Story.of(kept);
    expect(again.draft()).toEqual(story.draft());
    expect(again.redone().draft().steps).toHaveLength(2);
  });

  it("is found again with every change of detail", () => {
    const whole = Story.begin(START)
      .withResidual(0.2)
      .did(insert)
      .withResidual(0.4)
      .did({ op: "mirror", frame: 20 })
      .withResidual(0);
    for (let story = whole; ; story = story.undone()) {
      const again = Story.of(story.kept());
      expect([again.at, again.words(), again.draft()]).toEqual([story.at, story.words(), story.draft()]);
      expect(again.goTo(whole.at).draft()).toEqual(whole.draft());
      if (!story.canUndo) break;
    }
  });

  it("opens what was kept without its moments, or with others that cannot be", () => {
    const draft = { ...START, residual: 0.4, steps: [insert] };
    const told = { draft, done: 1 };
    const says = ["3 keys", "Key added at 20"];
    expect(Story.of(told).words()).toEqual(says);
    expect(Story.of(told).undone().draft()).toMatchObject({ residual: 0.4, steps: [] });
    const start = { steps: 0, residual: 0 };
    for (const wrong of [[], [start], [{ steps: 1, residual: 0 }], [start, { steps: 2, residual: 0 }]])
      expect(Story.of({ ...told, moments: wrong, at: 0 }).words()).toEqual(says);
    expect(Story.of({ ...told, moments: [start, { steps: 1, residual: 0.4 }], at: 0 }).words()).toEqual(says);
  });

  it("says no more than its steps take", () => {
    const empty = {
      joint: null,
      quaternion: null,
      to: null,
      by: null,
      from_frame: null,
      space: "local",
      ripple: false,
    };
    const insertion = { op: "insert_key", frame: 20, ...empty, spread_s: 0, keep_feet: false } as unknown as Step;
    expect(lean(insertion)).toEqual({ op: "insert_key", frame: 20 });
    const moved = { op: "move_key", frame: 20, ...empty, to: 25 } as unknown as Step;
    expect(lean(moved)).toEqual({ op: "move_key", frame: 20, to: 25, ripple: false });
    const later = { op: "shift", joint: "Head", index: 1, factor: null, by_frames: 3 } as unknown as Step;
    expect(lean(later)).toEqual({ op: "shift", joint: "Head", index: 1, by_frames: 3 });
  });

  it("drops what cannot be done without a trace", () => {
    const story = Story.begin(START).did(insert).did(insert).without();
    expect(story.draft().steps).toHaveLength(1);
    expect(story.canRedo).toBe(false);
    expect(Story.begin(START).without().at).toBe(0);
  });

  it("is told in words", () => {
    const story = Story.begin(START)
      .did({ ...turn, quaternion: [...turn.quaternion] })
      .withResidual(0.25);
    expect(story.words()).toEqual(["3 keys", "Turn LeftArm 90° at 40", "Detail 25 %"]);
    expect(inWords({ op: "reach", frame: 3, joint: "LeftHand", by: [0.03, 0.04, 0] })).toBe("Move LeftHand 5 cm at 3");
    expect(inWords({ op: "reach", frame: 3, joint: "LHand", by: [0, 0.01, 0] }, () => "left hand")).toBe(
      "Move left hand 1 cm at 3",
    );
    expect(inWords({ op: "shift", joint: "Head", index: 1, by_frames: -4 })).toBe("Head, swing 2: 4 frames earlier");
    const longer = { op: "lengthen", joint: "Head", index: 0, by_frames: 4 } as const;
    expect(inWords(longer)).toBe("Head, swing 1: 4 frames longer");
    expect(inWords({ ...longer, anchor: "start" })).toBe("Head, swing 1: ends 4 frames later");
    expect(inWords({ ...longer, op: "shorten", anchor: "end" })).toBe("Head, swing 1: starts 4 frames later");
  });
});
