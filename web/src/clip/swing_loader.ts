/** Loads the selected swing of the displayed draft: its angles, its axis and its arc. */

import { fetchArrays, type Schema } from "../api/client";
import type { SwingArcData } from "../player/swing_arc";
import { LatestOnly } from "./latest_only";
import type { ClipState, SelectedSwing, SwingsDraft } from "./state";

export type SwingInfo = Schema["SwingHeader"];

export interface LoadedSwing {
  info: SwingInfo;
  arc: SwingArcData;
}

interface SwingRequest {
  draft: SwingsDraft;
  joint: string;
  index: number;
}

export class SwingLoader {
  readonly #state: ClipState;
  readonly #requests: LatestOnly<SwingRequest, { swing: LoadedSwing; request: SwingRequest }>;
  readonly #stop: (() => void)[];

  constructor(state: ClipState) {
    this.#state = state;
    const path = `/api/clips/${state.details.hash}/swing`;
    this.#requests = new LatestOnly(
      async (first, signal) => {
        await null; // by then draft and selection have both changed
        const request = this.#currentRequest() ?? first;
        const { header, arrays } = await fetchArrays<SwingInfo>(path, { body: request, signal });
        const { arc, axis, origins, rotations } = arrays as Record<string, Float32Array>;
        const { start, end } = header;
        const data = { arc: arc!, axis: axis!, origins: origins!, rotations: rotations!, start, end };
        return { swing: { info: header, arc: data }, request };
      },
      ({ swing, request }) => {
        const current = this.#currentRequest();
        if (current?.draft === request.draft && isSame(current, request)) state.swing.value = swing;
      },
      (error) => {
        console.warn(error);
        state.swing.value = null;
      },
    );
    const update = () => this.#update();
    this.#stop = [state.selectedSwing.watch(update), state.swingsDraft.watch(update)];
  }

  dispose(): void {
    this.#requests.cancel();
    for (const stop of this.#stop) stop();
  }

  #currentRequest(): SwingRequest | null {
    const { selectedSwing, swingsDraft } = this.#state;
    return selectedSwing.value && swingsDraft.value && { draft: swingsDraft.value, ...selectedSwing.value };
  }

  #update(): void {
    const request = this.#currentRequest();
    if (request) this.#requests.submit(request);
    else {
      this.#requests.cancel();
      this.#state.swing.value = null;
    }
  }
}

function isSame(a: SelectedSwing, b: SelectedSwing): boolean {
  return a.joint === b.joint && a.index === b.index;
}
