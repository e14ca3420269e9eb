/** What the library page can do, for keys, Ctrl-K and "?". */

import { navigate } from "../router";
import type { Command } from "../ui/commands";
import { undoing } from "./actions";
import type { LibraryPage } from "./librarypage";
import { exampleOf, isFiltered, NO_EXAMPLE, NO_FILTERS, REMOVED, SORTS, type Sort } from "./view";

export function commandsOf(page: LibraryPage): Command[] {
  const { state, selection, grid, actions } = page;
  const some = () => selection.size > 0;
  const activeItem = () => page.showing.source?.at(grid.active);
  const looking: Command[] = [
    { title: "Search names and tags", keys: "/", group: "Find", run: () => page.focusSearch() },
    {
      title: "Clear all filters",
      group: "Find",
      enabled: () => isFiltered(state.value),
      run: () => state.set({ ...NO_FILTERS }, { push: true }),
    },
    {
      title: "End the search by example",
      group: "Find",
      enabled: () => exampleOf(state.value) !== null,
      run: () => state.set({ ...NO_EXAMPLE }, { push: true }),
    },
    ...Object.entries(SORTS).map(([sort, title]) => ({
      title: `Sort: ${title.toLowerCase()}`,
      group: "Find",
      run: () => state.set({ sort: sort as Sort }, { push: true }),
    })),
  ];
  const adding: Command[] = [
    { title: "Add files…", keys: "A", group: "Add", run: () => page.pick.files() },
    { title: "Add a folder…", keys: "Shift+A", group: "Add", run: () => page.pick.folder() },
    { title: "Show removed clips", group: "Add", run: () => navigate(REMOVED) },
  ];
  const choosing: Command[] = [
    { title: "Choose all clips", keys: "Mod+A", group: "Choose", run: () => void page.chooseAll() },
    { title: "Choose none", keys: "Escape", group: "Choose", enabled: some, run: () => selection.clear() },
    { title: "Tag the chosen clips…", keys: "T", group: "Choose", enabled: some, run: () => void page.tagChosen() },
    {
      title: "Export the chosen clips…",
      keys: "E",
      group: "Choose",
      enabled: some,
      run: () => void actions.export(page.chosen()),
    },
    {
      title: "Remove the chosen clips",
      keys: "Delete",
      group: "Choose",
      enabled: some,
      run: () => void actions.remove(page.chosen()),
    },
    {
      title: "Undo",
      keys: "Mod+Z",
      group: "Choose",
      enabled: () => !undoing.isEmpty,
      run: () => undoing.undo(),
    },
  ];
  const onCard: Command[] = [
    { title: "Move between clips", keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"], group: "On a clip" },
    { title: "Open", keys: "Enter", group: "On a clip" },
    { title: "Choose", keys: "Space", group: "On a clip" },
    { title: "Choose a range", keys: "Shift+ArrowDown", group: "On a clip" },
    {
      title: "More like this",
      keys: "L",
      group: "On a clip",
      enabled: () => activeItem() !== undefined,
      run: () => page.alike(activeItem()!),
    },
    { title: "Rename", keys: "F2", group: "On a clip" },
    { title: "Menu", keys: "M", group: "On a clip" },
    { title: "First clip", keys: "Mod+Home", group: "On a clip" },
    { title: "Last clip", keys: "Mod+End", group: "On a clip" },
  ];
  return [...looking, ...adding, ...choosing, ...onCard];
}
