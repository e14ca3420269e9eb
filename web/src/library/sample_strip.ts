/** A drawn strip for the empty library: a run-up, a leap, a landing. */

import { svg } from "../ui/dom";

/** A pose in a field 44 wide and 80 high: the head, and paths of spine, left and right limbs. */
interface Pose {
  head: [number, number];
  spine: string;
  left: string;
  right: string;
}

const POSES: readonly Pose[] = [
  {
    head: [22, 18],
    spine: "M22 24L22 46",
    left: "M22 28L17 37L18 46M22 46L20 59L19 73",
    right: "M22 28L27 37L26 46M22 46L24 59L25 73",
  },
  {
    head: [25, 19],
    spine: "M24 25L21 46",
    left: "M23 29L31 35L37 31M21 46L14 57L6 64",
    right: "M23 29L15 35L12 43M21 46L31 54L31 68",
  },
  {
    head: [26, 35],
    spine: "M24 41L16 55",
    left: "M23 44L14 46L5 42M16 55L28 60L21 73",
    right: "M23 44L15 50L7 50M16 55L30 62L25 73",
  },
  {
    head: [26, 10],
    spine: "M24 16L20 36",
    left: "M24 20L32 13L39 6M20 36L11 44L2 50",
    right: "M24 20L17 13L14 5M20 36L32 38L40 46",
  },
  {
    head: [28, 31],
    spine: "M26 37L18 52",
    left: "M25 40L34 42L42 38M18 52L29 58L26 73",
    right: "M25 40L18 48L24 55M18 52L13 63L5 70",
  },
  {
    head: [22, 18],
    spine: "M22 24L22 46",
    left: "M22 28L32 24L40 17M22 46L17 59L15 73",
    right: "M22 28L12 24L4 17M22 46L27 59L29 73",
  },
];
const STEP = 62;

export function sampleStrip(): SVGSVGElement {
  const width = STEP * POSES.length;
  const floor = svg("path", { class: "floor", d: `M0 75.500H${width}` });
  const figures = POSES.map(({ head: [cx, cy], spine, left, right }, index) =>
    svg(
      "g",
      { transform: `translate(${STEP * index + (STEP - 44) / 2} 0)` },
      svg("path", { class: "right", d: right }),
      svg("path", { class: "middle", d: spine }),
      svg("circle", { cx, cy, r: 5.5 }),
      svg("path", { class: "left", d: left }),
    ),
  );
  return svg("svg", { class: "sample-strip", viewBox: `0 0 ${width} 80`, "aria-hidden": "true" }, floor, ...figures);
}
