/** A dialog that takes clips away as a zip, in a format of choice. */

import { askFile, type Schema } from "../api/client";
import { openDialog } from "../ui/dialog";
import { fill, h } from "../ui/dom";
import { counted } from "../ui/format";
import { icon } from "../ui/icons";
import { progressBar } from "../ui/progress";
import { messageOf, sentence } from "../ui/states";

const MOST = 1000; // clips in one zip

export function openExporting(
  hashes: readonly string[],
  formats: readonly Schema["FormatRow"][],
  done: (name: string) => void,
): void {
  const first = formats.find(({ needs }) => needs === null);
  const choices = formats.map(({ suffix, label, needs }) =>
    h(
      "label",
      { class: "format" },
      h("input", {
        type: "radio",
        name: "format",
        value: suffix,
        disabled: needs !== null,
        checked: suffix === first?.suffix,
        autofocus: suffix === first?.suffix,
      }),
      h(
        "span",
        {},
        h("b", { text: label }),
        " ",
        h("small", { text: suffix }),
        needs && h("small", { text: `needs ${needs}` }),
      ),
    ),
  );
  const keys = h("input", { class: "field", type: "number", min: 2, max: 20_000, placeholder: "every frame" });
  const keysRow = h("label", { class: "labelled" }, h("span", { class: "label", text: "Number of key poses" }), keys);
  keysRow.append(
    h("small", {
      class: "hint",
      text: "Empty: every frame, as captured. Else only so many key poses and their curves.",
    }),
  );
  const says = h("div", { class: "says", role: "status" });
  const submit = h(
    "button",
    { class: "button primary", type: "submit", form: "exporting" },
    icon("download"),
    "Download zip",
  );
  const cancel = h("button", { class: "button", type: "button", text: "Cancel" });
  const legend = h("legend", { class: "label", text: "Format" });
  const form = h(
    "form",
    { id: "exporting", class: "form" },
    h("fieldset", { class: "formats" }, legend, ...choices),
    keysRow,
    says,
  );
  const ended = new AbortController();
  const title = `Export ${counted(hashes.length, "clip")}`;
  const dialog = openDialog({
    title,
    body: [form],
    actions: [cancel, submit],
    onClose: () => ended.abort(),
    widthPx: 660,
  });
  cancel.addEventListener("click", dialog.close);
  if (hashes.length > MOST) {
    fill(says, h("p", { class: "problem", text: `At most ${counted(MOST, "clip")} fit into one zip.` }));
    submit.disabled = true;
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void take();
  });

  async function take(): Promise<void> {
    const progress = progressBar("Writing the zip");
    progress.set(null);
    fill(says, h("p", { text: "Writing…" }), progress.element);
    submit.disabled = true;
    const format = String(new FormData(form).get("format"));
    const told = { clips: hashes, format, keys: keys.value === "" ? null : Number(keys.value) };
    try {
      const { blob, name } = await askFile("/api/export", { told, signal: ended.signal });
      saveAs(blob, name);
      dialog.close();
      done(name);
    } catch (error) {
      if (!ended.signal.aborted) fill(says, h("p", { class: "problem", text: sentence(messageOf(error)) }));
    }
    submit.disabled = false;
  }
}

/** Gives a file to the browser to keep. */
export function saveAs(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
