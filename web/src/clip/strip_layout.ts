/** Selects the poses of a strip, and measures where they are from the outlines in its SVG. */

import { svg } from "../ui/dom";

/** From the left edge of the picture, as fractions of its width. */
export interface PoseExtent {
  left: number;
  right: number;
}

/** Returns the extent of each pose in order; empty if the SVG does not show poses side by side. */
export function measurePoses(svgText: string): PoseExtent[] {
  const root = new DOMParser().parseFromString(svgText, "image/svg+xml").documentElement;
  const width = (root as unknown as SVGSVGElement).viewBox?.baseVal?.width;
  const poses = [...root.children].findLast((child) => child.localName === "g"); // floor and shadows come before
  if (!width || !poses) return [];
  const scale = (poses as SVGGElement).transform.baseVal.consolidate()?.matrix.a ?? 1;
  const outlines = [...poses.children].map((pose) => svg("path", { d: pose.querySelector("path")?.getAttribute("d") }));
  const measuringSvg = svg("svg", { class: "visually-hidden", "aria-hidden": "true" }, ...outlines); // only elements in the document have a size
  document.body.append(measuringSvg);
  const extents = outlines.map((outline) => {
    const box = outline.getBBox();
    return { left: (scale * box.x) / width, right: (scale * (box.x + box.width)) / width };
  });
  measuringSvg.remove();
  return extents;
}

/** Returns the index of the pose nearest to `x`. */
export function nearestPose(extents: readonly PoseExtent[], x: number): number {
  const distances = extents.map(({ left, right }) => Math.max(left - x, x - right, 0));
  return distances.indexOf(Math.min(...distances));
}

/** Returns `count` of the items, evenly spread and with both ends; all if there are no more. */
export function selectEvenly<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (items.length <= count) return items;
  return Array.from({ length: count }, (_, k) => items[Math.round((k * (items.length - 1)) / (count - 1))]!);
}
