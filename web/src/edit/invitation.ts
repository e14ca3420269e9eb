/** What the edit panel shows while there is no edit, and what it asks when there are two. */

import { button } from "../clip/controls";
import type { ClipState } from "../clip/state";
import { openDialog } from "../ui/dialog";
import { h } from "../ui/dom";
import { counted } from "../ui/format";
import type { Session } from "./session";

const POSES =
  "Key poses: turn joints, pull hands and feet, move keys in time. The in-betweens follow, and the capture's detail can be brought back.";
const SWINGS = "Swings: let one turn of a joint come later, last longer or go farther, over the capture itself.";
const SAFE = "Everything can be undone and is kept as you go. The clip itself is never touched.";
const TWO = "Another window kept other steps of this edit meanwhile. Which of the two do you want to go on with?";

export function invitation(
  state: ClipState,
  begin: (kind: "keys" | "swings") => void,
  stops: (() => void)[],
): HTMLElement {
  const keys = button("Edit these keys", "key", () => begin("keys"), "primary");
  const swings = button("Edit swings", "film", () => begin("swings"));
  stops.push(
    state.keys.show(({ length }) => {
      keys.disabled = length === 0;
      keys.lastChild!.textContent = length ? `Edit these ${counted(length, "key")}` : "Edit these keys";
      swings.disabled = !state.facts.swings.length;
    }),
  );
  const says = (text: string) => h("p", { class: "note", text });
  const title = h("h3", { text: "Change the motion" });
  return h(
    "section",
    { class: "panel-section invitation" },
    title,
    says(POSES),
    keys,
    says(SWINGS),
    swings,
    says(SAFE),
  );
}

/** Another window kept the same draft: whose counts? */
export function askWhose(session: Session): void {
  const answer = (done: Promise<void>) => {
    dialog.close();
    void done;
  };
  const dialog = openDialog({
    title: "This edit was changed elsewhere",
    body: [h("p", { text: TWO })],
    actions: [
      button("Take theirs", null, () => answer(session.takeTheirs())),
      button("Keep mine", null, () => answer(session.keepMine()), "primary"),
    ],
  });
}
