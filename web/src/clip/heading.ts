/** The clip's part of the top bar: what it is called, what it is, where to go from here. */

import { h } from "../ui/dom";
import { counted, duration, fps } from "../ui/format";
import { type MenuItem, openMenu } from "../ui/menu";
import { button } from "./controls";
import { moreButton, pressed } from "./more";
import { findLike, findPart, findPose } from "./pins_panel";
import type { ClipState } from "./state";

interface Does {
  takeAway: () => void;
  compare: () => void;
}

export function heading(state: ClipState, { takeAway, compare }: Does): HTMLElement {
  const { facts } = state;
  const says = [
    duration(facts.duration_s),
    counted(facts.n_frames, "frame"),
    fps(facts.fps),
    counted(facts.joints.length, "joint"),
  ];
  const searches = (): MenuItem[] => [
    { title: "More like this clip", icon: "alike", run: () => findLike(state) },
    { title: "This pose elsewhere", icon: "figure", run: () => findPose(state) },
    {
      title: "This range elsewhere",
      icon: "search",
      ...pressed("Find this range elsewhere"),
      run: () => findPart(state),
      disabled: !state.settings.range,
    },
  ];
  const find = button("Find", "search", () => openMenu(find, "Find in the library", searches()));
  find.setAttribute("aria-haspopup", "menu");
  return h(
    "div",
    { class: "clip-heading" },
    h(
      "div",
      { class: "clip-name" },
      h("h1", { text: facts.name, title: facts.name }),
      h("p", { text: says.join(" · ") }),
    ),
    h(
      "div",
      { class: "clip-actions" },
      find,
      button("Compare", "columns", compare),
      button("Take away", "download", takeAway, "primary"),
      moreButton(() => [...searches(), "line", { title: "Compare methods", icon: "columns", run: compare }, "line"]),
    ),
  );
}
