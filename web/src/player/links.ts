/** Rods between markers that keep their distance, as strips have them: what hangs together in a body without bones. */

import type { JointOf, Side } from "./body";
import type { Track } from "./track";

const POSES = 48; // of the whole motion that are looked at
const MOST_MARKERS = 150; // beyond that, looking at all pairs takes too long
const LONGEST = 0.3; // heights
const RIGID = 0.012; // heights: by how much a distance may vary
const STRAIN = 8; // how much more a varying distance counts than a long one

/** Pairs of markers: a tree of the shortest and stiffest connections. None for one pose, in which every distance is kept. */
export function links({ positions, nFrames }: Track, markers: number): [number, number][] {
  const frames = spread(nFrames);
  if (frames.length < 2 || markers < 2 || markers > MOST_MARKERS) return [];
  const size = extent(positions, frames, markers) || 1;
  const found: { a: number; b: number; cost: number }[] = [];
  for (let a = 0; a < markers; a++)
    for (let b = a + 1; b < markers; b++) {
      const apart = frames.map((frame) => distance(positions, frame * markers + a, frame * markers + b) / size);
      const mean = apart.reduce((sum, each) => sum + each, 0) / apart.length;
      const varies = Math.sqrt(apart.reduce((sum, each) => sum + (each - mean) ** 2, 0) / apart.length);
      if (mean < LONGEST && varies < RIGID) found.push({ a, b, cost: mean + STRAIN * varies });
    }
  found.sort((one, other) => one.cost - other.cost);
  const group = Array.from({ length: markers }, (_, n) => n);
  const rods: [number, number][] = [];
  for (const { a, b } of found) {
    const [kept, gone] = [group[a]!, group[b]!];
    if (kept === gone) continue;
    rods.push([a, b]);
    group.forEach((each, n) => {
      if (each === gone) group[n] = kept;
    });
  }
  return rods;
}

/** The side that a marker's name says: L or left as a word of its own, or a partner whose name differs in L and R alone. */
export function sideOfMarker(name: string, names: ReadonlySet<string>): Side {
  const start = name.lastIndexOf(":") + 1;
  const words = name.slice(start).match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
  for (const word of words.map((each) => each.toLowerCase())) {
    if (word === "l" || word === "left") return "left";
    if (word === "r" || word === "right") return "right";
  }
  const other = { L: "R", R: "L" }[name.charAt(start)];
  if (!other || !names.has(name.slice(0, start) + other + name.slice(start + 1))) return "middle";
  return other === "R" ? "left" : "right";
}

/** Whether these joints are markers: none hangs on another. */
export function areMarkers(joints: readonly JointOf[]): boolean {
  return joints.every((joint) => joint.parent < 0);
}

function spread(nFrames: number): number[] {
  const n = Math.min(POSES, nFrames);
  const all = Array.from({ length: n }, (_, k) => Math.round((k * (nFrames - 1)) / Math.max(1, n - 1)));
  return [...new Set(all)];
}

/** The usual greatest extent of a pose. */
function extent(positions: Float32Array, frames: readonly number[], markers: number): number {
  const sizes = frames.map((frame) =>
    Math.max(
      ...[0, 1, 2].map((axis) => {
        let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
        for (let m = 0; m < markers; m++) {
          const value = positions[3 * (frame * markers + m) + axis]!;
          [least, most] = [Math.min(least, value), Math.max(most, value)];
        }
        return most - least;
      }),
    ),
  );
  return sizes.sort((a, b) => a - b)[sizes.length >> 1]!;
}

function distance(positions: Float32Array, a: number, b: number): number {
  const along = (axis: number) => positions[3 * a + axis]! - positions[3 * b + axis]!;
  return Math.hypot(along(0), along(1), along(2));
}
