/** The panel for editing swings: one swing, or all swings of a body part. */

import { button, fieldWithLabel, section, slider } from "../clip/controls";
import type { ClipState } from "../clip/state";
import type { Signal } from "../state/signal";
import type { Bar } from "../timeline/lanes";
import type { SwingChange } from "../timeline/swing_drag";
import { fill, h } from "../ui/dom";
import { toLabel } from "../ui/format";
import type { EditSession } from "./edit_session";
import { swingStep } from "./steps";

const STRENGTH_PERCENT = 15;

/** The swing selected in the panel or on the timeline. */
export type SelectedSwing = Signal<Pick<Bar, "joint" | "index"> | null>;

export function swingsEditor(
  state: ClipState,
  session: EditSession,
  selected: SelectedSwing,
  cleanups: (() => void)[],
): HTMLElement {
  return h("div", {}, oneSwingSection(state, session, selected, cleanups), allSwingsSection(state, session));
}

function oneSwingSection(
  state: ClipState,
  session: EditSession,
  selected: SelectedSwing,
  cleanups: (() => void)[],
): HTMLElement {
  const joint = h("select", { class: "field" });
  const swing = h("select", { class: "field" });
  const nFrames = Math.max(1, Math.round(state.fps / 30));
  const bars = () => session.result.value?.bars ?? [];
  const currentBar = () => bars().find((bar) => bar.joint === joint.value && bar.index === Number(swing.value));
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
        const bar = currentBar();
        if (!bar) return;
        const { joint, index } = bar;
        if (change === "delete") session.applyStep({ op: "delete", joint, index });
        else session.applyStep(swingStep(bar, typeof change === "function" ? change() : change));
      },
      `small ${classes}`,
    );
    return element;
  };
  const showSwings = (previous = swing.value) => {
    const jointBars = bars().filter((bar) => bar.joint === joint.value);
    fill(
      swing,
      ...jointBars.map((bar) =>
        h("option", { value: bar.index, text: `Frames ${bar.start} to ${bar.end}, ${Math.round(bar.angle)}°` }),
      ),
    );
    if (jointBars.some((bar) => String(bar.index) === previous)) swing.value = previous;
    const bar = currentBar();
    if (bar?.joint !== selected.value?.joint || bar?.index !== selected.value?.index)
      selected.value = bar ? { joint: bar.joint, index: bar.index } : null;
  };
  const show = () => {
    const names = new Set(bars().map((bar) => bar.joint));
    const previous = joint.value;
    const groups = state.bodyParts.map((bodyPart) => {
      const jointBars = bodyPart.joints.filter((name) => names.has(name));
      return (
        jointBars.length > 0 &&
        h(
          "optgroup",
          { label: toLabel(bodyPart.name) },
          ...jointBars.map((name) => h("option", { value: name, text: name })),
        )
      );
    });
    fill(joint, ...groups);
    if (names.has(previous)) joint.value = previous;
    showSwings();
  };
  joint.addEventListener("change", () => showSwings());
  swing.addEventListener("change", () => {
    showSwings();
    const bar = currentBar();
    if (bar) state.goTo(bar.start);
  });
  const showSelected = (bar: SelectedSwing["value"]) => {
    if (!bar) return;
    joint.value = bar.joint;
    showSwings(String(bar.index));
  };
  cleanups.push(session.result.watchNow(show), selected.watch(showSelected));
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
    text: "Drag its bar on the timeline: the middle to move it, an end to change its length, up or down to change its strength.",
  });
  return section("Selected swing", {}, note, fieldWithLabel("Joint", joint), fieldWithLabel("Swing", swing), rows);
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
