/** The button below the hits that loads more. Scrolling there does the same. */

import { h } from "../ui/dom";
import { count } from "../ui/format";
import { errorMessage, toSentence } from "../ui/states";
import type { HitSource } from "./hits";

export interface MoreHits {
  element: HTMLElement;
  close(): void;
}

export function moreHits(source: HitSource): MoreHits {
  const message = h("p", { class: "hint" });
  const button = h("button", { type: "button", class: "button", on: { click: () => source.loadMore() } });
  const element = h("div", { class: "more-hits" }, message, button);
  const close = source.more.watchNow((more) => {
    const failed = typeof more === "object";
    element.hidden = more === "none";
    message.hidden = !failed && more !== "too many";
    message.setAttribute("role", failed ? "alert" : "note");
    message.textContent = failed
      ? `More hits could not be loaded. ${toSentence(errorMessage(more.error))}`
      : `These are the best ${count(source.total.value ?? 0)} hits. Add filters to see others.`;
    button.hidden = more === "too many";
    button.setAttribute("aria-disabled", String(more === "busy")); // not `disabled`, which would lose the focus
    button.textContent = failed ? "Try again" : more === "busy" ? "Loading more…" : "Show more hits";
  });
  return { element, close };
}
