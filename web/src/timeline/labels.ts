/** The labels of the lanes; those of body parts open and close. */

import { h } from "../ui/dom";
import { humanize } from "../ui/format";
import { icon } from "../ui/icons";
import type { Row } from "./lanes";

const NAMES = { ruler: "", keys: "Keys", pins: "Pins", error: "Error" };

export function laneLabel(row: Row, toggle: () => void): HTMLElement {
  const { kind, name, isOpen } = row;
  if (kind === "group") {
    const id = `lane-${name.replaceAll(" ", "-")}`;
    const attributes = { "aria-expanded": String(isOpen), type: "button", id, on: { click: toggle } };
    return h(
      "button",
      { class: "lane-label lane-toggle", ...attributes },
      icon(isOpen ? "down" : "right"),
      humanize(name),
    );
  }
  const text = kind === "joint" ? name : kind === "contact" ? `${humanize(name)} foot` : NAMES[kind];
  return h("div", { class: `lane-label lane-${kind}`, title: name, text });
}
