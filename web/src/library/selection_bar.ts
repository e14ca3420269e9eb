/** The toolbar for the selected clips, visible while there are any. */

import { fill, h } from "../ui/dom";
import { countOf } from "../ui/format";
import { type IconName, icon } from "../ui/icons";
import type { Selection } from "./selection";

interface SelectionActions {
  tag(): void;
  export(): void;
  trash(): void;
  all(): void;
}

export function selectionBar(selection: Selection, actions: SelectionActions): { element: HTMLElement; close(): void } {
  const countLabel = h("span", { class: "selection-count", role: "status" });
  const button = (name: IconName, title: string, run: () => void, classes = "") =>
    h("button", { type: "button", class: `button small ${classes}`, on: { click: run } }, icon(name), title);
  const element = h("div", { class: "selection-bar", role: "toolbar", "aria-label": "Selected clips", hidden: true });
  fill(
    element,
    countLabel,
    button("check", "Select all", actions.all),
    button("tag", "Edit tags…", actions.tag),
    button("download", "Export…", actions.export),
    button("trash", "Move to trash", actions.trash, "danger"),
    button("cross", "Clear selection", () => selection.clear(), "quiet"),
  );
  const unwatch = selection.hashes.watchNow((hashes) => {
    element.hidden = hashes.size === 0;
    document.body.classList.toggle("has-selection", hashes.size > 0);
    countLabel.textContent = hashes.size === 0 ? "" : `${countOf(hashes.size, "clip")} selected`;
  });
  const close = () => {
    unwatch();
    document.body.classList.remove("has-selection");
  };
  return { element, close };
}
