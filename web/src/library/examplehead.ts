/** Over the hits of a search by example: what it started from, and how it compares. */

import { askJson, type Schema } from "../api/client";
import type { UrlState } from "../state/url";
import { fill, h } from "../ui/dom";
import { duration, spoken } from "../ui/format";
import { icon } from "../ui/icons";
import { theme } from "../ui/theme";
import { type Example, exampleOf, NO_EXAMPLE, type VIEW } from "./view";

type State = UrlState<typeof VIEW>;

const TECHNICAL = new Set(["all", "body", "major", "end_effectors"]);

export function exampleHead(state: State, groups: () => readonly string[]): { element: HTMLElement; show(): void } {
  const element = h("section", { class: "example", "aria-label": "Search by example", hidden: true });
  let shown = "";

  async function show(): Promise<void> {
    const example = exampleOf(state.value);
    element.hidden = example === null;
    const key = JSON.stringify([
      example,
      state.value.mirrored,
      state.value.ranker,
      state.value.by,
      groups(),
      theme.value,
    ]);
    if (!example || key === shown) return;
    shown = key;
    fill(element, ...parts(example, null));
    try {
      const clip = await askJson<Schema["ClipFacts"]>(`/api/clips/${example.clip}`);
      if (key === shown) fill(element, ...parts(example, clip));
    } catch {
      // what the search itself answers says what is wrong
    }
  }

  function parts(example: Example, clip: Schema["ClipFacts"] | null): HTMLElement[] {
    const [title, where] = wording(example, clip);
    const name = h("a", { href: backTo(example), text: clip?.name ?? "…" });
    const strip = h("img", { src: stripOf(example, clip), alt: "" });
    const close = h(
      "button",
      { type: "button", class: "button", on: { click: () => state.set({ ...NO_EXAMPLE }, { push: true }) } },
      icon("cross"),
      "End this search",
    );
    const head = h(
      "div",
      { class: "example-words" },
      h("h1", {}, `${title} `, name),
      h("p", { text: where }),
      controls(example),
    );
    return [h("div", { class: "example-strip" }, strip), head, close];
  }

  function controls(example: Example): HTMLElement {
    const mirrored = h("input", { type: "checkbox", checked: state.value.mirrored });
    mirrored.addEventListener("change", () => state.set({ mirrored: mirrored.checked }));
    const by = chooser(
      "Compare",
      [["", "the whole body"], ...limbs(groups(), state.value.by).map((name) => [name, spoken(name)] as const)],
      state.value.by,
    );
    by.select.addEventListener("change", () => state.set({ by: by.select.value }));
    const ranking = [
      ["descriptors", "poses and movement"],
      ["swings", "swings"],
    ] as const;
    const ranker = chooser("by", ranking, state.value.ranker);
    ranker.select.addEventListener("change", () =>
      state.set({ ranker: ranker.select.value as "descriptors" | "swings" }),
    );
    const label = h("label", { class: "check" }, mirrored, "also mirrored");
    return h("div", { class: "example-controls" }, by.element, example.kind === "like" && ranker.element, label);
  }

  return { element, show: () => void show() };
}

/** Groups of joints that people have words for; one that the address says stays. */
function limbs(groups: readonly string[], chosen: string): string[] {
  return groups.filter((name) => !TECHNICAL.has(name) || name === chosen);
}

function chooser(name: string, choices: readonly (readonly [string, string])[], value: string) {
  const options = choices.map(([key, title]) => h("option", { value: key, text: title, selected: key === value }));
  const select = h("select", { class: "field small" }, ...options);
  return { select, element: h("label", { class: "check" }, name, select) };
}

function wording(example: Example, clip: Schema["ClipFacts"] | null): [string, string] {
  const at = (frame: number) => (clip ? duration(frame / clip.fps) : `frame ${frame}`);
  if (example.kind === "pose") return ["Poses like one of", `The pose at ${at(example.frame ?? 0)}`];
  if (example.kind === "part")
    return ["Moments like a part of", `From ${at(example.start ?? 0)} to ${at(example.end ?? 0)}`];
  return ["Clips like", clip ? `All of it: ${duration(clip.duration_s)}` : ""];
}

function backTo({ kind, clip, start, end, frame }: Example): string {
  if (kind === "pose") return `/clips/${clip}?frame=${frame}`;
  return kind === "part" ? `/clips/${clip}?frame=${start}&range=${start}-${(end ?? 1) - 1}` : `/clips/${clip}`;
}

/** The key poses of the clip; of a part those in it, of a pose that one. */
function stripOf({ kind, clip, start = 0, end = 0, frame }: Example, facts: Schema["ClipFacts"] | null): string {
  const path = `/api/clips/${clip}/strip.svg?theme=${theme.value}`;
  if (kind === "pose") return `${path}&frames=${frame}`;
  if (kind === "like" || !facts) return path;
  const inside = facts.key_frames.filter((key) => key > start && key < end - 1);
  const frames = [...new Set([start, ...inside, Math.min(end, facts.n_frames) - 1])];
  return `${path}&frames=${frames.join(",")}`;
}
