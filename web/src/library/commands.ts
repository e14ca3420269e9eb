/** The commands of the library page, for shortcuts, Ctrl-K and "?". */

import { navigate } from "../router";
import type { Command } from "../ui/commands";
import { undoStack } from "./actions";
import type { LibraryPage } from "./library_page";
import { isFiltered, NO_EXAMPLE, NO_FILTERS, parseExample, SORTS, type Sort, TRASH_URL } from "./view";

export function buildCommands(page: LibraryPage): Command[] {
  const { state, selection, grid, actions } = page;
  const hasSelection = () => selection.size > 0;
  const activeItem = () => page.results.source?.at(grid.active);
  const searchCommands: Command[] = [
    { title: "Search names and tags", keys: "/", group: "Search", run: () => page.focusSearch() },
    {
      title: "Clear all filters",
      group: "Search",
      enabled: () => isFiltered(state.value),
      run: () => state.set({ ...NO_FILTERS }, { push: true }),
    },
    {
      title: "Clear the search by example",
      group: "Search",
      enabled: () => parseExample(state.value) !== null,
      run: () => state.set({ ...NO_EXAMPLE }, { push: true }),
    },
    ...Object.entries(SORTS).map(([sort, title]) => ({
      title: `Sort: ${title.toLowerCase()}`,
      group: "Search",
      run: () => state.set({ sort: sort as Sort }, { push: true }),
    })),
  ];
  const addCommands: Command[] = [
    { title: "Add files…", keys: "A", group: "Library", run: () => page.pick.files() },
    { title: "Add a folder…", keys: "Shift+A", group: "Library", run: () => page.pick.folder() },
    { title: "Open the trash", group: "Library", run: () => navigate(TRASH_URL) },
  ];
  const selectionCommands: Command[] = [
    { title: "Select all clips", keys: "Mod+A", group: "Selection", run: () => void page.selectAll() },
    {
      title: "Clear the selection",
      keys: "Escape",
      group: "Selection",
      enabled: hasSelection,
      run: () => selection.clear(),
    },
    {
      title: "Edit tags of selected clips…",
      keys: "T",
      group: "Selection",
      enabled: hasSelection,
      run: () => void page.tagSelected(),
    },
    {
      title: "Export selected clips…",
      keys: "E",
      group: "Selection",
      enabled: hasSelection,
      run: () => void actions.export(page.selectedHashes()),
    },
    {
      title: "Move selected clips to the trash",
      keys: "Delete",
      group: "Selection",
      enabled: hasSelection,
      run: () => void actions.trash(page.selectedHashes()),
    },
    {
      title: "Undo",
      keys: "Mod+Z",
      group: "Selection",
      enabled: () => !undoStack.isEmpty,
      run: () => undoStack.undo(),
    },
  ];
  const cardCommands: Command[] = [
    { title: "Move between clips", keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"], group: "On a clip" },
    { title: "Open", keys: "Enter", group: "On a clip" },
    { title: "Select or deselect", keys: "Space", group: "On a clip" },
    { title: "Extend the selection", keys: "Shift+ArrowDown", group: "On a clip" },
    {
      title: "Search for similar clips",
      keys: "L",
      group: "On a clip",
      enabled: () => activeItem() !== undefined,
      run: () => page.searchSimilar(activeItem()!),
    },
    { title: "Rename", keys: "F2", group: "On a clip" },
    { title: "Open the menu", keys: "M", group: "On a clip" },
    { title: "First clip", keys: "Mod+Home", group: "On a clip" },
    { title: "Last clip", keys: "Mod+End", group: "On a clip" },
  ];
  return [...searchCommands, ...addCommands, ...selectionCommands, ...cardCommands];
}
