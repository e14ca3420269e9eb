/** Describes what each export format contains. */

import type { Schema } from "../api/client";
import type { Draft } from "../edit/steps";

export type Format = Schema["FormatRow"];
export type ExportSource = "capture" | "keys" | "draft";

/** What is exported. */
export interface ExportChoice {
  source: ExportSource;
  draft: Draft | null; // an edit, or keys with a share of the captured detail
}

const VARIANTS: Record<string, string> = {
  ".usda": "text",
  ".usdc": "binary",
  ".usd": "binary, like .usdc",
  ".gltf": "text",
  ".glb": "binary glTF",
};

const PURPOSES: Record<string, string> = {
  ".bvh": "Nearly all animation software reads it.",
  ".glb": "For the web, Blender, Unity and Unreal.",
  ".gltf": "Like .glb, but as text.",
  ".keys.json": "Keypose can load it again without any loss.",
  ".kps": "Keypose's own compact format.",
  ".blend": "Opens in Blender.",
};

/** Distinguishes formats with the same label. */
export function formatVariant({ suffix }: Format): string {
  return VARIANTS[suffix] ?? "";
}

/** Returns why a format cannot be exported; null if it can. */
export function unavailableReason(
  { suffix, install_command: command }: Format,
  { source, draft }: ExportChoice,
): string | null {
  if (command) return `needs: ${command}`;
  const isKeysEdit = source === "draft" && draft?.kind === "keys";
  return suffix === ".swings.json" && isKeysEdit ? "not available for edited keys" : null;
}

/** Describes the content of the file. `lossless` applies to files of frames. */
export function describeContent({ suffix }: Format, choice: ExportChoice, lossless = false): string {
  const { source, draft } = choice;
  const isKeyed = source === "keys" || draft?.kind === "keys";
  const detail = draft?.kind === "keys" ? draft.residual : 0;
  const everyFrame = {
    capture: "Every frame of the capture.",
    keys: "Every frame, sampled from the curves between the keys.",
    draft: isKeyed ? "Every frame, sampled from the edited curves." : "Every frame of the edit.",
  }[source];
  const withDetail = `Every frame, with ${Math.round(100 * detail)} % of the captured detail.`;
  const frames = detail ? withDetail : everyFrame;
  const keys = source === "draft" ? "the edited keys" : "the keys";
  const extra = source === "keys" || detail ? ", and the captured detail separately" : "";
  const keyedTexts: Record<string, string> = {
    ".keys.json": `${capitalize(keys)} with their curves as text${extra}.`,
    ".blend": `Just ${keys} with curves between them${extra}.`,
    ".glb": detail ? withDetail : `Just ${keys} with curves between them.`,
    ".gltf": detail ? withDetail : `Just ${keys} with curves between them.`,
    ".kps": detail ? withDetail : `${capitalize(keys)} with their curves${extra}, without any loss.`,
  };
  const specialTexts: Record<string, string> = {
    ".strip.svg": isKeyed ? `Poses of ${keys} side by side.` : "Eight poses side by side.",
    ".strip.png": isKeyed ? `Poses of ${keys} side by side.` : "Eight poses side by side.",
    ".report.html": isKeyed ? `A report about ${keys}.` : "A report about the clip, with automatically selected keys.",
    ".swings.json":
      source === "draft" ? "The edited swings of every joint." : "The swings of every joint of the capture.",
  };
  const dense = suffix === ".keys.json" ? `${frames} Each is a key, as text.` : frames;
  const content = specialTexts[suffix] ?? (isKeyed ? (keyedTexts[suffix] ?? frames) : dense);
  const isSparse = isKeyed && !detail;
  const usdNote = suffix.startsWith(".usd") && isSparse ? "The file records which frames are keys." : "";
  const blenderNote =
    suffix.startsWith(".gl") && isSparse ? "Blender needs the Keypose add-on to keep the curves." : "";
  const purpose = lossless ? "Keypose's own format, with every number exactly preserved." : (PURPOSES[suffix] ?? "");
  return [content, usdNote, purpose, blenderNote].filter(Boolean).join(" ");
}

/** Whether the file stores frames within a tolerance. */
export function hasTolerance({ suffix }: Format, { source, draft }: ExportChoice): boolean {
  const isKeyed = source === "keys" || draft?.kind === "keys";
  const detail = draft?.kind === "keys" ? draft.residual : 0;
  return suffix === ".kps" && (!isKeyed || detail > 0);
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
