/** The forms of what a method sees of the motion, of its own options, and of how curves are fitted. */

import { h } from "../ui/dom";
import { button, section } from "./controls";
import { type OptionDescription, type OptionForm, optionForm, parseOptionTexts } from "./option_form";
import type { SelectionController } from "./selection_controller";
import { canPreferExtremes, changeText, findMethod, fittingOptions, OPTIMAL_METHOD } from "./settings";
import type { ClipState } from "./state";

type TextField = "options" | "features" | "extremes" | "curves";

/** A form of the options in one field of the address. */
function connectedForm(
  state: ClipState,
  field: TextField,
  options: () => readonly OptionDescription[],
  cleanups: (() => void)[],
): OptionForm {
  const form = optionForm((name, text) => state.url.set({ [field]: changeText(state.settings[field], name, text) }));
  const show = () => {
    form.show(options());
    const used = field === "options" ? state.ladder.value?.data.options : undefined;
    form.set(parseOptionTexts(state.settings[field]), used);
  };
  cleanups.push(state.url.values.watchNow(show), state.ladder.watch(show));
  return form;
}

/** The form of the method's own options. */
export function methodForm(state: ClipState, cleanups: (() => void)[]): OptionForm {
  return connectedForm(state, "options", () => methodOptions(state), cleanups);
}

export function methodOptions({ clip, settings }: ClipState): readonly OptionDescription[] {
  return findMethod(clip.library, settings.method)?.options ?? [];
}

/** A folded section with the options of the method and what it sees. */
export function methodOptionsSection(state: ClipState, cleanups: (() => void)[]): HTMLElement {
  const { feature_options: featureOptions } = state.clip.library;
  const own = methodForm(state, cleanups);
  const features = connectedForm(state, "features", () => (state.isPerJoint ? [] : featureOptions), cleanups);
  const note = h("span", { class: "note" });
  const none = h("p", { class: "note", text: "This method has no options of its own." });
  const reset = button("Reset options", null, () => state.url.set({ options: [], features: [] }), "small");
  cleanups.push(
    state.url.values.watchNow(({ options, features: seen }) => {
      const count = options.length + seen.length;
      note.textContent = count ? `${count} changed` : "";
      reset.hidden = !count;
      none.hidden = methodOptions(state).length > 0;
    }),
    state.ladderStatus.watchNow((status) => {
      if (typeof status === "object" && !own.setError(status.error)) features.setError(status.error);
    }),
    state.selectionStatus.watch((status) => {
      if (typeof status === "object" && !own.setError(status.error)) features.setError(status.error);
    }),
  );
  const isChanged = state.settings.options.length + state.settings.features.length > 0;
  return section("Options of the method", { folded: !isChanged, note }, none, own.element, features.element, reset);
}

const EXTREMES_TEXT =
  "With a number of keys, they are moved to extremes when the slider rests. Automatic keys and those within a tolerance are selected so at once.";

/** A folded section with the options that move keys to extremes. */
export function extremesSection(state: ClipState, cleanups: (() => void)[]): HTMLElement {
  const { extremes_options: all } = state.clip.library;
  const form = connectedForm(state, "extremes", () => (canPreferExtremes(state.settings) ? all : []), cleanups);
  const note = h("span", { class: "note" });
  const explanation = h("p", { class: "note" });
  cleanups.push(
    state.url.values.watchNow((settings) => {
      const { extremes, per, method } = settings;
      note.textContent = extremes.length ? `${extremes.length} changed` : "";
      explanation.textContent = canPreferExtremes(settings)
        ? EXTREMES_TEXT
        : per === "joint"
          ? "Keys of each joint are not moved to extremes."
          : `Keys of ${method} are not moved to extremes, only those of ${OPTIMAL_METHOD}.`;
    }),
    state.selectionStatus.watch((status) => {
      if (typeof status === "object") form.setError(status.error);
    }),
  );
  const isChanged = state.settings.extremes.length > 0;
  return section("Keys at extremes", { folded: !isChanged, note }, explanation, form.element);
}

/** The options of curves besides the interpolation. */
export function curveOptionsForm(
  state: ClipState,
  selection: SelectionController,
  cleanups: (() => void)[],
): HTMLElement {
  const form = connectedForm(state, "curves", () => fittingOptions(state.clip.library), cleanups);
  const reset = button("Reset options", null, () => state.url.set({ curves: [] }), "small");
  cleanups.push(
    state.url.values.watchNow(({ curves }) => {
      reset.hidden = !curves.length;
    }),
    selection.curveLoader.quality.watch((quality) => {
      if (typeof quality === "object") form.setError(quality.error);
    }),
  );
  return h("div", { class: "curve-options" }, form.element, reset);
}
