/** A menu beside what was pressed. Arrows, Home, End and first letters move in it; Esc or a press elsewhere closes it. */

import { h } from "./dom";
import { type IconName, icon } from "./icons";
import { keySigns } from "./keys";

export interface MenuItem {
  title: string;
  run: () => void;
  icon?: IconName;
  keys?: string;
  /** A choice that is on or off. */
  checked?: boolean;
  disabled?: boolean;
  danger?: boolean;
}

type At = HTMLElement | { x: number; y: number };

const GAP_PX = 4;
const EDGE_PX = 8;

let shown: { at: At; close: () => void } | null = null;

/** Opens a menu at an element, or at a point of the window; pressed again, the element closes it. */
export function openMenu(at: At, label: string, items: (MenuItem | "line")[]): void {
  const wasHere = at instanceof HTMLElement && shown?.at === at;
  shown?.close();
  if (wasHere) return;
  const before = document.activeElement;
  // Not "auto": that closes by the release of the very right button that opened it.
  const menu = h("div", { class: "menu", role: "menu", "aria-label": label, popover: "manual" });
  const ended = new AbortController();
  const close = () => {
    ended.abort();
    shown = null;
    const inside = menu.contains(document.activeElement) || document.activeElement === document.body;
    menu.remove();
    if (at instanceof HTMLElement) at.setAttribute("aria-expanded", "false");
    if (inside && before instanceof HTMLElement) before.focus({ preventScroll: true });
  };
  menu.append(...items.map((item) => (item === "line" ? h("hr", { role: "separator" }) : itemElement(item, close))));
  const parent = document.querySelector("dialog:modal") ?? document.body;
  parent.append(menu);
  menu.showPopover();
  place(menu, at);
  if (at instanceof HTMLElement) at.setAttribute("aria-expanded", "true");
  (menu.querySelector<HTMLElement>("[aria-checked=true]") ?? itemsOf(menu)[0])?.focus();
  shown = { at, close };
  menu.addEventListener("keydown", (event) => move(menu, event, close));
  menu.addEventListener("contextmenu", (event) => event.preventDefault());
  listenForLeaving(menu, at, close, ended.signal);
}

/** Closes a menu when hands or eyes go elsewhere. */
function listenForLeaving(menu: HTMLElement, at: At, close: () => void, signal: AbortSignal): void {
  const isOutside = (target: EventTarget | null) => !(target instanceof Node && menu.contains(target));
  const pressed = ({ target }: Event) => {
    const onItsButton = at instanceof HTMLElement && target instanceof Node && at.contains(target); // the click closes it
    if (isOutside(target) && !onItsButton) close();
  };
  addEventListener("pointerdown", pressed, { signal, capture: true });
  addEventListener("wheel", ({ target }) => isOutside(target) && close(), { signal, capture: true, passive: true });
  for (const kind of ["blur", "resize", "popstate"]) addEventListener(kind, close, { signal });
}

function itemElement(item: MenuItem, close: () => void): HTMLElement {
  const isChoice = item.checked !== undefined;
  const sign = isChoice ? (item.checked ? "check" : "none") : item.icon;
  return h(
    "button",
    {
      type: "button",
      role: isChoice ? "menuitemradio" : "menuitem",
      "aria-checked": isChoice ? String(item.checked) : null,
      class: item.danger ? "danger" : "",
      disabled: item.disabled ?? false,
      tabindex: -1,
      on: {
        click: () => {
          close();
          item.run();
        },
      },
    },
    sign && icon(sign),
    h("span", { class: "wide", text: item.title }),
    item.keys ? keySigns(item.keys) : null,
  );
}

function itemsOf(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>("[role^=menuitem]:not(:disabled)")];
}

function move(menu: HTMLElement, event: KeyboardEvent, close: () => void): void {
  const items = itemsOf(menu);
  const at = items.indexOf(document.activeElement as HTMLElement);
  const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 };
  if (event.key === "Tab" || event.key === "Escape") {
    close();
    if (event.key === "Tab") return;
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  let next = steps[event.key];
  if (next === undefined && event.key.length === 1 && event.key !== " ") {
    const starts = (item?: HTMLElement) => item?.textContent?.trim().toLowerCase().startsWith(event.key.toLowerCase());
    const step = items.findIndex((_, index) => starts(items[(at + 1 + index) % items.length]));
    next = step < 0 ? undefined : at + 1 + step;
  }
  if (next === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  items[(next + items.length) % items.length]?.focus();
}

function place(menu: HTMLElement, at: At): void {
  const box = at instanceof HTMLElement ? at.getBoundingClientRect() : new DOMRect(at.x, at.y, 0, 0);
  const { width, height } = menu.getBoundingClientRect();
  const fitsRight = box.left + width <= innerWidth - EDGE_PX;
  const left = fitsRight ? box.left : Math.max(EDGE_PX, box.right - width);
  const below = box.bottom + GAP_PX;
  const top = below + height <= innerHeight - EDGE_PX ? below : Math.max(EDGE_PX, box.top - GAP_PX - height);
  menu.style.left = `${left}px`;
  menu.style.top = `${top}px`;
}
