/** The edit panel without a draft, and the dialog for conflicting drafts. */

import { button } from "../clip/controls";
import type { ClipState } from "../clip/state";
import { openDialog } from "../ui/dialog";
import { h } from "../ui/dom";
import { countOf } from "../ui/format";
import type { EditSession } from "./edit_session";

const KEYS_TEXT =
  "Rotate joints, drag the IK handles of hands, feet and hips, and move keys in time. The in-betweens are adjusted, and captured detail can be added back.";
const SWINGS_TEXT =
  "A swing is one movement of a joint in one direction. Move swings in time, or make them longer, shorter, stronger or weaker.";
const SAFETY_TEXT = "Edits are saved automatically and can be undone. The captured clip itself is never changed.";
const PER_JOINT_TEXT =
  "Every joint has keys of its own, which can be exported. To edit keys here, choose keys that all joints share.";
const CONFLICT_TEXT = "This edit was also changed in another window. Which version do you want to keep?";

export function startSection(
  state: ClipState,
  startDraft: (kind: "keys" | "swings") => void,
  cleanups: (() => void)[],
): HTMLElement {
  const perJointNote = h("p", { class: "note", text: PER_JOINT_TEXT });
  const keys = button("Edit these keys", "key", () => startDraft("keys"), "primary");
  const swings = button("Edit swings", "film", () => startDraft("swings"));
  cleanups.push(state.keys.watchNow(showKeys), state.jointKeys.watch(showKeys));
  function showKeys(): void {
    const { length } = state.keys.value;
    keys.disabled = length === 0 || state.isPerJoint;
    keys.lastChild!.textContent =
      length && !state.isPerJoint ? `Edit these ${countOf(length, "key")}` : "Edit these keys";
    swings.disabled = !state.details.swings.length;
    perJointNote.hidden = !state.isPerJoint;
  }
  const note = (text: string) => h("p", { class: "note", text });
  const title = h("h3", { text: "Edit the motion" });
  return h(
    "section",
    { class: "panel-section edit-start" },
    title,
    note(KEYS_TEXT),
    keys,
    perJointNote,
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
    title: "The edit was changed in another window",
    body: [h("p", { text: CONFLICT_TEXT })],
    actions: [
      button("Keep the other version", null, () => closeAfter(session.useOtherVersion())),
      button("Keep this version", null, () => closeAfter(session.keepThisVersion()), "primary"),
    ],
  });
}
