/** The page of one clip: the figure, its timeline, its keys and its edit. */

import "./clip.css";
import { fetchJson, type Schema, ServerUnreachable } from "../api/client";
import { EditPanel } from "../edit/edit_panel";
import type { Draft } from "../edit/steps";
import { DEFAULT_VIEW, parseView, viewToNumbers } from "../player/orbit";
import { Player } from "../player/player";
import type { Page } from "../router";
import { navigate } from "../router";
import { toBars } from "../timeline/lanes";
import { Timeline } from "../timeline/timeline";
import { BusyLine, type Work } from "../ui/busy";
import { register } from "../ui/commands";
import { fill, h } from "../ui/dom";
import { shell } from "../ui/shell";
import { errorMessage } from "../ui/states";
import { theme } from "../ui/theme";
import { toast } from "../ui/toast";
import { buildCommands } from "./commands";
import { button } from "./controls";
import { heading } from "./heading";
import { infoPanel } from "./info_panel";
import { keysPanel } from "./keys_panel";
import { mountClipPage } from "./load_clip";
import { rangeBar } from "./pins_panel";
import { Playback } from "./playback";
import { SelectionController } from "./selection_controller";
import { keyTarget, supportsPins } from "./settings";
import { ClipState, facingDegrees, type LoadedClip } from "./state";
import { Strip } from "./strip";
import { SwingLoader } from "./swing_loader";
import { SwingsPanel } from "./swings_panel";
import { transport } from "./transport";
import { correctUrl, findClipCorrections } from "./url_corrections";
import { viewBar } from "./view_bar";

const STRIP_PX = 116;
const POLISH_NOTE_DELAY_MS = 1500; // errors are marked as approximate meanwhile

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
  readonly #cleanups: (() => void)[] = [];
  readonly #abort = new AbortController();

  constructor(root: HTMLElement, clip: LoadedClip, address: URL) {
    const state = new ClipState(clip, address);
    this.#state = state;
    correctUrl(state.url, address.search, findClipCorrections(state));
    const selection = new SelectionController(state);
    const playback = new Playback(state);
    const facingDeg = facingDegrees(clip);
    const player = this.#createPlayer(facingDeg);
    const timeline = this.#createTimeline();
    const { max_strip_poses: maxPoses } = clip.library.limits;
    const strip = new Strip(
      clip.details.hash,
      STRIP_PX,
      maxPoses,
      (frame) => state.goTo(frame),
      (rank) => state.url.set({ rank }),
    );
    selection.curveLoader.waitFor = () => strip.whenSettled();
    const openExport = () => void openExportDialog(state, editPanel.draft);
    const compare = () =>
      navigate(`/compare/${clip.details.hash}${state.keys.value.length ? `?keys=${state.keys.value.length}` : ""}`);
    const editPanel = new EditPanel({ state, selection, player, timeline, openExport });
    const keysTab = keysPanel(state, selection);
    const swingsPanel = new SwingsPanel({ state, selection, timeline, editPanel });
    const swingLoader = new SwingLoader(state);
    const busy = new BusyLine();
    const stage = h("div", { class: "stage-area" });
    if (player) {
      const bar = viewBar(state, player, facingDeg, this.#cleanups);
      stage.append(player.element, bar, editPanel.overlay);
      this.#cleanups.push(player.placeLabelsBelow(bar));
    } else stage.append(webGlNote());
    stage.append(rangeBar(state, this.#cleanups));
    const transportArea = h("div", { class: "transport-area" }, transport(state, playback, this.#cleanups));
    const left = h("div", { class: "clip-left" }, stage, strip.element, transportArea, timeline.element);
    fill(
      root,
      h("div", { class: "clip" }, left, this.#createPanel(keysTab.element, swingsPanel.element, editPanel, busy)),
    );
    fill(shell.slot, heading(state, { openExport, compare }));
    this.#connect(timeline, player, strip, editPanel);
    this.#cleanups.push(
      editPanel.poses.watchNow((poses) => {
        if (poses) strip.show(poses.frames, poses.draft);
        else this.#showKeys(strip);
      }),
    );
    this.#cleanups.push(
      register(buildCommands({ state, playback, selection, player, timeline, facingDeg, openExport, compare })),
      keysTab.stop,
      () => {
        state.playing.value = false;
        const parts = [selection, playback, strip, timeline, editPanel, swingsPanel, swingLoader];
        for (const disposable of parts) disposable.dispose();
        player?.dispose();
        state.url.flush();
      },
    );
    this.#showWork(busy, selection, editPanel, swingsPanel);
    selection.update();
    void strip.whenSettled().then(() => this.#loadActions());
    void editPanel.open();
  }

  onUrlChange(url: URL): void {
    this.#state.url.onUrlChange(url);
    correctUrl(this.#state.url, url.search, findClipCorrections(this.#state));
    const { frame } = this.#state.settings;
    if (!this.#state.playing.value) this.#state.frame.value = this.#state.clamp(frame ?? 0);
  }

  dispose(): void {
    this.#abort.abort();
    for (const stop of this.#cleanups) stop();
  }

  #createPlayer(facingDeg: number): Player | null {
    const { clip, settings, url } = this.#state;
    const view = parseView(settings.camera) ?? { ...DEFAULT_VIEW, azimuth: DEFAULT_VIEW.azimuth + facingDeg };
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
      { nFrames: state.nFrames, fps, contacts, groups: state.bodyParts, hasActions: state.details.has_body },
      {
        scrub: (frame) => state.goTo(frame),
        pin: (frame) => state.togglePin(frame),
        range: (range) => state.url.set(range ? { range } : { range: null, range_only: false }),
        moveKey: () => {},
        changeSwing: () => {},
        selectAction: (action) => state.markAction(action),
      },
    );
  }

  #createPanel(keys: HTMLElement, swings: HTMLElement, editPanel: EditPanel, busy: BusyLine): HTMLElement {
    const state = this.#state;
    const panels = [
      { name: "keys", title: "Keys", icon: "key", body: keys },
      { name: "swings", title: "Swings", icon: "swing", body: swings },
      { name: "edit", title: "Edit", icon: "pencil", body: editPanel.element },
      { name: "info", title: "Info", icon: "file", body: infoPanel(state.details) },
    ] as const;
    const tabs = panels.map(({ name, title, icon, body }) => {
      const tab = button(title, icon, () => state.url.set({ panel: name }), "quiet");
      tab.id = `tab-${name}`;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", `panel-${name}`);
      body.id = `panel-${name}`;
      body.setAttribute("role", "tabpanel");
      body.setAttribute("aria-labelledby", tab.id);
      return tab;
    });
    const dot = (text: string) => h("span", { class: "tab-dot" }, h("span", { class: "visually-hidden", text }));
    const editDot = dot(", has an edit");
    tabs[2]!.append(editDot);
    if (state.details.notes.length) tabs[3]!.append(dot(", has notes of the reader"));
    this.#cleanups.push(
      editPanel.hasDraft.watchNow((hasDraft) => {
        editDot.hidden = !hasDraft;
      }),
    );
    const list = h("div", { class: "tabs", role: "tablist", "aria-label": "Panels" }, ...tabs);
    list.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.stopPropagation();
      const at = panels.findIndex(({ name }) => name === state.settings.panel);
      const next = (at + step + panels.length) % panels.length;
      state.url.set({ panel: panels[next]!.name });
      tabs[next]!.focus();
    });
    this.#cleanups.push(
      state.url.values.watchNow(({ panel }) => {
        panels.forEach(({ name, body }, n) => {
          const isOn = name === panel;
          tabs[n]!.setAttribute("aria-selected", String(isOn));
          tabs[n]!.tabIndex = isOn ? 0 : -1;
          body.hidden = !isOn;
        });
      }),
    );
    const bodies = panels.map(({ body }) => body);
    return h("aside", { class: "panel", "aria-label": "Keys, swings, edit and info" }, list, ...bodies, busy.element);
  }

  /** Loads the actions when everything more urgent is there. */
  async #loadActions(): Promise<void> {
    const { details, actions } = this.#state;
    if (!details.has_body) {
      actions.value = [];
      return;
    }
    try {
      const { signal } = this.#abort;
      const list = await fetchJson<Schema["ActionList"]>(`/api/clips/${details.hash}/actions`, { signal });
      actions.value = list.actions;
    } catch (error) {
      if (!this.#abort.signal.aborted) console.warn(error); // the page works without them
    }
  }

  /** Shows what is being computed for the displayed panel, and lets the user cancel it. */
  #showWork(busy: BusyLine, selection: SelectionController, editPanel: EditPanel, swingsPanel: SwingsPanel): void {
    const state = this.#state;
    const { curveLoader } = selection;
    const findWork = (): Work | null => {
      if (editPanel.isOpen.value)
        return editPanel.isBusy.value ? { text: "Computing the edit…", cancel: () => editPanel.cancel() } : null;
      if (swingsPanel.isOpen.value && swingsPanel.isBusy.value)
        return { text: "Finding swings…", cancel: () => swingsPanel.cancel() };
      const cancel = () => selection.cancel();
      if (state.ladderStatus.value === "busy") return { text: "Selecting keys…", cancel };
      if (state.isSelecting) {
        const target = keyTarget(state.settings);
        const within = target.by === "tolerance" ? `${target.mm} mm` : "1 % of the height";
        return { text: target.by === "keys" ? "Moving keys to extremes…" : `Selecting keys within ${within}…`, cancel };
      }
      if (swingsPanel.isOpen.value) return null;
      const isFitting = ["stale", "quick"].includes(String(curveLoader.quality.value)) && state.keys.value.length > 0;
      const delayMs = curveLoader.quality.value === "quick" ? POLISH_NOTE_DELAY_MS : undefined;
      return isFitting ? { text: "Fitting curves…", cancel: () => curveLoader.stop(), delayMs } : null;
    };
    const show = () => busy.show(findWork());
    const signals = [
      editPanel.isOpen,
      editPanel.isBusy,
      swingsPanel.isOpen,
      swingsPanel.isBusy,
      state.ladderStatus,
      state.selectionStatus,
      curveLoader.quality,
    ];
    this.#cleanups.push(...signals.map((signal) => signal.watch(show)), () => busy.show(null));
    show();
  }

  /** Shows the selected keys in the strip, ranked if the method ranks them. */
  #showKeys(strip: Strip): void {
    const { keys, ladder } = this.#state;
    strip.show(keys.value, null, ladder.value?.rank(keys.value) ?? null);
  }

  /** Updates timeline, player and strip when the state changes. */
  #connect(timeline: Timeline, player: Player | null, strip: Strip, editPanel: EditPanel): void {
    const state = this.#state;
    const showSelectedSwing = () =>
      timeline.show({ selectedSwing: state.swingsDraft.value && state.selectedSwing.value });
    const showActions = () => {
      // those of the capture are elsewhere in time after an edit that makes the clip longer or shorter
      timeline.actions = state.nFrames === state.clip.capture.nFrames ? (state.actions.value ?? []) : [];
    };
    timeline.bars = toBars(state.details.swings);
    this.#cleanups.push(
      state.keys.watchNow((keys) => {
        timeline.show({ keys });
        if (player) player.keys = keys;
        if (!editPanel.isOpen.value) this.#showKeys(strip);
        timeline.frame = state.frame.value;
      }),
      state.frame.watchNow((frame) => {
        if (state.playing.value && timeline.scale.reveal(frame)) timeline.paint();
        timeline.frame = frame;
        strip.frame = frame;
        if (player) player.frame = frame;
      }),
      state.length.watch((nFrames) => {
        timeline.nFrames = nFrames;
        showActions();
      }),
      state.actions.watch(() => showActions()),
      state.selectedSwing.watch(() => showSelectedSwing()),
      state.swingsDraft.watch(() => showSelectedSwing()),
      state.swing.watch((swing) => {
        if (player) player.arc = swing?.arc ?? null;
      }),
      state.curves.watchNow((curves) => {
        timeline.show({
          errors: curves?.errors ?? null,
          extremes: curves?.extremes ?? [],
          extremeParts: curves?.extremeParts ?? new Map(),
        });
        timeline.frame = state.frame.value;
        if (player) player.keyed = curves?.track ?? null;
      }),
      state.url.values.watchNow((settings) => {
        const { pins, range, method, view_mode: mode, ghosts, stepped, trails, follow } = settings;
        strip.isRanked = settings.rank;
        const arePinsUsed = supportsPins(state.clip.library, method);
        timeline.show({ pins: pins ?? [], range, arePinsUsed });
        const joints = trails.map((name) => state.jointNames.indexOf(name)).filter((joint) => joint >= 0);
        if (player) player.viewOptions = { mode, ghosts: ghosts ?? 0, isStepped: stepped, trails: joints, follow };
      }),
      theme.watchNow((now) => {
        if (player) player.theme = now;
        timeline.updateColours();
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
    toast(errorMessage(new ServerUnreachable()));
  }
}

function webGlNote(): HTMLElement {
  const text =
    "The 3D view needs WebGL, which this browser does not support. Keys, strip and timeline work without it.";
  return h("div", { class: "webgl-note", role: "note" }, h("p", { text }));
}
