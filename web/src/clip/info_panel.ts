/** The panel about the file: where it comes from, its licence, and what was noticed when it was read. */

import { h } from "../ui/dom";
import { bytes, date } from "../ui/format";
import { icon } from "../ui/icons";
import { toSentence } from "../ui/states";
import { section } from "./controls";
import type { ClipDetails } from "./settings";

export function infoPanel(details: ClipDetails): HTMLElement {
  const { suffix, added_at, other_names, tags, source, licence, note, notes } = details;
  const row = (name: string, value: string) => h("div", {}, h("dt", { text: name }), h("dd", { text: value }));
  const rows = [
    row("Source", source || "Not stated"),
    row("Licence", licence || "Not stated"),
    note && row("Note", note),
    tags.length > 0 && row("Tags", tags.join(", ")),
    row("File", `${suffix}, ${bytes(details.bytes)}`),
    other_names.length > 0 && row("Also added as", other_names.join(", ")),
    row("Added", date(added_at)),
  ];
  const noteList = notes.map((text) => h("li", {}, icon("warning"), h("span", { text: toSentence(text) })));
  return h(
    "div",
    { class: "panel-body" },
    section("About this clip", {}, h("dl", { class: "clip-info" }, ...rows)),
    section(
      "Notes about the file",
      {},
      notes.length > 0
        ? h("ul", { class: "file-notes" }, ...noteList)
        : h("p", { class: "note", text: "The file was read without any repair or assumption." }),
    ),
  );
}
