/** The dialog that exports a clip: which version of it, in which file format. */

import { fetchFile } from "../api/client";
import { watchQueue } from "../api/queue_status";
import type { Draft } from "../edit/steps";
import { downloadBlob } from "../library/export_dialog";
import { BusyLine } from "../ui/busy";
import { openDialog } from "../ui/dialog";
import { fill, h } from "../ui/dom";
import { bytes, countOf } from "../ui/format";
import { errorMessage, toSentence } from "../ui/states";
import { theme } from "../ui/theme";
import { toast } from "../ui/toast";
import { button, captureArrowKeys, checkbox, fieldWithLabel, segmentedControl } from "./controls";
import {
  CHARACTER,
  describeCharacter,
  describeContent,
  type ExportChoice,
  type ExportSource,
  type Format,
  hasTolerance,
  unavailableReason,
} from "./formats";
import { buildCurveSettings, buildJointKeysSpec } from "./settings";
import type { ClipState } from "./state";

/** Opens the dialog. If there is a draft, it can be exported too. */
export function openExportDialog(state: ClipState, draft: Draft | null): void {
  const { formats } = state.clip.library;
  let source: ExportSource =
    draft && state.settings.panel === "edit" ? "draft" : state.keys.value.length ? "keys" : "capture";
  let selectedFormat = defaultFormat(formats, source);
  const list = h("div", { class: "export-formats", role: "radiogroup", "aria-label": "File format" });
  const note = h("p", { class: "note export-note", "aria-live": "polite" });
  const errorNote = h("p", { class: "error-note", role: "alert", hidden: true });
  const abort = new AbortController();
  const sourceControl = segmentedControl<ExportSource>(
    "Version to export",
    [
      ["capture", "Capture"],
      ["keys", keysTitle(state)],
      ...(draft ? ([["draft", draft.kind === "keys" ? "Edited keys" : "Edited swings"]] as const) : []),
    ],
    (value) => {
      source = value;
      update();
    },
  );
  const tolerance = h("input", { class: "field", type: "number", min: 0, step: "any", placeholder: "1" });
  let lossless = false;
  const losslessBox = checkbox("Lossless", (isOn) => {
    lossless = isOn;
    update();
  });
  const toleranceRow = h(
    "div",
    { class: "row tolerance-row" },
    fieldWithLabel("Maximum error (mm)", tolerance),
    losslessBox.element,
  );
  const { character } = state.details;
  let intoSource = false;
  const intoBox = checkbox("Into the clip’s own file", (isOn) => {
    intoSource = isOn;
    update();
  });
  let reduceTracks = true;
  const reduceBox = checkbox("Reduce its tracks of scale and morph weights", (isOn) => {
    reduceTracks = isOn;
  });
  reduceBox.set(reduceTracks);
  const characterRow = h("div", { class: "row character-row" }, intoBox.element, reduceBox.element);
  const downloadButton = button("Download", "download", () => void download(), "primary");
  const busy = new BusyLine();
  const dialog = openDialog({
    title: `Export “${state.details.name}”`,
    body: [sourceControl.element, list, note, toleranceRow, characterRow, errorNote, busy.element],
    actions: [button("Cancel", null, () => dialog.close()), downloadButton],
    onClose: () => abort.abort(),
    widthPx: 690,
  });
  sourceControl.set(source);
  update();

  function currentChoice(): ExportChoice {
    return { source, draft: source === "draft" ? draft : source === "keys" ? keysWithDetail(state) : null };
  }

  function update(): void {
    if (selectedFormat && unavailableReason(selectedFormat, currentChoice()))
      selectedFormat = defaultFormat(formats, source);
    fill(list, ...formats.map(formatOption));
    toleranceRow.hidden = !selectedFormat || !hasTolerance(selectedFormat, currentChoice());
    tolerance.disabled = lossless;
    characterRow.hidden = !character || selectedFormat?.suffix !== CHARACTER;
    reduceBox.element.hidden = !intoSource || !character?.n_tracks;
    errorNote.hidden = true;
    const content = selectedFormat
      ? describeContent(selectedFormat, currentChoice(), lossless && !toleranceRow.hidden)
      : "";
    note.textContent = intoSource && character && !characterRow.hidden ? describeCharacter(character) : content;
  }

  function formatOption(format: Format): HTMLElement {
    const reason = unavailableReason(format, currentChoice());
    const input = h("input", { type: "radio", name: "format", value: format.suffix, disabled: reason !== null });
    input.checked = format === selectedFormat;
    captureArrowKeys(input);
    input.addEventListener("change", () => {
      selectedFormat = format;
      update();
      list.querySelector<HTMLElement>(`[value="${format.suffix}"]`)?.focus();
    });
    const { variant } = format;
    return h(
      "label",
      { class: "export-format" },
      input,
      h("b", { text: format.suffix }),
      h("span", {}, variant ? `${format.label}, ${variant}` : format.label, reason && h("small", { text: reason })),
    );
  }

  async function download(): Promise<void> {
    if (!selectedFormat) return;
    downloadButton.disabled = true;
    errorNote.hidden = true;
    const stopWatching = watchQueue((text) => busy.show({ text, cancel: null }));
    try {
      const body = buildRequest(
        state,
        selectedFormat,
        currentChoice(),
        lossless ? "lossless" : Number(tolerance.value),
      );
      if (intoSource && !characterRow.hidden) Object.assign(body, { into_source: true, reduce_tracks: reduceTracks });
      const { blob, name } = await fetchFile(`/api/clips/${state.details.hash}/export`, {
        body,
        signal: abort.signal,
      });
      downloadBlob(blob, name);
      toast(`${name} was exported (${bytes(blob.size)}).`);
      dialog.close();
    } catch (error) {
      if (abort.signal.aborted) return;
      errorNote.textContent = toSentence(errorMessage(error));
      errorNote.hidden = false;
    } finally {
      stopWatching();
      downloadButton.disabled = false;
      busy.show(null);
    }
  }
}

function keysTitle({ keys, isPerJoint }: ClipState): string {
  if (isPerJoint) return "Keys per joint";
  return keys.value.length ? countOf(keys.value.length, "key") : "Keys";
}

function defaultFormat(formats: readonly Format[], source: ExportSource): Format | undefined {
  const preferred = source === "capture" ? ".bvh" : ".glb";
  return formats.find(({ suffix }) => suffix === preferred) ?? formats.find(({ install_command: command }) => !command);
}

/** Keys displayed with captured detail are exported with it, as an edit without steps; null without detail. */
function keysWithDetail(state: ClipState): Draft | null {
  const { residual } = state.settings;
  return residual ? ({ ...displayedKeys(state), kind: "keys", residual, steps: [] } as Draft) : null;
}

/** The displayed keys and curves. */
function displayedKeys({ settings, keys, details, clip, isPerJoint }: ClipState) {
  const curves = buildCurveSettings(settings, clip.library);
  return isPerJoint
    ? { ...curves, joint_keys: buildJointKeysSpec(settings, details, clip.library) }
    : { ...curves, frames: keys.value };
}

/** `tolerance`: the largest error of a frame in mm; 0 for the default. */
function buildRequest(
  state: ClipState,
  format: Format,
  choice: ExportChoice,
  tolerance: number | "lossless",
): Record<string, unknown> {
  const request: Record<string, unknown> = { format: format.suffix };
  if (format.content === "swings" && choice.source === "keys") return request; // swings are always those of the capture
  if (choice.draft) request.draft = choice.draft;
  else if (choice.source === "keys") {
    const isStrip = format.content === "strip"; // of the poses that are displayed, those of the selected joint
    Object.assign(request, isStrip ? { frames: state.keys.value } : displayedKeys(state));
  }
  if (hasTolerance(format, choice)) {
    if (tolerance === "lossless") request.lossless = true;
    else if (tolerance > 0) request.tolerance_mm = tolerance;
  }
  if (format.content === "strip") request.theme = theme.value;
  return request;
}
