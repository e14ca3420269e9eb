/** The dialog that adds and removes tags. */

import { openDialog } from "../ui/dialog";
import { fill, h } from "../ui/dom";
import { count, countOf } from "../ui/format";
import { icon } from "../ui/icons";
import type { ClipRow } from "./view";

export interface TagChange {
  add: string[];
  remove: string[];
}

/** Parses tags as typed: "walk, slow" */
export function parseTags(text: string): string[] {
  return [
    ...new Set(
      text
        .split(",")
        .map((each) => each.trim())
        .filter((each) => each !== ""),
    ),
  ];
}

/** Returns the tags of the clips with their counts, the most frequent first. */
export function countTags(rows: readonly ClipRow[]): [tag: string, clips: number][] {
  const counts = new Map<string, number>();
  for (const row of rows) for (const tag of row.tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b));
}

/** Returns the changes that give every clip its previous tags. */
export function invertTagChange(
  rows: readonly ClipRow[],
  { add, remove }: TagChange,
): { clips: string[]; add: string[]; remove: string[] }[] {
  const steps = new Map<string, { clips: string[]; add: string[]; remove: string[] }>();
  for (const row of rows) {
    const inverse = {
      add: remove.filter((tag) => row.tags.includes(tag)),
      remove: add.filter((tag) => !row.tags.includes(tag)),
    };
    if (inverse.add.length + inverse.remove.length === 0) continue;
    const key = JSON.stringify(inverse);
    const step = steps.get(key) ?? { clips: [], ...inverse };
    step.clips.push(row.hash);
    steps.set(key, step);
  }
  return [...steps.values()];
}

export function openTagDialog(
  rows: readonly ClipRow[],
  knownTags: readonly string[],
  apply: (change: TagChange) => void,
): void {
  const removed = new Set<string>();
  const field = h("input", { class: "field", list: "known-tags", placeholder: "walk, slow, take 3", autofocus: true });
  field.setAttribute("autocomplete", "off");
  const options = h("datalist", { id: "known-tags" }, ...knownTags.map((tag) => h("option", { value: tag })));
  const add = h(
    "label",
    { class: "form-field" },
    h("span", { class: "label", text: "Add tags, separated by commas" }),
    field,
  );
  const toggles = h("div", { class: "tag-toggles" });
  const currentTags = countTags(rows);
  const update = () => {
    const buttons = currentTags.map(([tag, clips]) => {
      const isRemoved = removed.has(tag);
      const title = isRemoved ? `Keep ${tag}` : `Remove ${tag}`;
      const text = clips === rows.length ? tag : `${tag} (${count(clips)})`;
      const click = () => {
        if (!removed.delete(tag)) removed.add(tag);
        update();
        toggles.querySelector<HTMLElement>(`[data-tag="${CSS.escape(tag)}"]`)?.focus();
      };
      const attributes = {
        type: "button",
        class: "chip",
        "aria-pressed": isRemoved,
        "aria-label": title,
        "data-tag": tag,
      };
      return h(
        "button",
        { ...attributes, on: { click } },
        isRemoved ? h("s", { text }) : text,
        icon(isRemoved ? "undo" : "cross"),
      );
    });
    fill(toggles, ...buttons);
  };
  update();
  const toggleRow =
    currentTags.length > 0 &&
    h("div", { class: "form-field" }, h("span", { class: "label", text: "Current tags" }), toggles);
  const submit = h("button", { class: "button primary", type: "submit", form: "tag-form", text: "Apply" });
  const cancel = h("button", { class: "button", type: "button", text: "Cancel" });
  const form = h("form", { id: "tag-form", class: "form" }, add, options, toggleRow);
  const title = rows.length === 1 ? `Edit tags of ${rows[0]?.name}` : `Edit tags of ${countOf(rows.length, "clip")}`;
  const { close } = openDialog({ title, body: [form], actions: [cancel, submit] });
  cancel.addEventListener("click", close);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    close();
    const change = { add: parseTags(field.value), remove: [...removed] };
    if (change.add.length + change.remove.length > 0) apply(change);
  });
}
