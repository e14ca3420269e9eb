/** Selects a swing by joint and time, for the keyboard and for screen readers. The timeline selects the same one. */

import { fieldWithLabel } from "../clip/controls";
import type { ClipState } from "../clip/state";
import type { Bar } from "../timeline/lanes";
import { fill, h } from "../ui/dom";
import { toLabel } from "../ui/format";

export interface SwingPicker {
  elements: readonly HTMLElement[];
  /** Shows the swings of a draft. */
  update(): void;
  /** The selected swing. */
  current(): Bar | null;
}

export function swingPicker(state: ClipState, bars: () => readonly Bar[], cleanups: (() => void)[]): SwingPicker {
  const joint = h("select", { class: "field" });
  const swing = h("select", { class: "field" });
  const { selectedSwing } = state;
  const current = () => bars().find((bar) => bar.joint === joint.value && bar.index === Number(swing.value)) ?? null;
  const showSwings = (previous = swing.value) => {
    const jointBars = bars().filter((bar) => bar.joint === joint.value);
    fill(
      swing,
      ...jointBars.map((bar) =>
        h("option", { value: bar.index, text: `Frames ${bar.start} to ${bar.end}, ${Math.round(bar.angle)}°` }),
      ),
    );
    if (jointBars.some((bar) => String(bar.index) === previous)) swing.value = previous;
    swing.disabled = !jointBars.length;
  };
  const select = () => {
    const bar = current();
    if (bar?.joint !== selectedSwing.value?.joint || bar?.index !== selectedSwing.value?.index)
      selectedSwing.value = bar ? { joint: bar.joint, index: bar.index } : null;
  };
  const update = () => {
    if (!bars().length) return; // they are being loaded
    const names = new Set(bars().map((bar) => bar.joint));
    const selected = selectedSwing.value;
    const previous = selected?.joint ?? "";
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
    fill(joint, h("option", { value: "", text: "None" }), ...groups);
    if (names.has(previous)) joint.value = previous;
    showSwings(selected ? String(selected.index) : undefined);
    select();
  };
  joint.addEventListener("change", () => {
    showSwings();
    select();
  });
  swing.addEventListener("change", () => {
    select();
    const bar = current();
    if (bar) state.goTo(bar.start);
  });
  cleanups.push(
    selectedSwing.watch((selected) => {
      if (!selected || (joint.value === selected.joint && swing.value === String(selected.index))) return;
      joint.value = selected.joint;
      showSwings(String(selected.index));
    }),
  );
  return { elements: [fieldWithLabel("Joint", joint), fieldWithLabel("Swing", swing)], update, current };
}

/** Returns the swing among `bars` that shares most frames with `before`, of the same joint; null if none does. */
export function bestMatch(before: Bar, bars: readonly Bar[]): Bar | null {
  const overlap = (bar: Bar) => Math.min(bar.end, before.end) - Math.max(bar.start, before.start) + 1;
  let best: Bar | null = null;
  for (const bar of bars) if (bar.joint === before.joint && overlap(bar) > (best ? overlap(best) : 0)) best = bar;
  return best;
}
