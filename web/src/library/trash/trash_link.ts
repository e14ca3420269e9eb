/** The link to the trash, visible while it is not empty. */

import { fetchJson, type Schema } from "../../api/client";
import { Signal } from "../../state/signal";
import { fill, h } from "../../ui/dom";
import { count } from "../../ui/format";
import { icon } from "../../ui/icons";
import { changes } from "../actions";
import { clipsAdded } from "../uploads/shared_queue";
import { TRASH_URL } from "../view";

export function trashLink(): { element: HTMLElement; count: Signal<number>; close(): void } {
  const element = h("a", { class: "facet trash-link", href: TRASH_URL, hidden: true });
  const total = new Signal(0);
  const update = async () => {
    try {
      total.value = (await fetchJson<Schema["TrashPage"]>("/api/trash?limit=0")).total;
    } catch {
      // the list shows the error
    }
  };
  const cleanups = [
    total.watchNow((number) => {
      element.hidden = number === 0;
      const name = h("span", { class: "facet-name" }, icon("trash"), "Trash");
      fill(element, name, h("span", { class: "facet-count", text: count(number) }));
    }),
    changes.watch(() => void update()),
    clipsAdded.watch(() => void (total.value > 0 && update())), // a clip that is added again leaves the trash
  ];
  void update();
  const close = () => {
    for (const cleanup of cleanups) cleanup();
  };
  return { element, count: total, close };
}
