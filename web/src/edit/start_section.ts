/** The edit panel without a draft, and the dialog for conflicting drafts. */

import { button } from "../clip/controls";
import type { ClipState } from "../clip/state";
import { openDialog } from "../ui/dialog";
import { h } from "../ui/dom";
import { countOf } from "../ui/format";
import type { EditSession } from "./edit_session";

const KEYS_TEXT =
  "Edit keys: rotate joints, move hands and feet with IK handles, and retime keys. The in-betweens follow, and captured detail can be added back.";
const SWINGS_TEXT = "Edit swings: retime, lengthen or strengthen single movements of a joint in the capture.";
const SAFETY_TEXT = "Every change is saved and can be undone. The captured clip itself is never changed.";
const CONFLICT_TEXT = "This edit was also changed in another window. Which version do you want to continue with?";

export function startSection(
  state: ClipState,
  startDraft: (kind: "keys" | "swings") => void,
  cleanups: (() => void)[],
): HTMLElement {
  const keys = button("Edit these keys", "key", () => startDraft("keys"), "primary");
  const swings = button("Edit swings", "film", () => startDraft("swings"));
  cleanups.push(
    state.keys.watchNow(({ length }) => {
      keys.disabled = length === 0;
      keys.lastChild!.textContent = length ? `Edit these ${countOf(length, "key")}` : "Edit these keys";
      swings.disabled = !state.details.swings.length;
    }),
  );
  const note = (text: string) => h("p", { class: "note", text });
  const title = h("h3", { text: "Edit the motion" });
  return h(
    "section",
    { class: "panel-section edit-start" },
    title,
    note(KEYS_TEXT),
    keys,
    note(SWINGS_TEXT),
    swings,
    note(SAFETY_TEXT),
  );
}

/** Another window has saved the same draft: asks which version to continue with. */
export function openConflictDialog(session: EditSession): void {
  const closeAfter = (done: Promise<void>) => {
    dialog.close();
    void done;
  };
  const dialog = openDialog({
    title: "This edit was changed elsewhere",
    body: [h("p", { text: CONFLICT_TEXT })],
    actions: [
      button("Use the other version", null, () => closeAfter(session.useOtherVersion())),
      button("Keep this version", null, () => closeAfter(session.keepThisVersion()), "primary"),
    ],
  });
}
