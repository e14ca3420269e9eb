/** Hands on the grid: pointer and keys, for looking, choosing and opening. */

import type { Card } from "./card";
import type { Grid } from "./grid";
import type { Preview } from "./preview";
import type { Selection } from "./selection";
import type { Item } from "./source";

export interface Doing {
  open(item: Item): void;
  alike(item: Item): void;
  menu(card: Card, at: HTMLElement | { x: number; y: number }): void;
  rename(card: Card): void;
  remove(): void;
  /** Chooses all items from the anchor to this one. */
  reach(index: number): void;
}

/** Joins a new card to what can be done with it. */
export function dressCard(card: Card, selection: Selection, grid: () => Grid, preview: Preview, doing: Doing): void {
  const { element, look } = card;
  const withItem = (run: (item: Item) => void) => () => card.item && run(card.item);
  card.alike.addEventListener("click", withItem(doing.alike));
  card.more.addEventListener("click", () => card.item && doing.menu(card, card.more));
  card.check.addEventListener("click", (event) => {
    if (!card.item) return;
    if (event.shiftKey) doing.reach(card.index);
    else selection.toggle(card.item.row.hash, card.index);
    grid().activate(card.index, false);
  });
  element.addEventListener("click", (event) => {
    const target = event.target as Element;
    if (!card.item || target.closest("button, input")) return;
    const onName = target.closest("a") !== null;
    if (event.shiftKey) doing.reach(card.index);
    else if (event.ctrlKey || event.metaKey || (selection.size > 0 && !onName)) {
      selection.toggle(card.item.row.hash, card.index);
    } else if (onName)
      return; // the link does it
    else doing.open(card.item);
    event.preventDefault();
    grid().activate(card.index, false);
  });
  element.addEventListener("contextmenu", (event) => {
    if (!card.item || event.shiftKey) return;
    event.preventDefault();
    grid().activate(card.index, false);
    const fromKeys = event.clientX === 0 && event.clientY === 0;
    doing.menu(card, fromKeys ? card.more : { x: event.clientX, y: event.clientY });
  });
  element.addEventListener("pointerenter", (event) => {
    if (card.item && event.pointerType !== "touch" && !grid().isScrolling) preview.start(look, card.item.row.hash);
  });
  element.addEventListener("pointerleave", () => preview.stop(look));
  element.addEventListener("focusin", () => {
    if (grid().active !== card.index) grid().activate(card.index, false);
    if (card.item && element.matches(":focus-visible, :has(:focus-visible)")) preview.start(look, card.item.row.hash);
  });
  element.addEventListener("focusout", () => preview.stop(look));
}

/** Plays the clip under the pointer, which came there by scrolling. */
export function playHovered(grid: Grid, preview: Preview): void {
  const cell = grid.element.querySelector(".card:hover");
  const card = cell && grid.cards().find(({ element }) => element === cell);
  if (card?.item) preview.start(card.look, card.item.row.hash);
}

/** Keys that the grid hears while one of its cards has the focus. */
export function onGridKey(event: KeyboardEvent, grid: Grid, selection: Selection, doing: Doing): void {
  const card = grid.cardAt(grid.active);
  const onCell = event.target === card?.element;
  const target = event.target as Element;
  if (!card || (!onCell && target.matches("input:not([type=checkbox])"))) return;
  const mod = event.ctrlKey || event.metaKey;
  const next = grid.step(mod && (event.key === "Home" || event.key === "End") ? `Mod+${event.key}` : event.key);
  const item = card.item;
  if (next !== null && !event.altKey && (!mod || event.key === "Home" || event.key === "End")) {
    if (event.shiftKey && selection.anchor === null && item) selection.toggle(item.row.hash, grid.active);
    grid.activate(next);
    if (event.shiftKey) doing.reach(next);
  } else if (!item || mod || event.altKey) return;
  else if (event.key === "F2") doing.rename(card);
  else if (event.key === "Delete") {
    if (selection.size === 0) selection.toggle(item.row.hash, grid.active);
    doing.remove();
  } else if (event.key === "l" || event.key === "L") doing.alike(item);
  else if (event.key === "Escape" && !onCell) {
    card.element.focus();
    return; // it also chooses none, if some are chosen
  } else if (!onCell) return;
  else if (event.key === "Enter") doing.open(item);
  else if (event.key === " ") {
    if (event.shiftKey) doing.reach(grid.active);
    else selection.toggle(item.row.hash, grid.active);
  } else if (event.key === "m" || event.key === "M") doing.menu(card, card.more);
  else return;
  event.preventDefault();
  event.stopPropagation();
}
