/** The "…" menu, which holds further actions on narrow screens. */

import { allCommands, commandKeys } from "../ui/commands";
import { openHelp, openPalette } from "../ui/lazy_dialogs";
import { type MenuItem, openMenu } from "../ui/menu";
import { button } from "./controls";

export function moreButton(items: () => (MenuItem | "line")[]): HTMLElement {
  const commonItems: MenuItem[] = [
    { title: "Search commands", icon: "command", run: openPalette },
    { title: "Keyboard shortcuts", icon: "help", run: openHelp },
  ];
  const more = button(
    "More",
    "dots",
    () => openMenu(more, "More", [...items(), ...commonItems]),
    "icon-only quiet more",
  );
  more.setAttribute("aria-haspopup", "menu");
  more.setAttribute("aria-expanded", "false");
  return more;
}

/** Returns the first shortcut of the command with this title. */
export function shortcutOf(title: string): { keys?: string } {
  const command = allCommands().find((each) => each.title === title);
  const keys = command && commandKeys(command)[0];
  return keys ? { keys } : {};
}
