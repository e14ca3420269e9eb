/** The dialog that takes a clip away: what of it, as which file. */

import { askFile, type Schema } from "../api/client";
import type { Draft } from "../edit/steps";
import { openDialog } from "../ui/dialog";
import { fill, h } from "../ui/dom";
import { bytes, counted } from "../ui/format";
import { messageOf, sentence } from "../ui/states";
import { theme } from "../ui/theme";
import { toast } from "../ui/toast";
import { button, check, labelled, segmented } from "./controls";
import type { ClipState } from "./state";

type Format = Schema["FormatRow"];
type What = "capture" | "keys" | "draft";

const HINTS: Record<string, string> = {
  ".bvh": "Every frame, for any animation software.",
  ".glb": "With keys: sparse cubic curves, for Blender, Unity, Unreal and the web.",
  ".gltf": "As .glb, in text.",
  ".keys.json": "Key poses with their slopes, to be read by Keypose again.",
  ".kps": "Keypose's own small file, within a tolerance or without any loss.",
  ".swings.json": "The swings of every joint.",
};

/** Opens it. With a draft that is offered too, and is what is meant at first. */
export function openTakeAway(state: ClipState, draft: Draft | null): void {
  const { formats } = state.opened.library;
  let what: What = draft && state.settings.panel === "edit" ? "draft" : state.keys.value.length ? "keys" : "capture";
  let chosen = formats.find((each) => each.suffix === (what === "capture" ? ".bvh" : ".glb")) ?? formats[0];
  const list = h("div", { class: "formats", role: "radiogroup", "aria-label": "File" });
  const note = h("p", { class: "note" });
  const trouble = h("p", { class: "failed-note", role: "alert", hidden: true });
  const whats = segmented<What>(
    "What of it",
    [
      ["capture", "Capture"],
      ["keys", state.keys.value.length ? counted(state.keys.value.length, "key") : "Keys"],
      ...(draft ? ([["draft", "Edit"]] as const) : []),
    ],
    (value) => {
      what = value;
      show();
    },
  );
  const tolerance = h("input", { class: "field", type: "number", min: 0, step: "any", placeholder: "1" });
  const lossless = check("Without any loss", (isOn) => {
    tolerance.disabled = isOn;
  });
  const within = h("div", { class: "row kps" }, labelled("Within (mm)", tolerance), lossless.element);
  const go = button("Download", "download", () => void take(), "primary");
  const dialog = openDialog({
    title: `Take “${state.facts.name}” away`,
    body: [whats.element, list, within, note, trouble],
    actions: [button("Cancel", null, () => dialog.close()), go],
    widthPx: 560,
  });
  whats.set(what);
  show();

  function show(): void {
    fill(list, ...formats.map(option));
    within.hidden = chosen?.suffix !== ".kps";
    trouble.hidden = true;
    const hint = chosen?.needs ? `This file needs more on the server: ${chosen.needs}` : HINTS[chosen?.suffix ?? ""];
    const said = {
      capture: "The capture as it is.",
      keys: "The chosen keys with curves between them.",
      draft: "The edit as it is now.",
    };
    note.textContent = `${said[what]} ${hint ?? ""}`;
  }

  function option(format: Format): HTMLElement {
    const input = h("input", { type: "radio", name: "format", value: format.suffix });
    input.checked = format === chosen;
    input.addEventListener("change", () => {
      chosen = format;
      show();
      list.querySelector<HTMLElement>(`[value="${format.suffix}"]`)?.focus();
    });
    return h(
      "label",
      { class: `format${format.needs ? " missing" : ""}` },
      input,
      h("b", { text: format.suffix }),
      h("span", { text: format.label }),
    );
  }

  async function take(): Promise<void> {
    if (!chosen) return;
    go.disabled = true;
    trouble.hidden = true;
    try {
      const told = toldOf(state, what, chosen.suffix, draft, lossless, tolerance.value);
      const { blob, name } = await askFile(`/api/clips/${state.facts.hash}/export`, { told });
      hand(blob, name);
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

function toldOf(
  state: ClipState,
  what: What,
  format: string,
  draft: Draft | null,
  lossless: { element: HTMLElement },
  tolerance: string,
): Record<string, unknown> {
  const told: Record<string, unknown> = { format };
  if (what === "keys") {
    told.frames = state.keys.value;
    told.interpolation = state.settings.interpolation;
  } else if (what === "draft" && draft) told.draft = draft;
  const isLossless = lossless.element.querySelector("input")?.checked ?? false;
  if (format === ".kps" && !isLossless && Number(tolerance) > 0) told.tolerance_mm = Number(tolerance);
  if (format.startsWith(".strip")) told.theme = theme.value;
  return told;
}

/** Gives a file to the person. */
function hand(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  window.setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
