/** One method among others: its figure, what it is called, how well it does. */

import { button } from "../clip/controls";
import type { View } from "../player/orbit";
import { Player } from "../player/player";
import { fill, h } from "../ui/dom";
import { counted, millimetres } from "../ui/format";
import { messageOf, sentence } from "../ui/states";
import type { Theme } from "../ui/theme";
import { LINES } from "./axis";
import type { CompareState, Contender } from "./state";

export class Card {
  readonly element: HTMLElement;
  readonly #player: Player | null;
  readonly #name: HTMLElement;
  readonly #says = h("p", { class: "note" });
  readonly #stops: (() => void)[];
  #isFollowing = false;

  constructor(
    readonly contender: Contender,
    state: CompareState,
    view: View,
    turned: (from: Card) => void,
    changed: () => void,
  ) {
    const { facts, endJoints, hasFace, capture } = state.opened;
    const summary = state.opened.library.methods.find(({ name }) => name === contender.method)?.summary ?? "";
    this.#name = h("h2", { text: contender.method, title: summary });
    const away = button(
      `Leave ${contender.method} out`,
      "cross",
      () => {
        state.url.set({ methods: state.names.filter((name) => name !== contender.method) });
      },
      "quiet icon-only small",
    );
    this.#player = playerOf({ joints: facts.joints, endJoints, hasFace, capture, fps: facts.fps }, view, () => {
      if (!this.#isFollowing) turned(this);
    });
    const head = h("header", {}, this.#name, this.#says, away);
    this.element = h("article", { class: "compare-card", "aria-label": contender.method }, head, this.#player?.element);
    this.frame = state.frame.value;
    this.#stops = [
      contender.keys.show((keys) => {
        if (this.#player) this.#player.keys = keys;
        changed();
      }),
      contender.curves.show((curves) => {
        if (this.#player) this.#player.keyed = curves?.track ?? null;
        this.#say();
        changed();
      }),
      contender.error.show(() => this.#say()),
      contender.isRough.watch(() => {
        this.#say();
        changed();
      }),
    ];
  }

  get view(): View {
    return this.#player!.orbit.view;
  }

  set view(view: View) {
    if (!this.#player) return;
    this.#isFollowing = true;
    this.#player.orbit.view = view;
    this.#isFollowing = false;
  }

  set frame(frame: number) {
    if (this.#player) this.#player.frame = frame;
  }

  look(theme: Theme, over: boolean): void {
    if (!this.#player) return;
    this.#player.theme = theme;
    this.#player.look = { shown: over ? "over" : "keys", ghosts: 0, keysOnly: false, trails: [], follow: true };
  }

  place(n: number): void {
    this.#name.style.color = LINES[n % LINES.length]!;
  }

  dispose(): void {
    for (const stop of this.#stops) stop();
    this.#player?.dispose();
  }

  #say(): void {
    const { error, curves, keys, isRough } = this.contender;
    const about = isRough.value ? "≈ " : "";
    const score = curves.value?.score;
    const text = error.value
      ? sentence(messageOf(error.value))
      : score
        ? `${counted(keys.value.length, "key")}, mean ${about}${millimetres(score.mean_mm)}, worst ${about}${millimetres(score.max_mm)}`
        : "Choosing keys…";
    fill(this.#says, text);
  }
}

function playerOf(...given: ConstructorParameters<typeof Player>): Player | null {
  try {
    return new Player(...given);
  } catch (error) {
    console.warn(error); // no WebGL: marks, errors and the table are there without it
    return null;
  }
}
