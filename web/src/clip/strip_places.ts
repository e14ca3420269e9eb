/** Where the poses of a strip stand, read from the drawing itself: the outline of each is measured as it would be drawn. */

import { svg } from "../ui/dom";

/** From the left edge of the picture, in parts of its width. */
export interface Place {
  left: number;
  right: number;
}

/** One place for each pose, in their order; none where the drawing is not one of poses side by side. */
export function placesIn(drawing: string): Place[] {
  const root = new DOMParser().parseFromString(drawing, "image/svg+xml").documentElement;
  const width = (root as unknown as SVGSVGElement).viewBox?.baseVal?.width;
  const poses = [...root.children].findLast((child) => child.localName === "g"); // floor and shadows come before
  if (!width || !poses) return [];
  const scale = (poses as SVGGElement).transform.baseVal.consolidate()?.matrix.a ?? 1;
  const outlines = [...poses.children].map((pose) => svg("path", { d: pose.querySelector("path")?.getAttribute("d") }));
  const page = svg("svg", { class: "unseen", "aria-hidden": "true" }, ...outlines); // only what is in the page has a size
  document.body.append(page);
  const places = outlines.map((outline) => {
    const box = outline.getBBox();
    return { left: (scale * box.x) / width, right: (scale * (box.x + box.width)) / width };
  });
  page.remove();
  return places;
}

/** Which place is nearest to `x`. */
export function nearestPlace(places: readonly Place[], x: number): number {
  const away = places.map(({ left, right }) => Math.max(left - x, x - right, 0));
  return away.indexOf(Math.min(...away));
}
