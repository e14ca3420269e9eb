/** The header of a search by example: the example, and how clips are compared with it. */

import { fetchJson, type Schema } from "../api/client";
import type { UrlState } from "../state/url";
import { fill, h } from "../ui/dom";
import { duration, toLabel } from "../ui/format";
import { icon } from "../ui/icons";
import { theme } from "../ui/theme";
import { type Example, NO_EXAMPLE, parseExample, type VIEW } from "./view";

type State = UrlState<typeof VIEW>;

const INTERNAL_GROUPS = new Set(["all", "body", "major", "end_effectors"]);

export function exampleHeader(state: State, groups: () => readonly string[]): { element: HTMLElement; show(): void } {
  const element = h("section", { class: "example", "aria-label": "Search by example", hidden: true });
  let currentKey = "";

  async function show(): Promise<void> {
    const example = parseExample(state.value);
    element.hidden = example === null;
    const key = JSON.stringify([
      example,
      state.value.mirrored,
      state.value.ranker,
      state.value.joints,
      groups(),
      theme.value,
    ]);
    if (!example || key === currentKey) return;
    currentKey = key;
    fill(element, ...buildChildren(example, null));
    try {
      const clip = await fetchJson<Schema["ClipDetails"]>(`/api/clips/${example.hash}`);
      if (key === currentKey) fill(element, ...buildChildren(example, clip));
    } catch {
      // the search itself shows the error
    }
  }

  function buildChildren(example: Example, clip: Schema["ClipDetails"] | null): HTMLElement[] {
    const [title, extent] = describeExample(example, clip);
    const name = h("a", { href: exampleUrl(example), text: clip?.name ?? "…" });
    const strip = h("img", { src: exampleStripUrl(example, clip), alt: "" });
    const close = h(
      "button",
      { type: "button", class: "button", on: { click: () => state.set({ ...NO_EXAMPLE }, { push: true }) } },
      icon("cross"),
      "Clear search",
    );
    const header = h(
      "div",
      { class: "example-text" },
      h("h1", {}, `${title} `, name),
      h("p", { text: extent }),
      controls(example),
    );
    return [h("div", { class: "example-strip" }, strip), header, close];
  }

  function controls(example: Example): HTMLElement {
    const mirrored = h("input", { type: "checkbox", checked: state.value.mirrored });
    mirrored.addEventListener("change", () => state.set({ mirrored: mirrored.checked }));
    const jointsSelect = selectWithLabel(
      "Compare",
      [["", "Whole body"], ...namedGroups(groups(), state.value.joints).map((name) => [name, toLabel(name)] as const)],
      state.value.joints,
    );
    jointsSelect.select.addEventListener("change", () => state.set({ joints: jointsSelect.select.value }));
    const rankers = [
      ["descriptors", "Poses and movement"],
      ["swings", "Swings of joints"],
    ] as const;
    const rankerSelect = selectWithLabel("by", rankers, state.value.ranker);
    rankerSelect.select.addEventListener("change", () =>
      state.set({ ranker: rankerSelect.select.value as "descriptors" | "swings" }),
    );
    const label = h("label", { class: "check" }, mirrored, "Include mirrored motion");
    return h(
      "div",
      { class: "example-controls" },
      jointsSelect.element,
      example.kind === "clip" && rankerSelect.element,
      label,
    );
  }

  return { element, show: () => void show() };
}

/** Returns the joint groups with familiar names; the current one stays in any case. */
function namedGroups(groups: readonly string[], current: string): string[] {
  return groups.filter((name) => !INTERNAL_GROUPS.has(name) || name === current);
}

function selectWithLabel(name: string, choices: readonly (readonly [string, string])[], value: string) {
  const options = choices.map(([key, title]) => h("option", { value: key, text: title, selected: key === value }));
  const select = h("select", { class: "field small" }, ...options);
  return { select, element: h("label", { class: "check" }, name, select) };
}

function describeExample(example: Example, clip: Schema["ClipDetails"] | null): [string, string] {
  const timeOf = (frame: number) => (clip ? duration(frame / clip.fps) : `frame ${frame}`);
  if (example.kind === "pose") return ["Poses similar to one in", `Pose at ${timeOf(example.frame ?? 0)}`];
  if (example.kind === "span")
    return ["Motion similar to a range of", `From ${timeOf(example.start ?? 0)} to ${timeOf(example.end ?? 0)}`];
  return ["Clips similar to", clip ? `Whole clip, ${duration(clip.duration_s)}` : ""];
}

function exampleUrl({ kind, hash, start, end, frame }: Example): string {
  if (kind === "pose") return `/clips/${hash}?frame=${frame}`;
  return kind === "span" ? `/clips/${hash}?frame=${start}&range=${start}-${(end ?? 1) - 1}` : `/clips/${hash}`;
}

/** Returns the strip of the clip; for a span its keys and ends, for a pose that frame. */
function exampleStripUrl(
  { kind, hash, start = 0, end = 0, frame }: Example,
  details: Schema["ClipDetails"] | null,
): string {
  const path = `/api/clips/${hash}/strip.svg?theme=${theme.value}`;
  if (kind === "pose") return `${path}&frames=${frame}`;
  if (kind === "clip") return `${path}&rank=true`;
  if (!details) return path;
  const innerKeys = details.key_frames.filter((key) => key > start && key < end - 1);
  const frames = [...new Set([start, ...innerKeys, Math.min(end, details.n_frames) - 1])];
  return `${path}&frames=${frames.join(",")}`;
}
