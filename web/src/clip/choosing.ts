/** Which keys: the ladder is asked for once per recipe, and every number of keys is then read from it. */

import { ApiError, askJson, type Schema } from "../api/client";
import { messageOf, sentence } from "../ui/states";
import { toast } from "../ui/toast";
import { Curving } from "./curving";
import { Rungs } from "./ladder";
import { type Recipe, recipeOf, type Wanted, wantedOf } from "./recipe";
import type { ClipState } from "./state";

export { curvesOf } from "./curving";

export class Choosing {
  readonly curving: Curving;
  readonly #state: ClipState;
  readonly #stop: (() => void)[] = [];
  #recipe = "";
  #within = "";
  #abort = new AbortController();
  #withinAbort = new AbortController();
  #isHeld = false; // while a draft is shown, keys are its own

  constructor(state: ClipState) {
    this.#state = state;
    this.curving = new Curving(state.facts.hash, (curves) => {
      if (!this.#isHeld) state.curves.value = curves;
    });
    this.#stop.push(
      this.curving.worth.watch((worth) => {
        if (typeof worth === "object") toast(sentence(messageOf(worth.error)));
      }),
    );
    this.#stop.push(state.url.values.watch(() => this.update()));
    this.#stop.push(state.keys.watch(() => this.#follow()));
  }

  /** Takes what the settings say: asks for the ladder where the recipe is another one, else reads the keys from it. */
  update(): void {
    if (this.#isHeld) return;
    const { settings, facts, opened } = this.#state;
    const recipe = recipeOf(
      settings,
      facts,
      opened.library,
      this.#state.parts.map((part) => part.name),
    );
    const said = JSON.stringify(recipe);
    if (said !== this.#recipe) {
      this.#recipe = said;
      this.#within = "";
      void this.#climb(recipe);
    } else this.#choose(wantedOf(settings), recipe);
    this.#follow();
  }

  /** So many keys, at once. */
  choose(count: number): void {
    const rungs = this.#state.rungs.value;
    if (!rungs) return;
    const start = performance.now();
    this.#state.url.set({ keys: rungs.nearest(count), tolerance: null });
    requestAnimationFrame(() => performance.measure("keys-redrawn", { start, end: performance.now() }));
  }

  /** Keys of a draft take the place of chosen ones until it is let go. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.curving.forget();
    this.#within = "";
    if (!isHeld) this.update();
  }

  dispose(): void {
    this.#abort.abort();
    this.#withinAbort.abort();
    this.curving.forget();
    for (const stop of this.#stop) stop();
  }

  async #climb(recipe: Recipe): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const state = this.#state;
    state.choosing.value = "busy";
    try {
      const path = `/api/clips/${state.facts.hash}/ladder`;
      const rungs = new Rungs(await askJson<Schema["LadderSaid"]>(path, { told: recipe, signal }));
      if (signal.aborted) return;
      state.rungs.value = rungs;
      state.choosing.value = "ready";
      this.#choose(wantedOf(state.settings), recipe);
    } catch (error) {
      if (!signal.aborted) state.choosing.value = { error };
    }
  }

  #choose(wanted: Wanted, recipe: Recipe): void {
    const { rungs, keys } = this.#state;
    if (this.#isHeld || !rungs.value || this.#state.choosing.value !== "ready") return;
    if (wanted.by === "tolerance") void this.#keepWithin(wanted.mm, recipe);
    else {
      this.#within = "";
      const found = rungs.value.at(wanted.by === "keys" ? wanted.keys : rungs.value.usual);
      if (!isSame(found, keys.value)) keys.value = found;
    }
  }

  async #keepWithin(mm: number, recipe: Recipe): Promise<void> {
    const said = `${mm} ${JSON.stringify(recipe)}`;
    if (said === this.#within) return;
    this.#within = said;
    this.#withinAbort.abort();
    this.#withinAbort = new AbortController();
    const { signal } = this.#withinAbort;
    try {
      const path = `/api/clips/${this.#state.facts.hash}/within`;
      const found = await askJson<Schema["WithinSaid"]>(path, { told: { recipe, tolerance_mm: mm }, signal });
      if (!signal.aborted && !this.#isHeld && this.#within === said) this.#state.keys.value = found.frames;
    } catch (error) {
      if (signal.aborted) return;
      toast(sentence(error instanceof ApiError ? messageOf(error) : String(error)));
    }
  }

  /** The curves follow the keys. */
  #follow(): void {
    if (this.#isHeld) return;
    const frames = this.#state.keys.value;
    const { interpolation, residual } = this.#state.settings;
    if (frames.length) this.curving.ask({ frames, interpolation, residual: residual ?? 0 });
  }
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a === b || (a.length === b.length && a.every((frame, k) => frame === b[k]));
}
