/** Shortcuts by name: "Mod+K" is Ctrl-K or Cmd-K, "Shift+ArrowLeft", "?", "Space". */

import { h } from "./dom";

const isMac = typeof navigator !== "undefined" && /mac|iphone|ipad/i.test(navigator.platform);

const KEY_LABELS: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  Delete: "Del",
  Mod: isMac ? "⌘" : "Ctrl",
  Alt: isMac ? "⌥" : "Alt",
};

interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

/** Whether an event is a press of `keys`. */
export function matches(event: KeyPress, keys: string, mac = isMac): boolean {
  const parts = keys === "+" ? ["+"] : keys.split("+");
  const key = parts.at(-1) as string;
  const name = event.key === " " ? "Space" : event.key;
  if (name.toLowerCase() !== key.toLowerCase()) return false;
  const needs = (part: string) => parts.slice(0, -1).includes(part);
  const [mod, other] = mac ? [event.metaKey, event.ctrlKey] : [event.ctrlKey, event.metaKey];
  if (mod !== needs("Mod") || other !== needs("Ctrl") || event.altKey !== needs("Alt")) return false;
  const isSign = key.length === 1 && key.toLowerCase() === key.toUpperCase(); // "?" may need Shift to be typed
  return isSign || event.shiftKey === needs("Shift");
}

/** Whether keys pressed there are text or meant for the control itself. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "range"].includes(target.type);
}

/** The keys as elements for display. */
export function keyLabels(keys: string): HTMLElement {
  const parts = keys === "+" ? ["+"] : keys.split("+");
  const labels = parts.map((part) =>
    h("kbd", { text: KEY_LABELS[part] ?? (part.length === 1 ? part.toUpperCase() : part) }),
  );
  return h("span", { class: "keys" }, ...labels);
}
