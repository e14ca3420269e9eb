/** Whether all joints share their keys, the joint whose keys are shown, and the way to the curves of all joints. */

import { ServerUnreachable } from "../api/client";
import { fill, h } from "../ui/dom";
import { countOf } from "../ui/format";
import { errorMessage } from "../ui/states";
import { toast } from "../ui/toast";
import { button, fieldWithLabel, segmentedControl } from "./controls";
import type { SelectionController } from "./selection_controller";
import type { ClipState } from "./state";

export function jointKeysControls(
  state: ClipState,
  selection: SelectionController,
  cleanups: (() => void)[],
): HTMLElement[] {
  const perControl = segmentedControl(
    "Keys of",
    [
      ["pose", "Whole poses", "All joints have keys at the same frames"],
      ["joint", "Each joint", "Every joint has keys of its own"],
    ] as const,
    (per) => state.url.set({ per }),
  );
  const joint = h("select", { class: "field" });
  joint.addEventListener("change", () => state.url.set({ joint: joint.value }));
  const note = h("p", { class: "note" });
  const jointRow = h("div", { class: "joint-row" }, fieldWithLabel("Show the keys of", joint), note);
  const openButton = button("Curves of joints…", "film", () => void openJointCurves(state, selection), "small");

  const show = () => {
    const counts = state.jointKeys.value;
    perControl.set(state.settings.per);
    jointRow.hidden = !state.isPerJoint || !counts;
    openButton.disabled = state.keys.value.length === 0;
    if (!counts) return;
    const names = state.jointNames.map((name, n) => `${name} (${countOf(counts[n]?.length ?? 0, "key")})`);
    const texts = names.join("\n");
    if (joint.dataset.texts !== texts) {
      joint.dataset.texts = texts;
      fill(joint, ...names.map((text, n) => h("option", { value: state.jointNames[n]!, text })));
    }
    joint.value = state.jointNames[state.displayedJoint] ?? "";
    const total = counts.reduce((sum, keys) => sum + keys.length, 0);
    note.textContent = `${countOf(total, "key")} of all joints together. Timeline and strip show those of one joint.`;
  };
  cleanups.push(state.url.values.watchNow(show), state.jointKeys.watch(show), state.keys.watch(show));
  return [perControl.element, jointRow, h("div", { class: "row" }, openButton)];
}

/** Loads the dialog on first use. */
export async function openJointCurves(state: ClipState, selection: SelectionController): Promise<void> {
  try {
    const dialog = await import("./joint_curves_dialog");
    dialog.openJointCurves(state, selection);
  } catch {
    toast(errorMessage(new ServerUnreachable()));
  }
}
