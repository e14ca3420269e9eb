/** The clip's part of the top bar: name, facts, search, compare and export. */

import { h } from "../ui/dom";
import { countOf, duration, fps } from "../ui/format";
import { type MenuItem, openMenu } from "../ui/menu";
import { button } from "./controls";
import { moreButton, shortcutOf } from "./more_menu";
import { searchPose, searchRange, searchSimilar } from "./pins_panel";
import type { ClipState } from "./state";

interface HeadingActions {
  openExport: () => void;
  compare: () => void;
}

export function heading(state: ClipState, { openExport, compare }: HeadingActions): HTMLElement {
  const { details } = state;
  const summary = [
    duration(details.duration_s),
    countOf(details.n_frames, "frame"),
    fps(details.fps),
    countOf(details.joints.length, "joint"),
  ];
  const searchItems = (): MenuItem[] => [
    { title: "Search for similar clips", icon: "similar", run: () => searchSimilar(state) },
    { title: "Search for this pose", icon: "figure", run: () => searchPose(state) },
    {
      title: "Search for this range",
      icon: "search",
      ...shortcutOf("Search for this range"),
      run: () => searchRange(state),
      disabled: !state.settings.range,
    },
  ];
  const searchButton = button("Search", "search", () => openMenu(searchButton, "Search the library", searchItems()));
  searchButton.setAttribute("aria-haspopup", "menu");
  return h(
    "div",
    { class: "clip-heading" },
    h(
      "div",
      { class: "clip-name" },
      h("h1", { text: details.name, title: details.name }),
      h("p", { text: summary.join(" · ") }),
    ),
    h(
      "div",
      { class: "clip-actions" },
      searchButton,
      button("Compare", "columns", compare),
      button("Export", "download", openExport, "primary"),
      moreButton(() => [...searchItems(), "line", { title: "Compare methods", icon: "columns", run: compare }, "line"]),
    ),
  );
}
