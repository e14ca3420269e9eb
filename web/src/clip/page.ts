/** The page of one clip: the figure, its timeline, its keys and its edit. */

import "./clip.css";
import { ServerGone } from "../api/client";
import { EditPanel } from "../edit/edit_panel";
import type { Draft } from "../edit/steps";
import { DEFAULT_VIEW, parseView, viewToNumbers } from "../player/orbit";
import { Player } from "../player/player";
import type { Page } from "../router";
import { navigate } from "../router";
import { Timeline } from "../timeline/timeline";
import { register } from "../ui/commands";
import { fill, h } from "../ui/dom";
import { shell } from "../ui/shell";
import { errorMessage } from "../ui/states";
import { theme } from "../ui/theme";
import { toast } from "../ui/toast";
import { findClipFixes, repairAddress } from "./address_repair";
import { buildCommands } from "./commands";
import { button } from "./controls";
import { heading } from "./heading";
import { keysPanel } from "./keys_panel";
import { mountClipPage } from "./load_clip";
import { rangeBar } from "./pins_panel";
import { Playback } from "./playback";
import { SelectionController } from "./selection_controller";
import { supportsPins } from "./settings";
import { ClipState, facingDegrees, type LoadedClip } from "./state";
import { Strip } from "./strip";
import { transport } from "./transport";
import { viewBar } from "./view_bar";

const STRIP_PX = 116;

export function mount(root: HTMLElement, address: URL): Page {
  root.classList.add("clip-page");
  const page = mountClipPage(root, address, { title: "Clip", titleOf: (name) => name, view: ClipView });
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

  constructor(root: HTMLElement, clip: LoadedClip, address: URL) {
    const state = new ClipState(clip, address);
    this.#state = state;
    repairAddress(state.url, address.search, findClipFixes(state));
    const selection = new SelectionController(state);
    const playback = new Playback(state);
    const facing = facingDegrees(clip);
    const player = this.#createPlayer(facing);
    const timeline = this.#createTimeline();
    const strip = new Strip(clip.details.hash, STRIP_PX, (frame) => state.goTo(frame));
    selection.curveLoader.waitFor = () => strip.whenSettled();
    const openExport = () => void openExportDialog(state, editPanel.draft);
    const compare = () =>
      navigate(`/compare/${clip.details.hash}${state.keys.value.length ? `?keys=${state.keys.value.length}` : ""}`);
    const editPanel = new EditPanel({ state, selection, player, timeline, openExport });
    const keysTab = keysPanel(state, selection);
    const stage = h("div", { class: "stage-area" });
    if (player) {
      const bar = viewBar(state, player, facing, this.#stops);
      stage.append(player.element, bar, editPanel.overlay);
      this.#stops.push(player.placeLabelsBelow(bar));
    } else stage.append(noWebGlNote());
    stage.append(rangeBar(state, this.#stops));
    const stripArea = h("div", { class: "strip-area" }, strip.element);
    const transportArea = h("div", { class: "transport-area" }, transport(state, playback, this.#stops));
    const left = h("div", { class: "clip-left" }, stage, stripArea, transportArea, timeline.element);
    fill(root, h("div", { class: "clip" }, left, this.#createPanel(keysTab.element, editPanel)));
    fill(shell.slot, heading(state, { openExport, compare }));
    this.#connect(timeline, player, strip, editPanel);
    this.#stops.push(
      editPanel.poses.watchNow((poses) => {
        if (poses) strip.show(poses.frames, poses.draft);
        else strip.show(state.keys.value);
      }),
    );
    this.#stops.push(
      register(buildCommands({ state, playback, selection, player, timeline, facing, openExport, compare })),
      keysTab.stop,
      () => {
        state.playing.value = false;
        for (const disposable of [selection, playback, strip, timeline, editPanel]) disposable.dispose();
        player?.dispose();
        state.url.flush();
      },
    );
    selection.update();
    void editPanel.open();
  }

  follow(url: URL): void {
    this.#state.url.follow(url);
    repairAddress(this.#state.url, url.search, findClipFixes(this.#state));
    const { frame } = this.#state.settings;
    if (!this.#state.playing.value) this.#state.frame.value = this.#state.clamp(frame ?? 0);
  }

  dispose(): void {
    for (const stop of this.#stops) stop();
  }

  #createPlayer(facing: number): Player | null {
    const { clip, settings, url } = this.#state;
    const view = parseView(settings.camera) ?? { ...DEFAULT_VIEW, azimuth: DEFAULT_VIEW.azimuth + facing };
    const { joints, fps } = clip.details;
    try {
      const player: Player = new Player(
        { joints, endJoints: clip.endJoints, hasFace: clip.hasFace, capture: clip.capture, fps },
        view,
        () => {
          url.set({ camera: viewToNumbers(player.orbit.view) });
        },
      );
      return player;
    } catch (error) {
      console.warn(error); // without WebGL everything but the view still works
      return null;
    }
  }

  #createTimeline(): Timeline {
    const state = this.#state;
    const { contacts, fps } = state.details;
    return new Timeline(
      { nFrames: state.nFrames, fps, contacts, groups: state.bodyParts },
      {
        scrub: (frame) => state.goTo(frame),
        pin: (frame) => state.togglePin(frame),
        range: (range) => state.url.set(range ? { range } : { range: null, range_only: false }),
        moveKey: () => {},
        changeSwing: () => {},
      },
    );
  }

  #createPanel(keys: HTMLElement, editPanel: EditPanel): HTMLElement {
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
    const hiddenText = h("span", { class: "visually-hidden", text: ", has an edit" });
    const dot = h("span", { class: "tab-dot", hidden: true }, hiddenText);
    tabs[1]?.append(dot);
    this.#stops.push(
      editPanel.hasDraft.watchNow((hasDraft) => {
        dot.hidden = !hasDraft;
      }),
    );
    const bodies = [keys, editPanel.element];
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
      state.url.values.watchNow(({ panel }) => {
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

  /** Updates timeline, player and strip when the state changes. */
  #connect(timeline: Timeline, player: Player | null, strip: Strip, editPanel: EditPanel): void {
    const state = this.#state;
    timeline.bars = state.details.swings.map(({ angle_deg, ...bar }) => ({ ...bar, angle: angle_deg }));
    this.#stops.push(
      state.keys.watchNow((keys) => {
        timeline.show({ keys });
        if (player) player.keys = keys;
        if (!editPanel.isOpen.value) strip.show(keys);
        timeline.frame = state.frame.value;
      }),
      state.frame.watchNow((frame) => {
        if (state.playing.value && timeline.scale.reveal(frame)) timeline.paint();
        timeline.frame = frame;
        strip.frame = frame;
        if (player) player.frame = frame;
      }),
      state.curves.watchNow((curves) => {
        timeline.show({ error: curves?.perFrame ?? null });
        if (player) player.keyed = curves?.track ?? null;
      }),
      state.url.values.watchNow((settings) => {
        const { pins, range, method, show, ghosts, hold, trails, follow } = settings;
        const arePinsUsed = supportsPins(state.clip.library, method);
        timeline.show({ pins: pins ?? [], range, arePinsUsed });
        const joints = trails.map((name) => state.jointNames.indexOf(name)).filter((joint) => joint >= 0);
        if (player) player.viewOptions = { mode: show, ghosts: ghosts ?? 0, keysOnly: hold, trails: joints, follow };
      }),
      theme.watchNow((now) => {
        if (player) player.theme = now;
        timeline.recolour();
      }),
    );
  }
}

/** Loads the dialog on first use. */
async function openExportDialog(state: ClipState, draft: Draft | null): Promise<void> {
  try {
    const dialog = await import("./export_dialog");
    dialog.openExportDialog(state, draft);
  } catch {
    toast(errorMessage(new ServerGone()));
  }
}

function noWebGlNote(): HTMLElement {
  const text =
    "The 3D view needs WebGL, which this browser does not support. Keys, strip and timeline work without it.";
  return h("div", { class: "no-stage", role: "note" }, h("p", { text }));
}
