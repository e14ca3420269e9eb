/** What the address says about a clip's page, and how keys are chosen accordingly. */

import type { Schema } from "../api/client";
import { choice, flag, integer, list, number, numbers, range, text, type Values } from "../state/url";

export type Facts = Schema["ClipFacts"];
export type LibraryFacts = Schema["LibraryFacts"];
export type Recipe = Schema["RecipeTold"];

export const SHOWN = ["capture", "keys", "over", "beside"] as const;
export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4] as const;
export const MOST_WEIGHT = 4;

export const FIELDS = {
  frame: integer({ least: 0 }),
  range: range(),
  method: text("salient"),
  keys: integer({ least: 1 }),
  tolerance: number({ least: 0.001, most: 10_000 }),
  parts: list(), // left_arm:2, head:0
  pins: numbers(0),
  only: flag(), // keys inside the range only
  interpolation: choice(["bezier", "natural", "linear"], "bezier"),
  residual: number({ least: 0, most: 1, digits: 2 }),
  show: choice(SHOWN, "keys"),
  ghosts: integer({ least: 0, most: 8 }),
  hold: flag(), // poses hold until the next key
  trails: list(),
  follow: flag(true),
  camera: numbers(3),
  speed: number({ least: 0.1, most: 4, digits: 2 }),
  loop: flag(true),
  panel: choice(["keys", "edit"], "keys"),
};

export type Settings = Values<typeof FIELDS>;

/** Weights of parts of the body, as the address says them; what is not named weighs 1. */
export function weightsOf(parts: readonly string[]): Map<string, number> {
  const weights = new Map<string, number>();
  for (const each of parts) {
    const [part, weight] = each.split(":");
    const value = Number(weight);
    if (part && weight && Number.isFinite(value) && value >= 0 && value <= MOST_WEIGHT && value !== 1)
      weights.set(part, value);
  }
  return weights;
}

export function partsOf(weights: ReadonlyMap<string, number>): string[] {
  return [...weights]
    .filter(([, weight]) => weight !== 1)
    .map(([part, weight]) => `${part}:${Number(weight.toFixed(2))}`);
}

/** Whether a method keeps pins. */
export function keepsPins(library: LibraryFacts, method: string): boolean {
  return library.methods.find((row) => row.name === method)?.options.includes("pins") ?? false;
}

/** The recipe that the settings mean. `parts` are those of the body that share no joint. */
export function recipeOf(settings: Settings, facts: Facts, library: LibraryFacts, parts: readonly string[]): Recipe {
  const known = library.methods.some((row) => row.name === settings.method);
  const method = known ? settings.method : (library.methods[0]?.name ?? "salient");
  const weights = weightsOf(settings.parts);
  const left = parts.filter((part) => weights.get(part) !== 0);
  const isSome = left.length < parts.length && left.length > 0;
  const heavy = [...weights].filter(([part, weight]) => weight > 0 && parts.includes(part));
  const last = facts.n_frames - 1;
  const inside = (frame: number) => frame >= 0 && frame <= last;
  const [first, end] = settings.only && settings.range ? settings.range : [null, null];
  const pins = [...new Set(settings.pins ?? [])].filter(inside).sort((a, b) => a - b);
  return {
    method,
    joints: isSome ? left : null,
    weights: heavy.length ? Object.fromEntries(heavy) : null,
    pins: keepsPins(library, method) ? pins.filter((pin) => first === null || (pin >= first && pin <= end!)) : [],
    excluded: [],
    first: first !== null && inside(first) ? first : null,
    last: end !== null ? Math.min(last, end) : null,
    max_keys: null,
    smoothing_s: 0,
  };
}

export type Wanted = { by: "keys"; keys: number } | { by: "tolerance"; mm: number } | { by: "auto" };

/** How many keys the settings ask for. */
export function wantedOf({ keys, tolerance }: Settings): Wanted {
  if (keys !== null) return { by: "keys", keys };
  return tolerance !== null ? { by: "tolerance", mm: tolerance } : { by: "auto" };
}
