/** What the grid shows when it holds no clips. */

import { h } from "../ui/dom";
import { icon } from "../ui/icons";
import { emptyState } from "../ui/states";
import { welcomeStrip } from "./welcome";

const SKELETONS = 12;

/** Cards without clips, while the first ones come. */
export function skeletonGrid(): HTMLElement {
  const card = () =>
    h(
      "div",
      { class: "card waiting" },
      h("div", { class: "card-look" }),
      h("div", { class: "card-text" }, h("span", { class: "card-name" }), h("span", { class: "card-facts" })),
    );
  return h("div", { class: "grid-waiting", "aria-hidden": "true" }, ...Array.from({ length: SKELETONS }, card));
}

export interface Beginning {
  pick: { files(): void; folder(): void };
  /** What `--library` is told in a shell. */
  shellName(): Promise<string>;
}

/** How to begin. */
export function emptyLibrary({ pick, shellName }: Beginning): HTMLElement {
  const files = h(
    "button",
    { type: "button", class: "button primary", on: { click: pick.files } },
    icon("file"),
    "Choose files",
  );
  const folder = h(
    "button",
    { type: "button", class: "button", on: { click: pick.folder } },
    icon("folder"),
    "Choose a folder",
  );
  const state = emptyState({
    icon: "figure",
    title: "No clips yet",
    text: "Drop files or a whole folder of motion capture anywhere on this page. Each take gets a strip of its key poses, and can be searched by example.",
    actions: [files, folder],
  });
  state.classList.add("welcome");
  state.firstElementChild?.replaceWith(welcomeStrip());
  state.append(
    h("p", {
      class: "hint",
      text: "BVH, C3D, glTF, USD, FBX, Blender and .kps files, .amc together with its .asf, .gltf with its .bin; also packed with gzip.",
    }),
  );
  shellName().then(
    (name) => state.append(fromShell(name)),
    () => {}, // one way less
  );
  return state;
}

function fromShell(name: string): HTMLElement {
  const line = h("code", { text: `keypose library add takes/ --library ${name}` });
  return h("p", { class: "hint" }, "From a shell in its folder: ", line);
}

export function nothingFound(isExample: boolean, isFiltered: boolean, clear: () => void): HTMLElement {
  const less = h("button", {
    type: "button",
    class: "button primary",
    on: { click: clear },
    text: "Clear the filters",
  });
  const text = isFiltered
    ? "Fewer or other filters may find something."
    : "Nothing in the library can be compared with it. A few more clips may help.";
  const title = isExample ? "Nothing like it was found" : "No clip is like that";
  return emptyState({ icon: "search", title, text, actions: isFiltered ? [less] : [] });
}
