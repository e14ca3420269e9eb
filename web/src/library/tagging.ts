/** A dialog that gives tags to clips and takes them away. */

import { openDialog } from "../ui/dialog";
import { fill, h } from "../ui/dom";
import { count, counted } from "../ui/format";
import { icon } from "../ui/icons";
import type { ClipRow } from "./view";

export interface TagChange {
  add: string[];
  remove: string[];
}

/** Tags as typed: "walk, slow" */
export function tagsIn(text: string): string[] {
  return [
    ...new Set(
      text
        .split(",")
        .map((each) => each.trim())
        .filter((each) => each !== ""),
    ),
  ];
}

/** Tags that some of the clips have, with how many have them, the most frequent first. */
export function tagsOf(rows: readonly ClipRow[]): [tag: string, clips: number][] {
  const counts = new Map<string, number>();
  for (const row of rows) for (const tag of row.tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b));
}

/** What to ask for so that every clip has the tags again that it had. */
export function undoingTags(
  rows: readonly ClipRow[],
  { add, remove }: TagChange,
): { clips: string[]; add: string[]; remove: string[] }[] {
  const steps = new Map<string, { clips: string[]; add: string[]; remove: string[] }>();
  for (const row of rows) {
    const back = {
      add: remove.filter((tag) => row.tags.includes(tag)),
      remove: add.filter((tag) => !row.tags.includes(tag)),
    };
    if (back.add.length + back.remove.length === 0) continue;
    const key = JSON.stringify(back);
    const step = steps.get(key) ?? { clips: [], ...back };
    step.clips.push(row.hash);
    steps.set(key, step);
  }
  return [...steps.values()];
}

export function openTagging(
  rows: readonly ClipRow[],
  known: readonly string[],
  apply: (change: TagChange) => void,
): void {
  const removed = new Set<string>();
  const field = h("input", { class: "field", list: "known-tags", placeholder: "walk, slow, take 3", autofocus: true });
  field.setAttribute("autocomplete", "off");
  const options = h("datalist", { id: "known-tags" }, ...known.map((tag) => h("option", { value: tag })));
  const add = h(
    "label",
    { class: "labelled" },
    h("span", { class: "label", text: "Add tags, separated by commas" }),
    field,
  );
  const there = h("div", { class: "tag-toggles" });
  const present = tagsOf(rows);
  const show = () => {
    const buttons = present.map(([tag, clips]) => {
      const goes = removed.has(tag);
      const title = goes ? `Keep ${tag}` : `Remove ${tag}`;
      const shown = clips === rows.length ? tag : `${tag} (${count(clips)})`;
      const click = () => {
        if (!removed.delete(tag)) removed.add(tag);
        show();
        there.querySelector<HTMLElement>(`[data-tag="${CSS.escape(tag)}"]`)?.focus();
      };
      const look = { type: "button", class: "chip", "aria-pressed": goes, "aria-label": title, "data-tag": tag };
      return h(
        "button",
        { ...look, on: { click } },
        goes ? h("s", { text: shown }) : shown,
        icon(goes ? "undo" : "cross"),
      );
    });
    fill(there, ...buttons);
  };
  show();
  const listed =
    present.length > 0 && h("div", { class: "labelled" }, h("span", { class: "label", text: "On them now" }), there);
  const submit = h("button", { class: "button primary", type: "submit", form: "tagging", text: "Apply" });
  const cancel = h("button", { class: "button", type: "button", text: "Cancel" });
  const form = h("form", { id: "tagging", class: "form" }, add, options, listed);
  const title = rows.length === 1 ? `Tags of ${rows[0]?.name}` : `Tags of ${counted(rows.length, "clip")}`;
  const { close } = openDialog({ title, body: [form], actions: [cancel, submit] });
  cancel.addEventListener("click", close);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    close();
    const change = { add: tagsIn(field.value), remove: [...removed] };
    if (change.add.length + change.remove.length > 0) apply(change);
  });
}
