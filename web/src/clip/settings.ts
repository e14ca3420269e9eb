/** The settings of the clip page, stored in its address, and the selection spec that they describe. */

import type { Schema } from "../api/client";
import { choice, flag, integer, list, number, numbers, range, text, type Values } from "../state/url";
import type { Group } from "../timeline/lanes";
import { type OptionDescription, type OptionValue, parseOptionTexts, readOptions } from "./option_form";

export type ClipDetails = Schema["ClipDetails"];
export type LibraryInfo = Schema["LibraryInfo"];
export type SelectionSpec = Schema["SelectionSpec"];
export type JointKeysSpec = Schema["JointKeysSpec"];

export const VIEW_MODES = ["capture", "keys", "overlay", "side_by_side"] as const;
export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4] as const;
export const MAX_WEIGHT = 10;
export const INTERPOLATIONS = ["bezier", "natural", "linear"] as const;
export type Interpolation = (typeof INTERPOLATIONS)[number];
export const MAX_THRESHOLD = 2; // of the slider, as in the thesis
export const DEFAULT_THRESHOLD = 0.4; // the server's

export const FIELDS = {
  frame: integer({ min: 0 }),
  range: range(),
  method: text("salient"),
  keys: integer({ min: 1 }),
  tolerance: number({ min: 0.001, max: 10_000 }),
  weights: list(), // of body parts and joints: left_arm:2, head:0
  options: list(), // of the method: sigma_s:0.1
  features: list(), // what the method sees: smoothing_s:0.1
  extremes: list(), // whether keys are moved to extremes: leading:left_hand
  curves: list(), // how curves are fitted: rotation:euler
  per: choice(["pose", "joint"], "pose"), // keys that all joints share, or keys of its own for every joint
  joint: text(), // whose keys are shown
  pins: numbers(0),
  range_only: flag(), // select keys inside the range only
  interpolation: choice(["auto", ...INTERPOLATIONS], "auto"),
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
  panel: choice(["keys", "swings", "edit", "info"], "keys"),
  threshold: number({ min: 0, max: MAX_THRESHOLD, digits: 2 }), // of the swings; none: the default
};

export type Settings = Values<typeof FIELDS>;

/** Begins the name of a joint in the address, as body parts may have the names of joints. */
export const JOINT = "joint.";

/** Parses weights of body parts and joints from the address. Names may contain colons. */
export function parseWeights(texts: readonly string[]): Map<string, number> {
  const weights = new Map<string, number>();
  for (const each of texts) {
    const at = each.lastIndexOf(":");
    const [name, weight] = [each.slice(0, at).replaceAll("%2C", ",").replaceAll("%25", "%"), each.slice(at + 1)];
    const value = Number(weight);
    const isValid = at > 0 && weight !== "" && Number.isFinite(value) && value >= 0 && value <= MAX_WEIGHT;
    if (isValid && (value !== 1 || name.startsWith(JOINT))) weights.set(name, value);
  }
  return weights;
}

export function formatWeights(weights: ReadonlyMap<string, number>): string[] {
  const escapeName = (name: string) => name.replaceAll("%", "%25").replaceAll(",", "%2C");
  return [...weights].map(([name, weight]) => `${escapeName(name)}:${Number(weight.toFixed(2))}`);
}

/** Weights of all joints, and the joints and weights of the selection spec. */
export interface JointWeights {
  /** The weight of each joint that has one: its own, else that of its body part. */
  ofJoints: ReadonlyMap<string, number>;
  joints: string[] | null; // null: those of the method
  weights: Record<string, number> | null;
}

/**
 * Resolves the weights of the address. Body parts without a joint group on the server, as that of the joints of no known
 * body part, are listed joint by joint. Weight 0 excludes a joint; if nothing is left, no joint is excluded.
 */
export function resolveWeights(
  texts: readonly string[],
  bodyParts: readonly Group[],
  isGroup: (name: string) => boolean,
): JointWeights {
  const named = parseWeights(texts);
  const ofJoints = new Map<string, number>();
  for (const { name, joints } of bodyParts)
    for (const joint of joints) {
      const weight = named.get(`${JOINT}${joint}`) ?? named.get(name);
      if (weight !== undefined) ofJoints.set(joint, weight);
    }
  const isIncluded = (joint: string) => ofJoints.get(joint) !== 0;
  const excludes = bodyParts.some(({ joints }) => joints.some((joint) => !isIncluded(joint)));
  const isAnyLeft = bodyParts.some(({ joints }) => joints.some(isIncluded));
  const joints = bodyParts.flatMap(({ name, joints }) =>
    isGroup(name) && joints.every(isIncluded) ? [name] : joints.filter(isIncluded),
  );
  const weights: Record<string, number> = {};
  for (const { name, joints } of bodyParts) {
    const own = joints.filter((joint) => named.has(`${JOINT}${joint}`));
    const weight = named.get(name);
    const isWhole = isGroup(name) && joints.every(isIncluded) && joints.length > own.length;
    if (weight && isWhole) weights[name] = weight;
    for (const joint of isWhole ? own : joints) {
      const value = ofJoints.get(joint);
      if (value) weights[joint] = value;
    }
  }
  return {
    ofJoints,
    joints: excludes && isAnyLeft ? joints : null,
    weights: Object.keys(weights).length ? weights : null,
  };
}

/** Whether a method supports pins. */
export function supportsPins(library: LibraryInfo, method: string): boolean {
  return findMethod(library, method)?.takes_pins ?? false;
}

export function findMethod(library: LibraryInfo, method: string): LibraryInfo["methods"][number] | undefined {
  return library.methods.find((row) => row.name === method);
}

/** Names that the server knows as groups of joints. */
export function isJointGroup(details: ClipDetails): (name: string) => boolean {
  return (name) => name in details.joint_groups;
}

/** The method with its options and frames. */
function buildMethodSpec(
  settings: Settings,
  details: ClipDetails,
  library: LibraryInfo,
): Pick<SelectionSpec, "method" | "pins" | "excluded" | "options"> {
  const row = findMethod(library, settings.method) ?? library.methods[0];
  const options = readOptions(row?.options ?? [], parseOptionTexts(settings.options));
  const last = details.n_frames - 1;
  const pins = [...new Set(settings.pins ?? [])].filter((frame) => frame >= 0 && frame <= last).sort((a, b) => a - b);
  return {
    method: row?.name ?? "salient",
    pins: row?.takes_pins ? pins : [],
    excluded: [],
    options: Object.keys(options).length ? options : null,
  };
}

/** Builds the selection spec for the settings. `bodyParts` share no joint with each other. */
export function buildSelectionSpec(
  settings: Settings,
  details: ClipDetails,
  library: LibraryInfo,
  bodyParts: readonly Group[],
): SelectionSpec {
  const spec = buildMethodSpec(settings, details, library);
  const { joints, weights: all } = resolveWeights(settings.weights, bodyParts, isJointGroup(details));
  const isUsed = usedJoints(settings, details, library, bodyParts);
  const partJoints = new Map(bodyParts.map((part) => [part.name, part.joints]));
  const used = Object.entries(all ?? {}).filter(([name]) => (partJoints.get(name) ?? [name]).some(isUsed));
  const weights = used.length ? Object.fromEntries(used) : null;
  const last = details.n_frames - 1;
  const [first, end] = settings.range_only && settings.range ? settings.range : [null, null];
  return {
    ...spec,
    pins: spec.pins.filter((pin) => first === null || (pin >= first && pin <= end!)),
    joints,
    weights,
    first_frame: first !== null && first <= last ? first : null,
    last_frame: end !== null ? Math.min(last, end) : null,
    max_keys: null,
    ...({ features: null, smoothing_s: 0 } as const),
    ...readOptions(library.feature_options ?? [], parseOptionTexts(settings.features)),
  };
}

/** Returns whether the method sees a joint: those of a method, unless joints are ignored, in place of which all others count. */
export function usedJoints(
  { method, weights }: Settings,
  details: ClipDetails,
  library: LibraryInfo,
  bodyParts: readonly Group[],
): (joint: string) => boolean {
  const group = details.joint_groups[findMethod(library, method)?.joints ?? ""];
  if (!group || resolveWeights(weights, bodyParts, isJointGroup(details)).joints) return () => true;
  const names = new Set(group.map((joint) => details.joints[joint]?.name));
  return (joint) => names.has(joint);
}

/** Whether the keys of a method can be moved to extremes. */
export function canPreferExtremes({ method, per }: Settings): boolean {
  return method === OPTIMAL_METHOD && per === "pose";
}

export type ExtremesSettings = Pick<SelectionSpec, "extremes_first" | "leading">;

/** Returns whether keys are moved to extremes, as set; nothing for methods that cannot. */
export function buildExtremesSettings(settings: Settings, library: LibraryInfo): ExtremesSettings {
  if (!canPreferExtremes(settings)) return {};
  return readOptions(library.extremes_options, parseOptionTexts(settings.extremes));
}

/** Builds the spec of keys of its own for every joint. */
export function buildJointKeysSpec(settings: Settings, details: ClipDetails, library: LibraryInfo): JointKeysSpec {
  const target = keyTarget(settings);
  return {
    ...buildMethodSpec(settings, details, library),
    keys: target.by === "keys" ? target.keys : null,
    tolerance_mm: target.by === "tolerance" ? target.mm : null,
  };
}

/** How curves are fitted, with the options that are set. */
export type CurveSettings = { interpolation: Interpolation } & Record<string, OptionValue>;

export function buildCurveSettings(settings: Settings, library: LibraryInfo): CurveSettings {
  const values = readOptions(fittingOptions(library), parseOptionTexts(settings.curves));
  return { ...values, interpolation: interpolationOf(settings) };
}

/** The options of curves except the interpolation, which has a control of its own. */
export function fittingOptions(library: LibraryInfo): readonly OptionDescription[] {
  return (library.curve_options ?? []).filter(({ name }) => name !== "interpolation");
}

/** Keys of each joint by a method that sees angles have natural splines, unless others are chosen. */
export function interpolationOf({ interpolation, per, method }: Settings): Interpolation {
  if (interpolation !== "auto") return interpolation;
  return per === "joint" && method !== OPTIMAL_METHOD ? "natural" : "bezier";
}

export const OPTIMAL_METHOD = "salient"; // selects keys by the error of the curves

/** Returns the texts with one changed; null removes it. */
export function changeText(texts: readonly string[], name: string, text: string | null): string[] {
  const all = parseOptionTexts(texts);
  if (text === null) all.delete(name);
  else all.set(name, text);
  return [...all].map(([name, value]) => `${name}:${value}`);
}

export type KeyTarget = { by: "keys"; keys: number } | { by: "tolerance"; mm: number } | { by: "auto" };

/** Returns how the number of keys is determined. */
export function keyTarget({ keys, tolerance }: Settings): KeyTarget {
  if (keys !== null) return { by: "keys", keys };
  return tolerance !== null ? { by: "tolerance", mm: tolerance } : { by: "auto" };
}
