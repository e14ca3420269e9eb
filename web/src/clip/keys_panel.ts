/** The panel that selects keys: how many, by which method, with which weights and pins. */

import { type Child, fill, h } from "../ui/dom";
import { countOf, millimetres, toLabel } from "../ui/format";
import { errorMessage, toSentence } from "../ui/states";
import { bodyPartsSection } from "./body_parts_panel";
import { button, captureArrowKeys, detailSlider, fieldWithLabel, section, segmentedControl } from "./controls";
import { CostCurve } from "./cost_curve";
import type { CurveQuality } from "./curve_loader";
import { pinsSection } from "./pins_panel";
import type { SelectionController } from "./selection_controller";
import { type KeyTarget, keyTarget } from "./settings";
import type { ClipState } from "./state";

const METHOD_LABELS: Record<string, string> = { salient: "salient (recommended)" };
const COST_LABELS: Record<string, string> = {
  inbetween: "Minimizes the error of the curves between the keys.",
  chord: "Minimizes an estimate, the error of straight lines between the keys, because the clip is long.",
  integrated: "Minimizes the area between the motion and straight lines between the keys.",
};

export function keysPanel(
  state: ClipState,
  selection: SelectionController,
): { element: HTMLElement; stop: () => void } {
  const cleanups: (() => void)[] = [];
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
  captureArrowKeys(range);
  range.addEventListener("input", () => selection.setKeyCount(Number(range.value)));
  number.addEventListener("change", () => selection.setKeyCount(Number(number.value)));
  const tolerance = h("input", { class: "field", type: "number", min: 0.1, step: "any", placeholder: "e.g. 10" });
  tolerance.addEventListener("change", () => {
    const mm = Number(tolerance.value);
    if (mm > 0) state.url.set({ keys: null, tolerance: mm });
  });
  const targetControl = segmentedControl<KeyTarget["by"]>(
    "How the number of keys is chosen",
    [
      ["keys", "Number"],
      ["tolerance", "Tolerance"],
      ["auto", "Auto", "Stops where more keys bring little improvement"],
    ],
    (choice) => {
      if (choice === "auto") state.url.set({ keys: null, tolerance: null });
      else if (choice === "keys") state.url.set({ keys: state.keys.value.length || 8, tolerance: null });
      else state.url.set({ keys: null, tolerance: Number(tolerance.value) || defaultTolerance(state) });
    },
  );
  const toleranceRow = h("div", { class: "tolerance" }, fieldWithLabel("Maximum error of any joint (mm)", tolerance));
  const status = h("p", { class: "ladder-status", role: "status" });
  const curve = new CostCurve((keys) => selection.setKeyCount(keys));
  const score = h("dl", { class: "score" });
  const totalLabel = h("span", { class: "muted" });
  const unitLabel = h("span", { class: "keys-unit" });
  const retryButton = button("Try again", "retry", () => selection.curveLoader.retry(), "small");
  const errorNote = h("div", { class: "error-note", hidden: true }, h("p", {}), retryButton);

  cleanups.push(
    state.url.values.watchNow((settings) => {
      const target = keyTarget(settings);
      targetControl.set(target.by);
      toleranceRow.hidden = target.by !== "tolerance";
      if (target.by === "tolerance") tolerance.value = String(target.mm);
    }),
    state.ladder.watchNow((ladder) => {
      range.min = number.min = String(ladder?.min ?? 2);
      range.max = number.max = String(ladder?.max ?? 2);
      curve.show(ladder);
      showCount();
    }),
    state.keys.watchNow(showCount),
    state.ladderStatus.watchNow((ladderStatus) => {
      const isBusy = ladderStatus === "busy";
      status.hidden = ladderStatus === "ready";
      status.classList.toggle("failed", typeof ladderStatus === "object");
      status.textContent =
        typeof ladderStatus === "object"
          ? toSentence(errorMessage(ladderStatus.error))
          : isBusy
            ? "Selecting keys…"
            : "";
      range.disabled = number.disabled = !state.ladder.value;
    }),
    state.curves.watchNow((curves) => fill(score, ...(curves ? scoreRows(state) : []))),
    selection.curveLoader.quality.watchNow(showQuality),
  );

  /** Marks quick figures, and figures of earlier keys, as approximate until the final ones are loaded. */
  function showQuality(quality: CurveQuality): void {
    const failed = typeof quality === "object";
    score.classList.toggle("approximate", quality !== "final");
    score.setAttribute("aria-busy", String(quality === "quick" || quality === "stale"));
    score.hidden = failed;
    errorNote.hidden = !failed;
    if (!failed) return;
    const reason = toSentence(errorMessage(quality.error));
    fill(
      errorNote.firstElementChild!,
      `The curves for these keys could not be loaded. ${reason} The view still shows the previous keys.`,
    );
  }

  function showCount(): void {
    const keys = state.keys.value.length;
    number.value = range.value = String(keys);
    range.setAttribute("aria-valuetext", countOf(keys, "key"));
    unitLabel.textContent = keys === 1 ? "key" : "keys";
    totalLabel.textContent = `of ${countOf(state.nFrames, "frame")}`;
    curve.markCount(keys);
    range.disabled = number.disabled = !state.ladder.value;
  }

  const countRow = h("div", { class: "key-count" }, number, unitLabel, totalLabel);
  const element = h(
    "div",
    { class: "panel-body" },
    section(
      "Number of keys",
      {},
      targetControl.element,
      countRow,
      range,
      toleranceRow,
      status,
      score,
      errorNote,
      curve.element,
    ),
    methodSection(state, cleanups),
    bodyPartsSection(state, cleanups),
    pinsSection(state, cleanups),
    inbetweenSection(state, cleanups),
  );
  return { element, stop: () => cleanups.forEach((stop) => void stop()) };
}

function defaultTolerance(state: ClipState): number {
  const worst = state.curves.value?.score?.max_mm ?? 10;
  return Number(worst.toPrecision(2));
}

function scoreRows(state: ClipState): HTMLElement[] {
  const score = state.curves.value?.score;
  if (!score) return [];
  const { mean_mm, p95_mm, max_mm, worst_frame, worst_joint } = score;
  const row = (name: Child, value: string) => h("div", {}, h("dt", {}, name), h("dd", { text: value }));
  const goToWorst = button(`frame ${worst_frame}`, null, () => state.goTo(worst_frame), "small quiet");
  goToWorst.title = `${worst_joint}: go to frame ${worst_frame}`;
  return [
    row("Mean error", millimetres(mean_mm)),
    row("95th percentile", millimetres(p95_mm)),
    row(h("span", {}, "Max at ", goToWorst), millimetres(max_mm)),
  ];
}

function methodSection(state: ClipState, cleanups: (() => void)[]): HTMLElement {
  const { methods } = state.clip.library;
  const options = methods.map(({ name }) => h("option", { value: name, text: METHOD_LABELS[name] ?? name }));
  const select = h("select", { class: "field" }, ...options);
  const summary = h("p", { class: "note" });
  const cost = h("p", { class: "note" });
  select.addEventListener("change", () => state.url.set({ method: select.value }));
  cleanups.push(
    state.url.values.watchNow(({ method }) => {
      select.value = method;
      const row = methods.find((each) => each.name === method);
      fill(summary, row ? toSentence(row.summary) : "", row ? h("cite", { text: toLabel(row.paper) }) : "");
    }),
    state.ladder.watchNow((ladder) => {
      const costLabel =
        ladder?.data.method === "salient" ? COST_LABELS[String(ladder.data.options.cost ?? "chord")] : null;
      cost.textContent = costLabel ?? "";
      cost.hidden = !costLabel;
    }),
  );
  return section("Method", {}, fieldWithLabel("Select keys with", select), summary, cost);
}

/** How the motion is interpolated between keys. */
function inbetweenSection(state: ClipState, cleanups: (() => void)[]): HTMLElement {
  const interpolationControl = segmentedControl(
    "In-betweens",
    [
      ["bezier", "Fitted", "Bézier curves fitted to every captured frame"],
      ["natural", "Natural", "Smooth curves through the keys only, without regard to the other frames"],
      ["linear", "Linear", "Straight lines from key to key"],
    ] as const,
    (interpolation) => state.url.set({ interpolation }),
  );
  const residual = detailSlider((share) => state.url.set({ residual: share || null }));
  cleanups.push(
    state.url.values.watchNow((settings) => {
      interpolationControl.set(settings.interpolation);
      residual.set(Math.round(100 * (settings.residual ?? 0)));
    }),
  );
  return section("In-betweens", { folded: true }, interpolationControl.element, residual.element);
}
