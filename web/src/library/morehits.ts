/** Below the hits: the way to more of them. They also come by themselves when one scrolls there. */

import { h } from "../ui/dom";
import { count } from "../ui/format";
import { messageOf, sentence } from "../ui/states";
import type { HitSource } from "./hits";

export interface MoreHits {
  element: HTMLElement;
  close(): void;
}

export function moreHits(source: HitSource): MoreHits {
  const said = h("p", { class: "hint" });
  const button = h("button", { type: "button", class: "button", on: { click: () => source.askMore() } });
  const element = h("div", { class: "more-hits" }, said, button);
  const close = source.more.show((more) => {
    const failed = typeof more === "object";
    element.hidden = more === "none";
    said.hidden = !failed && more !== "too many";
    said.setAttribute("role", failed ? "alert" : "note");
    said.textContent = failed
      ? `No more hits came. ${sentence(messageOf(more.error))}`
      : `These are the best ${count(source.total.value ?? 0)}. Filters find others.`;
    button.hidden = more === "too many";
    button.setAttribute("aria-disabled", String(more === "busy")); // not disabled: the focus stays
    button.textContent = failed ? "Try again" : more === "busy" ? "Looking for more…" : "Show more hits";
  });
  return { element, close };
}
