/** Where in a clip a match lies, how near it is and why. */

import { fill, h } from "../ui/dom";
import { duration } from "../ui/format";
import { icon } from "../ui/icons";
import { sentence } from "../ui/states";
import type { ClipRow, HitRow } from "./view";

const LEAST_SHARE = 0.012; // so that a single pose is seen

/** From where to where a hit lies, as parts of the clip. */
export function shareOf(row: Pick<ClipRow, "duration_s">, hit: Pick<HitRow, "start_s" | "end_s">): [number, number] {
  const whole = Math.max(row.duration_s, hit.end_s, 1e-9);
  const [start, end] = [hit.start_s / whole, hit.end_s / whole];
  const width = Math.max(LEAST_SHARE, end - start);
  const left = Math.min(Math.max(0, start), 1 - Math.min(1, width));
  return [left, Math.min(1, width)];
}

/** "whole clip", "at 1.2 s", "1.2 – 3.4 s", "1:05 – 1:08" */
export function placeOf(row: Pick<ClipRow, "duration_s" | "fps">, hit: Pick<HitRow, "start_s" | "end_s">): string {
  const step = 1.5 / row.fps;
  if (hit.end_s - hit.start_s <= step) return `at ${duration(hit.start_s)}`;
  if (hit.start_s <= step && hit.end_s >= row.duration_s - step) return "whole clip";
  if (hit.end_s < 59.95) return `${hit.start_s.toFixed(1)} – ${hit.end_s.toFixed(1)} s`;
  return `${duration(hit.start_s)} – ${duration(hit.end_s)}`;
}

/** Why it was found, without where and whether it is mirrored, which stand beside it. */
export function whyOf({ says }: Pick<HitRow, "says">): string {
  return sentence(says.replace(/^seconds? [\d.]+( to [\d.]+)?(, mirrored)?(; |$)/, ""));
}

export function fillMatch(element: HTMLElement, row: ClipRow, hit: HitRow): void {
  const span = h("i");
  const [left, width] = shareOf(row, hit);
  span.style.left = `${100 * left}%`;
  span.style.width = `${100 * width}%`;
  const place = placeOf(row, hit);
  const percent = `${Math.round(100 * hit.score)}%`;
  const mirrored =
    hit.mirrored &&
    h("span", { class: "match-mirrored", title: "Left and right are swapped" }, icon("mirror"), "mirrored");
  const also = hit.also.length > 0 && h("span", { title: hit.also.join(", "), text: `+${hit.also.length} like it` });
  fill(
    element,
    h("div", { class: "match-bar", role: "img", "aria-label": `The match lies here: ${place}` }, span),
    h(
      "p",
      { class: "match-facts" },
      h("b", { text: percent, title: "How much alike: 100% is the same" }),
      h("span", { text: place }),
      mirrored,
      also,
    ),
    h("p", { class: "match-says", text: whyOf(hit), title: whyOf(hit) }),
  );
}
