/** What the marks of keys on the timeline say. */

import { h } from "../ui/dom";

export function legend(): HTMLElement {
  const mark = (look: string, name: string, says: string) =>
    h("li", {}, h("span", { class: `key-mark ${look}`, "aria-hidden": "true" }), h("b", { text: name }), says);
  return h(
    "ul",
    { class: "note key-legend", "aria-label": "Marks of keys" },
    mark("filled", "Extreme", ": the body comes nearly to rest"),
    mark("hollow", "Breakdown", ": on the way between extremes"),
  );
}
