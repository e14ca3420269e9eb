/** What an address says that cannot be so: it is put right, and said. */

import { viewOf } from "../player/orbit";
import { type Fields, same, type UrlState, type Values } from "../state/url";
import { toast } from "../ui/toast";
import { type Settings, weightsOf } from "./recipe";
import type { ClipState } from "./state";

export interface Fixes<Settings> {
  change: Partial<Settings>;
  said: string[]; // why, each as a clause
}

/** Puts an address right: what its fields cannot read, and what `fixes` found beside. */
export function putRight<Of extends Fields>(url: UrlState<Of>, search: string, fixes: Fixes<Values<Of>>): void {
  const said = [...unread(url.fields, search), ...fixes.said];
  if (!said.length) return;
  url.set(fixes.change);
  url.flush();
  history.replaceState(history.state, "", url.address());
  toast(`The address was put right: ${said.join("; ")}.`);
}

/** Values that stand there but cannot be read. */
export function unread(fields: Fields, search: string): string[] {
  const query = new URLSearchParams(search);
  const found: string[] = [];
  for (const [name, codec] of Object.entries(fields)) {
    const all = query.getAll(name);
    const value = codec.read(all);
    const usual = codec.write(codec.fallback);
    const isUnread = typeof value !== "boolean" && same(codec.write(value), usual) && !same(all, usual);
    if (isUnread && all.some((each) => each !== "")) found.push(`${name}=${all[0]} cannot be`);
  }
  return found;
}

/** What a clip does not have. */
export function fixesOf({ settings, opened, parts, names, nFrames }: ClipState): Fixes<Settings> {
  const { method, pins, trails } = settings;
  const { change, said }: Fixes<Settings> = placeFixes(settings, nFrames);
  if (!opened.library.methods.some(({ name }) => name === method)) {
    change.method = "salient";
    said.push(`there is no method “${method}”, and keys are chosen by “salient”`);
  }
  const last = nFrames - 1;
  const range = settings.range;
  if (range && range[1] > last) {
    change.range = range[0] < last ? [range[0], last] : null;
    said.push(`the range ends at frame ${last}`);
  }
  const kept = (pins ?? []).filter((pin) => Number.isInteger(pin) && pin >= 0 && pin <= last);
  if (pins && kept.length < pins.length) {
    change.pins = kept.length ? kept : null;
    said.push("some pins are no frames of this clip");
  }
  const known = trails.filter((name) => names.includes(name));
  if (known.length < trails.length) {
    change.trails = known;
    said.push("some trails are of no joint of this clip");
  }
  const weights = weightsOf(settings.parts);
  const heeded = settings.parts.filter((each) => {
    const [part, weight] = each.split(":");
    const isKnown = parts.some(({ name }) => name === part);
    return isKnown && (weights.has(part!) || Number(weight) === 1);
  });
  if (heeded.length < settings.parts.length) {
    change.parts = heeded;
    said.push("some parts or weights are not known");
  }
  return { change, said };
}

/** The same of frame and camera, which several pages have. */
export function placeFixes(
  { frame, camera }: { frame: number | null; camera: readonly number[] | null },
  nFrames: number,
): { change: { frame?: number; camera?: null }; said: string[] } {
  const change: { frame?: number; camera?: null } = {};
  const said: string[] = [];
  if (frame !== null && frame >= nFrames) {
    change.frame = nFrames - 1;
    said.push(`the last frame is ${nFrames - 1}`);
  }
  if (camera && !viewOf(camera)) {
    change.camera = null;
    said.push(`camera=${camera.join(",")} cannot be`);
  }
  return { change, said };
}
