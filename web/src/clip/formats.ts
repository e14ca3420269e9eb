/** Describes what each export format contains. */

import type { Schema } from "../api/client";
import type { Draft } from "../edit/steps";
import { countOf } from "../ui/format";

export type Format = Schema["FormatRow"];
export type ExportSource = "capture" | "keys" | "draft";

/** What is exported. */
export interface ExportChoice {
  source: ExportSource;
  draft: Draft | null; // an edit, or keys with a share of the captured detail
}

/** Returns why a format cannot be exported; null if it can. */
export function unavailableReason(
  { content, install_command: command }: Format,
  { source, draft }: ExportChoice,
): string | null {
  if (command) return `Not installed on the server: ${command}`;
  const isKeysEdit = source === "draft" && draft?.kind === "keys";
  return content === "swings" && isKeysEdit ? "Not available for edited keys" : null;
}

/** Describes the content of the file. `lossless` applies to files of frames. */
export function describeContent(format: Format, choice: ExportChoice, lossless = false): string {
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
  const storesDetail = format.stores_residual;
  const keyed = `Only ${keys}, with curves between them${storesDetail ? extra : ""}.`;
  const motion = isKeyed
    ? format.keeps_keys && (!detail || storesDetail)
      ? keyed
      : frames
    : format.keeps_keys && storesDetail
      ? `${frames} Every frame becomes a key.`
      : frames;
  const texts: Record<Format["content"], string> = {
    motion,
    strip: isKeyed ? `A picture with the poses of ${keys} in a row.` : "A picture with eight poses in a row.",
    report: isKeyed
      ? `A web page with pictures and errors of ${keys}.`
      : "A web page with pictures and errors of automatically selected keys.",
    swings: source === "draft" ? "The edited swings of every joint." : "The swings of every joint of the capture.",
  };
  const isSparse = isKeyed && !detail;
  const metadataNote = format.keys_as_metadata && isSparse ? "The file records which frames are keys." : "";
  const blenderNote =
    format.blender_needs_addon && isSparse ? "Blender needs the Keypose add-on to keep the curves." : "";
  const purpose = lossless ? "Keypose's own format. Every number is stored exactly." : format.purpose;
  return [texts[format.content], metadataNote, purpose, blenderNote].filter(Boolean).join(" ");
}

export const CHARACTER = ".glb"; // the format of files into which keys can be exported

/** Describes a copy of the clip's own file with other keys. */
export function describeCharacter({ n_meshes: nMeshes, n_tracks: nTracks }: Schema["CharacterContents"]): string {
  const parts = [
    nMeshes ? countOf(nMeshes, "mesh", "meshes") : "",
    nTracks ? `${countOf(nTracks, "track")} of scale and morph weights` : "",
  ];
  const contents = parts.filter(Boolean).join(" and ");
  return `A copy of the clip’s own file in which its animation is replaced. ${contents}, materials and other animations stay.`;
}

/** Whether the file stores frames within a tolerance. */
export function hasTolerance(format: Format, { source, draft }: ExportChoice): boolean {
  const isKeyed = source === "keys" || draft?.kind === "keys";
  const detail = draft?.kind === "keys" ? draft.residual : 0;
  return format.has_tolerance && (!isKeyed || detail > 0);
}
