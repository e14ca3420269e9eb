/** Short messages at the bottom of the page, with one optional action: "3 clips moved to the trash. Undo". */

import { h } from "./dom";
import { icon } from "./icons";

export interface ToastAction {
  title: string;
  run: () => void;
}

const DURATION_MS = 5000;
const DURATION_WITH_ACTION_MS = 12_000;
const MAX_TOASTS = 3;

const region = h("div", { class: "toasts", role: "status", "aria-live": "polite", "aria-atomic": "false" });
const openToasts: { close: () => void }[] = [];

export function toastRegion(): HTMLElement {
  return region;
}

/** Shows a message. The returned function closes it. It does not close while it is hovered or focused. */
export function toast(text: string, action?: ToastAction): () => void {
  const closeAndRun = (run: () => void) => () => {
    close();
    run();
  };
  const actionButton =
    action && h("button", { class: "button small", on: { click: closeAndRun(action.run) }, text: action.title });
  const closeButton = h("button", {
    class: "button small icon-only",
    "aria-label": "Close",
    on: { click: () => close() },
  });
  closeButton.append(icon("cross"));
  const element = h("div", { class: "toast" }, h("p", { text }), actionButton, closeButton);
  let timer = 0;
  const startTimer = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => close(), action ? DURATION_WITH_ACTION_MS : DURATION_MS);
  };
  const entry = { close };
  function close(): void {
    clearTimeout(timer);
    element.remove();
    const at = openToasts.indexOf(entry);
    if (at >= 0) openToasts.splice(at, 1);
  }
  for (const kind of ["pointerenter", "focusin"] as const) element.addEventListener(kind, () => clearTimeout(timer));
  for (const kind of ["pointerleave", "focusout"] as const) element.addEventListener(kind, startTimer);
  openToasts.push(entry);
  if (openToasts.length > MAX_TOASTS) openToasts[0]?.close();
  region.append(element);
  startTimer();
  return close;
}
