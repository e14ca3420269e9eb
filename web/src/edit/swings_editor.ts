/** The panel for editing swings: one swing, all swings of a body part, the timing of the clip. */

import { button, checkbox, fieldWithLabel, section, slider } from "../clip/controls";
import type { ClipState } from "../clip/state";
import type { SwingChange } from "../timeline/swing_drag";
import { fill, h } from "../ui/dom";
import { toLabel } from "../ui/format";
import type { EditSession } from "./edit_session";
import { retimeSection } from "./retime_section";
import { swingStep } from "./steps";
import { swingFields } from "./swing_fields";
import { swingPicker } from "./swing_picker";

const STRENGTH_PERCENT = 15;

export function swingsEditor(state: ClipState, session: EditSession, cleanups: (() => void)[]): HTMLElement {
  return h(
    "div",
    {},
    oneSwingSection(state, session, cleanups),
    allSwingsSection(state, session),
    retimeSection(state, session, cleanups),
    detailSection(session, cleanups),
  );
}

function oneSwingSection(state: ClipState, session: EditSession, cleanups: (() => void)[]): HTMLElement {
  const nFrames = Math.max(1, Math.round(state.fps / 30));
  const picker = swingPicker(state, () => session.result.value?.bars ?? [], cleanups);
  cleanups.push(session.result.watchNow(picker.update));
  const percent = h("input", {
    class: "field small percent-field",
    type: "number",
    min: 1,
    max: 90,
    value: STRENGTH_PERCENT,
    "aria-label": "Change of strength in percent",
  });
  const scale = (sign: 1 | -1) => (): SwingChange => {
    const share = Math.min(90, Math.max(1, Number(percent.value) || STRENGTH_PERCENT)) / 100;
    return { op: "scale", factor: Number((1 + sign * share).toFixed(2)) };
  };
  const stepButton = (title: string, change: SwingChange | (() => SwingChange) | "delete", classes = "") => {
    const element = button(
      title,
      null,
      () => {
        const bar = picker.current();
        if (!bar) return;
        const { joint, index } = bar;
        if (change === "delete") session.applyStep({ op: "delete", joint, index });
        else session.applyStep(swingStep(bar, typeof change === "function" ? change() : change));
      },
      `small ${classes}`,
    );
    return element;
  };
  const rows = h(
    "div",
    { class: "row" },
    stepButton("Earlier", { op: "shift", frames: -nFrames }),
    stepButton("Later", { op: "shift", frames: nFrames }),
    stepButton("Longer", { op: "lengthen", frames: 2 * nFrames, anchor: "middle" }),
    stepButton("Shorter", { op: "shorten", frames: 2 * nFrames, anchor: "middle" }),
    stepButton("Stronger", scale(1)),
    stepButton("Weaker", scale(-1)),
    h("label", { class: "percent" }, "by", percent, "%"),
    stepButton("Remove", "delete", "danger"),
  );
  const note = h("p", {
    class: "note",
    text: "Drag its bar on the timeline: the middle to move it, an end to change its length, up or down to change its strength. Or type numbers.",
  });
  return section(
    "Selected swing",
    {},
    note,
    ...picker.elements,
    swingFields(state, session, picker.current, cleanups),
    displacementNote(session, cleanups),
    rows,
  );
}

/** Says how far and until when joints are not back at their captured motion after the last step. */
function displacementNote(session: EditSession, cleanups: (() => void)[]): HTMLElement {
  const list = h("ul", { class: "displacements", role: "status", "aria-label": "Return to the capture" });
  cleanups.push(
    session.result.watchNow((result) => {
      const hasStep = (result?.draft.steps.length ?? 0) > 0;
      const rows = (result?.displacements ?? []).map(
        ({ joint, start, end, max_deg: degrees }) =>
          `${joint} does not return to the capture in time: up to ${degrees.toFixed(1)}° off in frames ${start} to ${end}.`,
      );
      const texts = rows.length ? rows : ["After the last step all joints return to the capture in time."];
      list.hidden = !hasStep;
      fill(list, ...texts.map((text) => h("li", { class: "note", text })));
    }),
  );
  return list;
}

function allSwingsSection(state: ClipState, session: EditSession): HTMLElement {
  const bodyParts = state.bodyParts.filter((bodyPart) => bodyPart.name in state.details.joint_groups);
  const options = bodyParts.map((bodyPart) => h("option", { value: bodyPart.name, text: toLabel(bodyPart.name) }));
  const select = h("select", { class: "field" }, ...options);
  let factor = 1.2;
  const strength = slider("Strength", {
    min: 0.2,
    max: 2,
    step: 0.05,
    format: (value) => `× ${value.toFixed(2)}`,
    onInput: (value) => {
      factor = value;
    },
  });
  strength.set(factor);
  const apply = button(
    "Apply to all swings",
    null,
    () => session.applyStep({ op: "intensify", joint: select.value, factor }),
    "small",
  );
  if (!bodyParts.length) return h("div");
  return section("All swings of a body part", {}, fieldWithLabel("Body part", select), strength.element, apply);
}

/** Whether the edit is played with what the swings leave out of the capture. */
function detailSection(session: EditSession, cleanups: (() => void)[]): HTMLElement {
  const detail = checkbox("Captured detail", (isOn) => session.setCapturedDetail(isOn));
  cleanups.push(
    session.history.watchNow((history) => {
      if (history?.start.kind === "swings") detail.set(history.start.captured_detail ?? true);
    }),
  );
  const note = h("p", {
    class: "note",
    text: "Adds back what the swings leave out of the capture. Without it, the swings play alone.",
  });
  return section("Playback", {}, detail.element, note);
}
