/** What the grid shows when there are no clips. */

import type { Schema } from "../api/client";
import { h } from "../ui/dom";
import { icon } from "../ui/icons";
import { emptyState } from "../ui/states";
import { sampleStrip } from "./sample_strip";

const N_PLACEHOLDERS = 12;

/** Placeholder cards while the first clips are being loaded. */
export function placeholderGrid(): HTMLElement {
  const card = () =>
    h(
      "div",
      { class: "card loading" },
      h("div", { class: "card-picture" }),
      h("div", { class: "card-text" }, h("span", { class: "card-name" }), h("span", { class: "card-details" })),
    );
  return h("div", { class: "grid-loading", "aria-hidden": "true" }, ...Array.from({ length: N_PLACEHOLDERS }, card));
}

export interface EmptyLibraryOptions {
  pick: { files(): void; folder(): void };
  libraryInfo(): Promise<Schema["LibraryInfo"]>;
}

/** The empty library, with ways to add clips. */
export function emptyLibrary({ pick, libraryInfo }: EmptyLibraryOptions): HTMLElement {
  const files = h(
    "button",
    { type: "button", class: "button primary", on: { click: pick.files } },
    icon("file"),
    "Add files…",
  );
  const folder = h(
    "button",
    { type: "button", class: "button", on: { click: pick.folder } },
    icon("folder"),
    "Add a folder…",
  );
  const state = emptyState({
    icon: "figure",
    title: "No clips yet",
    text: "Drop motion capture files or folders anywhere on this page. Each clip is shown as a strip of its key poses, and you can search for similar clips, movements and poses.",
    actions: [files, folder],
  });
  state.classList.add("empty-library");
  state.firstElementChild?.replaceWith(sampleStrip());
  libraryInfo().then(
    ({ import_formats: formats, library_argument: name }) => {
      const hints = describeImportFormats(formats).map((text) => h("p", { class: "hint", text }));
      state.append(...hints, shellHint(name));
    },
    () => {}, // without hints: adding a file shows the error
  );
  return state;
}

/** Describes the files that can be added, and those for which the server lacks something. */
export function describeImportFormats(formats: readonly Schema["ImportFormatRow"][]): string[] {
  const readable = formats.filter(({ install_command: command }) => command === null);
  const suffixes = readable.flatMap((format) => format.suffixes.filter((suffix) => !suffix.endsWith(".gz")));
  const missing = formats.filter(({ install_command: command }) => command !== null);
  const list = new Intl.ListFormat("en");
  return [
    `${list.format(suffixes)} files, some also gzipped (.gz). Add an .amc file together with its .asf, and a .gltf file with its .bin.`,
    ...missing.map((format) => `${format.label} files need this on the server: ${format.install_command}`),
  ];
}

function shellHint(name: string): HTMLElement {
  const line = h("code", { text: `keypose library add takes/ --library ${name}` });
  return h("p", { class: "hint" }, "Or in a terminal, in the folder of the library: ", line);
}

export function noResults(isExample: boolean, isFiltered: boolean, clear: () => void): HTMLElement {
  const clearButton = h("button", {
    type: "button",
    class: "button primary",
    on: { click: clear },
    text: "Clear filters",
  });
  const text = isFiltered
    ? "Try fewer or different filters."
    : "The library has no other clip that can be compared with this one.";
  const title = isExample ? "No similar clips found" : "No matching clips";
  return emptyState({ icon: "search", title, text, actions: isFiltered ? [clearButton] : [] });
}
