/** What counts: a weight for each part of the body. */

import { fill, h } from "../ui/dom";
import { spoken } from "../ui/format";
import { button, section, slider } from "./controls";
import { MOST_WEIGHT, partsOf, weightsOf } from "./recipe";
import type { ClipState } from "./state";

const SETTLE_MS = 160; // a dragged weight asks for keys when it comes to rest

export function partsSection(state: ClipState, stops: (() => void)[]): HTMLElement {
  const note = h("span", { class: "note" });
  const parts = state.parts.filter((part) => part.name in state.facts.groups);
  if (!parts.length)
    return section(
      "Parts of the body",
      { folded: true },
      h("p", {
        class: "note",
        text: "No part of a body is recognised in this skeleton, so every joint counts the same.",
      }),
    );
  let timer = 0;
  const weights = weightsOf(state.settings.parts);
  const tell = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => state.url.set({ parts: partsOf(weights) }), SETTLE_MS);
  };
  const sliders = parts.map((part) => {
    const control = slider(spoken(part.name), {
      least: 0,
      most: MOST_WEIGHT,
      step: 0.25,
      says: (weight) => (weight === 0 ? "not looked at" : weight === 1 ? "as usual" : `× ${weight}`),
      input: (weight) => {
        if (weight === 1) weights.delete(part.name);
        else weights.set(part.name, weight);
        tell();
      },
    });
    return { part, control };
  });
  const reset = button("As usual", null, () => state.url.set({ parts: [] }), "small");
  stops.push(
    state.url.values.show((settings) => {
      weights.clear();
      for (const [part, weight] of weightsOf(settings.parts)) weights.set(part, weight);
      for (const { part, control } of sliders) control.set(weights.get(part.name) ?? 1);
      fill(note, weights.size ? `${weights.size} changed` : "");
      reset.hidden = !weights.size;
    }),
    () => clearTimeout(timer),
  );
  const body = h("div", { class: "weights" }, ...sliders.map(({ control }) => control.element), reset);
  return section("Parts of the body", { folded: !weights.size, note }, body);
}
