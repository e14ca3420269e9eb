/** What can be done with the chosen clips; there only while some are chosen. */

import { fill, h } from "../ui/dom";
import { counted } from "../ui/format";
import { type IconName, icon } from "../ui/icons";
import type { Selection } from "./selection";

interface Choosing {
  tag(): void;
  export(): void;
  remove(): void;
  all(): void;
}

export function selectionBar(selection: Selection, doing: Choosing): { element: HTMLElement; close(): void } {
  const says = h("span", { class: "selection-count", role: "status" });
  const button = (name: IconName, title: string, run: () => void, look = "") =>
    h("button", { type: "button", class: `button small ${look}`, on: { click: run } }, icon(name), title);
  const element = h("div", { class: "selection-bar", role: "toolbar", "aria-label": "Chosen clips", hidden: true });
  fill(
    element,
    says,
    button("check", "All", doing.all),
    button("tag", "Tag…", doing.tag),
    button("download", "Export…", doing.export),
    button("trash", "Remove", doing.remove, "danger"),
    button("cross", "Clear", () => selection.clear(), "quiet"),
  );
  const forget = selection.chosen.show((chosen) => {
    element.hidden = chosen.size === 0;
    document.body.classList.toggle("choosing", chosen.size > 0);
    says.textContent = chosen.size === 0 ? "" : `${counted(chosen.size, "clip")} chosen`;
  });
  const close = () => {
    forget();
    document.body.classList.remove("choosing");
  };
  return { element, close };
}
