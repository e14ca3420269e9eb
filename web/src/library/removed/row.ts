/** One removed clip: its strip, its name, since when, and the way back. */

import type { Schema } from "../../api/client";
import { h } from "../../ui/dom";
import { ago, date, daysLeft, duration } from "../../ui/format";
import { icon } from "../../ui/icons";
import { theme } from "../../ui/theme";

export interface RemovedRow {
  element: HTMLElement;
  hash: string;
  mark(isChosen: boolean): void;
}

interface Doing {
  /** With `reach`, all from the one before. */
  choose(reach: boolean): void;
  bringBack(): void;
}

export function removedRow(clip: Schema["RemovedRow"], days: number, doing: Doing): RemovedRow {
  const { hash, name } = clip;
  const check = h("input", { type: "checkbox", "aria-label": `Choose ${name}` });
  check.addEventListener("click", (event) => doing.choose(event.shiftKey));
  const strip = h("img", { alt: "", loading: "lazy", src: `/api/clips/${hash}/strip.svg?theme=${theme.value}` });
  strip.addEventListener("error", () => strip.removeAttribute("src"));
  const facts = `${duration(clip.duration_s)} · removed ${ago(clip.removed_at)} · ${daysLeft(clip.removed_at, days)}`;
  const back = h("button", { type: "button", class: "button small", "aria-label": `Bring back ${name}` });
  back.append(icon("undo"), "Bring back");
  back.addEventListener("click", doing.bringBack);
  const text = h(
    "div",
    { class: "removed-text" },
    h("p", { class: "removed-name", text: name, title: name }),
    h("p", { class: "removed-facts", text: facts, title: `Removed on ${date(clip.removed_at)}` }),
  );
  const label = h("label", { class: "removed-choice" }, check, h("span", { class: "removed-strip" }, strip));
  const element = h("li", { class: "removed-row" }, label, text, back);
  const mark = (isChosen: boolean) => {
    check.checked = isChosen;
    element.classList.toggle("chosen", isChosen);
  };
  return { element, hash, mark };
}
