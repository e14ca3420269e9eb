/** The edit panel and all that goes with it: a draft is begun, worked on, kept, left and found again. */

import "./edit.css";
import { ServerGone } from "../api/client";
import type { Choosing } from "../clip/choosing";
import { button } from "../clip/controls";
import type { ClipState } from "../clip/state";
import type { Player } from "../player/player";
import { Signal } from "../state/signal";
import type { Timeline } from "../timeline/timeline";
import { register } from "../ui/commands";
import { fill, h } from "../ui/dom";
import { messageOf, sentence } from "../ui/states";
import { toast } from "../ui/toast";
import { editCommands } from "./commands";
import { Hands } from "./hands";
import { askWhose, invitation } from "./invitation";
import type { Panels } from "./panels";
import { Session } from "./session";
import { type Draft, stepOf } from "./steps";
import type { Chosen } from "./swings_edit";

interface On {
  state: ClipState;
  choosing: Choosing;
  player: Player | null;
  timeline: Timeline;
  takeAway: () => void;
}

const THRESHOLD = 0.4; // of swings, as usual

export class Workshop {
  readonly element = h("div", { class: "panel-body edit-panel" });
  readonly overlay = h("div", { class: "edit-overlay", role: "status" });
  /** Whether the draft is what is shown. */
  readonly isOpen = new Signal(false);
  /** Whether there is one, shown or not. */
  readonly hasDraft = new Signal(false);
  /** Poses of the draft worth seeing side by side; null: it is not what is shown. */
  readonly poses = new Signal<{ draft: Draft; frames: readonly number[] } | null>(null);
  readonly #on: On;
  readonly #session: Session;
  readonly #hands: Hands;
  readonly #swing: Chosen = new Signal<Chosen["value"]>(null);
  readonly #stops: (() => void)[] = [];
  #panelStops: (() => void)[] = [];
  #kind: "keys" | "swings" | null | undefined;
  #panels: Promise<Panels> | null = null;

  constructor(on: On) {
    this.#on = on;
    this.#session = new Session(on.state.facts.hash);
    this.#hands = new Hands(on.state, on.player, (step) => this.#session.do(step));
    this.#session.onConflict = () => askWhose(this.#session);
    this.#listen();
  }

  /** The draft, if there is one. */
  get draft(): Draft | null {
    return this.#session.story.value?.draft() ?? null;
  }

  async open(): Promise<void> {
    try {
      await this.#session.find();
    } catch (error) {
      toast(sentence(`The edit of this clip could not be read: ${messageOf(error)}`));
    }
    this.#show();
  }

  dispose(): void {
    this.#hands.close();
    this.#session.dispose();
    for (const stop of [...this.#stops, ...this.#panelStops]) stop();
    this.#panelStops = [];
  }

  #listen(): void {
    const { state, timeline } = this.#on;
    const [session, hands] = [this.#session, this.#hands];
    const begin = (kind: "keys" | "swings") => this.#begin(kind);
    const commands = editCommands({ state, session, hands, isOpen: () => this.isOpen.value, begin });
    timeline.says.moveKey = (from, to) => {
      this.#session.do({ op: "move_key", frame: from, to });
      state.goTo(to);
    };
    timeline.says.stretch = (bar, change) => {
      this.#swing.value = { joint: bar.joint, index: bar.index };
      if (change) this.#session.do(stepOf(bar, change));
    };
    this.#stops.push(
      state.url.values.watch(() => {
        this.#show();
        this.#hands.update();
      }),
      this.#session.story.watch(() => this.#show()),
      this.#session.made.watch(() => this.#take()),
      this.#session.isBusy.watch((isBusy) => {
        if (!isBusy && this.#on.player) this.#on.player.preview = null;
        this.#say();
      }),
      state.frame.watch(() => this.#hands.update()),
      state.keys.watch(() => this.#hands.update()),
      state.playing.watch(() => this.#hands.update()),
      this.#hands.selected.watch(() => this.#say()),
      this.#swing.watch(() => this.#mark()),
      register(commands),
    );
  }

  /** Opens or closes the draft, as panel and draft say, and shows the panel for it. */
  #show(): void {
    const { state, choosing, timeline } = this.#on;
    const story = this.#session.story.value;
    const isOpen = story !== null && state.settings.panel === "edit";
    const kind = story?.start.kind ?? null;
    if (isOpen !== this.isOpen.value) {
      this.isOpen.value = isOpen;
      choosing.hold(isOpen);
      if (isOpen) this.#take();
      else {
        this.poses.value = null;
        timeline.bars = state.facts.swings.map(({ angle_deg, ...bar }) => ({ ...bar, angle: angle_deg }));
        timeline.show({ changed: null, extremes: [] });
      }
      if (isOpen && kind === "keys") void this.#takeHold();
      else this.#hands.close();
      if (isOpen && state.settings.show === "capture") state.url.set({ show: "keys" });
    }
    timeline.allow(isOpen && kind === "keys", isOpen && kind === "swings");
    this.hasDraft.value = story !== null;
    this.#mark();
    if (kind !== this.#kind) this.#build(kind);
    this.#say();
  }

  #build(kind: "keys" | "swings" | null): void {
    this.#kind = kind;
    for (const stop of this.#panelStops) stop();
    this.#panelStops = [];
    const { state } = this.#on;
    if (!kind) {
      fill(
        this.element,
        invitation(state, (begun) => this.#begin(begun), this.#panelStops),
      );
      return;
    }
    fill(this.element);
    void this.#fill(kind);
    if (kind === "swings") this.#on.timeline.openAll();
  }

  /** The controls of a draft, loaded when there is one; null: they did not come. */
  async #load(): Promise<Panels | null> {
    this.#panels ??= import("./panels");
    try {
      return await this.#panels;
    } catch {
      this.#panels = null;
      toast(messageOf(new ServerGone()));
      return null;
    }
  }

  /** Handles, if keys are still what is edited when they have come. */
  async #takeHold(): Promise<void> {
    const panels = await this.#load();
    const isStill = this.isOpen.value && this.#session.story.value?.start.kind === "keys";
    if (panels && isStill) this.#hands.open(panels);
  }

  async #fill(kind: "keys" | "swings"): Promise<void> {
    const [stops, session, { state }] = [this.#panelStops, this.#session, this.#on];
    const panels = await this.#load();
    if (!panels || stops !== this.#panelStops) return; // another panel took the place
    const head = h(
      "section",
      { class: "panel-section edit-head" },
      h("h3", { text: kind === "keys" ? "Edit of keys" : "Edit of swings" }),
      panels.undoBar(session, stops),
      h(
        "div",
        { class: "row" },
        button("Take away", "download", this.#on.takeAway, "small"),
        button("Discard", "trash", () => void this.#discard(), "small danger"),
      ),
    );
    const edit =
      kind === "keys"
        ? panels.keysEdit(state, session, this.#hands, stops)
        : panels.swingsEdit(state, session, this.#swing, stops);
    fill(this.element, head, h("div", {}, edit), panels.historySection(state, session, stops));
  }

  #begin(kind: "keys" | "swings"): void {
    const { state } = this.#on;
    state.url.set({ panel: "edit" });
    if (kind === "swings") this.#session.begin({ kind, threshold: THRESHOLD });
    else this.#session.begin({ kind, frames: state.keys.value, interpolation: state.settings.interpolation });
    if (kind === "keys" && !this.#hands.isAtKey)
      state.goTo(state.keyBeside(state.frame.value, -1) ?? state.keys.value[0] ?? 0);
  }

  /** Shows what the server made of the draft. */
  #take(): void {
    const made = this.#session.made.value;
    const { state, timeline, player } = this.#on;
    if (!made || !this.isOpen.value) return;
    if (made.keys) state.keys.value = made.keys;
    state.curves.value = made.curves;
    if (made.bars) timeline.bars = made.bars;
    timeline.show({ changed: made.changed, extremes: made.curves.extremes });
    if (player) player.preview = null;
    const { nFrames } = made.curves.track;
    if (state.frame.value >= nFrames) state.goTo(nFrames - 1);
    const frames = made.keys ?? state.keys.value.filter((frame) => frame < nFrames);
    this.poses.value = { draft: made.draft, frames };
    this.#hands.update();
    this.#say();
  }

  /** Marks the swing that the panel is about. */
  #mark(): void {
    const isSwings = this.isOpen.value && this.#session.story.value?.start.kind === "swings";
    this.#on.timeline.show({ chosen: isSwings ? this.#swing.value : null });
  }

  /** A line in the view: which joint is held, what the last step has to say. */
  #say(): void {
    const made = this.#session.made.value;
    const joint = this.#hands.selected.value;
    const parts: string[] = [];
    if (this.isOpen.value) {
      if (this.#session.isBusy.value && !made) parts.push("Fitting curves…");
      if (joint !== null && this.#kind === "keys") parts.push(this.#on.state.names[joint] ?? "");
      if (made?.missedMm && made.missedMm > 1) parts.push(`out of reach by ${Math.round(made.missedMm)} mm`);
      parts.push(...(made?.notes ?? []));
    }
    this.overlay.hidden = !parts.length;
    this.overlay.textContent = parts.join(" · ");
  }

  async #discard(): Promise<void> {
    try {
      const undo = await this.#session.discard();
      toast("The edit was discarded.", { title: "Undo", run: undo });
    } catch (error) {
      toast(sentence(messageOf(error)));
    }
  }
}
