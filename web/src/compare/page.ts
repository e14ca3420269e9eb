/** Methods side by side on one clip, each with as many keys: players that go together, marks, errors, a table. */

import "../clip/clip.css";
import "../timeline/timeline.css";
import "./compare.css";
import { putRight } from "../clip/address";
import { button, check, isOnButton, ownArrows } from "../clip/controls";
import { moreButton } from "../clip/more";
import { openingPage } from "../clip/opening";
import { Playing } from "../clip/playing";
import { facingOf, type Opened } from "../clip/state";
import { FIRST_VIEW, type View, viewNumbers, viewOf } from "../player/orbit";
import type { Page } from "../router";
import { register } from "../ui/commands";
import { fill, h } from "../ui/dom";
import { counted, timecode } from "../ui/format";
import { icon } from "../ui/icons";
import { openMenu } from "../ui/menu";
import { shell } from "../ui/shell";
import { theme } from "../ui/theme";
import { Axis } from "./axis";
import { Card } from "./card";
import { CompareState, MOST } from "./state";
import { asJson, table } from "./table";

export function mount(root: HTMLElement, address: URL): Page {
  const titleOf = (name: string) => `Methods on ${name}`;
  return openingPage(root, address, { title: "Compare", titleOf, view: CompareView });
}

class CompareView {
  readonly #state: CompareState;
  readonly #stops: (() => void)[] = [];
  readonly #cards = h("div", { class: "compare-cards" });
  readonly #axis: Axis;
  readonly #table = h("div", { class: "compare-table" });
  #shown: Card[] = [];
  #view: View;

  constructor(root: HTMLElement, opened: Opened, address: URL) {
    const state = new CompareState(opened, address);
    this.#state = state;
    const facing = facingOf(opened);
    this.#view = viewOf(state.settings.camera) ?? {
      ...FIRST_VIEW,
      azimuth: FIRST_VIEW.azimuth + facing,
    };
    const playing = new Playing(state);
    this.#axis = new Axis(state);
    const bar = this.#bar(playing);
    fill(root, h("div", { class: "compare" }, bar, this.#cards, this.#axis.element, this.#table));
    fill(shell.slot, this.#heading());
    this.#stops.push(
      state.contenders.show(() => this.#rebuild()),
      state.frame.watch((frame) => {
        this.#axis.place();
        for (const card of this.#shown) card.frame = frame;
      }),
      state.url.values.watch(() => this.#look()),
      theme.watch(() => {
        this.#axis.paint();
        this.#look();
      }),
      register(this.#commands(playing)),
      () => {
        state.playing.value = false;
        playing.dispose();
        for (const card of this.#shown) card.dispose();
        this.#axis.dispose();
        state.dispose();
      },
    );
  }

  follow(url: URL): void {
    this.#state.url.follow(url);
    putRight(this.#state.url, url.search, this.#state.fixes());
  }

  dispose(): void {
    for (const stop of this.#stops) stop();
  }

  #heading(): HTMLElement {
    const { facts } = this.#state.opened;
    const back = h(
      "a",
      { class: "button back", href: `/clips/${facts.hash}`, "aria-label": "To the clip" },
      icon("back"),
      h("span", { class: "wide-only", text: "To the clip" }),
    );
    const name = h(
      "div",
      { class: "clip-name" },
      h("h1", { text: facts.name }),
      h("p", { text: "Methods side by side" }),
    );
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

  #bar(playing: Playing): HTMLElement {
    const state = this.#state;
    const slider = h("input", { type: "range", min: 2, max: 60, step: 1, "aria-label": "Number of keys" });
    ownArrows(slider);
    slider.addEventListener("input", () => state.url.set({ keys: Number(slider.value) }));
    const said = h("output", { class: "keys-word" });
    const auto = button("Auto", null, () => state.url.set({ keys: null }), "small");
    auto.title = "As many keys as the curve of errors says";
    const showKeys = () => {
      const { keys } = state;
      slider.max = String(Math.max(60, keys ?? 0));
      slider.value = String(keys ?? 2);
      slider.disabled = keys === null;
      said.textContent = keys === null ? "… keys" : counted(keys, "key");
      slider.setAttribute("aria-valuetext", said.textContent);
      auto.setAttribute("aria-pressed", String(state.settings.keys === null));
    };
    const play = button("Play", "play", () => playing.toggle(), "icon-only primary");
    const time = h("span", { class: "time" });
    const over = check("Over the capture (grey)", (isOn) => state.url.set({ over: isOn }));
    const add = button("Add a method", "plus", () => openMenu(add, "Methods", this.#offered()), "small");
    add.setAttribute("aria-haspopup", "menu");
    this.#stops.push(
      state.url.values.show((settings) => {
        showKeys();
        over.set(settings.over);
        add.disabled = state.names.length >= Math.min(MOST, state.opened.library.methods.length);
      }),
      state.auto.watch(() => {
        showKeys();
        this.#changed();
      }),
      state.playing.show((isPlaying) => {
        fill(play, icon(isPlaying ? "pause" : "play"));
        play.setAttribute("aria-label", isPlaying ? "Pause" : "Play");
      }),
      state.frame.show((frame) => {
        time.textContent = `${frame} · ${timecode(frame / state.fps)}`;
      }),
    );
    return h(
      "div",
      { class: "compare-bar" },
      play,
      time,
      h("div", { class: "compare-keys" }, said, slider, auto),
      over.element,
      add,
    );
  }

  #offered() {
    const { library } = this.#state.opened;
    const { names } = this.#state;
    return library.methods
      .filter(({ name }) => !names.includes(name))
      .map(({ name }) => ({ title: name, run: () => this.#state.url.set({ methods: [...names, name] }) }));
  }

  #rebuild(): void {
    const state = this.#state;
    const old = this.#shown;
    this.#shown = state.contenders.value.map((contender, n) => {
      const known = old.find((card) => card.contender === contender);
      const card =
        known ??
        new Card(
          contender,
          state,
          this.#view,
          (from) => this.#turned(from),
          () => this.#changed(),
        );
      card.place(n);
      return card;
    });
    for (const card of old) if (!this.#shown.includes(card)) card.dispose();
    fill(this.#cards, ...this.#shown.map((card) => card.element));
    const isTall = this.#shown.length > 3; // two rows
    const columns = isTall ? Math.ceil(this.#shown.length / 2) : this.#shown.length;
    this.#cards.style.setProperty("--columns", String(columns));
    this.#cards.style.setProperty("--card-height", isTall ? "clamp(180px, 26vh, 300px)" : "clamp(200px, 40vh, 420px)");
    this.#look();
    this.#axis.lay();
    this.#changed();
  }

  #look(): void {
    for (const card of this.#shown) card.look(theme.value, this.#state.settings.over);
  }

  #changed(): void {
    this.#axis.paint();
    fill(this.#table, table(this.#state), asJson(this.#state));
  }

  /** All cameras go with the one that was turned. */
  #turned(from: Card): void {
    const { view } = from;
    this.#view = view;
    for (const card of this.#shown) if (card !== from) card.view = view;
    this.#state.url.set({ camera: viewNumbers(view) });
  }

  #commands(playing: Playing) {
    const state = this.#state;
    const step = (frames: number) => () => state.goTo(state.frame.value + frames);
    const keys = (by: number) => () => state.keys && state.url.set({ keys: Math.max(2, state.keys + by) });
    const all = [
      { title: "Play or pause", keys: "Space", run: () => playing.toggle(), enabled: () => !isOnButton() },
      { title: "One frame on", keys: ["ArrowRight", "."], run: step(1) },
      { title: "One frame back", keys: ["ArrowLeft", ","], run: step(-1) },
      { title: "Ten frames on", keys: "Shift+ArrowRight", run: step(10) },
      { title: "Ten frames back", keys: "Shift+ArrowLeft", run: step(-10) },
      { title: "First frame", keys: "Home", run: () => state.goTo(0) },
      { title: "Last frame", keys: "End", run: () => state.goTo(state.nFrames - 1) },
      { title: "One key more", keys: "+", run: keys(1) },
      { title: "One key less", keys: "-", run: keys(-1) },
      { title: "As many keys as the curve says (auto)", keys: "A", run: () => state.url.set({ keys: null }) },
    ];
    return all.map((command) => ({ ...command, group: "Compare" }));
  }
}
