/** "…": on a narrow screen, what else can be done. */

import { allCommands, keysOf } from "../ui/commands";
import { type MenuItem, openMenu } from "../ui/menu";
import { openHelp, openPalette } from "../ui/wanted";
import { button } from "./controls";

export function moreButton(items: () => (MenuItem | "line")[]): HTMLElement {
  const everywhere: MenuItem[] = [
    { title: "Find a command", icon: "command", run: openPalette },
    { title: "Keys of this page", icon: "help", run: openHelp },
  ];
  const more = button(
    "More",
    "dots",
    () => openMenu(more, "More", [...items(), ...everywhere]),
    "icon-only quiet more",
  );
  more.setAttribute("aria-haspopup", "menu");
  more.setAttribute("aria-expanded", "false");
  return more;
}

/** How the command of that name is pressed. */
export function pressed(title: string): { keys?: string } {
  const command = allCommands().find((each) => each.title === title);
  const keys = command && keysOf(command)[0];
  return keys ? { keys } : {};
}
