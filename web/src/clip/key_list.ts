/** The list of the keys with the parts of the body that are at the end of their travel there. */

import { listParts } from "../timeline/labels";
import { fill, h } from "../ui/dom";
import { countOf } from "../ui/format";
import { button, section } from "./controls";
import type { ClipState } from "./state";

export function keyListSection(state: ClipState, cleanups: (() => void)[]): HTMLElement {
  const note = h("span", { class: "note" });
  const list = h("ol", { class: "key-list" });
  const explanation = h("p", {
    class: "note",
    text: "At an extreme a part of the body is at the end of its travel; breakdowns are between extremes.",
  });
  const element = section("List of keys", { folded: true, note }, explanation, list) as HTMLDetailsElement;

  const show = () => {
    const { keys, curves } = state;
    const extremes = new Set(curves.value?.extremes);
    const parts = curves.value?.extremeParts;
    const count = keys.value.filter((key) => extremes.has(key)).length;
    note.textContent = parts?.size ? countOf(count, "extreme") : "";
    if (!element.open) return; // a slider moves faster than a long list is built
    const rows = keys.value.map((key) => {
      const names = listParts(parts?.get(key) ?? []);
      const isKnown = parts?.has(key) ?? false;
      const text = names || (extremes.has(key) ? "first or last key" : isKnown ? "breakdown" : "");
      const go = button(String(key), null, () => state.goTo(key), "small quiet");
      go.setAttribute("aria-label", `Go to frame ${key}`);
      return h("li", {}, go, h("span", { class: names ? "" : "muted", text }));
    });
    fill(list, ...rows);
  };
  element.addEventListener("toggle", show);
  cleanups.push(state.keys.watchNow(show), state.curves.watch(show));
  return element;
}
