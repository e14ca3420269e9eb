/** Filters by tags, duration, body parts and actions, with counts; and chips for the active filters. */

import type { UrlState } from "../state/url";
import { fill, h } from "../ui/dom";
import { count, duration, humanize, toLabel } from "../ui/format";
import { icon } from "../ui/icons";
import type { FacetCounts } from "./clip_source";
import { NO_FILTERS, type VIEW, type View } from "./view";

const FOLDED_TAGS = 12;
const FOLDED_ACTIONS = 8;

type State = UrlState<typeof VIEW>;

export function facetsPanel(state: State): { element: HTMLElement; show(facets: FacetCounts | null): void } {
  const element = h("div", { class: "facets" });
  const unfolded = new Set<string>();
  let current: FacetCounts | null = null;

  const show = (facets: FacetCounts | null) => {
    current = facets;
    const view = state.value;
    const focused = (document.activeElement as HTMLElement | null)?.dataset?.facet;
    fill(
      element,
      ...(facets
        ? [tagGroup(view, facets), durationGroup(view, facets), bodyPartGroup(view, facets), actionGroup(view, facets)]
        : []),
    );
    if (focused) element.querySelector<HTMLElement>(`[data-facet="${CSS.escape(focused)}"]`)?.focus();
  };

  function tagGroup(view: View, facets: FacetCounts): HTMLElement | null {
    const counts = new Map(facets.tags.map(({ tag, count: number }) => [tag, number]));
    const selected = view.tag.map((tag) => ({ tag, count: counts.get(tag) ?? 0 }));
    const others = facets.tags.filter(({ tag }) => !view.tag.includes(tag));
    const all = [...selected, ...others];
    const rows = fold("tags", all, Math.max(FOLDED_TAGS, selected.length)).map(({ tag, count: number }) =>
      facetButton(`tag ${tag}`, tag, formatCount(facets, number), view.tag.includes(tag), () => {
        const next = view.tag.includes(tag) ? view.tag.filter((each) => each !== tag) : [...view.tag, tag];
        state.set({ tag: next }, { push: true });
      }),
    );
    return group("Tags", rows, unfoldButton("tags", all.length - FOLDED_TAGS));
  }

  function fold<Item>(name: string, all: readonly Item[], max: number): readonly Item[] {
    return unfolded.has(name) ? all : all.slice(0, max);
  }

  /** The button that shows the `hidden` entries of a group; null if there are none. */
  function unfoldButton(name: string, hidden: number): HTMLElement | null {
    if (hidden <= 0) return null;
    const isUnfolded = unfolded.has(name);
    const title = isUnfolded ? "Show fewer" : `Show ${count(hidden)} more`;
    const toggle = () => {
      if (!unfolded.delete(name)) unfolded.add(name);
      show(current);
    };
    const attributes = {
      class: "button quiet small",
      type: "button",
      "data-facet": `more ${name}`,
      "aria-expanded": isUnfolded,
    };
    return h("button", { ...attributes, on: { click: toggle }, text: title });
  }

  function durationGroup(view: View, facets: FacetCounts): HTMLElement | null {
    const isOn = (min_s: number, max_s: number | null) =>
      view.min_duration_s === (min_s || null) && view.max_duration_s === max_s;
    const bins = facets.durations.filter(({ min_s, max_s, count: number }) => number > 0 || isOn(min_s, max_s));
    const rows = bins.map(({ min_s, max_s, count: number }) => {
      const isSelected = isOn(min_s, max_s);
      const change = isSelected
        ? { min_duration_s: null, max_duration_s: null }
        : { min_duration_s: min_s || null, max_duration_s: max_s };
      return facetButton(
        `duration ${min_s}`,
        durationRange(min_s || null, max_s),
        formatCount(facets, number),
        isSelected,
        () => state.set(change, { push: true }),
      );
    });
    return group("Duration", rows);
  }

  function bodyPartGroup(view: View, facets: FacetCounts): HTMLElement | null {
    const rows = facets.body_parts.map(({ body_part: bodyPart, count: number }) => {
      const isSelected = view.body_part === bodyPart;
      return facetButton(`body_part ${bodyPart}`, toLabel(bodyPart), formatCount(facets, number), isSelected, () =>
        state.set({ body_part: isSelected ? "" : bodyPart }, { push: true }),
      );
    });
    return group("Active body part", rows);
  }

  function actionGroup(view: View, facets: FacetCounts): HTMLElement | null {
    const isSelected = ({ action }: { action: string }) => view.action === action;
    const all = [...facets.actions.filter(isSelected), ...facets.actions.filter((each) => !isSelected(each))];
    const rows = fold("actions", all, FOLDED_ACTIONS).map(({ action, count: number }) =>
      facetButton(`action ${action}`, toLabel(action), formatCount(facets, number), view.action === action, () =>
        state.set({ action: view.action === action ? "" : action }, { push: true }),
      ),
    );
    return group("Action", rows, unfoldButton("actions", all.length - FOLDED_ACTIONS));
  }

  return { element, show };
}

/** Formats a count: "12+" if only some clips have been counted. */
function formatCount({ isPartial }: FacetCounts, number: number): string {
  return isPartial ? `${count(number)}+` : count(number);
}

/** "Under 2 s", "2 to 5 s", "30 s to 1:00", "Over 1:00" */
export function durationRange(min: number | null, max: number | null): string {
  const short = (seconds: number) => (seconds < 10 && Number.isInteger(seconds) ? `${seconds} s` : duration(seconds));
  if (max === null) return `Over ${short(min ?? 0)}`;
  if (min === null) return `Under ${short(max)}`;
  const [from, to] = [short(min), short(max)];
  return from.endsWith(" s") && to.endsWith(" s") ? `${from.slice(0, -2)} to ${to}` : `${from} to ${to}`;
}

function group(title: string, rows: HTMLElement[], more: HTMLElement | null = null): HTMLElement | null {
  if (rows.length === 0) return null;
  const list = h("ul", {}, ...rows.map((row) => h("li", {}, row)));
  return h("section", {}, h("h2", { text: title }), list, more);
}

function facetButton(key: string, name: string, number: string, isSelected: boolean, run: () => void): HTMLElement {
  return h(
    "button",
    { type: "button", class: "facet", "aria-pressed": isSelected, "data-facet": key, on: { click: run } },
    h("span", { class: "facet-name", text: name }),
    h("span", { class: "facet-count", text: number }),
  );
}

/** The active filters; each chip removes one. */
export function chipsRow(state: State): { element: HTMLElement; show(): void } {
  const element = h("div", { class: "chips", role: "group", "aria-label": "Active filters" });
  const show = () => {
    const view = state.value;
    const chips: HTMLElement[] = [];
    const chip = (name: string, change: Partial<View>) => {
      const label = `Remove filter ${name}`;
      const click = () => state.set(change, { push: true });
      chips.push(
        h("button", { type: "button", class: "chip", "aria-label": label, on: { click } }, name, icon("cross")),
      );
    };
    if (view.text.trim() !== "") chip(`“${view.text.trim()}”`, { text: "" });
    for (const tag of view.tag) chip(tag, { tag: view.tag.filter((each) => each !== tag) });
    if (view.min_duration_s !== null || view.max_duration_s !== null)
      chip(durationRange(view.min_duration_s, view.max_duration_s), { min_duration_s: null, max_duration_s: null });
    if (view.body_part !== "") chip(`Active: ${humanize(view.body_part)}`, { body_part: "" });
    if (view.action !== "") chip(`Action: ${humanize(view.action)}`, { action: "" });
    if (chips.length > 1) {
      const click = () => state.set({ ...NO_FILTERS }, { push: true });
      chips.push(h("button", { type: "button", class: "button quiet small", on: { click }, text: "Clear all" }));
    }
    fill(element, ...chips);
    element.hidden = chips.length === 0;
  };
  return { element, show };
}
