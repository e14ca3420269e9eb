/** How far something has come. */

import { h } from "./dom";

export interface Progress {
  element: HTMLElement;
  /** From 0 to 1; null: nobody knows, but it goes on. */
  set(part: number | null): void;
}

export function progressBar(label: string): Progress {
  const element = h("div", { class: "progress", role: "progressbar", "aria-label": label, "aria-valuemin": 0 }, h("i"));
  element.setAttribute("aria-valuemax", "100");
  const set = (part: number | null) => {
    element.classList.toggle("unknown", part === null);
    element.style.setProperty("--part", String(part ?? 0));
    if (part === null) element.removeAttribute("aria-valuenow");
    else element.setAttribute("aria-valuenow", String(Math.round(100 * part)));
  };
  set(0);
  return { element, set };
}
