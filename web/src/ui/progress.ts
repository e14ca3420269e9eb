/** A progress bar. */

import { h } from "./dom";

export interface Progress {
  element: HTMLElement;
  /** From 0 to 1; null if the progress is unknown. */
  set(fraction: number | null): void;
}

export function progressBar(label: string): Progress {
  const element = h("div", { class: "progress", role: "progressbar", "aria-label": label, "aria-valuemin": 0 }, h("i"));
  element.setAttribute("aria-valuemax", "100");
  const set = (fraction: number | null) => {
    element.classList.toggle("indeterminate", fraction === null);
    element.style.setProperty("--fraction", String(fraction ?? 0));
    if (fraction === null) element.removeAttribute("aria-valuenow");
    else element.setAttribute("aria-valuenow", String(Math.round(100 * fraction)));
  };
  set(0);
  return { element, set };
}
