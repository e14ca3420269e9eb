/** The way to what was removed: there while something is. */

import { askJson, type Schema } from "../../api/client";
import { Signal } from "../../state/signal";
import { fill, h } from "../../ui/dom";
import { count } from "../../ui/format";
import { icon } from "../../ui/icons";
import { changes } from "../actions";
import { added } from "../uploads/everywhere";
import { REMOVED } from "../view";

export function removedLink(): { element: HTMLElement; count: Signal<number>; close(): void } {
  const element = h("a", { class: "facet removed-link", href: REMOVED, hidden: true });
  const total = new Signal(0);
  const ask = async () => {
    try {
      total.value = (await askJson<Schema["RemovedClips"]>("/api/removed?limit=0")).total;
    } catch {
      // the list says what is wrong
    }
  };
  const ends = [
    total.show((number) => {
      element.hidden = number === 0;
      const name = h("span", { class: "facet-name" }, icon("trash"), "Removed clips");
      fill(element, name, h("span", { class: "facet-count", text: count(number) }));
    }),
    changes.watch(() => void ask()),
    added.watch(() => void (total.value > 0 && ask())), // what is added again is no longer removed
  ];
  void ask();
  const close = () => {
    for (const end of ends) end();
  };
  return { element, count: total, close };
}
