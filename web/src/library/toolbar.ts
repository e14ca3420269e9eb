/** The field for words, and the order of clips. */

import type { UrlState } from "../state/url";
import { h } from "../ui/dom";
import { icon } from "../ui/icons";
import { SORTS, type Sort, type VIEW } from "./view";

type State = UrlState<typeof VIEW>;

const TYPING_MS = 180;

/** Words to look for in names, tags and notes; ArrowDown goes on to the grid. */
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
    timer = window.setTimeout(() => state.set({ words: field.value }), TYPING_MS);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") toGrid();
    else if (event.key === "Enter") state.set({ words: field.value });
    else return;
    event.preventDefault();
  });
  const element = h("div", { class: "search", role: "search" }, icon("search"), field, h("kbd", { text: "/" }));
  const show = () => {
    if (document.activeElement !== field || field.value.trim() !== state.value.words.trim()) {
      clearTimeout(timer);
      if (field.value !== state.value.words) field.value = state.value.words;
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
  const close = state.values.show(({ sort, like, part, pose }) => {
    select.value = sort;
    element.hidden = [like, part, pose].some((each) => each !== ""); // hits are in order of likeness
  });
  return { element, close };
}
