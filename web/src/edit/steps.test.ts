import { describe, expect, it } from "vitest";
import { describeStep, EditHistory } from "./steps";

const START = { kind: "keys", frames: [0, 40, 80], interpolation: "bezier" } as const;
const rotate = {
  op: "rotate",
  frame: 40,
  joint: "LeftArm",
  quaternion: [Math.SQRT1_2, Math.SQRT1_2, 0, 0],
  space: "world",
} as const;
const insert = { op: "insert_key", frame: 20 } as const;

describe("the edit history", () => {
  it("undoes and redoes everything", () => {
    let history = EditHistory.create(START)
      .apply({ ...rotate, quaternion: [...rotate.quaternion] })
      .apply(insert)
      .withResidual(0.4);
    expect(history.draft()).toMatchObject({ residual: 0.4, steps: [{ op: "rotate" }, { op: "insert_key" }] });
    history = history.undo();
    expect(history.draft()).toMatchObject({ residual: 0, steps: [{ op: "rotate" }, { op: "insert_key" }] });
    history = history.undo();
    expect(history.draft().steps).toHaveLength(1);
    expect(history.canRedo).toBe(true);
    expect(history.redo().redo().draft()).toMatchObject({ residual: 0.4 });
    expect(history.undo().canUndo).toBe(false);
    expect(history.undo().undo().index).toBe(0);
  });

  it("drops undone steps when a new one is applied", () => {
    const history = EditHistory.create(START)
      .apply(insert)
      .apply({ op: "delete_key", frame: 40 })
      .undo()
      .apply({ op: "mirror", frame: 20 });
    expect(history.draft().steps.map(({ op }) => op)).toEqual(["insert_key", "mirror"]);
    expect(history.canRedo).toBe(false);
  });

  it("counts one drag of the detail slider as one change", () => {
    const history = EditHistory.create(START).apply(insert).withResidual(0.1).withResidual(0.2).withResidual(0.3);
    expect(history.states).toHaveLength(3);
    expect(history.undo().current.residual).toBe(0);
    expect(history.undo().withResidual(0.5).states).toHaveLength(3);
    expect(history.withResidual(0).describe()).toEqual(["Start: 3 keys", "Add key at frame 20"]); // as before
    expect(history.withResidual(0).withResidual(0.6).undo().current.residual).toBe(0);
  });

  it("is saved with undone steps and restored", () => {
    const history = EditHistory.create(START).apply(insert).apply({ op: "mirror", frame: 20 }).undo();
    const saved = history.toSaved();
    expect(saved.draft.steps).toHaveLength(2);
    expect(saved.n_applied).toBe(1);
    expect(saved.undo_states).toBeUndefined();
    const reloaded = EditHistory.fromSaved(saved);
    expect(reloaded.draft()).toEqual(history.draft());
    expect(reloaded.redo().draft().steps).toHaveLength(2);
  });

  it("is restored with every change of detail", () => {
    const whole = EditHistory.create(START)
      .withResidual(0.2)
      .apply(insert)
      .withResidual(0.4)
      .apply({ op: "mirror", frame: 20 })
      .withResidual(0);
    for (let history = whole; ; history = history.undo()) {
      const reloaded = EditHistory.fromSaved(history.toSaved());
      expect([reloaded.index, reloaded.describe(), reloaded.draft()]).toEqual([
        history.index,
        history.describe(),
        history.draft(),
      ]);
      expect(reloaded.goTo(whole.index).draft()).toEqual(whole.draft());
      if (!history.canUndo) break;
    }
  });

  it("restores drafts without undo states, or with invalid ones", () => {
    const draft = { ...START, residual: 0.4, steps: [insert] };
    const saved = { draft, n_applied: 1 };
    const expected = ["Start: 3 keys", "Add key at frame 20"];
    expect(EditHistory.fromSaved(saved).describe()).toEqual(expected);
    expect(EditHistory.fromSaved(saved).undo().draft()).toMatchObject({ residual: 0.4, steps: [] });
    const start = { n_steps: 0, residual: 0 };
    for (const wrong of [[], [start], [{ n_steps: 1, residual: 0 }], [start, { n_steps: 2, residual: 0 }]])
      expect(EditHistory.fromSaved({ ...saved, undo_states: wrong, undo_index: 0 }).describe()).toEqual(expected);
    expect(
      EditHistory.fromSaved({
        ...saved,
        undo_states: [start, { n_steps: 1, residual: 0.4 }],
        undo_index: 0,
      }).describe(),
    ).toEqual(expected);
  });

  it("drops a refused step without a trace", () => {
    const history = EditHistory.create(START).apply(insert).apply(insert).dropLast();
    expect(history.draft().steps).toHaveLength(1);
    expect(history.canRedo).toBe(false);
    expect(EditHistory.create(START).dropLast().index).toBe(0);
  });

  it("describes its steps", () => {
    const history = EditHistory.create(START)
      .apply({ ...rotate, quaternion: [...rotate.quaternion] })
      .withResidual(0.25);
    expect(history.describe()).toEqual(["Start: 3 keys", "Rotate LeftArm 90° at frame 40", "Captured detail 25 %"]);
    expect(describeStep({ op: "reach", frame: 3, joint: "LeftHand", by: [0.03, 0.04, 0] })).toBe(
      "Move LeftHand 5 cm at frame 3",
    );
    expect(describeStep({ op: "reach", frame: 3, joint: "LHand", by: [0, 0.01, 0] }, () => "left hand")).toBe(
      "Move left hand 1 cm at frame 3",
    );
    expect(describeStep({ op: "shift", joint: "Head", index: 1, by_frames: -4 })).toBe(
      "Head, swing 2: 4 frames earlier",
    );
    const longer = { op: "lengthen", joint: "Head", index: 0, by_frames: 4 } as const;
    expect(describeStep(longer)).toBe("Head, swing 1: 4 frames longer");
    expect(describeStep({ ...longer, by_frames: 1 })).toBe("Head, swing 1: 1 frame longer");
    expect(describeStep({ ...longer, anchor: "start" })).toBe("Head, swing 1: ends 4 frames later");
    expect(describeStep({ ...longer, op: "shorten", anchor: "end" })).toBe("Head, swing 1: starts 4 frames later");
  });
});

describe("steps of swings", () => {
  it("are described with their numbers", () => {
    const swing = { joint: "LeftArm", index: 2 } as const;
    expect(describeStep({ op: "set_angle", ...swing, degrees: 45.5 })).toBe("LeftArm, swing 3: angle 45.5°");
    expect(describeStep({ op: "set_axis", ...swing, axis: [0, 1, -0.333] })).toBe("LeftArm, swing 3: axis 0, 1, -0.33");
    expect(describeStep({ op: "retime", factor: 1.5 })).toBe("Whole clip: 1.5 times as long");
    expect(describeStep({ op: "retime", factor: 0.5, from_frame: 10, to_frame: 90 })).toBe(
      "Frames 10 to 90: 0.5 times as long",
    );
  });

  it("stay when the captured detail is removed, which is no step", () => {
    const history = EditHistory.create({ kind: "swings", threshold: 0.4 })
      .apply({ op: "retime", factor: 2 })
      .undo()
      .withCapturedDetail(false);
    expect(history.draft()).toEqual({ kind: "swings", threshold: 0.4, captured_detail: false, steps: [] });
    expect(history.redo().draft().steps).toHaveLength(1);
    expect(EditHistory.fromSaved(history.toSaved()).draft()).toEqual(history.draft());
    expect(EditHistory.create(START).withCapturedDetail(false).draft()).not.toHaveProperty("captured_detail");
  });
});
