/** The panel that selects keys: how many, by which method, with which weights and pins. */

import { type Child, fill, h } from "../ui/dom";
import { countOf, millimetres, toLabel } from "../ui/format";
import { errorMessage, toSentence } from "../ui/states";
import { bodyPartsSection } from "./body_parts_panel";
import { button, captureArrowKeys, detailSlider, fieldWithLabel, section, segmentedControl } from "./controls";
import { CostCurve } from "./cost_curve";
import type { CurveQuality } from "./curve_loader";
import { jointKeysControls } from "./joint_keys_panel";
import { keyListSection } from "./key_list";
import { curveOptionsForm, extremesSection, methodOptionsSection } from "./method_options";
import { pinsSection } from "./pins_panel";
import type { SelectionController } from "./selection_controller";
import { interpolationOf, type KeyTarget, keyTarget, OPTIMAL_METHOD } from "./settings";
import type { ClipState, Score } from "./state";

const MAX_JOINT_KEYS = 200; // of the slider, for keys of each joint
const FAR_MM = 20; // keys with a larger error are far from the capture
const METHOD_LABELS: Record<string, string> = { salient: "salient (recommended)" };
const COST_LABELS: Record<string, string> = {
  inbetween: "Minimises the error of the curves between the keys.",
  chord: "Minimises the error of straight lines between the keys, which takes less time than that of the curves.",
  integrated: "Minimises the sum of squared distances from straight lines between the keys.",
};

const UNMEASURED_TEXT =
  "This clip has no bones with a length, so the size of the figure is unknown and errors cannot be stated in mm.";
const NO_TOLERANCE_TEXT = `Keys of each joint within a tolerance need the method ${OPTIMAL_METHOD}.`;

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
      ["auto", "Auto", "The fewest keys whose curves stay within 1 % of the height"],
    ],
    (choice) => {
      if (choice === "auto") state.url.set({ keys: null, tolerance: null });
      else if (choice === "keys") state.url.set({ keys: state.keys.value.length || 8, tolerance: null });
      else state.url.set({ keys: null, tolerance: Number(tolerance.value) || defaultTolerance(state) });
    },
  );
  const toleranceRow = h("div", { class: "tolerance" }, fieldWithLabel("Maximum error of any joint (mm)", tolerance));
  const toleranceNote = h("p", { class: "note", text: NO_TOLERANCE_TEXT, hidden: true });
  const status = h("p", { class: "ladder-status", role: "status" });
  const retrySelection = button("Try again", "retry", () => selection.retry(), "small");
  const curve = new CostCurve((keys) => selection.setKeyCount(keys));
  const score = h("dl", { class: "score" });
  const unmeasuredNote = h("p", { class: "note", text: UNMEASURED_TEXT, hidden: true });
  const totalLabel = h("span", { class: "muted" });
  const unitLabel = h("span", { class: "keys-unit" });
  const retryButton = button("Try again", "retry", () => selection.curveLoader.retry(), "small");
  const errorNote = h("div", { class: "error-note", hidden: true }, h("p", {}), retryButton);

  cleanups.push(
    state.url.values.watchNow((settings) => {
      const target = keyTarget(settings);
      targetControl.set(target.by);
      showCount();
      toleranceRow.hidden = target.by !== "tolerance";
      targetControl.disable("tolerance", canSelectWithin(state) ? null : NO_TOLERANCE_TEXT);
      toleranceNote.hidden = canSelectWithin(state);
      if (target.by === "tolerance") tolerance.value = String(target.mm);
    }),
    state.ladder.watchNow((ladder) => {
      curve.show(ladder);
      showCount();
    }),
    state.keys.watchNow(showCount),
    state.ladderStatus.watchNow(showStatus),
    state.selectionStatus.watch(showStatus),
    state.curves.watchNow((curves) => {
      fill(score, ...(curves?.score ? scoreRows(curves.score, state) : []));
      unmeasuredNote.hidden = !curves || curves.score !== null;
      showQuality(selection.curveLoader.quality.value);
    }),
    selection.curveLoader.quality.watchNow(showQuality),
  );

  /** Shows whether the keys are being selected, or why there are none. */
  function showStatus(): void {
    const [ladder, selection] = [state.ladderStatus.value, state.selectionStatus.value];
    const failure = [ladder, selection].find((each) => typeof each === "object");
    const text = failure
      ? toSentence(errorMessage(failure.error))
      : ladder === "cancelled"
        ? "The selection of keys was cancelled."
        : selection === "estimated"
          ? "Selecting keys… Until then the view shows an estimate."
          : ladder === "busy" || selection === "busy"
            ? "Selecting keys…"
            : "";
    const hasStopped = failure !== undefined || ladder === "cancelled";
    const isStale = hasStopped && state.keys.value.length > 0;
    status.hidden = !text;
    status.classList.toggle("failed", failure !== undefined);
    fill(status, text, isStale && " The view still shows the previous keys.");
    retrySelection.hidden = !hasStopped;
    range.disabled = number.disabled = !state.ladder.value && !state.isPerJoint;
  }

  /** Marks quick figures, and figures of earlier keys, as approximate until the final ones are loaded. */
  function showQuality(quality: CurveQuality): void {
    const failed = typeof quality === "object" || quality === "cancelled";
    score.classList.toggle("approximate", quality !== "final");
    score.setAttribute("aria-busy", String(quality === "quick" || quality === "stale"));
    score.hidden = failed || !unmeasuredNote.hidden;
    errorNote.hidden = !failed;
    if (!failed) return;
    const reason =
      quality === "cancelled"
        ? "The curves for these keys were not computed."
        : `The curves for these keys could not be loaded. ${toSentence(errorMessage(quality.error))}`;
    fill(errorNote.firstElementChild!, `${reason} The view still shows the previous keys.`);
  }

  function showCount(): void {
    const keys = state.keys.value.length;
    const ladder = state.ladder.value;
    range.min = number.min = String(ladder?.min ?? 2);
    range.max = number.max = String(ladder?.max ?? (state.isPerJoint ? Math.min(state.nFrames, MAX_JOINT_KEYS) : 2));
    number.value = range.value = keys ? String(keys) : "";
    range.setAttribute("aria-valuetext", countOf(keys, "key"));
    unitLabel.textContent = keys === 1 ? "key" : "keys";
    const joint = state.isPerJoint && state.jointKeys.value ? `${state.jointNames[state.displayedJoint]}, ` : "";
    totalLabel.textContent = `of ${joint}${countOf(state.nFrames, "frame")}`;
    curve.markCount(keys);
    range.disabled = number.disabled = !state.ladder.value && !state.isPerJoint;
  }

  const countRow = h("div", { class: "key-count" }, number, unitLabel, totalLabel);
  const element = h(
    "div",
    { class: "panel-body" },
    section(
      "Number of keys",
      {},
      ...jointKeysControls(state, selection, cleanups),
      targetControl.element,
      toleranceNote,
      countRow,
      range,
      toleranceRow,
      status,
      retrySelection,
      score,
      unmeasuredNote,
      errorNote,
      curve.element,
    ),
    keyListSection(state, cleanups),
    methodSection(state, cleanups),
    methodOptionsSection(state, cleanups),
    extremesSection(state, cleanups),
    bodyPartsSection(state, cleanups),
    pinsSection(state, cleanups),
    inbetweenSection(state, selection, cleanups),
  );
  return { element, stop: () => cleanups.forEach((stop) => void stop()) };
}

function defaultTolerance(state: ClipState): number {
  const worst = state.curves.value?.score?.max_outside_flips_mm ?? 10;
  return Number(worst.toPrecision(2));
}

function scoreRows(score: Score, state: ClipState): HTMLElement[] {
  const { mean_mm, p95_mm, max_mm, max_outside_flips_mm, worst_frame, worst_joint } = score;
  const row = (name: Child, title: string, value: string) =>
    h("div", {}, h("dt", { title }, name), h("dd", { text: value }));
  const goToWorst = button(String(worst_frame), null, () => state.goTo(worst_frame), "small quiet");
  goToWorst.setAttribute("aria-label", `Go to frame ${worst_frame}`);
  const isFlip = max_mm > max_outside_flips_mm;
  const worstTitle = `${worst_joint} in frame ${worst_frame} is farthest from the capture`;
  return [
    row("Mean", "Mean distance of all joints from the capture, in all frames", millimetres(mean_mm)),
    row("95th percentile", "95 % of the distances are smaller", millimetres(p95_mm)),
    row(
      h("span", {}, isFlip ? "Flip of the capture at " : "Worst joint at ", goToWorst),
      isFlip ? `${worstTitle}, which turns a joint over there for a few frames; the curves omit it` : worstTitle,
      millimetres(max_mm),
    ),
    ...(isFlip
      ? [
          row(
            "Worst outside of flips",
            "Largest distance of a joint that no flip of the capture moves",
            millimetres(max_outside_flips_mm),
          ),
        ]
      : []),
    ...(max_outside_flips_mm > FAR_MM && canSelectWithin(state) ? [farRow(state, row)] : []),
  ];
}

/** Whether there are keys within a tolerance: those of each joint only by the method that measures their curves. */
function canSelectWithin({ isPerJoint, settings }: ClipState): boolean {
  return !isPerJoint || settings.method === OPTIMAL_METHOD;
}

/** Offers the number of keys that are close to the capture; if it is not known yet, a tolerance. */
function farRow(state: ClipState, row: (name: Child, title: string, value: string) => HTMLElement): HTMLElement {
  const keys = state.ladder.value?.countWithin(FAR_MM) ?? null;
  const select = () => state.url.set(keys === null ? { keys, tolerance: FAR_MM } : { keys, tolerance: null });
  const title =
    keys === null
      ? `These keys are far off: select the fewest whose curves stay within ${FAR_MM} mm`
      : `These keys are far off: the curves of ${countOf(keys, "key")} stay within ${FAR_MM} mm`;
  return row(
    button(`Within ${FAR_MM} mm`, null, select, "small quiet"),
    title,
    keys === null ? "fewest keys" : countOf(keys, "key"),
  );
}

function methodSection(state: ClipState, cleanups: (() => void)[]): HTMLElement {
  const { methods } = state.clip.library;
  const options = methods.map(({ name }) => h("option", { value: name, text: METHOD_LABELS[name] ?? name }));
  const select = h("select", { class: "field" }, ...options);
  const summary = h("p", { class: "note" });
  const cost = h("p", { class: "note" });
  select.addEventListener("change", () => state.url.set({ method: select.value, options: [] }));
  cleanups.push(
    state.url.values.watchNow(({ method }) => {
      select.value = method;
      const row = methods.find((each) => each.name === method);
      fill(summary, row ? toSentence(row.summary) : "", row ? h("cite", { text: toLabel(row.paper) }) : "");
    }),
    state.ladder.watchNow((ladder) => {
      const costLabel =
        ladder?.data.method === "salient" && ladder.max > ladder.min
          ? COST_LABELS[String(ladder.data.options.cost ?? "chord")]
          : null;
      cost.textContent = costLabel ?? "";
      cost.hidden = !costLabel;
    }),
  );
  return section("Method", {}, fieldWithLabel("Select keys with", select), summary, cost);
}

/** How the motion is interpolated between keys. */
function inbetweenSection(state: ClipState, selection: SelectionController, cleanups: (() => void)[]): HTMLElement {
  const interpolationControl = segmentedControl(
    "In-betweens",
    [
      ["bezier", "Fitted", "Bézier curves fitted to every captured frame"],
      ["natural", "Natural", "Smooth curves through the keys, without fitting them to the frames between"],
      ["linear", "Linear", "Straight lines from key to key"],
    ] as const,
    (interpolation) => state.url.set({ interpolation }),
  );
  const residual = detailSlider((share) => state.url.set({ residual: share || null }));
  cleanups.push(
    state.url.values.watchNow((settings) => {
      interpolationControl.set(interpolationOf(settings));
      residual.set(Math.round(100 * (settings.residual ?? 0)));
    }),
  );
  const options = curveOptionsForm(state, selection, cleanups);
  return section("In-betweens", { folded: true }, interpolationControl.element, residual.element, options);
}
