/** Shows where in a clip a match is, how similar it is, and why. */

import { fill, h } from "../ui/dom";
import { countOf, duration, humanize } from "../ui/format";
import { icon } from "../ui/icons";
import { toSentence } from "../ui/states";
import type { ClipRow, HitRow } from "./view";

const MIN_SHARE = 0.012; // so that a single pose is visible
const MAX_BODY_PARTS = 2;

/** Returns start and width of a hit, as fractions of the clip. */
export function matchExtent(
  row: Pick<ClipRow, "duration_s">,
  hit: Pick<HitRow, "start_s" | "end_s">,
): [number, number] {
  const total = Math.max(row.duration_s, hit.end_s, 1e-9);
  const [start, end] = [hit.start_s / total, hit.end_s / total];
  const width = Math.max(MIN_SHARE, end - start);
  const left = Math.min(Math.max(0, start), 1 - Math.min(1, width));
  return [left, Math.min(1, width)];
}

/** "whole clip", "at 1.2 s", "1.2 – 3.4 s", "1:05 – 1:08" */
export function describeSpan(row: Pick<ClipRow, "duration_s" | "fps">, hit: Pick<HitRow, "start_s" | "end_s">): string {
  const step = 1.5 / row.fps;
  if (hit.end_s - hit.start_s <= step) return `at ${duration(hit.start_s)}`;
  if (hit.start_s <= step && hit.end_s >= row.duration_s - step) return "whole clip";
  if (hit.end_s < 59.95) return `${hit.start_s.toFixed(1)} – ${hit.end_s.toFixed(1)} s`;
  return `${duration(hit.start_s)} – ${duration(hit.end_s)}`;
}

/** Returns what is similar, in a sentence; "" if nothing is known. */
export function explainMatch(hit: Pick<HitRow, "body_parts" | "joint_distance_cm" | "duplicates">): string {
  const { joint_distance_cm: distance, duplicates } = hit;
  const parts = hit.body_parts.slice(0, MAX_BODY_PARTS).map(humanize);
  const texts = [
    distance != null && `joints ${distance.toFixed(1)} cm apart on average`,
    parts.length > 0 && `similar swings: ${parts.join(", ")}`,
    duplicates.length > 0 && `same motion as ${duplicates.join(", ")}`,
  ];
  return toSentence(texts.filter(Boolean).join("; "));
}

export function fillMatch(element: HTMLElement, row: ClipRow, hit: HitRow): void {
  const span = h("i");
  const [left, width] = matchExtent(row, hit);
  span.style.left = `${100 * left}%`;
  span.style.width = `${100 * width}%`;
  const spanText = describeSpan(row, hit);
  const percent = `${Math.round(100 * hit.score)} %`;
  const mirrored =
    hit.mirrored &&
    h(
      "span",
      { class: "match-mirrored", title: "Similar when left and right are swapped" },
      icon("mirror"),
      "mirrored",
    );
  const duplicates =
    hit.duplicates.length > 0 &&
    h("span", { title: hit.duplicates.join(", "), text: `+${countOf(hit.duplicates.length, "duplicate")}` });
  fill(
    element,
    h("div", { class: "match-bar", role: "img", "aria-label": `Position of the match: ${spanText}` }, span),
    h(
      "p",
      { class: "match-details" },
      h("b", { text: percent, title: "Similarity: 100 % is identical" }),
      h("span", { text: spanText }),
      mirrored,
      duplicates,
    ),
    h("p", { class: "match-explanation", text: explainMatch(hit), title: explainMatch(hit) }),
  );
}
