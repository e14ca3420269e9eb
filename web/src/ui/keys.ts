/** Keys by name: "Mod+K" is Ctrl-K or Cmd-K, "Shift+ArrowLeft", "?", "Space". */

import { h } from "./dom";

const isMac = typeof navigator !== "undefined" && /mac|iphone|ipad/i.test(navigator.platform);

const SIGNS: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  Delete: "Del",
  Mod: isMac ? "⌘" : "Ctrl",
  Alt: isMac ? "⌥" : "Alt",
};

interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

/** Whether an event is the pressing of `keys`. */
export function matches(event: Pressed, keys: string, mac = isMac): boolean {
  const parts = keys === "+" ? ["+"] : keys.split("+");
  const wanted = parts.at(-1) as string;
  const name = event.key === " " ? "Space" : event.key;
  if (name.toLowerCase() !== wanted.toLowerCase()) return false;
  const needs = (part: string) => parts.slice(0, -1).includes(part);
  const [mod, other] = mac ? [event.metaKey, event.ctrlKey] : [event.ctrlKey, event.metaKey];
  if (mod !== needs("Mod") || other !== needs("Ctrl") || event.altKey !== needs("Alt")) return false;
  const isSign = wanted.length === 1 && wanted.toLowerCase() === wanted.toUpperCase(); // "?" may need Shift to be typed
  return isSign || event.shiftKey === needs("Shift");
}

/** Whether what is pressed there is meant as text or for the control itself. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "range"].includes(target.type);
}

/** The keys as people know them. */
export function keySigns(keys: string): HTMLElement {
  const parts = keys === "+" ? ["+"] : keys.split("+");
  const signs = parts.map((part) => h("kbd", { text: SIGNS[part] ?? (part.length === 1 ? part.toUpperCase() : part) }));
  return h("span", { class: "keys" }, ...signs);
}

/** As `aria-keyshortcuts` wants them. */
export function ariaKeys(keys: string): string {
  return keys.replace("Mod", isMac ? "Meta" : "Control");
}
