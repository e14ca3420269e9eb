/** Weights for the body parts. */

import { fill, h } from "../ui/dom";
import { toLabel } from "../ui/format";
import { button, section, slider } from "./controls";
import { formatWeights, MAX_WEIGHT, parseWeights } from "./settings";
import type { ClipState } from "./state";

const UPDATE_DELAY_MS = 160; // keys are requested when the slider has stopped moving

export function bodyPartsSection(state: ClipState, cleanups: (() => void)[]): HTMLElement {
  const note = h("span", { class: "note" });
  const bodyParts = state.bodyParts.filter((bodyPart) => bodyPart.name in state.details.joint_groups);
  if (!bodyParts.length)
    return section(
      "Body parts",
      { folded: true },
      h("p", {
        class: "note",
        text: "No body parts were recognised in this skeleton, so all joints have the same weight.",
      }),
    );
  let timer = 0;
  const weights = parseWeights(state.settings.weights);
  const update = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => state.url.set({ weights: formatWeights(weights) }), UPDATE_DELAY_MS);
  };
  const sliders = bodyParts.map((bodyPart) => {
    const control = slider(toLabel(bodyPart.name), {
      min: 0,
      max: MAX_WEIGHT,
      step: 0.25,
      format: (weight) => (weight === 0 ? "Ignored" : `× ${weight}`),
      onInput: (weight) => {
        if (weight === 1) weights.delete(bodyPart.name);
        else weights.set(bodyPart.name, weight);
        update();
      },
    });
    return { part: bodyPart, control };
  });
  const ignoredNote = h("p", { class: "note", text: "All body parts are ignored, so that all joints count the same." });
  const reset = button("Reset weights", null, () => state.url.set({ weights: [] }), "small");
  cleanups.push(
    state.url.values.watchNow((settings) => {
      weights.clear();
      for (const [bodyPart, weight] of parseWeights(settings.weights)) weights.set(bodyPart, weight);
      for (const { part: bodyPart, control } of sliders) control.set(weights.get(bodyPart.name) ?? 1);
      fill(note, weights.size ? `${weights.size} changed` : "");
      ignoredNote.hidden = state.bodyParts.some(({ name }) => weights.get(name) !== 0);
      reset.hidden = !weights.size;
    }),
    () => clearTimeout(timer),
  );
  const explanation = h("p", {
    class: "note",
    text: "The curves follow body parts with a higher weight more closely.",
  });
  const body = h(
    "div",
    { class: "weights" },
    explanation,
    ...sliders.map(({ control }) => control.element),
    ignoredNote,
    reset,
  );
  return section("Body parts", { folded: !weights.size, note }, body);
}
