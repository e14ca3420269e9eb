/** Makes the whole clip or the marked range longer or shorter. */

import { button, checkbox, numberField, numberRow, section, segmentedControl } from "../clip/controls";
import type { ClipState } from "../clip/state";
import { h } from "../ui/dom";
import { countOf, duration } from "../ui/format";
import type { EditSession } from "./edit_session";

const MIN_FACTOR = 0.01;
const MAX_FACTOR = 100;

export function retimeSection(state: ClipState, session: EditSession, cleanups: (() => void)[]): HTMLElement {
  let factor = 1.5;
  let part: "clip" | "range" = "clip";
  let keepsContacts = true;
  const note = h("p", { class: "note", role: "status" });
  const field = numberField("Times as long", "", { min: MIN_FACTOR, max: MAX_FACTOR, step: "any" }, (value) => {
    factor = value;
    show();
  });
  field.set(factor);
  const partControl = segmentedControl(
    "What is retimed",
    [
      ["clip", "Whole clip"],
      ["range", "Range", "The range that is marked on the timeline"],
    ] as const,
    (value) => {
      part = value;
      show();
    },
  );
  const contacts = checkbox("Keep feet in place while they are on the ground", (isOn) => {
    keepsContacts = isOn;
  });
  contacts.set(keepsContacts);
  const apply = button(
    "Retime",
    null,
    () => {
      if (!field.validate()) return;
      const range = part === "range" ? state.settings.range : null;
      const span = range ? { from_frame: state.clamp(range[0]), to_frame: state.clamp(range[1]) } : {};
      session.applyStep({ op: "retime", factor, ...span, keep_contacts: keepsContacts }, field.fail);
    },
    "small",
  );
  const show = () => {
    const { range } = state.settings;
    const isMissing = part === "range" && !range;
    apply.disabled = isMissing;
    partControl.set(part);
    const [first, last] = part === "range" && range ? range : [0, state.nFrames - 1];
    const frames = last - first + 1;
    note.textContent = isMissing
      ? "Mark a range: drag on the timeline with Shift, or click an action."
      : `${countOf(frames, "frame")}, ${duration(frames / state.fps)}, become about ${duration((frames * factor) / state.fps)}.`;
  };
  cleanups.push(state.url.values.watchNow(show), state.length.watch(show));
  return section("Timing", {}, partControl.element, numberRow(field), contacts.element, note, apply);
}
