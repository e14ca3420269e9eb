/**
 * The panel of the swings: it plays the swings of a threshold in place of the curves through the keys, and shows their
 * error and size.
 */

import { fetchArrays, type Schema } from "../api/client";
import type { EditPanel } from "../edit/edit_panel";
import { bestMatch, type SwingPicker, swingPicker } from "../edit/swing_picker";
import { Signal } from "../state/signal";
import { type Bar, toBars } from "../timeline/lanes";
import type { Timeline } from "../timeline/timeline";
import { fill, h } from "../ui/dom";
import { bytes, count, millimetres } from "../ui/format";
import { errorMessage, toSentence } from "../ui/states";
import { actionsSection } from "./actions_section";
import { button, section, slider } from "./controls";
import { LatestOnly } from "./latest_only";
import { parseCurves, type SelectionController } from "./selection_controller";
import { DEFAULT_THRESHOLD, MAX_THRESHOLD } from "./settings";
import type { ClipState, Curves, CurvesHeader, SwingsDraft } from "./state";
import { swingAngles } from "./swing_facts";

interface SwingsContext {
  state: ClipState;
  selection: SelectionController;
  timeline: Timeline;
  editPanel: EditPanel;
}

interface PlayedSwings {
  draft: SwingsDraft;
  bars: readonly Bar[];
  curves: Curves;
  figures: Schema["SwingFigures"] | null;
}

const INTRO =
  "A swing is one movement of a joint about one axis. Here the figure plays the swings alone: turns at constant speed, and nothing else of the capture.";
const THRESHOLD_NOTE =
  "How far the axis of a joint may turn within one swing. More of it makes fewer and longer swings, which are less accurate.";
const THRESHOLD_STEP = 0.05;

export class SwingsPanel {
  readonly element = h("div", { class: "panel-body swings-panel" });
  /** Whether the swings are displayed. */
  readonly isOpen = new Signal(false);
  readonly isBusy = new Signal(false);
  readonly #context: SwingsContext;
  readonly #requests: LatestOnly<SwingsDraft, PlayedSwings>;
  readonly #played = new Signal<PlayedSwings | null>(null);
  readonly #failure = h("p", { class: "error-note", role: "alert", hidden: true });
  readonly #picker: SwingPicker;
  readonly #sections: readonly HTMLElement[];
  readonly #cleanups: (() => void)[] = [];
  #requested: number | null = null; // threshold
  #areLanesOpen = false;

  constructor(context: SwingsContext) {
    this.#context = context;
    const { state, editPanel } = context;
    this.#requests = new LatestOnly(
      (draft, signal) => this.#fetch(draft, signal),
      (played) => this.#show(played),
      (error) => this.#fail(error),
    );
    this.#picker = swingPicker(state, () => this.#played.value?.bars ?? [], this.#cleanups);
    this.#sections = this.#buildSections();
    const update = () => this.#update();
    this.#cleanups.push(state.url.values.watch(update), editPanel.isOpen.watch(update));
    update();
  }

  /** Stops computing; the displayed swings stay. */
  cancel(): void {
    this.#requests.cancel();
    this.isBusy.value = false;
    this.#requested = null;
    const threshold = this.#played.value?.draft.threshold;
    if (threshold === undefined) this.#context.state.url.set({ panel: "keys" });
    else this.#setThreshold(threshold);
  }

  dispose(): void {
    this.#requests.cancel();
    for (const stop of this.#cleanups) stop();
  }

  #buildSections(): HTMLElement[] {
    const { state, editPanel } = this.#context;
    const threshold = slider("Threshold", {
      min: 0,
      max: MAX_THRESHOLD,
      step: THRESHOLD_STEP,
      format: (value) => `${value.toFixed(2)} rad, ${Math.round((value * 180) / Math.PI)}°`,
      onInput: (value) => this.#setThreshold(value),
    });
    const reset = button("Default", null, () => this.#setThreshold(DEFAULT_THRESHOLD), "small quiet");
    reset.title = `${DEFAULT_THRESHOLD}, with the smallest error in the thesis`;
    const figures = h("dl", { class: "score swing-figures" });
    const sizeNote = h("p", { class: "note" });
    const edit = button("Edit these swings", "pencil", () => {
      if (editPanel.draft) state.url.set({ panel: "edit" });
      else editPanel.startDraft("swings");
    });
    this.#cleanups.push(
      state.url.values.watchNow(() => {
        threshold.set(state.threshold);
        reset.disabled = state.threshold === DEFAULT_THRESHOLD;
      }),
      this.#played.watch((played) => {
        fill(figures, ...(played ? figureRows(played) : []));
        sizeNote.textContent = played?.figures ? describeSize(played.figures) : "";
      }),
      editPanel.hasDraft.watchNow((hasDraft) => {
        edit.lastChild!.textContent = hasDraft ? "Go to the edit" : "Edit these swings";
      }),
    );
    const hint = h("p", { class: "note", text: "Press a bar of a joint on the timeline, or choose the swing here." });
    return [
      section(
        "Joint swings",
        {},
        h("p", { class: "note", text: INTRO }),
        h("div", { class: "threshold" }, threshold.element, reset),
        h("p", { class: "note", text: THRESHOLD_NOTE }),
        this.#failure,
        figures,
        sizeNote,
        edit,
      ),
      section(
        "Selected swing",
        {},
        hint,
        ...this.#picker.elements,
        swingAngles(state, this.#cleanups, { isDetailed: true }),
      ),
      actionsSection(state, this.#cleanups),
    ];
  }

  #setThreshold(threshold: number): void {
    this.#context.state.url.set({ threshold: threshold === DEFAULT_THRESHOLD ? null : threshold });
  }

  /** Opens or closes the swings according to the selected panel, and requests those of the threshold. */
  #update(): void {
    const { state, selection, timeline, editPanel } = this.#context;
    const isOpen = state.settings.panel === "swings" && !editPanel.isOpen.value;
    if (isOpen !== this.isOpen.value) {
      this.isOpen.value = isOpen;
      timeline.canSelectSwings = isOpen;
      selection.setCurvesReplaced(isOpen);
      if (isOpen) this.#open();
      else this.#close();
    }
    if (!isOpen || this.#requested === state.threshold) return;
    this.#requested = state.threshold;
    this.isBusy.value = true;
    this.#requests.submit({ kind: "swings", threshold: state.threshold, captured_detail: false, steps: [] });
  }

  #open(): void {
    const { state, timeline } = this.#context;
    fill(this.element, ...this.#sections);
    if (!this.#areLanesOpen) timeline.openAll();
    this.#areLanesOpen = true;
    if (state.settings.view_mode === "capture") state.url.set({ view_mode: "side_by_side" });
    state.figureName.value = "Swings";
    if (this.#played.value) this.#show(this.#played.value);
    else state.curves.value = null;
  }

  #close(): void {
    const { state, timeline, editPanel } = this.#context;
    fill(this.element);
    this.#requests.cancel();
    this.#requested = this.#played.value?.draft.threshold ?? null;
    this.isBusy.value = false;
    if (editPanel.isOpen.value) return; // which displays its own swings
    timeline.bars = toBars(state.details.swings);
    state.swingsDraft.value = null;
    state.figureName.value = "Keys";
    state.curves.value = null;
  }

  async #fetch(draft: SwingsDraft, signal: AbortSignal): Promise<PlayedSwings> {
    const path = `/api/clips/${this.#context.state.details.hash}/edit`;
    const packet = await fetchArrays<Schema["EditHeader"] & CurvesHeader>(path, { body: { draft }, signal });
    const { swings, swing_figures: figures } = packet.header;
    return { draft, bars: toBars(swings ?? []), curves: parseCurves(packet), figures };
  }

  #show(played: PlayedSwings): void {
    const { state, timeline } = this.#context;
    const { selectedSwing, swingsDraft } = state;
    this.isBusy.value = played.draft.threshold !== this.#requested;
    this.#failure.hidden = true;
    if (!this.isOpen.value) return;
    const selected = selectedSwing.value;
    const findIn = (bars: readonly Bar[]) =>
      bars.find(({ joint, index }) => joint === selected?.joint && index === selected.index);
    const before = this.#played.value && findIn(this.#played.value.bars);
    const after = before ? bestMatch(before, played.bars) : findIn(played.bars);
    this.#played.value = played;
    state.curves.value = played.curves;
    timeline.bars = played.bars;
    swingsDraft.value = played.draft;
    if (!after) selectedSwing.value = null;
    else if (after.index !== selected?.index) selectedSwing.value = { joint: after.joint, index: after.index };
    this.#picker.update();
  }

  #fail(error: unknown): void {
    this.isBusy.value = false;
    this.#requested = null;
    this.#failure.hidden = false;
    this.#failure.textContent = `The swings could not be found. ${toSentence(errorMessage(error))}`;
  }
}

function figureRows({ bars, curves, figures }: PlayedSwings): HTMLElement[] {
  const row = (name: string, title: string, value: string) =>
    h("div", { title }, h("dt", { text: name }), h("dd", { text: value }));
  const { score } = curves;
  const rows = [row("Swings", "Of all joints", count(bars.length))];
  if (figures)
    rows.push(
      row(
        "Error",
        "As in the thesis: the length of the difference of all Euler angles from the capture, averaged over the frames",
        `${figures.error_deg.toFixed(1)}°`,
      ),
    );
  if (score)
    rows.push(
      row("Mean", "Mean distance of all joints from the capture, in all frames", millimetres(score.mean_mm)),
      row("Worst", `${score.worst_joint} in frame ${score.worst_frame}`, millimetres(score.max_mm)),
    );
  if (figures) rows.push(row("Size", "Packed, in memory and in files", bytes(figures.stored_bytes)));
  return rows;
}

function describeSize({
  stored_bytes: stored,
  left_out_bytes: leftOut,
  raw_bytes: raw,
}: Schema["SwingFigures"]): string {
  const share = `${Math.round((100 * stored) / raw)} % of the ${bytes(raw)} of all channels`;
  if (!leftOut) return `The size is ${share}.`;
  return `The size is ${share}; ${bytes(leftOut)} of it are fingers and toes, which are stored frame by frame.`;
}
