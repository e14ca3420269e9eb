/** The context menu of a clip; it acts on the whole selection if the clip is part of it. */

import { navigate } from "../router";
import { countOf } from "../ui/format";
import { openMenu } from "../ui/menu";
import type { Card } from "./card";
import type { Item } from "./clip_source";
import type { LibraryPage } from "./library_page";

export function openCardMenu(
  page: LibraryPage,
  card: Card,
  item: Item,
  anchor: HTMLElement | { x: number; y: number },
): void {
  const { row } = item;
  const isMultiple = page.selection.has(row.hash) && page.selection.size > 1;
  const hashes = isMultiple ? page.selectedHashes() : [row.hash];
  const suffix = isMultiple ? ` ${countOf(hashes.length, "clip")}` : "";
  openMenu(anchor, `Actions for ${row.name}`, [
    { title: "Open", icon: "film", keys: "Enter", run: () => page.open(item) },
    { title: "Search for similar clips", icon: "similar", keys: "L", run: () => page.searchSimilar(item) },
    { title: "Compare methods", icon: "columns", run: () => navigate(`/compare/${row.hash}`) },
    "line",
    { title: "Rename", icon: "pencil", keys: "F2", run: () => void page.rename(card) },
    {
      title: isMultiple ? `Edit tags of${suffix}…` : "Edit tags…",
      icon: "tag",
      run: () => void (isMultiple ? page.tagSelected() : page.actions.tag([row])),
    },
    { title: `Export${suffix}…`, icon: "download", run: () => void page.actions.export(hashes) },
    "line",
    {
      title: `Move${suffix} to trash`,
      icon: "trash",
      keys: "Delete",
      danger: true,
      run: () => void page.actions.trash(hashes),
    },
  ]);
}
