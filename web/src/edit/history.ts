/** What was done, as a list: each row leads back or forth to that moment. Undo, redo, and whether it is kept. */

import { button } from "../clip/controls";
import type { ClipState } from "../clip/state";
import { fill, h } from "../ui/dom";
import { spoken } from "../ui/format";
import { messageOf } from "../ui/states";
import type { Session } from "./session";

export function historySection(state: ClipState, session: Session, stops: (() => void)[]): HTMLElement {
  const limb = (joint: string) => spoken(state.facts.joints[state.names.indexOf(joint)]?.part ?? joint);
  const list = h("ol", { class: "history", "aria-label": "History" });
  stops.push(
    session.story.show((story) => {
      if (!story) return fill(list);
      const rows = story.words(limb).map((words, k) => {
        const go = h("button", {
          type: "button",
          class: "history-step",
          text: words,
          on: { click: () => session.goTo(k) },
        });
        if (k === story.at) go.setAttribute("aria-current", "step");
        return h("li", { class: k > story.at ? "undone" : "" }, go);
      });
      fill(list, ...rows.reverse());
    }),
  );
  return h("section", { class: "panel-section" }, h("h3", { text: "History" }), list);
}

/** Undo, redo, and what became of the draft. */
export function undoBar(session: Session, stops: (() => void)[]): HTMLElement {
  const undo = button("Undo", "undo", () => session.undo(), "small");
  const redo = button("Redo", "redo", () => session.redo(), "small");
  const said = h("span", { class: "note saving", role: "status" });
  stops.push(
    session.story.show((story) => {
      undo.disabled = !story?.canUndo;
      redo.disabled = !story?.canRedo;
    }),
    session.saving.show((saving) => {
      said.classList.toggle("failed", typeof saving === "object");
      said.textContent =
        saving === "saved" ? "Kept" : saving === "saving" ? "Keeping…" : `Not kept: ${messageOf(saving.error)}`;
    }),
  );
  return h("div", { class: "row undo-bar" }, undo, redo, said);
}
