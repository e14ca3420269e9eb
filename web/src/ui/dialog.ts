/** A modal dialog. The browser traps the focus, closes the dialog on Esc and restores the focus. */

import { type Child, fill, h } from "./dom";
import { icon } from "./icons";

export interface DialogOptions {
  title: string;
  body: Child[];
  /** Buttons at the bottom. */
  actions?: HTMLElement[];
  widthPx?: number;
  /** Without a header: the title is for screen readers only. */
  bare?: boolean;
  onClose?: () => void;
}

export interface OpenDialog {
  element: HTMLDialogElement;
  close(): void;
}

let dialogCount = 0;

export function openDialog({ title, body, actions = [], widthPx, bare = false, onClose }: DialogOptions): OpenDialog {
  const headingId = `dialog-${++dialogCount}`;
  const element = h("dialog", { class: bare ? "dialog bare" : "dialog", "aria-labelledby": headingId });
  const closeButton = h(
    "button",
    { class: "button quiet icon-only", type: "button", "aria-label": "Close" },
    icon("cross"),
  );
  closeButton.addEventListener("click", () => element.close());
  const heading = h("h2", { id: headingId, text: title, class: bare ? "visually-hidden" : "" });
  if (bare) fill(element, heading, ...body);
  else {
    const footer = actions.length > 0 && h("div", { class: "dialog-foot" }, ...actions);
    fill(
      element,
      h("div", { class: "dialog-head" }, heading, closeButton),
      h("div", { class: "dialog-body" }, ...body),
      footer,
    );
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
