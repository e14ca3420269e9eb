/** What the clips have in common, with counts; and chips of what was chosen from it. */

import type { UrlState } from "../state/url";
import { fill, h } from "../ui/dom";
import { count, duration, spoken } from "../ui/format";
import { icon } from "../ui/icons";
import type { Counted } from "./source";
import { NO_FILTERS, type VIEW, type View } from "./view";

const FEW_TAGS = 12;

type State = UrlState<typeof VIEW>;

export function facetsPanel(state: State): { element: HTMLElement; show(facets: Counted | null): void } {
  const element = h("div", { class: "facets" });
  let allTags = false;
  let latest: Counted | null = null;

  const show = (facets: Counted | null) => {
    latest = facets;
    const view = state.value;
    const focused = (document.activeElement as HTMLElement | null)?.dataset?.facet;
    fill(element, ...(facets ? [tags(view, facets), durations(view, facets), parts(view, facets)] : []));
    if (focused) element.querySelector<HTMLElement>(`[data-facet="${CSS.escape(focused)}"]`)?.focus();
  };

  function tags(view: View, facets: Counted): HTMLElement | null {
    const known = new Map(facets.tags.map(({ tag, count: number }) => [tag, number]));
    const chosen = view.tag.map((tag) => ({ tag, count: known.get(tag) ?? 0 }));
    const others = facets.tags.filter(({ tag }) => !view.tag.includes(tag));
    const all = [...chosen, ...others];
    const shown = allTags ? all : all.slice(0, Math.max(FEW_TAGS, chosen.length));
    const rows = shown.map(({ tag, count: number }) =>
      option(`tag ${tag}`, tag, said(facets, number), view.tag.includes(tag), () => {
        const next = view.tag.includes(tag) ? view.tag.filter((each) => each !== tag) : [...view.tag, tag];
        state.set({ tag: next }, { push: true });
      }),
    );
    const more = all.length > FEW_TAGS && unfold(all.length - FEW_TAGS);
    return group("Tags", rows, more);
  }

  function unfold(hidden: number): HTMLElement {
    const title = allTags ? "Show fewer" : `Show ${count(hidden)} more`;
    const toggle = () => {
      allTags = !allTags;
      show(latest);
    };
    const look = { class: "button quiet small", type: "button", "data-facet": "more tags", "aria-expanded": allTags };
    return h("button", { ...look, on: { click: toggle }, text: title });
  }

  function durations(view: View, facets: Counted): HTMLElement | null {
    const isOn = (least_s: number, most_s: number | null) => view.least === (least_s || null) && view.most === most_s;
    const some = facets.durations.filter(({ least_s, most_s, count: number }) => number > 0 || isOn(least_s, most_s));
    const rows = some.map(({ least_s, most_s, count: number }) => {
      const on = isOn(least_s, most_s);
      const change = on ? { least: null, most: null } : { least: least_s || null, most: most_s };
      return option(`lasts ${least_s}`, lasting(least_s || null, most_s), said(facets, number), on, () =>
        state.set(change, { push: true }),
      );
    });
    return group("Duration", rows);
  }

  function parts(view: View, facets: Counted): HTMLElement | null {
    const rows = facets.parts.map(({ part, count: number }) => {
      const on = view.body === part;
      return option(`part ${part}`, spoken(part), said(facets, number), on, () =>
        state.set({ body: on ? "" : part }, { push: true }),
      );
    });
    return group("Swings of", rows);
  }

  return { element, show };
}

/** A count; "12+" where only some clips are counted. */
function said({ isPartial }: Counted, number: number): string {
  return isPartial ? `${count(number)}+` : count(number);
}

/** "under 2 s", "2 to 5 s", "30 s to 1:00", "over 1:00" */
export function lasting(least: number | null, most: number | null): string {
  const short = (seconds: number) => (seconds < 10 && Number.isInteger(seconds) ? `${seconds} s` : duration(seconds));
  if (most === null) return `over ${short(least ?? 0)}`;
  if (least === null) return `under ${short(most)}`;
  const [from, to] = [short(least), short(most)];
  return from.endsWith(" s") && to.endsWith(" s") ? `${from.slice(0, -2)} to ${to}` : `${from} to ${to}`;
}

function group(title: string, rows: HTMLElement[], more: HTMLElement | false = false): HTMLElement | null {
  if (rows.length === 0) return null;
  const list = h("ul", {}, ...rows.map((row) => h("li", {}, row)));
  return h("section", {}, h("h2", { text: title }), list, more);
}

function option(key: string, name: string, number: string, on: boolean, run: () => void): HTMLElement {
  return h(
    "button",
    { type: "button", class: "facet", "aria-pressed": on, "data-facet": key, on: { click: run } },
    h("span", { class: "facet-name", text: name }),
    h("span", { class: "facet-count", text: number }),
  );
}

/** What is chosen, each removable. */
export function chipsRow(state: State): { element: HTMLElement; show(): void } {
  const element = h("div", { class: "chips", role: "group", "aria-label": "What is chosen" });
  const show = () => {
    const view = state.value;
    const chips: HTMLElement[] = [];
    const chip = (name: string, change: Partial<View>) => {
      const label = `Remove ${name}`;
      const click = () => state.set(change, { push: true });
      chips.push(
        h("button", { type: "button", class: "chip", "aria-label": label, on: { click } }, name, icon("cross")),
      );
    };
    if (view.words.trim() !== "") chip(`“${view.words.trim()}”`, { words: "" });
    for (const tag of view.tag) chip(tag, { tag: view.tag.filter((each) => each !== tag) });
    if (view.least !== null || view.most !== null) chip(lasting(view.least, view.most), { least: null, most: null });
    if (view.body !== "") chip(`swings of ${spoken(view.body)}`, { body: "" });
    if (chips.length > 1) {
      const click = () => state.set({ ...NO_FILTERS }, { push: true });
      chips.push(h("button", { type: "button", class: "button quiet small", on: { click }, text: "Clear all" }));
    }
    fill(element, ...chips);
    element.hidden = chips.length === 0;
  };
  return { element, show };
}
