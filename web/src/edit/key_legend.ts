/** The legend of the key marks on the timeline. */

import { h } from "../ui/dom";

export function keyLegend(): HTMLElement {
  const mark = (style: string, name: string, meaning: string) =>
    h("li", {}, h("span", { class: `key-mark ${style}`, "aria-hidden": "true" }), h("b", { text: name }), meaning);
  return h(
    "ul",
    { class: "note key-legend", "aria-label": "Key marks" },
    mark("filled", "Extreme", ": a body part at the end of its travel"),
    mark("hollow", "Breakdown", ": a pose between two extremes"),
  );
}
