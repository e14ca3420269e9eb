/** Pointer and keyboard input of the grid. */

import type { Card } from "./card";
import type { Item } from "./clip_source";
import type { Grid } from "./grid";
import type { Preview } from "./preview";
import type { Selection } from "./selection";

export interface GridActions {
  open(item: Item): void;
  searchSimilar(item: Item): void;
  openMenu(card: Card, at: HTMLElement | { x: number; y: number }): void;
  rename(card: Card): void;
  trash(): void;
  /** Selects all items from the anchor to this one. */
  selectTo(index: number): void;
}

/** Attaches the listeners of a new card. */
export function setUpCard(
  card: Card,
  selection: Selection,
  grid: () => Grid,
  preview: Preview,
  actions: GridActions,
): void {
  const { element, picture } = card;
  const withItem = (run: (item: Item) => void) => () => card.item && run(card.item);
  card.similarButton.addEventListener("click", withItem(actions.searchSimilar));
  card.menuButton.addEventListener("click", () => card.item && actions.openMenu(card, card.menuButton));
  card.check.addEventListener("click", (event) => {
    if (!card.item) return;
    if (event.shiftKey) actions.selectTo(card.index);
    else selection.toggle(card.item.row.hash, card.index);
    grid().activate(card.index, false);
  });
  element.addEventListener("click", (event) => {
    const target = event.target as Element;
    if (!card.item || target.closest("button, input")) return;
    const onName = target.closest("a") !== null;
    if (event.shiftKey) actions.selectTo(card.index);
    else if (event.ctrlKey || event.metaKey || (selection.size > 0 && !onName)) {
      selection.toggle(card.item.row.hash, card.index);
    } else if (onName)
      return; // the browser opens the link
    else actions.open(card.item);
    event.preventDefault();
    grid().activate(card.index, false);
  });
  element.addEventListener("contextmenu", (event) => {
    if (!card.item || event.shiftKey) return;
    event.preventDefault();
    grid().activate(card.index, false);
    const fromKeys = event.clientX === 0 && event.clientY === 0;
    actions.openMenu(card, fromKeys ? card.menuButton : { x: event.clientX, y: event.clientY });
  });
  element.addEventListener("pointerenter", (event) => {
    if (card.item && event.pointerType !== "touch" && !grid().isScrolling) preview.start(picture, card.item.row.hash);
  });
  element.addEventListener("pointerleave", () => preview.stop(picture));
  element.addEventListener("focusin", () => {
    if (grid().active !== card.index) grid().activate(card.index, false);
    if (card.item && element.matches(":focus-visible, :has(:focus-visible)"))
      preview.start(picture, card.item.row.hash);
  });
  element.addEventListener("focusout", () => preview.stop(picture));
}

/** Previews the clip that scrolling has brought under the pointer. */
export function previewHovered(grid: Grid, preview: Preview): void {
  const cell = grid.element.querySelector(".card:hover");
  const card = cell && grid.cards().find(({ element }) => element === cell);
  if (card?.item) preview.start(card.picture, card.item.row.hash);
}

/** Stops the preview on a card that shows another clip now, and previews the clip that is under the pointer instead. */
export function updatePreview(grid: Grid, preview: Preview): void {
  const isCurrent = (container: HTMLElement, hash: string) =>
    grid.cards().some(({ picture, item }) => picture === container && item?.row.hash === hash);
  if (preview.stopUnless(isCurrent) && !grid.isScrolling) previewHovered(grid, preview);
}

/** Handles keys while a card of the grid has the focus. */
export function handleGridKey(event: KeyboardEvent, grid: Grid, selection: Selection, actions: GridActions): void {
  const card = grid.cardAt(grid.active);
  const isOnCell = event.target === card?.element;
  const target = event.target as Element;
  if (!card || (!isOnCell && target.matches("input:not([type=checkbox])"))) return;
  const mod = event.ctrlKey || event.metaKey;
  const next = grid.step(mod && (event.key === "Home" || event.key === "End") ? `Mod+${event.key}` : event.key);
  const item = card.item;
  if (next !== null && !event.altKey && (!mod || event.key === "Home" || event.key === "End")) {
    if (event.shiftKey && selection.anchor === null && item) selection.toggle(item.row.hash, grid.active);
    grid.activate(next);
    if (event.shiftKey) actions.selectTo(next);
  } else if (!item || mod || event.altKey) return;
  else if (event.key === "F2") actions.rename(card);
  else if (event.key === "Delete") {
    if (selection.size === 0) selection.toggle(item.row.hash, grid.active);
    actions.trash();
  } else if (event.key === "l" || event.key === "L") actions.searchSimilar(item);
  else if (event.key === "Escape" && !isOnCell) {
    card.element.focus();
    return; // the page then also clears the selection
  } else if (!isOnCell) return;
  else if (event.key === "Enter") actions.open(item);
  else if (event.key === " ") {
    if (event.shiftKey) actions.selectTo(grid.active);
    else selection.toggle(item.row.hash, grid.active);
  } else if (event.key === "m" || event.key === "M") actions.openMenu(card, card.menuButton);
  else return;
  event.preventDefault();
  event.stopPropagation();
}
