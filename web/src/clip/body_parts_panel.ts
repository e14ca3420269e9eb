/** Weights for the root, the body parts and single joints. */

import { fill, h } from "../ui/dom";
import { toLabel } from "../ui/format";
import { button, type Slider, section, slider } from "./controls";
import { formatWeights, JOINT, MAX_WEIGHT, parseWeights, usedJoints } from "./settings";
import type { ClipState } from "./state";

const UPDATE_DELAY_MS = 160; // keys are requested when the slider has stopped moving

interface WeightSlider {
  control: Slider;
  weight: () => number;
  standard: (() => string) | null;
  name: string;
  joints: readonly string[];
  message: HTMLElement; // that the weight has no effect
}

export function bodyPartsSection(state: ClipState, cleanups: (() => void)[]): HTMLElement {
  const note = h("span", { class: "note" });
  let timer = 0;
  let displayedTexts: string | null = null;
  const weights = parseWeights(state.settings.weights);
  const sliders: WeightSlider[] = [];
  const update = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => state.url.set({ weights: formatWeights(weights) }), UPDATE_DELAY_MS);
  };
  const show = () => {
    const isUsed = usedJoints(state.settings, state.details, state.clip.library, state.bodyParts);
    for (const { control, weight, standard, name, joints, message } of sliders) {
      control.set(weight(), standard?.() || undefined);
      message.hidden = state.isPerJoint || !weights.get(name) || joints.some(isUsed);
      message.textContent = message.hidden
        ? ""
        : `No effect: ${state.settings.method} does not look at ${joints.length > 1 ? "these joints" : "this joint"}.`;
    }
  };

  /** A slider for a weight in the address; `fallback` is what applies without it. */
  const weightSlider = (
    label: string,
    name: string,
    joints: readonly string[],
    fallback: () => number,
    standard: (() => string) | null = null,
  ) => {
    const control = slider(label, {
      min: 0,
      max: MAX_WEIGHT,
      step: 0.25,
      format: (weight) => (weight === 0 ? "Ignored" : `× ${weight}`),
      onInput: (weight) => {
        if (weight === fallback() && !standard) weights.delete(name);
        else weights.set(name, weight);
        show();
        update();
      },
    });
    const text = standard && (() => (weights.has(name) ? "" : standard()));
    const message = h("p", { class: "field-error", role: "status", hidden: true });
    control.element.append(message);
    sliders.push({ control, weight: () => weights.get(name) ?? fallback(), standard: text, name, joints, message });
    return control.element;
  };

  const parts = state.bodyParts.map((part) => {
    const ofPart = weightSlider(toLabel(part.name), part.name, part.joints, () => 1);
    const ofJoints = part.joints.map((joint) =>
      weightSlider(joint, `${JOINT}${joint}`, [joint], () => weights.get(part.name) ?? 1),
    );
    const isChanged = part.joints.some((joint) => weights.has(`${JOINT}${joint}`));
    const joints = h(
      "details",
      { class: "joint-weights", open: isChanged },
      h("summary", { text: `Joints of ${toLabel(part.name).toLowerCase()}` }),
      ...ofJoints,
    );
    return h("div", { class: "part-weights" }, ofPart, joints);
  });
  const root = state.details.joints.findIndex(({ parent }) => parent < 0);
  const rootName = state.jointNames[root] ?? "";
  const partOfRoot = state.bodyParts.find(({ joints }) => joints.includes(rootName));
  const rootSlider =
    rootName &&
    weightSlider(
      `Root (${rootName})`,
      `${JOINT}${rootName}`,
      [rootName],
      () => (partOfRoot && weights.get(partOfRoot.name)) ?? 1,
      () => (partOfRoot && weights.has(partOfRoot.name) ? "" : "Method's default"),
    );

  const ignoredNote = h("p", { class: "note", text: "All body parts are ignored, so that all joints count the same." });
  const unusedNote = h("p", { class: "note", text: "Keys of each joint do not depend on weights." });
  const reset = button("Reset weights", null, () => state.url.set({ weights: [] }), "small");
  cleanups.push(
    state.url.values.watchNow((settings) => {
      unusedNote.hidden = !state.isPerJoint;
      const texts = [settings.method, settings.per, ...settings.weights].join(",");
      if (texts === displayedTexts) return; // the number of keys changes often
      displayedTexts = texts;
      weights.clear();
      for (const [name, weight] of parseWeights(settings.weights)) weights.set(name, weight);
      show();
      fill(note, weights.size ? `${weights.size} changed` : "");
      ignoredNote.hidden = state.bodyParts.some(({ name }) => weights.get(name) !== 0);
      reset.hidden = !weights.size;
    }),
    () => clearTimeout(timer),
  );
  const explanation = h("p", {
    class: "note",
    text: "The curves follow body parts and joints with a higher weight more closely.",
  });
  return section(
    "Body parts",
    { folded: !weights.size, note },
    h("div", { class: "weights" }, explanation, unusedNote, rootSlider || null, ...parts, ignoredNote, reset),
  );
}
