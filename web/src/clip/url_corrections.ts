/** Corrects invalid values in the address and shows what was changed. */

import { parseView } from "../player/orbit";
import { type Fields, isSameList, type UrlState, type Values } from "../state/url";
import { toast } from "../ui/toast";
import { findMethod, fittingOptions, JOINT, parseWeights, type Settings } from "./settings";
import type { ClipState } from "./state";

export interface UrlCorrections<Settings> {
  change: Partial<Settings>;
  reasons: string[]; // one clause for each change
}

/** Replaces invalid values in the address by defaults, applies `corrections`, and shows a toast with the reasons. */
export function correctUrl<FieldSet extends Fields>(
  url: UrlState<FieldSet>,
  search: string,
  corrections: UrlCorrections<Values<FieldSet>>,
): void {
  const reasons = [...findInvalidValues(url.fields, search), ...corrections.reasons];
  if (!reasons.length) return;
  url.set(corrections.change);
  url.flush();
  history.replaceState(history.state, "", url.address());
  toast(`The address was corrected: ${reasons.join("; ")}.`);
}

/** Returns a clause for each value in the query that its codec cannot read. */
export function findInvalidValues(fields: Fields, search: string): string[] {
  const query = new URLSearchParams(search);
  const reasons: string[] = [];
  for (const [name, codec] of Object.entries(fields)) {
    const all = query.getAll(name);
    const value = codec.read(all);
    const defaultTexts = codec.write(codec.fallback);
    const isInvalid =
      typeof value !== "boolean" && isSameList(codec.write(value), defaultTexts) && !isSameList(all, defaultTexts);
    if (isInvalid && all.some((each) => each !== "")) reasons.push(`${name}=${all[0]} is not valid`);
  }
  return reasons;
}

/** Returns the changes needed for values that this clip does not have. */
export function findClipCorrections({
  settings,
  clip,
  bodyParts,
  jointNames,
  nFrames,
}: ClipState): UrlCorrections<Settings> {
  const { method, pins, trails } = settings;
  const { change, reasons }: UrlCorrections<Settings> = findViewCorrections(settings, nFrames);
  if (!clip.library.methods.some(({ name }) => name === method)) {
    change.method = "salient";
    reasons.push(`there is no method “${method}”, so “salient” is used`);
  }
  const last = nFrames - 1;
  const range = settings.range;
  if (range && range[1] > last) {
    change.range = range[0] < last ? [range[0], last] : null;
    reasons.push(`the range ended after the last frame, ${last}`);
  }
  const validPins = (pins ?? []).filter((pin) => Number.isInteger(pin) && pin >= 0 && pin <= last);
  if (pins && validPins.length < pins.length) {
    change.pins = validPins.length ? validPins : null;
    reasons.push("some pinned frames are outside the clip");
  }
  const validTrails = trails.filter((name) => jointNames.includes(name));
  if (validTrails.length < trails.length) {
    change.trails = validTrails;
    reasons.push("this clip does not have all of the joints with trails");
  }
  const known = new Set([...bodyParts.map(({ name }) => name), ...jointNames.map((name) => `${JOINT}${name}`)]);
  const validWeights = settings.weights.filter((each) => {
    const [name] = [...parseWeights([each]).keys()];
    return name === undefined ? each.endsWith(":1") && known.has(each.slice(0, -2)) : known.has(name);
  });
  if (validWeights.length < settings.weights.length) {
    change.weights = validWeights;
    reasons.push("some weights of body parts or joints are not valid");
  }
  if (settings.joint && !jointNames.includes(settings.joint)) {
    change.joint = "";
    reasons.push(`this clip has no joint “${settings.joint}”`);
  }
  const { feature_options: featureOptions } = clip.library;
  for (const [field, title, options] of [
    ["options", "options", findMethod(clip.library, change.method ?? method)?.options ?? []],
    ["features", "options of features", featureOptions],
    ["extremes", "options of extremes", clip.library.extremes_options],
    ["curves", "options of curves", fittingOptions(clip.library)],
  ] as const) {
    const names = options.map(({ name }) => name);
    const valid = settings[field].filter((each) => names.includes(each.split(":")[0]!));
    if (valid.length === settings[field].length) continue;
    change[field] = valid;
    reasons.push(`some ${title} are not known`);
  }
  return { change, reasons };
}

/** The same for frame and camera, which several pages share. */
export function findViewCorrections(
  { frame, camera }: { frame: number | null; camera: readonly number[] | null },
  nFrames: number,
): { change: { frame?: number; camera?: null }; reasons: string[] } {
  const change: { frame?: number; camera?: null } = {};
  const reasons: string[] = [];
  if (frame !== null && frame >= nFrames) {
    change.frame = nFrames - 1;
    reasons.push(`the last frame is ${nFrames - 1}`);
  }
  if (camera && !parseView(camera)) {
    change.camera = null;
    reasons.push(`camera=${camera.join(",")} is not valid`);
  }
  return { change, reasons };
}
