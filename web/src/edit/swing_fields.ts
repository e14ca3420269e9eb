/** The selected swing in numbers: fields that change it, and its angles at start and end. */

import { numberField, numberRow } from "../clip/controls";
import type { ClipState } from "../clip/state";
import { swingAngles } from "../clip/swing_facts";
import type { Bar } from "../timeline/lanes";
import { h } from "../ui/dom";
import type { EditSession } from "./edit_session";
import type { SwingStep } from "./steps";

const MAX_DEG = 36_000; // as on the server
const MIN_FRAMES = 3;
const AXES = ["X", "Y", "Z"] as const;
const AXIS_DIGITS = 3;

export function swingFields(
  state: ClipState,
  session: EditSession,
  current: () => Bar | null,
  cleanups: (() => void)[],
): HTMLElement {
  const apply = (makeStep: (bar: Bar) => SwingStep | null, fail: (problem: string) => void) => {
    const bar = current();
    const step = bar && makeStep(bar);
    if (step) session.applyStep(step, fail);
  };
  const angle = numberField("Angle", "°", { min: -MAX_DEG, max: MAX_DEG, step: "any" }, (degrees, fail) =>
    apply(({ joint, index }) => ({ op: "set_angle", joint, index, degrees }), fail),
  );
  const start = numberField("Start", "frame", { min: 0, step: 1, isInteger: true }, (frame, fail) =>
    apply(
      ({ joint, index, start: old }) => (frame === old ? null : { op: "shift", joint, index, by_frames: frame - old }),
      fail,
    ),
  );
  const length = numberField("Length", "frames", { min: MIN_FRAMES, step: 1, isInteger: true }, (frames, fail) =>
    apply(({ joint, index, start: first, end }) => {
      const added = frames - (end - first + 1);
      const op = added > 0 ? "lengthen" : "shorten";
      return added === 0 ? null : { op, joint, index, by_frames: Math.abs(added), anchor: "start" };
    }, fail),
  );
  const axis = AXES.map((name, k) =>
    numberField(`Axis ${name}`, "", { min: -1000, max: 1000, step: "any", label: name }, (value, fail) => {
      const now = state.swing.value?.info.axis;
      if (!now) return;
      const changed = now.map((old, at) => (at === k ? value : old)) as [number, number, number];
      if (changed.every((each) => Math.abs(each) < 1e-9)) fail("All three are 0. An axis needs a direction.");
      else apply(({ joint, index }) => ({ op: "set_axis", joint, index, axis: changed }), fail);
    }),
  );
  const fields = [angle, start, length, ...axis];
  cleanups.push(
    state.swing.watchNow((swing) => {
      for (const field of fields) field.input.disabled = swing === null;
      if (!swing) return;
      const { info } = swing;
      angle.set(Number(info.angle_deg.toFixed(1)));
      start.set(info.start);
      length.set(info.end - info.start + 1);
      for (const [k, field] of axis.entries()) field.set(Number(info.axis[k]!.toFixed(AXIS_DIGITS)));
    }),
    state.selectedSwing.watch(() => {
      for (const field of fields) field.reset();
    }),
    state.length.watchNow((nFrames) => {
      start.input.max = String(nFrames - MIN_FRAMES);
      length.input.max = String(nFrames);
    }),
  );
  return h(
    "div",
    { class: "swing-fields" },
    numberRow(angle, start, length),
    h(
      "fieldset",
      { class: "axis-fields" },
      h("legend", { class: "label", text: "Axis, in the joint’s own frame" }),
      numberRow(...axis),
    ),
    swingAngles(state, cleanups),
  );
}
