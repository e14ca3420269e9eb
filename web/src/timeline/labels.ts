/** The names of lanes, beside them; those of parts of the body open and close. */

import { h } from "../ui/dom";
import { spoken } from "../ui/format";
import { icon } from "../ui/icons";
import type { Row } from "./lanes";

const NAMES = { ruler: "", keys: "Keys", pins: "Pins", error: "Error" };

export function laneLabel(row: Row, toggle: () => void): HTMLElement {
  const { kind, name, isOpen } = row;
  if (kind === "group") {
    const id = `lane-${name.replaceAll(" ", "-")}`;
    const more = { "aria-expanded": String(isOpen), type: "button", id, on: { click: toggle } };
    return h("button", { class: "lane-label lane-toggle", ...more }, icon(isOpen ? "down" : "right"), spoken(name));
  }
  const text = kind === "joint" ? name : kind === "contact" ? `${spoken(name)} foot` : NAMES[kind];
  return h("div", { class: `lane-label lane-${kind}`, title: name, text });
}
