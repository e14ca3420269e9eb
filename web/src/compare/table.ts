/** The table of results by method; the best value of each column is highlighted. */

import { button } from "../clip/controls";
import { h } from "../ui/dom";
import { millimetres } from "../ui/format";
import { METHOD_COLOURS } from "./axis";
import type { CompareState } from "./state";

const HEAD = ["Method", "Keys", "Mean error", "95th percentile", "Max error", "Max at"] as const;

export function buildTable(state: CompareState): HTMLElement {
  const rows = state.runs.value.map(({ method, keys, curves, isApproximate }) => ({
    method,
    keys: keys.value.length,
    score: curves.value?.score,
    isApproximate: isApproximate.value,
  }));
  const columns = ["mean_mm", "p95_mm", "max_mm"] as const;
  const best = columns.map((column) =>
    Math.min(...rows.map(({ score }) => score?.[column] ?? Number.POSITIVE_INFINITY)),
  );
  const head = HEAD.map((text) => h("th", { scope: "col", role: "columnheader", text }));
  const body = rows.map(({ method, keys, score, isApproximate }, n) => {
    const name = h("th", { scope: "row", role: "rowheader", text: method });
    name.style.color = METHOD_COLOURS[n % METHOD_COLOURS.length]!;
    const cells = columns.map((column, k) => {
      const value = score?.[column];
      const isBest = value !== undefined && value === best[k] && rows.length > 1;
      return cell(HEAD[k + 2]!, value === undefined ? "…" : millimetres(value), isBest ? "figure best" : "figure");
    });
    const worstButton =
      score &&
      button(
        `${score.worst_joint}, frame ${score.worst_frame}`,
        null,
        () => state.goTo(score.worst_frame),
        "small quiet",
      );
    const attributes = { class: isApproximate ? "approximate" : "", role: "row", "aria-busy": isApproximate };
    return h("tr", attributes, name, cell("Keys", String(keys || "…")), ...cells, cell("Max at", worstButton ?? "…"));
  });
  const caption = h("caption", {
    class: "visually-hidden",
    text: "Error of the curves through the keys of each method: distance of joints from the capture",
  });
  return h(
    "table",
    { role: "table" },
    caption,
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...head)),
    h("tbody", { role: "rowgroup" }, ...body),
  );
}

/** The column's name is shown beside the value where rows are laid out as cards. */
function cell(name: string, content: string | HTMLElement, classes = ""): HTMLElement {
  return h("td", { class: classes, role: "cell", "data-name": name }, content);
}

/** A link to the same results as JSON. */
export function jsonLink({ clip, methodNames, keys }: CompareState): HTMLElement {
  const href = `/compare/${clip.details.hash}.json?methods=${methodNames.join(",")}${keys ? `&keys=${keys}` : ""}`;
  return h("a", { class: "compare-json", href, text: "Results as JSON" });
}
