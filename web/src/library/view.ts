/** The state of the library page, stored in its address, and the requests for it. */

import type { Schema } from "../api/client";
import { choice, flag, number, text, texts, type Values } from "../state/url";

export type ClipRow = Schema["ClipRow"];
export type HitRow = Schema["HitRow"];
export type Facets = Schema["Facets"];

export const SORTS = { newest: "Newest first", name: "Name", longest: "Longest first", shortest: "Shortest first" };
export type Sort = keyof typeof SORTS;

/** The address of the trash. */
export const TRASH_URL = "/?trash=1";

export const VIEW = {
  text: text(),
  tag: texts(),
  min_duration_s: number({ min: 0 }),
  max_duration_s: number({ min: 0 }),
  body_part: text(),
  action: text(),
  sort: choice(Object.keys(SORTS) as Sort[], "newest"),
  clip: text(),
  span: text(),
  pose: text(),
  mirrored: flag(true),
  ranker: choice(["descriptors", "swings"], "descriptors"),
  joints: text(),
};
export type View = Values<typeof VIEW>;

/** The example of a search: a whole clip, frames `start` to before `end`, or one `frame`. */
export interface Example {
  kind: "clip" | "span" | "pose";
  hash: string;
  start?: number;
  end?: number;
  frame?: number;
}

const HASH = "([0-9a-f]{64})";

export function parseExample(view: Pick<View, "clip" | "span" | "pose">): Example | null {
  const pose = new RegExp(`^${HASH}:(\\d{1,9})$`).exec(view.pose);
  if (pose) return { kind: "pose", hash: pose[1]!, frame: Number(pose[2]) };
  const span = new RegExp(`^${HASH}:(\\d{1,9})-(\\d{1,9})$`).exec(view.span);
  if (span) return { kind: "span", hash: span[1]!, start: Number(span[2]), end: Number(span[3]) };
  const clip = new RegExp(`^${HASH}$`).exec(view.clip);
  return clip ? { kind: "clip", hash: clip[1]! } : null;
}

/** All filters off. */
export const NO_FILTERS = {
  text: "",
  tag: [],
  min_duration_s: null,
  max_duration_s: null,
  body_part: "",
  action: "",
} as const;
/** No search by example. */
export const NO_EXAMPLE = { clip: "", span: "", pose: "", joints: "", mirrored: true, ranker: "descriptors" } as const;

export function isFiltered(view: View): boolean {
  return (
    view.text.trim() !== "" ||
    view.tag.length > 0 ||
    view.min_duration_s !== null ||
    view.max_duration_s !== null ||
    view.body_part !== "" ||
    view.action !== ""
  );
}

/** The URL of a page of clips. */
export function clipsUrl(view: View, skip: number, limit: number): string {
  const query = new URLSearchParams();
  if (view.text.trim() !== "") query.set("text", view.text.trim());
  for (const tag of view.tag) query.append("tag", tag);
  if (view.min_duration_s !== null) query.set("min_duration_s", String(view.min_duration_s));
  if (view.max_duration_s !== null) query.set("max_duration_s", String(view.max_duration_s));
  if (view.body_part !== "") query.set("body_part", view.body_part);
  if (view.action !== "") query.set("action", view.action);
  query.set("sort", view.sort);
  query.set("skip", String(skip));
  query.set("limit", String(limit));
  return `/api/clips?${query}`;
}

/** Builds the body of a search request. */
export function buildSearchRequest(
  view: View,
  example: Example,
  skip: number,
  limit: number,
): Partial<Schema["SearchRequest"]> {
  const { kind, hash, ...span } = example;
  return {
    clip: hash,
    ...span,
    text: view.text.trim() || null,
    tags: [...view.tag],
    min_duration_s: view.min_duration_s,
    max_duration_s: view.max_duration_s,
    action: view.action || null,
    joints: view.joints === "" ? null : [view.joints],
    mirrored: view.mirrored,
    ranker: kind === "clip" ? view.ranker : "descriptors",
    skip,
    limit,
  };
}

/** The address of a clip's page; for a hit, at the frames of the match. */
export function clipUrl(row: ClipRow, hit?: HitRow): string {
  if (!hit) return `/clips/${row.hash}`;
  const isSpan = hit.end - hit.start > 1 && hit.end - hit.start < row.n_frames;
  return `/clips/${row.hash}?frame=${hit.start}${isSpan ? `&range=${hit.start}-${hit.end - 1}` : ""}`;
}
