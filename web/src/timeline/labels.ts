/** The labels of the lanes; those of body parts open and close. */

import { h } from "../ui/dom";
import { humanize, toLabel } from "../ui/format";
import { icon } from "../ui/icons";
import type { Row } from "./lanes";

const NAMES = { ruler: "", keys: "Keys", pins: "Pins", error: "Error", actions: "Actions" };
const TITLES = {
  ruler: "",
  keys: "Key frames",
  pins: "Pinned frames",
  error: "", // set with its values
  actions: "What the figure does: click an action to mark its range",
};

export function laneLabel(row: Row, toggle: () => void): HTMLElement {
  const { kind, name, isOpen } = row;
  if (kind === "group") {
    const id = `lane-${name.replaceAll(" ", "-")}`;
    const attributes = { "aria-expanded": String(isOpen), type: "button", id, on: { click: toggle } };
    return h(
      "button",
      { class: "lane-label lane-toggle", ...attributes },
      icon(isOpen ? "down" : "right"),
      toLabel(name),
    );
  }
  const text = kind === "joint" ? name : kind === "contact" ? `${toLabel(name)} foot` : NAMES[kind];
  const title =
    kind === "joint" ? name : kind === "contact" ? `When the ${humanize(name)} foot stays in place` : TITLES[kind];
  return h("div", { class: `lane-label lane-${kind}`, title, text });
}
