/** The panel that chooses keys: how many, by which method, what counts, what must be among them. */

import { fill, h } from "../ui/dom";
import { counted, millimetres } from "../ui/format";
import { messageOf, sentence } from "../ui/states";
import type { Choosing } from "./choosing";
import { button, labelled, ownArrows, section, segmented, slider } from "./controls";
import { CostCurve } from "./cost_curve";
import type { Worth } from "./curving";
import { partsSection } from "./parts_panel";
import { pinsSection } from "./pins_panel";
import { type Wanted, wantedOf } from "./recipe";
import type { ClipState } from "./state";

const METHOD_WORDS: Record<string, string> = { salient: "salient (best)" };
const COST_WORDS: Record<string, string> = {
  inbetween: "the error of the curves that come out",
  chord: "the shape of the path, since the clip is long",
  integrated: "the area between path and chords",
};

export function keysPanel(state: ClipState, choosing: Choosing): { element: HTMLElement; stop: () => void } {
  const stops: (() => void)[] = [];
  const number = h("input", {
    class: "field keys-number",
    type: "number",
    min: 1,
    step: 1,
    "aria-label": "Number of keys",
  });
  const range = h("input", {
    class: "keys-slider",
    type: "range",
    min: 2,
    max: 2,
    step: 1,
    "aria-label": "Number of keys",
  });
  ownArrows(range);
  range.addEventListener("input", () => choosing.choose(Number(range.value)));
  number.addEventListener("change", () => choosing.choose(Number(number.value)));
  const tolerance = h("input", { class: "field", type: "number", min: 0.1, step: "any", placeholder: "e.g. 10" });
  tolerance.addEventListener("change", () => {
    const mm = Number(tolerance.value);
    if (mm > 0) state.url.set({ keys: null, tolerance: mm });
  });
  const by = segmented<Wanted["by"]>(
    "How the number of keys is chosen",
    [
      ["keys", "Number"],
      ["tolerance", "Tolerance"],
      ["auto", "Auto", "Where the curve of errors says to stop"],
    ],
    (chosen) => {
      if (chosen === "auto") state.url.set({ keys: null, tolerance: null });
      else if (chosen === "keys") state.url.set({ keys: state.keys.value.length || 8, tolerance: null });
      else state.url.set({ keys: null, tolerance: Number(tolerance.value) || roundedWorst(state) });
    },
  );
  const toleranceRow = h("div", { class: "tolerance" }, labelled("No joint farther off than (mm)", tolerance));
  const status = h("p", { class: "choosing-status", role: "status" });
  const curve = new CostCurve((keys) => choosing.choose(keys));
  const score = h("dl", { class: "score" });
  const all = h("span", { class: "muted" });
  const word = h("span", { class: "keys-word" });
  const again = button("Try again", "retry", () => choosing.curving.again(), "small");
  const stale = h("div", { class: "failed-note", hidden: true }, h("p", {}), again);

  stops.push(
    state.url.values.show((settings) => {
      const wanted = wantedOf(settings);
      by.set(wanted.by);
      toleranceRow.hidden = wanted.by !== "tolerance";
      if (wanted.by === "tolerance") tolerance.value = String(wanted.mm);
    }),
    state.rungs.show((rungs) => {
      range.min = number.min = String(rungs?.least ?? 2);
      range.max = number.max = String(rungs?.most ?? 2);
      curve.show(rungs);
      showCount();
    }),
    state.keys.show(showCount),
    state.choosing.show((how) => {
      const isBusy = how === "busy";
      status.hidden = how === "ready";
      status.classList.toggle("failed", typeof how === "object");
      status.textContent = typeof how === "object" ? sentence(messageOf(how.error)) : isBusy ? "Choosing keys…" : "";
      range.disabled = number.disabled = !state.rungs.value;
    }),
    state.curves.show((curves) => fill(score, ...(curves ? scoreRows(state) : []))),
    choosing.curving.worth.show(showWorth),
  );

  /** Quick figures, and those of other keys, are marked until better ones are there. */
  function showWorth(worth: Worth): void {
    const failed = typeof worth === "object";
    score.classList.toggle("about", worth !== "fine");
    score.setAttribute("aria-busy", String(worth === "rough" || worth === "old"));
    score.hidden = failed;
    stale.hidden = !failed;
    if (!failed) return;
    const why = sentence(messageOf(worth.error));
    fill(
      stale.firstElementChild!,
      `There are no curves through these keys. ${why} What is shown is of the keys before.`,
    );
  }

  function showCount(): void {
    const keys = state.keys.value.length;
    number.value = range.value = String(keys);
    range.setAttribute("aria-valuetext", counted(keys, "key"));
    word.textContent = keys === 1 ? "key" : "keys";
    all.textContent = `of ${counted(state.nFrames, "frame")}`;
    curve.mark(keys);
    range.disabled = number.disabled = !state.rungs.value;
  }

  const howMany = h("div", { class: "how-many" }, number, word, all);
  const element = h(
    "div",
    { class: "panel-body" },
    section("How many", {}, by.element, howMany, range, toleranceRow, status, score, stale, curve.element),
    methodSection(state, stops),
    partsSection(state, stops),
    pinsSection(state, stops),
    betweenSection(state, stops),
  );
  return { element, stop: () => stops.forEach((stop) => void stop()) };
}

function roundedWorst(state: ClipState): number {
  const worst = state.curves.value?.score?.max_mm ?? 10;
  return Number(worst.toPrecision(2));
}

function scoreRows(state: ClipState): HTMLElement[] {
  const score = state.curves.value?.score;
  if (!score) return [];
  const { mean_mm, p95_mm, max_mm, worst_frame, worst_joint } = score;
  const row = (name: string, value: string | HTMLElement) => h("div", {}, h("dt", { text: name }), h("dd", {}, value));
  const there = button(`at ${worst_frame}`, null, () => state.goTo(worst_frame), "small quiet");
  there.title = `${worst_joint}: go to frame ${worst_frame}`;
  return [
    row("mean", millimetres(mean_mm)),
    row("95 % within", millimetres(p95_mm)),
    row("worst", h("span", {}, millimetres(max_mm), there)),
  ];
}

function methodSection(state: ClipState, stops: (() => void)[]): HTMLElement {
  const { methods } = state.opened.library;
  const options = methods.map(({ name }) => h("option", { value: name, text: METHOD_WORDS[name] ?? name }));
  const select = h("select", { class: "field" }, ...options);
  const summary = h("p", { class: "note" });
  const cost = h("p", { class: "note" });
  select.addEventListener("change", () => state.url.set({ method: select.value }));
  stops.push(
    state.url.values.show(({ method }) => {
      select.value = method;
      const row = methods.find((each) => each.name === method);
      fill(summary, row ? sentence(row.summary) : "", row ? h("cite", { text: row.paper }) : "");
    }),
    state.rungs.show((rungs) => {
      const judged = rungs?.said.method === "salient" ? COST_WORDS[String(rungs.said.options.cost ?? "chord")] : null;
      cost.textContent = judged ? `Keys are judged by ${judged}.` : "";
      cost.hidden = !judged;
    }),
  );
  return section("Method", {}, labelled("Chosen by", select), summary, cost);
}

/** How the motion goes from key to key. */
function betweenSection(state: ClipState, stops: (() => void)[]): HTMLElement {
  const between = segmented(
    "In-betweens",
    [
      ["bezier", "Fitted", "Bézier curves fitted to all frames"],
      ["natural", "Natural", "The natural spline through the keys"],
      ["linear", "Straight", "Straight from key to key"],
    ] as const,
    (interpolation) => state.url.set({ interpolation }),
  );
  const residual = slider("Detail of the capture", {
    least: 0,
    most: 100,
    step: 1,
    says: (percent) => `${percent} %`,
    input: (percent) => state.url.set({ residual: percent ? percent / 100 : null }),
  });
  stops.push(
    state.url.values.show((settings) => {
      between.set(settings.interpolation);
      residual.set(Math.round(100 * (settings.residual ?? 0)));
    }),
  );
  return section("In-betweens", { folded: true }, between.element, residual.element);
}
