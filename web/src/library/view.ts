/** What the library page shows, as its address says it, and what is asked of the server for it. */

import type { Schema } from "../api/client";
import { choice, flag, number, text, texts, type Values } from "../state/url";

export type ClipRow = Schema["ClipRow"];
export type HitRow = Schema["HitRow"];
export type Facets = Schema["Facets"];

export const SORTS = { newest: "Newest first", name: "By name", longest: "Longest first", shortest: "Shortest first" };
export type Sort = keyof typeof SORTS;

/** The address of what was removed. */
export const REMOVED = "/?removed=1";

export const VIEW = {
  words: text(),
  tag: texts(),
  least: number({ least: 0 }),
  most: number({ least: 0 }),
  body: text(),
  sort: choice(Object.keys(SORTS) as Sort[], "newest"),
  like: text(),
  part: text(),
  pose: text(),
  mirrored: flag(true),
  ranker: choice(["descriptors", "swings"], "descriptors"),
  by: text(),
};
export type View = Values<typeof VIEW>;

/** What a search by example starts from: a whole clip, frames `start` to before `end`, or one `frame`. */
export interface Example {
  kind: "like" | "part" | "pose";
  clip: string;
  start?: number;
  end?: number;
  frame?: number;
}

const HASH = "([0-9a-f]{64})";

export function exampleOf(view: Pick<View, "like" | "part" | "pose">): Example | null {
  const pose = new RegExp(`^${HASH}:(\\d{1,9})$`).exec(view.pose);
  if (pose) return { kind: "pose", clip: pose[1]!, frame: Number(pose[2]) };
  const part = new RegExp(`^${HASH}:(\\d{1,9})-(\\d{1,9})$`).exec(view.part);
  if (part) return { kind: "part", clip: part[1]!, start: Number(part[2]), end: Number(part[3]) };
  const like = new RegExp(`^${HASH}$`).exec(view.like);
  return like ? { kind: "like", clip: like[1]! } : null;
}

/** All filters off. */
export const NO_FILTERS = { words: "", tag: [], least: null, most: null, body: "" } as const;
/** No search by example. */
export const NO_EXAMPLE = { like: "", part: "", pose: "", by: "", mirrored: true, ranker: "descriptors" } as const;

export function isFiltered(view: View): boolean {
  return (
    view.words.trim() !== "" || view.tag.length > 0 || view.least !== null || view.most !== null || view.body !== ""
  );
}

/** The address of a page of clips. */
export function clipsPath(view: View, skip: number, limit: number): string {
  const query = new URLSearchParams();
  if (view.words.trim() !== "") query.set("words", view.words.trim());
  for (const tag of view.tag) query.append("tag", tag);
  if (view.least !== null) query.set("least_duration_s", String(view.least));
  if (view.most !== null) query.set("most_duration_s", String(view.most));
  if (view.body !== "") query.set("part", view.body);
  query.set("sort", view.sort);
  query.set("skip", String(skip));
  query.set("limit", String(limit));
  return `/api/clips?${query}`;
}

/** What is asked of the search. */
export function searchTold(view: View, example: Example, skip: number, limit: number): Partial<Schema["SearchTold"]> {
  const { kind: _, ...where } = example;
  return {
    ...where,
    words: view.words.trim() || null,
    tags: [...view.tag],
    least_duration_s: view.least,
    most_duration_s: view.most,
    joints: view.by === "" ? null : [view.by],
    mirrored: view.mirrored,
    ranker: example.kind === "like" ? view.ranker : "descriptors",
    skip,
    limit,
  };
}

/** The page of a clip; of a hit, at the place where the match lies. */
export function clipAddress(row: ClipRow, hit?: HitRow): string {
  if (!hit) return `/clips/${row.hash}`;
  const isPart = hit.end - hit.start > 1 && hit.end - hit.start < row.n_frames;
  return `/clips/${row.hash}?frame=${hit.start}${isPart ? `&range=${hit.start}-${hit.end - 1}` : ""}`;
}
