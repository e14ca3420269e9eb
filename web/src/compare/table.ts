/** What was measured, method by method; the best of each column stands out. */

import { button } from "../clip/controls";
import { h } from "../ui/dom";
import { millimetres } from "../ui/format";
import { LINES } from "./axis";
import type { CompareState } from "./state";

export function table(state: CompareState): HTMLElement {
  const rows = state.contenders.value.map(({ method, keys, curves }) => ({
    method,
    keys: keys.value.length,
    score: curves.value?.score,
  }));
  const columns = ["mean_mm", "p95_mm", "max_mm"] as const;
  const best = columns.map((column) =>
    Math.min(...rows.map(({ score }) => score?.[column] ?? Number.POSITIVE_INFINITY)),
  );
  const head = ["Method", "Keys", "Mean", "95 % within", "Worst", "Where"].map((text) =>
    h("th", { scope: "col", text }),
  );
  const body = rows.map(({ method, keys, score }, n) => {
    const name = h("th", { scope: "row", text: method });
    name.style.color = LINES[n % LINES.length]!;
    const cells = columns.map((column, k) => {
      const value = score?.[column];
      const isBest = value !== undefined && value === best[k] && rows.length > 1;
      return h("td", { class: isBest ? "best" : "" }, value === undefined ? "…" : millimetres(value));
    });
    const where =
      score &&
      button(
        `${score.worst_joint}, frame ${score.worst_frame}`,
        null,
        () => state.goTo(score.worst_frame),
        "small quiet",
      );
    return h("tr", {}, name, h("td", { text: String(keys || "…") }), ...cells, h("td", {}, where ?? "…"));
  });
  const caption = h("caption", {
    class: "unseen",
    text: "How far curves through the keys of each method are off the capture",
  });
  return h("table", {}, caption, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...body));
}
