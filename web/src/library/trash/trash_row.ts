/** One clip in the trash: strip, name, when it was removed, and a button to restore it. */

import type { Schema } from "../../api/client";
import { h } from "../../ui/dom";
import { ago, date, daysLeft, duration } from "../../ui/format";
import { icon } from "../../ui/icons";
import { theme } from "../../ui/theme";

export interface TrashRowView {
  element: HTMLElement;
  hash: string;
  setSelected(isSelected: boolean): void;
}

interface TrashRowActions {
  /** `isRange`: select everything from the last selected row to this one. */
  select(isRange: boolean): void;
  restore(): void;
}

export function trashRow(clip: Schema["TrashRow"], days: number, actions: TrashRowActions): TrashRowView {
  const { hash, name } = clip;
  const check = h("input", { type: "checkbox", "aria-label": `Select ${name}` });
  check.addEventListener("click", (event) => actions.select(event.shiftKey));
  const strip = h("img", { alt: "", loading: "lazy", src: `/api/clips/${hash}/strip.svg?theme=${theme.value}` });
  strip.addEventListener("error", () => strip.removeAttribute("src"));
  const details = `${duration(clip.duration_s)} · moved here ${ago(clip.trashed_at)} · ${daysLeft(clip.trashed_at, days)}`;
  const restoreButton = h("button", { type: "button", class: "button small", "aria-label": `Restore ${name}` });
  restoreButton.append(icon("undo"), "Restore");
  restoreButton.addEventListener("click", actions.restore);
  const text = h(
    "div",
    { class: "trash-text" },
    h("p", { class: "trash-name", text: name, title: name }),
    h("p", { class: "trash-details", text: details, title: `Moved to the trash on ${date(clip.trashed_at)}` }),
  );
  const label = h("label", { class: "trash-choice" }, check, h("span", { class: "trash-strip" }, strip));
  const element = h("li", { class: "trash-row" }, label, text, restoreButton);
  const setSelected = (isSelected: boolean) => {
    check.checked = isSelected;
    element.classList.toggle("selected", isSelected);
  };
  return { element, hash, setSelected };
}
