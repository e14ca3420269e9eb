/** The dialog that takes a clip away: what of it, as which file. */

import { askFile } from "../api/client";
import type { Draft } from "../edit/steps";
import { saveAs } from "../library/exporting";
import { openDialog } from "../ui/dialog";
import { fill, h } from "../ui/dom";
import { bytes, counted } from "../ui/format";
import { messageOf, sentence } from "../ui/states";
import { theme } from "../ui/theme";
import { toast } from "../ui/toast";
import { button, check, labelled, ownArrows, segmented } from "./controls";
import { contentOf, type Format, hasTolerance, kindOf, refusal, type Taken, type What } from "./formats";
import type { ClipState } from "./state";

/** Opens it. With a draft that is offered too, and is what is meant at first. */
export function openTakeAway(state: ClipState, edit: Draft | null): void {
  const { formats } = state.opened.library;
  let what: What = edit && state.settings.panel === "edit" ? "draft" : state.keys.value.length ? "keys" : "capture";
  let chosen = firstOf(formats, what);
  const list = h("div", { class: "take-formats", role: "radiogroup", "aria-label": "File" });
  const note = h("p", { class: "note take-note", "aria-live": "polite" });
  const trouble = h("p", { class: "failed-note", role: "alert", hidden: true });
  const whats = segmented<What>(
    "What of it",
    [
      ["capture", "Capture"],
      ["keys", state.keys.value.length ? counted(state.keys.value.length, "key") : "Keys"],
      ...(edit ? ([["draft", "Edit"]] as const) : []),
    ],
    (value) => {
      what = value;
      show();
    },
  );
  const tolerance = h("input", { class: "field", type: "number", min: 0, step: "any", placeholder: "1" });
  let lossless = false;
  const whole = check("Without any loss", (isOn) => {
    lossless = isOn;
    show();
  });
  const within = h("div", { class: "row kps" }, labelled("No point farther off than (mm)", tolerance), whole.element);
  const go = button("Download", "download", () => void take(), "primary");
  const dialog = openDialog({
    title: `Take “${state.facts.name}” away`,
    body: [whats.element, list, note, within, trouble],
    actions: [button("Cancel", null, () => dialog.close()), go],
    widthPx: 690,
  });
  whats.set(what);
  show();

  function taken(): Taken {
    return { what, draft: what === "draft" ? edit : what === "keys" ? keysWithDetail(state) : null };
  }

  function show(): void {
    if (chosen && refusal(chosen, taken())) chosen = firstOf(formats, what);
    fill(list, ...formats.map(option));
    within.hidden = !chosen || !hasTolerance(chosen, taken());
    tolerance.disabled = lossless;
    trouble.hidden = true;
    note.textContent = chosen ? contentOf(chosen, taken(), lossless && !within.hidden) : "";
  }

  function option(format: Format): HTMLElement {
    const why = refusal(format, taken());
    const input = h("input", { type: "radio", name: "format", value: format.suffix, disabled: why !== null });
    input.checked = format === chosen;
    ownArrows(input);
    input.addEventListener("change", () => {
      chosen = format;
      show();
      list.querySelector<HTMLElement>(`[value="${format.suffix}"]`)?.focus();
    });
    const kind = kindOf(format);
    return h(
      "label",
      { class: "take-format" },
      input,
      h("b", { text: format.suffix }),
      h("span", {}, kind ? `${format.label}, ${kind}` : format.label, why && h("small", { text: why })),
    );
  }

  async function take(): Promise<void> {
    if (!chosen) return;
    go.disabled = true;
    trouble.hidden = true;
    try {
      const told = toldOf(state, chosen, taken(), lossless ? "lossless" : Number(tolerance.value));
      const { blob, name } = await askFile(`/api/clips/${state.facts.hash}/export`, { told });
      saveAs(blob, name);
      toast(`${name} was taken away (${bytes(blob.size)}).`);
      dialog.close();
    } catch (error) {
      trouble.textContent = sentence(messageOf(error));
      trouble.hidden = false;
    } finally {
      go.disabled = false;
    }
  }
}

function firstOf(formats: readonly Format[], what: What): Format | undefined {
  const usual = what === "capture" ? ".bvh" : ".glb";
  return formats.find(({ suffix }) => suffix === usual) ?? formats.find(({ needs }) => !needs);
}

/** Keys that are seen with captured detail leave with it, as an edit without steps; null: without. */
function keysWithDetail({ settings, keys }: ClipState): Draft | null {
  const { interpolation, residual } = settings;
  return residual ? { kind: "keys", frames: keys.value, interpolation, residual, steps: [] } : null;
}

/** `near`: how near the frames of a file are kept, in mm; 0: as usual. */
function toldOf(state: ClipState, format: Format, taken: Taken, near: number | "lossless"): Record<string, unknown> {
  const told: Record<string, unknown> = { format: format.suffix };
  if (format.suffix === ".swings.json" && taken.what === "keys") return told; // of the capture
  if (taken.draft) told.draft = taken.draft;
  else if (taken.what === "keys") {
    told.frames = state.keys.value;
    told.interpolation = state.settings.interpolation;
  }
  if (hasTolerance(format, taken)) {
    if (near === "lossless") told.lossless = true;
    else if (near > 0) told.tolerance_mm = near;
  }
  if (format.suffix.startsWith(".strip")) told.theme = theme.value;
  return told;
}
