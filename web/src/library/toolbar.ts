/** The search field and the sort order. */

import type { UrlState } from "../state/url";
import { h } from "../ui/dom";
import { icon } from "../ui/icons";
import { SORTS, type Sort, type VIEW } from "./view";

type State = UrlState<typeof VIEW>;

const INPUT_DELAY_MS = 180;

/** Full-text search in names, tags and notes; ArrowDown moves to the grid. */
export function searchBox(state: State, toGrid: () => void): { element: HTMLElement; show(): void; focus(): void } {
  const field = h("input", {
    type: "search",
    class: "field search-field",
    placeholder: "Search names and tags",
    "aria-label": "Search names and tags",
    "aria-keyshortcuts": "/",
    autocomplete: "off",
    spellcheck: "false",
  });
  let timer = 0;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => state.set({ text: field.value }), INPUT_DELAY_MS);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") toGrid();
    else if (event.key === "Enter") state.set({ text: field.value });
    else return;
    event.preventDefault();
  });
  const element = h("div", { class: "search", role: "search" }, icon("search"), field, h("kbd", { text: "/" }));
  const show = () => {
    if (document.activeElement !== field || field.value.trim() !== state.value.text.trim()) {
      clearTimeout(timer);
      if (field.value !== state.value.text) field.value = state.value.text;
    }
  };
  const focus = () => {
    field.focus();
    field.select();
  };
  return { element, show, focus };
}

export function sortChoice(state: State): { element: HTMLElement; close(): void } {
  const options = Object.entries(SORTS).map(([key, title]) => h("option", { value: key, text: title }));
  const select = h("select", { class: "field small", "aria-label": "Order of clips" }, ...options);
  select.addEventListener("change", () => state.set({ sort: select.value as Sort }, { push: true }));
  const element = h("label", { class: "sort" }, icon("sort"), select);
  const close = state.values.watchNow(({ sort, clip, span, pose }) => {
    select.value = sort;
    element.hidden = [clip, span, pose].some((each) => each !== ""); // hits are sorted by similarity
  });
  return { element, close };
}
