/** The card of one method: its figure, its name and its errors. */

import { button } from "../clip/controls";
import type { View } from "../player/orbit";
import { Player } from "../player/player";
import { fill, h } from "../ui/dom";
import { countOf, millimetres } from "../ui/format";
import { errorMessage, toSentence } from "../ui/states";
import type { Theme } from "../ui/theme";
import { METHOD_COLOURS } from "./axis";
import type { CompareState, MethodRun } from "./state";

export class MethodCard {
  readonly element: HTMLElement;
  readonly #player: Player | null;
  readonly #name: HTMLElement;
  readonly #summary = h("p", { class: "note" });
  readonly #cleanups: (() => void)[];
  #isFollowing = false;

  constructor(
    readonly run: MethodRun,
    state: CompareState,
    view: View,
    onCameraChange: (from: MethodCard) => void,
    onChange: () => void,
  ) {
    const { details, endJoints, hasFace, capture } = state.clip;
    const summary = state.clip.library.methods.find(({ name }) => name === run.method)?.summary ?? "";
    this.#name = h("h2", { text: run.method, title: summary });
    const removeButton = button(
      `Remove ${run.method}`,
      "cross",
      () => {
        state.url.set({ methods: state.methodNames.filter((name) => name !== run.method) });
      },
      "quiet icon-only small",
    );
    this.#player = createPlayer({ joints: details.joints, endJoints, hasFace, capture, fps: details.fps }, view, () => {
      if (!this.#isFollowing) onCameraChange(this);
    });
    const head = h("header", {}, this.#name, this.#summary, removeButton);
    this.element = h("article", { class: "compare-card", "aria-label": run.method }, head, this.#player?.element);
    this.frame = state.frame.value;
    this.#cleanups = [
      run.keys.watchNow((keys) => {
        if (this.#player) this.#player.keys = keys;
        onChange();
      }),
      run.curves.watchNow((curves) => {
        if (this.#player) this.#player.keyed = curves?.track ?? null;
        this.#updateSummary();
        onChange();
      }),
      run.error.watchNow(() => this.#updateSummary()),
      run.isApproximate.watch(() => {
        this.#updateSummary();
        onChange();
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

  setView(theme: Theme, overlay: boolean): void {
    if (!this.#player) return;
    this.#player.theme = theme;
    this.#player.viewOptions = {
      mode: overlay ? "overlay" : "keys",
      ghosts: 0,
      isStepped: false,
      trails: [],
      follow: true,
    };
  }

  setPosition(n: number): void {
    this.#name.style.color = METHOD_COLOURS[n % METHOD_COLOURS.length]!;
  }

  dispose(): void {
    for (const stop of this.#cleanups) stop();
    this.#player?.dispose();
  }

  #updateSummary(): void {
    const { error, curves, keys, isApproximate } = this.run;
    const prefix = isApproximate.value ? "≈ " : "";
    const score = curves.value?.score;
    const text = error.value
      ? toSentence(errorMessage(error.value))
      : score
        ? `${countOf(keys.value.length, "key")}, error: mean ${prefix}${millimetres(score.mean_mm)}, max ${prefix}${millimetres(score.max_mm)}`
        : "Selecting keys…";
    fill(this.#summary, text);
  }
}

function createPlayer(...options: ConstructorParameters<typeof Player>): Player | null {
  try {
    return new Player(...options);
  } catch (error) {
    console.warn(error); // without WebGL, keys, errors and the table are still there
    return null;
  }
}
