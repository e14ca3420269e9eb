/** What can be done with a clip; with all that are chosen, if it is one of them. */

import { navigate } from "../router";
import { counted } from "../ui/format";
import { openMenu } from "../ui/menu";
import type { Card } from "./card";
import type { LibraryPage } from "./librarypage";
import type { Item } from "./source";

export function openCardMenu(
  page: LibraryPage,
  card: Card,
  item: Item,
  at: HTMLElement | { x: number; y: number },
): void {
  const { row } = item;
  const many = page.selection.has(row.hash) && page.selection.size > 1;
  const hashes = many ? page.chosen() : [row.hash];
  const of = many ? ` ${counted(hashes.length, "clip")}` : "";
  openMenu(at, `Actions for ${row.name}`, [
    { title: "Open", icon: "film", keys: "Enter", run: () => page.open(item) },
    { title: "More like this", icon: "alike", keys: "L", run: () => page.alike(item) },
    { title: "Compare methods", icon: "columns", run: () => navigate(`/compare/${row.hash}`) },
    "line",
    { title: "Rename", icon: "pencil", keys: "F2", run: () => void page.rename(card) },
    { title: `Tag${of}…`, icon: "tag", run: () => void (many ? page.tagChosen() : page.actions.tag([row])) },
    { title: `Export${of}…`, icon: "download", run: () => void page.actions.export(hashes) },
    "line",
    { title: `Remove${of}`, icon: "trash", keys: "Delete", danger: true, run: () => void page.actions.remove(hashes) },
  ]);
}
