/** A dialog over the page. The browser keeps the focus inside, closes it by Esc and gives the focus back. */

import { type Child, fill, h } from "./dom";
import { icon } from "./icons";

export interface DialogOptions {
  title: string;
  body: Child[];
  /** Buttons at its foot. */
  actions?: HTMLElement[];
  widthPx?: number;
  /** Without a head: the title is then only heard. */
  bare?: boolean;
  onClose?: () => void;
}

export interface OpenDialog {
  element: HTMLDialogElement;
  close(): void;
}

let made = 0;

export function openDialog({ title, body, actions = [], widthPx, bare = false, onClose }: DialogOptions): OpenDialog {
  const name = `dialog-${++made}`;
  const element = h("dialog", { class: bare ? "dialog bare" : "dialog", "aria-labelledby": name });
  const shut = h("button", { class: "button quiet icon-only", type: "button", "aria-label": "Close" }, icon("cross"));
  shut.addEventListener("click", () => element.close());
  const heading = h("h2", { id: name, text: title, class: bare ? "unseen" : "" });
  if (bare) fill(element, heading, ...body);
  else {
    const foot = actions.length > 0 && h("div", { class: "dialog-foot" }, ...actions);
    fill(element, h("div", { class: "dialog-head" }, heading, shut), h("div", { class: "dialog-body" }, ...body), foot);
  }
  if (widthPx) element.style.setProperty("--dialog-width", `${widthPx}px`);
  element.addEventListener("pointerdown", (event) => {
    if (event.target === element && isOutside(element, event)) element.close();
  });
  element.addEventListener("close", () => {
    element.remove();
    onClose?.();
  });
  document.body.append(element);
  element.showModal();
  return { element, close: () => element.close() };
}

function isOutside(element: Element, { clientX, clientY }: PointerEvent): boolean {
  const box = element.getBoundingClientRect();
  return clientX < box.left || clientX > box.right || clientY < box.top || clientY > box.bottom;
}
