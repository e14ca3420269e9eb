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

/** "key" and the parts of the body at the end of their travel; "key, breakdown" if it is no extreme. */
export function describeKey(parts: readonly string[] | undefined, isExtreme: boolean): string {
  if (!parts) return "key"; // its curves are not loaded yet
  if (parts.length) return `key, end of travel of ${listParts(parts)}`;
  return isExtreme ? "key, extreme" : "key, breakdown";
}

/** "left hand, right hand and hips" */
export function listParts(parts: readonly string[]): string {
  const names = parts.map(humanize);
  return names.length < 2 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

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
