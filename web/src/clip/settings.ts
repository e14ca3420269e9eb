/** The settings of the clip page, stored in its address, and the selection spec that they describe. */

import type { Schema } from "../api/client";
import { choice, flag, integer, list, number, numbers, range, text, type Values } from "../state/url";
import type { Group } from "../timeline/lanes";

export type ClipDetails = Schema["ClipDetails"];
export type LibraryInfo = Schema["LibraryInfo"];
export type SelectionSpec = Schema["SelectionSpec"];

export const VIEW_MODES = ["capture", "keys", "overlay", "side_by_side"] as const;
export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4] as const;
export const MAX_WEIGHT = 4;

export const FIELDS = {
  frame: integer({ min: 0 }),
  range: range(),
  method: text("salient"),
  keys: integer({ min: 1 }),
  tolerance: number({ min: 0.001, max: 10_000 }),
  weights: list(), // left_arm:2, head:0
  pins: numbers(0),
  range_only: flag(), // select keys inside the range only
  interpolation: choice(["bezier", "natural", "linear"], "bezier"),
  residual: number({ min: 0, max: 1, digits: 2 }),
  view_mode: choice(VIEW_MODES, "keys"),
  rank: flag(), // less important poses of the strip are more transparent
  ghosts: integer({ min: 0, max: 8 }),
  stepped: flag(), // poses hold until the next key
  trails: list(),
  follow: flag(true),
  camera: numbers(3),
  speed: number({ min: 0.1, max: 4, digits: 2 }),
  loop: flag(true),
  panel: choice(["keys", "edit", "info"], "keys"),
};

export type Settings = Values<typeof FIELDS>;

/** Parses weights of body parts from the address; parts that are not named have weight 1. */
export function parseWeights(texts: readonly string[]): Map<string, number> {
  const weights = new Map<string, number>();
  for (const each of texts) {
    const [bodyPart, weight] = each.split(":");
    const value = Number(weight);
    if (bodyPart && weight && Number.isFinite(value) && value >= 0 && value <= MAX_WEIGHT && value !== 1)
      weights.set(bodyPart, value);
  }
  return weights;
}

export function formatWeights(weights: ReadonlyMap<string, number>): string[] {
  return [...weights]
    .filter(([, weight]) => weight !== 1)
    .map(([bodyPart, weight]) => `${bodyPart}:${Number(weight.toFixed(2))}`);
}

/** Whether a method supports pins. */
export function supportsPins(library: LibraryInfo, method: string): boolean {
  return library.methods.find((row) => row.name === method)?.options.includes("pins") ?? false;
}

/**
 * Builds the selection spec for the settings. `bodyParts` share no joint with each other; those that are no joint group,
 * as the joints of no known body part, are listed joint by joint.
 */
export function buildSelectionSpec(
  settings: Settings,
  details: ClipDetails,
  library: LibraryInfo,
  bodyParts: readonly Group[],
): SelectionSpec {
  const isKnown = library.methods.some((row) => row.name === settings.method);
  const method = isKnown ? settings.method : (library.methods[0]?.name ?? "salient");
  const weights = parseWeights(settings.weights);
  const included = bodyParts.filter(({ name }) => weights.get(name) !== 0);
  const isSubset = included.length < bodyParts.length && included.length > 0;
  const joints = included.flatMap(({ name, joints }) => (name in details.joint_groups ? [name] : joints));
  const weighted = [...weights].filter(([name, weight]) => weight > 0 && name in details.joint_groups);
  const last = details.n_frames - 1;
  const isInside = (frame: number) => frame >= 0 && frame <= last;
  const [first, end] = settings.range_only && settings.range ? settings.range : [null, null];
  const pins = [...new Set(settings.pins ?? [])].filter(isInside).sort((a, b) => a - b);
  return {
    method,
    joints: isSubset ? joints : null,
    weights: weighted.length ? Object.fromEntries(weighted) : null,
    pins: supportsPins(library, method) ? pins.filter((pin) => first === null || (pin >= first && pin <= end!)) : [],
    excluded: [],
    first_frame: first !== null && isInside(first) ? first : null,
    last_frame: end !== null ? Math.min(last, end) : null,
    max_keys: null,
    smoothing_s: 0,
  };
}

export type KeyTarget = { by: "keys"; keys: number } | { by: "tolerance"; mm: number } | { by: "auto" };

/** Returns how the number of keys is determined. */
export function keyTarget({ keys, tolerance }: Settings): KeyTarget {
  if (keys !== null) return { by: "keys", keys };
  return tolerance !== null ? { by: "tolerance", mm: tolerance } : { by: "auto" };
}
