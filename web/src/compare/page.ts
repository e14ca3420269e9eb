/** Compares methods on one clip with the same number of keys: synchronized players, keys, errors and a table. */

import "../clip/clip.css";
import "../timeline/timeline.css";
import "./compare.css";
import { button, captureArrowKeys, checkbox, isButtonFocused } from "../clip/controls";
import { mountClipPage } from "../clip/load_clip";
import { moreButton } from "../clip/more_menu";
import { Playback } from "../clip/playback";
import { facingDegrees, type LoadedClip } from "../clip/state";
import { correctUrl } from "../clip/url_corrections";
import { DEFAULT_VIEW, parseView, type View, viewToNumbers } from "../player/orbit";
import type { Page } from "../router";
import { register } from "../ui/commands";
import { fill, h } from "../ui/dom";
import { countOf, timecode } from "../ui/format";
import { icon } from "../ui/icons";
import { openMenu } from "../ui/menu";
import { shell } from "../ui/shell";
import { theme } from "../ui/theme";
import { ErrorAxis } from "./axis";
import { MethodCard } from "./card";
import { CompareState, MAX_METHODS } from "./state";
import { buildTable, jsonLink } from "./table";

export function mount(root: HTMLElement, address: URL): Page {
  const titleOf = (name: string) => `Compare methods: ${name}`;
  return mountClipPage(root, address, { title: "Compare", titleOf, view: CompareView });
}

class CompareView {
  readonly #state: CompareState;
  readonly #cleanups: (() => void)[] = [];
  readonly #cards = h("div", { class: "compare-cards" });
  readonly #axis: ErrorAxis;
  readonly #table = h("div", { class: "compare-table" });
  #methodCards: MethodCard[] = [];
  #view: View;

  constructor(root: HTMLElement, clip: LoadedClip, address: URL) {
    const state = new CompareState(clip, address);
    this.#state = state;
    const facingDeg = facingDegrees(clip);
    this.#view = parseView(state.settings.camera) ?? {
      ...DEFAULT_VIEW,
      azimuth: DEFAULT_VIEW.azimuth + facingDeg,
    };
    const playback = new Playback(state);
    this.#axis = new ErrorAxis(state);
    const bar = this.#createBar(playback);
    fill(root, h("div", { class: "compare" }, bar, this.#cards, this.#axis.element, this.#table));
    fill(shell.slot, this.#createHeading());
    this.#cleanups.push(
      state.runs.watchNow(() => this.#updateCards()),
      state.frame.watch((frame) => {
        this.#axis.placePlayhead();
        for (const card of this.#methodCards) card.frame = frame;
      }),
      state.url.values.watch(() => this.#updateView()),
      theme.watch(() => {
        this.#axis.paint();
        this.#updateView();
      }),
      register(this.#commands(playback)),
      () => {
        state.playing.value = false;
        playback.dispose();
        for (const card of this.#methodCards) card.dispose();
        this.#axis.dispose();
        state.dispose();
      },
    );
  }

  onUrlChange(url: URL): void {
    this.#state.url.onUrlChange(url);
    correctUrl(this.#state.url, url.search, this.#state.findCorrections());
  }

  dispose(): void {
    for (const stop of this.#cleanups) stop();
  }

  #createHeading(): HTMLElement {
    const { details } = this.#state.clip;
    const back = h(
      "a",
      { class: "button back", href: `/clips/${details.hash}`, "aria-label": "Back to the clip" },
      icon("back"),
      h("span", { class: "wide-only", text: "Back to the clip" }),
    );
    const name = h("div", { class: "clip-name" }, h("h1", { text: details.name }), h("p", { text: "Compare methods" }));
    return h(
      "div",
      { class: "clip-heading" },
      name,
      h(
        "div",
        { class: "clip-actions" },
        back,
        moreButton(() => []),
      ),
    );
  }

  #createBar(playback: Playback): HTMLElement {
    const state = this.#state;
    const slider = h("input", { type: "range", min: 2, max: 60, step: 1, "aria-label": "Number of keys" });
    captureArrowKeys(slider);
    slider.addEventListener("input", () => state.url.set({ keys: Number(slider.value) }));
    const keysLabel = h("output", { class: "keys-unit" });
    const auto = button("Auto", null, () => state.url.set({ keys: null }), "small");
    auto.title = "Use the fewest keys whose curves stay within 1 % of the height";
    const showKeys = () => {
      const { keys } = state;
      slider.max = String(Math.max(60, keys ?? 0));
      slider.value = String(keys ?? 2);
      slider.disabled = keys === null;
      keysLabel.textContent = keys === null ? "Selecting keys…" : countOf(keys, "key");
      slider.setAttribute("aria-valuetext", keysLabel.textContent);
      auto.setAttribute("aria-pressed", String(state.settings.keys === null));
    };
    const play = button("Play", "play", () => playback.toggle(), "icon-only primary");
    const time = h("span", { class: "time" });
    const overlay = checkbox("Overlay the capture (grey)", (isOn) => state.url.set({ overlay: isOn }));
    const add = button("Add a method", "plus", () => openMenu(add, "Methods", this.#methodItems()), "small");
    add.setAttribute("aria-haspopup", "menu");
    this.#cleanups.push(
      state.url.values.watchNow((settings) => {
        showKeys();
        overlay.set(settings.overlay);
        add.disabled = state.methodNames.length >= Math.min(MAX_METHODS, state.clip.library.methods.length);
      }),
      state.automaticKeys.watch(() => {
        showKeys();
        this.#updateResults();
      }),
      state.playing.watchNow((isPlaying) => {
        fill(play, icon(isPlaying ? "pause" : "play"));
        play.setAttribute("aria-label", isPlaying ? "Pause" : "Play");
      }),
      state.frame.watchNow((frame) => {
        time.textContent = `Frame ${frame} · ${timecode(frame / state.fps)}`;
      }),
    );
    return h(
      "div",
      { class: "compare-bar" },
      play,
      time,
      h("div", { class: "compare-keys" }, keysLabel, slider, auto),
      overlay.element,
      add,
    );
  }

  #methodItems() {
    const { library } = this.#state.clip;
    const { methodNames } = this.#state;
    return library.methods
      .filter(({ name }) => !methodNames.includes(name))
      .map(({ name }) => ({ title: name, run: () => this.#state.url.set({ methods: [...methodNames, name] }) }));
  }

  #updateCards(): void {
    const state = this.#state;
    const old = this.#methodCards;
    this.#methodCards = state.runs.value.map((run, n) => {
      const existing = old.find((card) => card.run === run);
      const card =
        existing ??
        new MethodCard(
          run,
          state,
          this.#view,
          (from) => this.#syncCameras(from),
          () => this.#updateResults(),
        );
      card.setPosition(n);
      return card;
    });
    for (const card of old) if (!this.#methodCards.includes(card)) card.dispose();
    fill(this.#cards, ...this.#methodCards.map((card) => card.element));
    const isTall = this.#methodCards.length > 3; // two rows
    const columns = isTall ? Math.ceil(this.#methodCards.length / 2) : this.#methodCards.length;
    this.#cards.style.setProperty("--columns", String(columns));
    this.#cards.style.setProperty("--card-height", isTall ? "clamp(180px, 26vh, 300px)" : "clamp(200px, 40vh, 420px)");
    this.#updateView();
    this.#axis.layOut();
    this.#updateResults();
  }

  #updateView(): void {
    for (const card of this.#methodCards) card.setView(theme.value, this.#state.settings.overlay);
  }

  #updateResults(): void {
    this.#axis.paint();
    fill(this.#table, buildTable(this.#state), jsonLink(this.#state));
  }

  /** Turns all cameras with the one that was turned. */
  #syncCameras(from: MethodCard): void {
    const { view } = from;
    this.#view = view;
    for (const card of this.#methodCards) if (card !== from) card.view = view;
    this.#state.url.set({ camera: viewToNumbers(view) });
  }

  #commands(playback: Playback) {
    const state = this.#state;
    const step = (frames: number) => () => state.goTo(state.frame.value + frames);
    const keys = (by: number) => () => state.keys && state.url.set({ keys: Math.max(2, state.keys + by) });
    const all = [
      { title: "Play or pause", keys: "Space", run: () => playback.toggle(), enabled: () => !isButtonFocused() },
      { title: "Next frame", keys: ["ArrowRight", "."], run: step(1) },
      { title: "Previous frame", keys: ["ArrowLeft", ","], run: step(-1) },
      { title: "Forward ten frames", keys: "Shift+ArrowRight", run: step(10) },
      { title: "Back ten frames", keys: "Shift+ArrowLeft", run: step(-10) },
      { title: "First frame", keys: "Home", run: () => state.goTo(0) },
      { title: "Last frame", keys: "End", run: () => state.goTo(state.nFrames - 1) },
      { title: "One more key", keys: "+", run: keys(1) },
      { title: "One fewer key", keys: "-", run: keys(-1) },
      { title: "Automatic number of keys", keys: "A", run: () => state.url.set({ keys: null }) },
    ];
    return all.map((command) => ({ ...command, group: "Compare" }));
  }
}
