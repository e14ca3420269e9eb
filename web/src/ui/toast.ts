/** Short news at the foot of the page, with one thing to do about it: "3 clips removed. Undo". */

import { h } from "./dom";
import { icon } from "./icons";

export interface ToastAction {
  title: string;
  run: () => void;
}

const STAYS_MS = 5000;
const STAYS_WITH_ACTION_MS = 12_000;
const MOST = 3;

const region = h("div", { class: "toasts", role: "status", "aria-live": "polite", "aria-atomic": "false" });
const open: { close: () => void }[] = [];

export function toastRegion(): HTMLElement {
  return region;
}

/** Says `text`; what comes back closes it. It stays while it is hovered or has the focus. */
export function toast(text: string, action?: ToastAction): () => void {
  const does = (run: () => void) => () => {
    close();
    run();
  };
  const act = action && h("button", { class: "button small", on: { click: does(action.run) }, text: action.title });
  const shut = h("button", { class: "button small icon-only", "aria-label": "Close", on: { click: () => close() } });
  shut.append(icon("cross"));
  const element = h("div", { class: "toast" }, h("p", { text }), act, shut);
  let timer = 0;
  const wait = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => close(), action ? STAYS_WITH_ACTION_MS : STAYS_MS);
  };
  const entry = { close };
  function close(): void {
    clearTimeout(timer);
    element.remove();
    const at = open.indexOf(entry);
    if (at >= 0) open.splice(at, 1);
  }
  for (const kind of ["pointerenter", "focusin"] as const) element.addEventListener(kind, () => clearTimeout(timer));
  for (const kind of ["pointerleave", "focusout"] as const) element.addEventListener(kind, wait);
  open.push(entry);
  if (open.length > MOST) open[0]?.close();
  region.append(element);
  wait();
  return close;
}
