/** The edit panel: starts, opens, saves and discards drafts, and shows their results. */

import "./edit.css";
import { ServerUnreachable } from "../api/client";
import { button } from "../clip/controls";
import type { SelectionController } from "../clip/selection_controller";
import { buildCurveSettings } from "../clip/settings";
import type { ClipState } from "../clip/state";
import type { Player } from "../player/player";
import { Signal } from "../state/signal";
import { toBars } from "../timeline/lanes";
import type { Timeline } from "../timeline/timeline";
import { register } from "../ui/commands";
import { fill, h } from "../ui/dom";
import { errorMessage, toSentence } from "../ui/states";
import { toast } from "../ui/toast";
import { editCommands } from "./commands";
import { EditSession } from "./edit_session";
import type { Panels } from "./panels";
import { PoseTool } from "./pose_tool";
import { openConflictDialog, startSection } from "./start_section";
import { type Draft, swingStep } from "./steps";

interface EditContext {
  state: ClipState;
  selection: SelectionController;
  player: Player | null;
  timeline: Timeline;
  openExport: () => void;
}

export class EditPanel {
  readonly element = h("div", { class: "panel-body edit-panel" });
  readonly overlay = h("div", { class: "edit-overlay", role: "status" });
  /** Whether the draft is displayed. */
  readonly isOpen = new Signal(false);
  /** Whether there is a draft, displayed or not. */
  readonly hasDraft = new Signal(false);
  /** The poses of the draft for the strip; null while the draft is not displayed. */
  readonly poses = new Signal<{ draft: Draft; frames: readonly number[] } | null>(null);
  readonly #context: EditContext;
  readonly #session: EditSession;
  readonly #poseTool: PoseTool;
  readonly #cleanups: (() => void)[] = [];
  #panelCleanups: (() => void)[] = [];
  #kind: "keys" | "swings" | null | undefined;
  #panels: Promise<Panels> | null = null;
  #closeDiscardToast = () => {};

  constructor(context: EditContext) {
    this.#context = context;
    this.#session = new EditSession(context.state.details.hash);
    this.#poseTool = new PoseTool(context.state, context.player, (step) => this.#session.applyStep(step));
    this.#session.onConflict = () => openConflictDialog(this.#session);
    this.#listen();
  }

  /** The current draft, or null. */
  get draft(): Draft | null {
    return this.#session.history.value?.draft() ?? null;
  }

  /** Whether the draft is being computed. */
  get isBusy(): Signal<boolean> {
    return this.#session.isBusy;
  }

  /** Stops computing the draft; the panel closes if there is no earlier result of it. */
  cancel(): void {
    if (!this.#session.cancelEvaluation()) this.#context.state.url.set({ panel: "keys" });
  }

  async open(): Promise<void> {
    try {
      await this.#session.load();
    } catch (error) {
      toast(toSentence(`The edit of this clip could not be loaded: ${errorMessage(error)}`));
    }
    this.#show();
  }

  dispose(): void {
    this.#poseTool.close();
    this.#session.dispose();
    for (const stop of [...this.#cleanups, ...this.#panelCleanups]) stop();
    this.#panelCleanups = [];
  }

  #listen(): void {
    const { state, timeline } = this.#context;
    const [session, poseTool] = [this.#session, this.#poseTool];
    const startDraft = (kind: "keys" | "swings") => this.startDraft(kind);
    const commands = editCommands({ state, session, poseTool, isOpen: () => this.isOpen.value, startDraft });
    timeline.listeners.moveKey = (from, to) => {
      this.#session.applyStep({ op: "move_key", frame: from, to });
      state.goTo(to);
    };
    timeline.listeners.changeSwing = (bar, change) => {
      state.selectedSwing.value = { joint: bar.joint, index: bar.index };
      if (change) this.#session.applyStep(swingStep(bar, change));
    };
    this.#cleanups.push(
      state.url.values.watch(() => {
        this.#show();
        this.#poseTool.update();
      }),
      this.#session.history.watch(() => this.#show()),
      this.#session.result.watch(() => this.#showResult()),
      this.#session.isBusy.watch((isBusy) => {
        if (!isBusy && this.#context.player) this.#context.player.preview = null;
        this.#updateStatus();
      }),
      state.frame.watch(() => this.#poseTool.update()),
      state.keys.watch(() => this.#poseTool.update()),
      state.playing.watch(() => this.#poseTool.update()),
      this.#poseTool.selected.watch(() => this.#updateStatus()),
      register(commands),
    );
  }

  /** Opens or closes the draft according to the selected panel, and builds the panel. */
  #show(): void {
    const { state, selection, timeline } = this.#context;
    const history = this.#session.history.value;
    const isOpen = history !== null && state.settings.panel === "edit";
    const kind = history?.start.kind ?? null;
    if (isOpen !== this.isOpen.value) {
      this.isOpen.value = isOpen;
      selection.setDraftOpen(isOpen);
      if (isOpen) {
        this.#session.resume();
        this.#showResult();
      } else {
        this.poses.value = null;
        state.length.value = state.clip.capture.nFrames;
        state.swingsDraft.value = null;
        state.figureName.value = "Keys";
        timeline.bars = toBars(state.details.swings);
        const { contacts } = state.details;
        timeline.show({ changedFrames: null, extremes: [], errors: null, isEdited: false, contacts });
        state.frame.value = state.clamp(state.frame.value);
      }
      if (isOpen && kind === "keys") void this.#openHandles();
      else this.#poseTool.close();
      if (isOpen && state.settings.view_mode === "capture") state.url.set({ view_mode: "keys" });
    }
    timeline.setDraggable(isOpen && kind === "keys", isOpen && kind === "swings");
    this.hasDraft.value = history !== null;
    if (kind !== this.#kind) this.#build(kind);
    this.#updateStatus();
  }

  #build(kind: "keys" | "swings" | null): void {
    this.#kind = kind;
    for (const stop of this.#panelCleanups) stop();
    this.#panelCleanups = [];
    const { state } = this.#context;
    if (!kind) {
      fill(
        this.element,
        startSection(state, (newKind) => this.startDraft(newKind), this.#panelCleanups),
      );
      return;
    }
    fill(this.element);
    void this.#fill(kind);
    if (kind === "swings") this.#context.timeline.openAll();
  }

  /** Loads the controls of drafts on first use; null if that failed. */
  async #loadPanels(): Promise<Panels | null> {
    this.#panels ??= import("./panels");
    try {
      return await this.#panels;
    } catch {
      this.#panels = null;
      toast(errorMessage(new ServerUnreachable()));
      return null;
    }
  }

  /** Opens the handles if keys are still being edited when the controls have loaded. */
  async #openHandles(): Promise<void> {
    const panels = await this.#loadPanels();
    const isStillOpen = this.isOpen.value && this.#session.history.value?.start.kind === "keys";
    if (panels && isStillOpen) this.#poseTool.open(panels);
  }

  async #fill(kind: "keys" | "swings"): Promise<void> {
    const [cleanups, session, { state }] = [this.#panelCleanups, this.#session, this.#context];
    const panels = await this.#loadPanels();
    if (!panels || cleanups !== this.#panelCleanups) return; // another panel has replaced this one
    const head = h(
      "section",
      { class: "panel-section edit-head" },
      h("h3", { text: kind === "keys" ? "Edit keys" : "Edit swings" }),
      panels.undoBar(session, cleanups),
      h(
        "div",
        { class: "row" },
        button("Export", "download", this.#context.openExport, "small"),
        button("Discard edit", "trash", () => void this.#discard(), "small danger"),
      ),
    );
    const edit =
      kind === "keys"
        ? panels.keysEditor(state, session, this.#poseTool, cleanups)
        : panels.swingsEditor(state, session, cleanups);
    fill(this.element, head, h("div", {}, edit), panels.historySection(state, session, cleanups));
  }

  /** Starts a draft with the displayed keys, or with the swings of the displayed threshold. */
  startDraft(kind: "keys" | "swings"): void {
    const { state } = this.#context;
    this.#closeDiscardToast(); // a new draft replaces the discarded one
    state.url.set({ panel: "edit" });
    if (kind === "swings") this.#session.startDraft({ kind, threshold: state.threshold });
    else {
      const curves = buildCurveSettings(state.settings, state.clip.library);
      this.#session.startDraft({ ...curves, kind, frames: state.keys.value });
    }
    if (kind === "keys" && !this.#poseTool.isAtKey)
      state.goTo(state.adjacentKey(state.frame.value, -1) ?? state.keys.value[0] ?? 0);
  }

  /** Shows the result of the draft. */
  #showResult(): void {
    const result = this.#session.result.value;
    const { state, timeline, player } = this.#context;
    if (!result || !this.isOpen.value) return;
    if (result.keys) state.keys.value = result.keys;
    state.length.value = result.curves.track.nFrames;
    state.figureName.value = result.keys ? "Keys" : "Swings";
    state.swingsDraft.value = result.draft.kind === "swings" ? result.draft : null;
    state.curves.value = result.curves;
    if (result.bars) timeline.bars = result.bars;
    const isEdited = result.draft.steps.length > 0;
    timeline.show({
      changedFrames: result.changedFrames,
      extremes: result.curves.extremes,
      isEdited,
      contacts: result.contacts ?? state.details.contacts,
    });
    if (player) player.preview = null;
    const { nFrames } = result.curves.track;
    if (state.frame.value >= nFrames) state.goTo(nFrames - 1);
    const frames = result.keys ?? state.keys.value.filter((frame) => frame < nFrames);
    this.poses.value = { draft: result.draft, frames };
    this.#poseTool.update();
    this.#updateStatus();
  }

  /** Updates the status line in the view: the selected joint and notes on the last step. */
  #updateStatus(): void {
    const result = this.#session.result.value;
    const joint = this.#poseTool.selected.value;
    const texts: string[] = [];
    if (this.isOpen.value) {
      if (this.#session.isBusy.value && !result) texts.push("Fitting curves…");
      if (joint !== null && this.#kind === "keys") texts.push(this.#context.state.jointNames[joint] ?? "");
      if (result?.reachErrorMm && result.reachErrorMm > 1)
        texts.push(`${Math.round(result.reachErrorMm)} mm out of reach`);
      texts.push(...(result?.notes ?? []));
    }
    this.overlay.hidden = !texts.length;
    this.overlay.textContent = texts.join(" · ");
  }

  async #discard(): Promise<void> {
    try {
      const undo = await this.#session.discard();
      this.#closeDiscardToast = toast("The edit was discarded.", { title: "Undo", run: undo });
    } catch (error) {
      toast(toSentence(errorMessage(error)));
    }
  }
}
