/** Rods between markers at constant distance, as in the strips: they show the structure of a body without bones. */

import type { Side } from "./body";
import type { Track } from "./track";

const SAMPLE_POSES = 48; // sampled from the whole motion
const MAX_MARKERS = 150; // with more, comparing all pairs takes too long
const MAX_LENGTH = 0.3; // relative to the body's height
const MAX_VARIATION = 0.012; // relative to the body's height: how much a distance may vary
const VARIATION_WEIGHT = 8; // how much more variation counts than length

/**
 * Returns pairs of markers: a spanning forest of the shortest and stiffest links. Empty for a single pose, in which
 * every distance is constant.
 */
export function findMarkerLinks({ positions, nFrames }: Track, markers: number): [number, number][] {
  const frames = sampleFrames(nFrames);
  if (frames.length < 2 || markers < 2 || markers > MAX_MARKERS) return [];
  const size = medianExtent(positions, frames, markers) || 1;
  const candidates: { a: number; b: number; cost: number }[] = [];
  for (let a = 0; a < markers; a++)
    for (let b = a + 1; b < markers; b++) {
      const distances = frames.map((frame) => distance(positions, frame * markers + a, frame * markers + b) / size);
      const mean = distances.reduce((sum, each) => sum + each, 0) / distances.length;
      const deviation = Math.sqrt(distances.reduce((sum, each) => sum + (each - mean) ** 2, 0) / distances.length);
      if (mean < MAX_LENGTH && deviation < MAX_VARIATION)
        candidates.push({ a, b, cost: mean + VARIATION_WEIGHT * deviation });
    }
  candidates.sort((one, other) => one.cost - other.cost);
  const group = Array.from({ length: markers }, (_, n) => n);
  const rods: [number, number][] = [];
  for (const { a, b } of candidates) {
    const [target, merged] = [group[a]!, group[b]!];
    if (target === merged) continue;
    rods.push([a, b]);
    group.forEach((each, n) => {
      if (each === merged) group[n] = target;
    });
  }
  return rods;
}

/**
 * Returns the side that a marker's name indicates: L or left as a word, or a partner whose name differs only in L and
 * R.
 */
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

/** Whether these joints are markers: none has a parent. */
export function areMarkers(parents: readonly number[]): boolean {
  return parents.every((parent) => parent < 0);
}

function sampleFrames(nFrames: number): number[] {
  const n = Math.min(SAMPLE_POSES, nFrames);
  const all = Array.from({ length: n }, (_, k) => Math.round((k * (nFrames - 1)) / Math.max(1, n - 1)));
  return [...new Set(all)];
}

/** Returns the median over poses of the largest extent. */
function medianExtent(positions: Float32Array, frames: readonly number[], markers: number): number {
  const sizes = frames.map((frame) =>
    Math.max(
      ...[0, 1, 2].map((axis) => {
        let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
        for (let m = 0; m < markers; m++) {
          const value = positions[3 * (frame * markers + m) + axis]!;
          [min, max] = [Math.min(min, value), Math.max(max, value)];
        }
        return max - min;
      }),
    ),
  );
  return sizes.sort((a, b) => a - b)[sizes.length >> 1]!;
}

function distance(positions: Float32Array, a: number, b: number): number {
  const along = (axis: number) => positions[3 * a + axis]! - positions[3 * b + axis]!;
  return Math.hypot(along(0), along(1), along(2));
}
