/** The actions of the clip as a table. A row marks the range of its action, with which the library can be searched. */

import { fill, h } from "../ui/dom";
import { countOf, duration, toLabel } from "../ui/format";
import { section } from "./controls";
import type { Action, ClipState } from "./state";

export function actionsSection(state: ClipState, cleanups: (() => void)[]): HTMLElement {
  const note = h("p", { class: "note", role: "status" });
  const body = h("tbody");
  const header = (text: string) => h("th", { scope: "col", text });
  const table = h(
    "table",
    { class: "actions-table" },
    h("caption", { class: "visually-hidden", text: "Actions of the clip" }),
    h("thead", {}, h("tr", {}, header("Start"), header("Action"), header("Length"))),
    body,
  );
  const scroller = h("div", { class: "actions-scroller" }, table);
  let rows: readonly { action: Action; element: HTMLElement; link: HTMLElement }[] = [];
  const mark = () => {
    const { range } = state.settings;
    for (const { action, link } of rows)
      link.setAttribute("aria-pressed", String(range?.[0] === action.start && range[1] === action.end));
  };
  const highlight = (frame: number) => {
    for (const { action, element } of rows)
      element.classList.toggle("current", frame >= action.start && frame <= action.end);
  };
  cleanups.push(
    state.actions.watchNow((actions) => {
      rows = (actions ?? []).map((action) => actionRow(state, action));
      fill(body, ...rows.map(({ element }) => element));
      scroller.hidden = rows.length === 0;
      note.textContent = describe(state, actions);
      mark();
      highlight(state.frame.value);
    }),
    state.url.values.watch(mark),
    state.frame.watch(highlight),
  );
  return section("Actions", {}, note, scroller);
}

function actionRow(state: ClipState, action: Action): { action: Action; element: HTMLElement; link: HTMLElement } {
  const { start, end, phrase, description } = action;
  const link = h("button", {
    class: "chip-link",
    type: "button",
    title: `${toLabel(description)}. Marks frames ${start} to ${end} as the range`,
    text: toLabel(phrase),
  });
  link.addEventListener("click", () => state.markAction(action));
  const element = h(
    "tr",
    {},
    h("td", { text: `${(start / state.fps).toFixed(2)} s` }),
    h("td", {}, link),
    h("td", { text: duration((end - start) / state.fps) }),
  );
  return { action, element, link };
}

function describe(state: ClipState, actions: readonly Action[] | null): string {
  if (!actions) return "Finding actions…";
  if (!state.details.has_body) return "There are none: no arms and legs are recognised in this clip.";
  if (!actions.length) return "There are none in this clip.";
  return `${countOf(actions.length, "action")} in the capture. Click one to mark its range, with which you can search.`;
}
