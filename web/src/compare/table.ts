/** What was measured, method by method; the best of each column stands out. */

import { button } from "../clip/controls";
import { h } from "../ui/dom";
import { millimetres } from "../ui/format";
import { LINES } from "./axis";
import type { CompareState } from "./state";

const HEAD = ["Method", "Keys", "Mean", "95 % within", "Worst", "Where"] as const;

export function table(state: CompareState): HTMLElement {
  const rows = state.contenders.value.map(({ method, keys, curves, isRough }) => ({
    method,
    keys: keys.value.length,
    score: curves.value?.score,
    isRough: isRough.value,
  }));
  const columns = ["mean_mm", "p95_mm", "max_mm"] as const;
  const best = columns.map((column) =>
    Math.min(...rows.map(({ score }) => score?.[column] ?? Number.POSITIVE_INFINITY)),
  );
  const head = HEAD.map((text) => h("th", { scope: "col", role: "columnheader", text }));
  const body = rows.map(({ method, keys, score, isRough }, n) => {
    const name = h("th", { scope: "row", role: "rowheader", text: method });
    name.style.color = LINES[n % LINES.length]!;
    const cells = columns.map((column, k) => {
      const value = score?.[column];
      const isBest = value !== undefined && value === best[k] && rows.length > 1;
      return cell(HEAD[k + 2]!, value === undefined ? "…" : millimetres(value), isBest ? "figure best" : "figure");
    });
    const where =
      score &&
      button(
        `${score.worst_joint}, frame ${score.worst_frame}`,
        null,
        () => state.goTo(score.worst_frame),
        "small quiet",
      );
    const look = { class: isRough ? "rough" : "", role: "row", "aria-busy": isRough };
    return h("tr", look, name, cell("Keys", String(keys || "…")), ...cells, cell("Where", where ?? "…"));
  });
  const caption = h("caption", {
    class: "unseen",
    text: "How far curves through the keys of each method are off the capture",
  });
  return h(
    "table",
    { role: "table" },
    caption,
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...head)),
    h("tbody", { role: "rowgroup" }, ...body),
  );
}

/** Its name stands beside it where rows are cards. */
function cell(name: string, content: string | HTMLElement, look = ""): HTMLElement {
  return h("td", { class: look, role: "cell", "data-name": name }, content);
}

/** The same as data, under an address of its own. */
export function asJson({ opened, names, keys }: CompareState): HTMLElement {
  const href = `/compare/${opened.facts.hash}.json?methods=${names.join(",")}${keys ? `&keys=${keys}` : ""}`;
  return h("a", { class: "compare-json", href, text: "These methods as JSON" });
}
