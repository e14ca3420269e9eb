/** What is in each file that a clip can leave as. */

import type { Schema } from "../api/client";
import type { Draft } from "../edit/steps";

export type Format = Schema["FormatRow"];
export type What = "capture" | "keys" | "draft";

/** What is taken away. */
export interface Taken {
  what: What;
  draft: Draft | null; // an edit, or keys with a share of the captured detail
}

const KINDS: Record<string, string> = {
  ".usda": "text",
  ".usdc": "binary",
  ".usd": "binary, as .usdc",
  ".gltf": "text",
  ".glb": "binary glTF",
};

const FOR: Record<string, string> = {
  ".bvh": "Nearly all animation software reads it.",
  ".glb": "For the web, Blender, Unity and Unreal.",
  ".gltf": "As .glb, in text.",
  ".keys.json": "Keypose reads it again without any loss.",
  ".kps": "Keypose's own small file.",
  ".blend": "Opens in Blender.",
};

/** What tells a format from others of its name. */
export function kindOf({ suffix }: Format): string {
  return KINDS[suffix] ?? "";
}

/** Why a file cannot be taken away; null: it can. */
export function refusal({ suffix, needs }: Format, { what, draft }: Taken): string | null {
  if (needs) return `needs ${needs}`;
  const isOfKeys = what === "draft" && draft?.kind === "keys";
  return suffix === ".swings.json" && isOfKeys ? "not of an edit of keys" : null;
}

/** What is in the file, in words; of frames that are kept within a tolerance, or `lossless`. */
export function contentOf({ suffix }: Format, taken: Taken, lossless = false): string {
  const { what, draft } = taken;
  const isKeyed = what === "keys" || draft?.kind === "keys";
  const detail = draft?.kind === "keys" ? draft.residual : 0;
  const every = {
    capture: "Every frame of the capture.",
    keys: "Every frame, sampled from the curves between the keys.",
    draft: isKeyed ? "Every frame, sampled from the edited curves." : "Every frame of the edit.",
  }[what];
  const withDetail = `Every frame: ${Math.round(100 * detail)} % of the captured detail is part of it.`;
  const frames = detail ? withDetail : every;
  const keys = what === "draft" ? "the edited keys" : "the keys";
  const beside = what === "keys" || detail ? ", and the captured detail beside them" : "";
  const says: Record<string, string> = {
    ".keys.json": `${capital(keys)} with their curves as text${beside}.`,
    ".blend": `Just ${keys} with curves between them${beside}.`,
    ".glb": detail ? withDetail : `Just ${keys} with curves between them.`,
    ".gltf": detail ? withDetail : `Just ${keys} with curves between them.`,
    ".kps": detail ? withDetail : `${capital(keys)} with their curves${beside}, without any loss.`,
  };
  const pictured: Record<string, string> = {
    ".strip.svg": isKeyed ? `Poses of ${keys} side by side.` : "Eight poses side by side.",
    ".strip.png": isKeyed ? `Poses of ${keys} side by side.` : "Eight poses side by side.",
    ".report.html": isKeyed ? `A page about ${keys}.` : "A page about the clip, with keys chosen for it.",
    ".swings.json":
      what === "draft" ? "The edited swings of every joint." : "The swings of every joint of the capture.",
  };
  const dense = suffix === ".keys.json" ? `${frames} Each is a key, as text.` : frames;
  const content = pictured[suffix] ?? (isKeyed ? (says[suffix] ?? frames) : dense);
  const isSparse = isKeyed && !detail;
  const noted = suffix.startsWith(".usd") && isSparse ? "The keys are noted." : "";
  const blender = suffix.startsWith(".gl") && isSparse ? "Blender needs our add-on to keep the curves." : "";
  const purpose = lossless ? "Keypose's own file, with every number as it is." : (FOR[suffix] ?? "");
  return [content, noted, purpose, blender].filter(Boolean).join(" ");
}

/** Whether the file is one of frames, of which each may be so far off. */
export function hasTolerance({ suffix }: Format, { what, draft }: Taken): boolean {
  const isKeyed = what === "keys" || draft?.kind === "keys";
  const detail = draft?.kind === "keys" ? draft.residual : 0;
  return suffix === ".kps" && (!isKeyed || detail > 0);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
