/** A popup menu. Arrows, Home, End and first letters move in it; Esc or a press elsewhere closes it. */

import { h } from "./dom";
import { type IconName, icon } from "./icons";
import { keyLabels } from "./keys";

export interface MenuItem {
  title: string;
  run: () => void;
  icon?: IconName;
  keys?: string;
  /** An option that is on or off. */
  checked?: boolean;
  disabled?: boolean;
  danger?: boolean;
}

type Anchor = HTMLElement | { x: number; y: number };

const GAP_PX = 4;
const EDGE_PX = 8;

let openedMenu: { anchor: Anchor; close: () => void } | null = null;

/** Opens a menu at an element or a point of the window. If it is already open there, it closes. */
export function openMenu(anchor: Anchor, label: string, items: (MenuItem | "line")[]): void {
  const wasOpenHere = anchor instanceof HTMLElement && openedMenu?.anchor === anchor;
  openedMenu?.close();
  if (wasOpenHere) return;
  const previousFocus = document.activeElement;
  // Not "auto": releasing the right button that opened the menu would close it.
  const menu = h("div", { class: "menu", role: "menu", "aria-label": label, popover: "manual" });
  const abort = new AbortController();
  const close = () => {
    abort.abort();
    openedMenu = null;
    const hadFocus = menu.contains(document.activeElement) || document.activeElement === document.body;
    menu.remove();
    if (anchor instanceof HTMLElement) anchor.setAttribute("aria-expanded", "false");
    if (hadFocus && previousFocus instanceof HTMLElement) previousFocus.focus({ preventScroll: true });
  };
  menu.append(...items.map((item) => (item === "line" ? h("hr", { role: "separator" }) : itemElement(item, close))));
  const parent = document.querySelector("dialog:modal") ?? document.body;
  parent.append(menu);
  menu.showPopover();
  positionMenu(menu, anchor);
  if (anchor instanceof HTMLElement) anchor.setAttribute("aria-expanded", "true");
  (menu.querySelector<HTMLElement>("[aria-checked=true]") ?? enabledItems(menu)[0])?.focus();
  openedMenu = { anchor, close };
  menu.addEventListener("keydown", (event) => handleKey(menu, event, close));
  menu.addEventListener("contextmenu", (event) => event.preventDefault());
  closeOnLeave(menu, anchor, close, abort.signal);
}

/** Closes the menu on a press, scroll or resize elsewhere. */
function closeOnLeave(menu: HTMLElement, anchor: Anchor, close: () => void, signal: AbortSignal): void {
  const isOutside = (target: EventTarget | null) => !(target instanceof Node && menu.contains(target));
  const onPointerDown = ({ target }: Event) => {
    const isOnAnchor = anchor instanceof HTMLElement && target instanceof Node && anchor.contains(target); // its click closes the menu
    if (isOutside(target) && !isOnAnchor) close();
  };
  addEventListener("pointerdown", onPointerDown, { signal, capture: true });
  addEventListener("wheel", ({ target }) => isOutside(target) && close(), { signal, capture: true, passive: true });
  for (const kind of ["blur", "resize", "popstate"]) addEventListener(kind, close, { signal });
}

function itemElement(item: MenuItem, close: () => void): HTMLElement {
  const isChoice = item.checked !== undefined;
  const iconName = isChoice ? (item.checked ? "check" : "none") : item.icon;
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
    iconName && icon(iconName),
    h("span", { class: "grow", text: item.title }),
    item.keys ? keyLabels(item.keys) : null,
  );
}

function enabledItems(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>("[role^=menuitem]:not(:disabled)")];
}

function handleKey(menu: HTMLElement, event: KeyboardEvent, close: () => void): void {
  const items = enabledItems(menu);
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

function positionMenu(menu: HTMLElement, anchor: Anchor): void {
  const box = anchor instanceof HTMLElement ? anchor.getBoundingClientRect() : new DOMRect(anchor.x, anchor.y, 0, 0);
  const { width, height } = menu.getBoundingClientRect();
  const fitsRight = box.left + width <= innerWidth - EDGE_PX;
  const left = fitsRight ? box.left : Math.max(EDGE_PX, box.right - width);
  const below = box.bottom + GAP_PX;
  const top = below + height <= innerHeight - EDGE_PX ? below : Math.max(EDGE_PX, box.top - GAP_PX - height);
  menu.style.left = `${left}px`;
  menu.style.top = `${top}px`;
}
