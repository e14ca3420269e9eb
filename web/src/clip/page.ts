/** The page of one clip: the figure, its timeline, its keys, its edit. */

import "./clip.css";
import { ServerGone } from "../api/client";
import type { Draft } from "../edit/steps";
import { Workshop } from "../edit/workshop";
import { FIRST_VIEW, viewNumbers, viewOf } from "../player/orbit";
import { Player } from "../player/player";
import type { Page } from "../router";
import { navigate } from "../router";
import { Timeline } from "../timeline/timeline";
import { register } from "../ui/commands";
import { fill, h } from "../ui/dom";
import { shell } from "../ui/shell";
import { messageOf } from "../ui/states";
import { theme } from "../ui/theme";
import { toast } from "../ui/toast";
import { fixesOf, putRight } from "./address";
import { Choosing } from "./choosing";
import { commandsOf } from "./commands";
import { button } from "./controls";
import { heading } from "./heading";
import { keysPanel } from "./keys_panel";
import { openingPage } from "./opening";
import { rangeBar } from "./pins_panel";
import { Playing } from "./playing";
import { keepsPins } from "./recipe";
import { ClipState, facingOf, type Opened } from "./state";
import { Strip } from "./strip";
import { transport } from "./transport";
import { viewBar } from "./view_bar";

const STRIP_PX = 116;

export function mount(root: HTMLElement, address: URL): Page {
  root.classList.add("clip-page");
  const page = openingPage(root, address, { title: "Clip", titleOf: (name) => name, view: ClipView });
  return {
    ...page,
    unmount: () => {
      page.unmount();
      root.classList.remove("clip-page");
    },
  };
}

class ClipView {
  readonly #state: ClipState;
  readonly #stops: (() => void)[] = [];

  constructor(root: HTMLElement, opened: Opened, address: URL) {
    const state = new ClipState(opened, address);
    this.#state = state;
    putRight(state.url, address.search, fixesOf(state));
    const choosing = new Choosing(state);
    const playing = new Playing(state);
    const facing = facingOf(opened);
    const player = this.#player(facing);
    const timeline = this.#timeline();
    const strip = new Strip(opened.facts.hash, STRIP_PX, (frame) => state.goTo(frame));
    choosing.curving.before = () => strip.settled();
    const takeAway = () => void openTakeAway(state, workshop.draft);
    const compare = () =>
      navigate(`/compare/${opened.facts.hash}${state.keys.value.length ? `?keys=${state.keys.value.length}` : ""}`);
    const workshop = new Workshop({ state, choosing, player, timeline, takeAway });
    const keys = keysPanel(state, choosing);
    const stage = h("div", { class: "stage-area" });
    if (player) {
      const bar = viewBar(state, player, facing, this.#stops);
      stage.append(player.element, bar, workshop.overlay);
      this.#stops.push(player.below(bar));
    } else stage.append(noStage());
    stage.append(rangeBar(state, this.#stops));
    const stripArea = h("div", { class: "strip-area" }, strip.element);
    const below = h("div", { class: "transport-area" }, transport(state, playing, this.#stops));
    const left = h("div", { class: "clip-left" }, stage, stripArea, below, timeline.element);
    fill(root, h("div", { class: "clip" }, left, this.#panel(keys.element, workshop)));
    fill(shell.slot, heading(state, { takeAway, compare }));
    this.#connect(timeline, player, strip, workshop);
    this.#stops.push(
      workshop.poses.show((poses) => {
        if (poses) strip.show(poses.frames, poses.draft);
        else strip.show(state.keys.value);
      }),
    );
    this.#stops.push(
      register(commandsOf({ state, playing, choosing, player, timeline, facing, takeAway, compare })),
      keys.stop,
      () => {
        state.playing.value = false;
        for (const part of [choosing, playing, strip, timeline, workshop]) part.dispose();
        player?.dispose();
        state.url.flush();
      },
    );
    choosing.update();
    void workshop.open();
  }

  follow(url: URL): void {
    this.#state.url.follow(url);
    putRight(this.#state.url, url.search, fixesOf(this.#state));
    const { frame } = this.#state.settings;
    if (!this.#state.playing.value) this.#state.frame.value = this.#state.clamp(frame ?? 0);
  }

  dispose(): void {
    for (const stop of this.#stops) stop();
  }

  #player(facing: number): Player | null {
    const { opened, settings, url } = this.#state;
    const view = viewOf(settings.camera) ?? { ...FIRST_VIEW, azimuth: FIRST_VIEW.azimuth + facing };
    const { joints, fps } = opened.facts;
    try {
      const player: Player = new Player(
        { joints, endJoints: opened.endJoints, hasFace: opened.hasFace, capture: opened.capture, fps },
        view,
        () => {
          url.set({ camera: viewNumbers(player.orbit.view) });
        },
      );
      return player;
    } catch (error) {
      console.warn(error); // no WebGL here: all but the view still works
      return null;
    }
  }

  #timeline(): Timeline {
    const state = this.#state;
    const { contacts, fps } = state.facts;
    return new Timeline(
      { nFrames: state.nFrames, fps, contacts, groups: state.parts },
      {
        scrub: (frame) => state.goTo(frame),
        pin: (frame) => state.togglePin(frame),
        range: (range) => state.url.set(range ? { range } : { range: null, only: false }),
        moveKey: () => {},
        stretch: () => {},
      },
    );
  }

  #panel(keys: HTMLElement, workshop: Workshop): HTMLElement {
    const state = this.#state;
    const tabs = (["keys", "edit"] as const).map((name) => {
      const tab = button(
        name === "keys" ? "Keys" : "Edit",
        name === "keys" ? "key" : "pencil",
        () => state.url.set({ panel: name }),
        "quiet",
      );
      tab.id = `tab-${name}`;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", `panel-${name}`);
      return tab;
    });
    const said = h("span", { class: "unseen", text: ", there is an edit" });
    const dot = h("span", { class: "tab-dot", hidden: true }, said);
    tabs[1]?.append(dot);
    this.#stops.push(
      workshop.hasDraft.show((has) => {
        dot.hidden = !has;
      }),
    );
    const bodies = [keys, workshop.element];
    bodies.forEach((body, n) => {
      body.id = `panel-${n ? "edit" : "keys"}`;
      body.setAttribute("role", "tabpanel");
      body.setAttribute("aria-labelledby", `tab-${n ? "edit" : "keys"}`);
    });
    const list = h("div", { class: "tabs", role: "tablist", "aria-label": "Panels" }, ...tabs);
    list.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      event.stopPropagation();
      const other = state.settings.panel === "keys" ? "edit" : "keys";
      state.url.set({ panel: other });
      tabs[other === "keys" ? 0 : 1]?.focus();
    });
    this.#stops.push(
      state.url.values.show(({ panel }) => {
        tabs.forEach((tab, n) => {
          const isOn = (n ? "edit" : "keys") === panel;
          tab.setAttribute("aria-selected", String(isOn));
          tab.tabIndex = isOn ? 0 : -1;
          bodies[n]!.hidden = !isOn;
        });
      }),
    );
    return h("aside", { class: "panel", "aria-label": "Keys and edit" }, list, ...bodies);
  }

  /** What is shown follows what is known. */
  #connect(timeline: Timeline, player: Player | null, strip: Strip, workshop: Workshop): void {
    const state = this.#state;
    timeline.bars = state.facts.swings.map(({ angle_deg, ...bar }) => ({ ...bar, angle: angle_deg }));
    this.#stops.push(
      state.keys.show((keys) => {
        timeline.show({ keys });
        if (player) player.keys = keys;
        if (!workshop.isOpen.value) strip.show(keys);
        timeline.frame = state.frame.value;
      }),
      state.frame.show((frame) => {
        if (state.playing.value && timeline.scale.reveal(frame)) timeline.paint();
        timeline.frame = frame;
        strip.frame = frame;
        if (player) player.frame = frame;
      }),
      state.curves.show((curves) => {
        timeline.show({ error: curves?.perFrame ?? null });
        if (player) player.keyed = curves?.track ?? null;
      }),
      state.url.values.show((settings) => {
        const { pins, range, method, show, ghosts, hold, trails, follow } = settings;
        const arePinsKept = keepsPins(state.opened.library, method);
        timeline.show({ pins: pins ?? [], range, arePinsKept });
        const joints = trails.map((name) => state.names.indexOf(name)).filter((joint) => joint >= 0);
        if (player) player.look = { shown: show, ghosts: ghosts ?? 0, keysOnly: hold, trails: joints, follow };
      }),
      theme.show((now) => {
        if (player) player.theme = now;
        timeline.recolour();
      }),
    );
  }
}

/** Loaded when it is wanted. */
async function openTakeAway(state: ClipState, draft: Draft | null): Promise<void> {
  try {
    const dialog = await import("./take_away");
    dialog.openTakeAway(state, draft);
  } catch {
    toast(messageOf(new ServerGone()));
  }
}

function noStage(): HTMLElement {
  const text =
    "The view in three dimensions needs WebGL, which this browser does not offer. Keys, strip and timeline work without it.";
  return h("div", { class: "no-stage", role: "note" }, h("p", { text }));
}
