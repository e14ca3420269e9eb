/** The edit history as a list; each row goes to that state. Undo, redo and the save status. */

import { ApiError } from "../api/client";
import { button } from "../clip/controls";
import type { ClipState } from "../clip/state";
import { fill, h } from "../ui/dom";
import { humanize } from "../ui/format";
import { errorMessage, toSentence } from "../ui/states";
import type { EditSession } from "./edit_session";

export function historySection(state: ClipState, session: EditSession, cleanups: (() => void)[]): HTMLElement {
  const jointLabel = (joint: string) =>
    humanize(state.details.joints[state.jointNames.indexOf(joint)]?.body_part ?? joint);
  const list = h("ol", { class: "history", "aria-label": "History" });
  cleanups.push(
    session.history.watchNow((history) => {
      if (!history) return fill(list);
      const rows = history.describe(jointLabel).map((text, k) => {
        const go = h("button", {
          type: "button",
          class: "history-step",
          text,
          on: { click: () => session.goTo(k) },
        });
        if (k === history.index) go.setAttribute("aria-current", "step");
        return h("li", { class: k > history.index ? "undone" : "" }, go);
      });
      fill(list, ...rows.reverse());
    }),
  );
  return h("section", { class: "panel-section" }, h("h3", { text: "History" }), list);
}

/** Undo, redo and the save status of the draft. */
export function undoBar(session: EditSession, cleanups: (() => void)[]): HTMLElement {
  const undo = button("Undo", "undo", () => session.undo(), "small");
  const redo = button("Redo", "redo", () => session.redo(), "small");
  const status = h("span", { class: "note save-status", role: "status" });
  cleanups.push(
    session.history.watchNow((history) => {
      undo.disabled = !history?.canUndo;
      redo.disabled = !history?.canRedo;
    }),
    session.saveStatus.watchNow((saveStatus) => {
      status.classList.toggle("failed", typeof saveStatus === "object");
      status.textContent =
        saveStatus === "saved"
          ? "Saved"
          : saveStatus === "saving"
            ? "Saving…"
            : `Not saved: ${describeFailure(saveStatus.error)}`;
    }),
  );
  return h("div", { class: "row undo-bar" }, undo, redo, status);
}

function describeFailure(error: unknown): string {
  const isConflict = error instanceof ApiError && error.details.code === "conflict";
  return isConflict ? "the edit was changed in another window." : toSentence(errorMessage(error));
}
