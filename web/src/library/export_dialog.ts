/** The dialog that exports clips as a zip. */

import { fetchFile, type Schema } from "../api/client";
import { watchQueue } from "../api/queue_status";
import { openDialog } from "../ui/dialog";
import { fill, h } from "../ui/dom";
import { countOf } from "../ui/format";
import { icon } from "../ui/icons";
import { progressBar } from "../ui/progress";
import { errorMessage, toSentence } from "../ui/states";

const MAX_CLIPS = 1000; // clips in one zip

export function openExportDialog(
  hashes: readonly string[],
  formats: readonly Schema["FormatRow"][],
  onDone: (name: string) => void,
): void {
  const first = formats.find(({ install_command: command }) => command === null);
  const choices = formats.map(({ suffix, label, variant, install_command: command }) =>
    h(
      "label",
      { class: "format" },
      h("input", {
        type: "radio",
        name: "format",
        value: suffix,
        disabled: command !== null,
        checked: suffix === first?.suffix,
        autofocus: suffix === first?.suffix,
      }),
      h(
        "span",
        {},
        h("b", { text: variant ? `${label}, ${variant}` : label }),
        " ",
        h("small", { text: suffix }),
        command && h("small", { text: `Not installed on the server: ${command}` }),
      ),
    ),
  );
  const keys = h("input", { class: "field", type: "number", min: 2, max: 20_000, placeholder: "Every frame" });
  const keysRow = h("label", { class: "form-field" }, h("span", { class: "label", text: "Number of keys" }), keys);
  keysRow.append(
    h("small", {
      class: "hint",
      text: "Leave empty to export every captured frame. Otherwise each clip is exported as this many keys with curves between them.",
    }),
  );
  const status = h("div", { class: "export-status", role: "status" });
  const submit = h(
    "button",
    { class: "button primary", type: "submit", form: "export-form" },
    icon("download"),
    "Download zip",
  );
  const cancel = h("button", { class: "button", type: "button", text: "Cancel" });
  const legend = h("legend", { class: "label", text: "Format" });
  const form = h(
    "form",
    { id: "export-form", class: "form" },
    h("fieldset", { class: "formats" }, legend, ...choices),
    keysRow,
    status,
  );
  const abort = new AbortController();
  const title = `Export ${countOf(hashes.length, "clip")}`;
  const dialog = openDialog({
    title,
    body: [form],
    actions: [cancel, submit],
    onClose: () => abort.abort(),
    widthPx: 660,
  });
  cancel.addEventListener("click", dialog.close);
  if (hashes.length > MAX_CLIPS) {
    fill(
      status,
      h("p", { class: "error-text", text: `At most ${countOf(MAX_CLIPS, "clip")} can be exported at a time.` }),
    );
    submit.disabled = true;
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void download();
  });

  async function download(): Promise<void> {
    const progress = progressBar("Exporting");
    progress.set(null);
    const text = h("p", {});
    fill(status, text, progress.element);
    const stopWatching = watchQueue((message) => {
      text.textContent = message;
    });
    submit.disabled = true;
    const format = String(new FormData(form).get("format"));
    const body = { clips: hashes, format, keys: keys.value === "" ? null : Number(keys.value) };
    try {
      const { blob, name } = await fetchFile("/api/export", { body, signal: abort.signal });
      downloadBlob(blob, name);
      dialog.close();
      onDone(name);
    } catch (error) {
      if (!abort.signal.aborted) fill(status, h("p", { class: "error-text", text: toSentence(errorMessage(error)) }));
    } finally {
      stopWatching();
    }
    submit.disabled = false;
  }
}

/** Lets the browser save a file. */
export function downloadBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
