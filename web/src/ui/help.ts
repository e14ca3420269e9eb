/** "?": the keys of the page. */

import { keysOf, listedCommands } from "./commands";
import { openDialog } from "./dialog";
import { h } from "./dom";
import { keySigns } from "./keys";

export function openHelp(): void {
  const groups = new Map<string, HTMLElement[]>();
  for (const command of listedCommands()) {
    const keys = keysOf(command);
    if (keys.length === 0) continue;
    const between = keys.length > 2 ? " " : " or ";
    const signs = keys.flatMap((each, index) => (index === 0 ? [keySigns(each)] : [between, keySigns(each)]));
    const row = h("li", {}, h("span", { text: command.title }), h("span", {}, ...signs));
    const group = command.group ?? "This page";
    groups.set(group, [...(groups.get(group) ?? []), row]);
  }
  const sections = [...groups].map(([title, rows]) => h("section", {}, h("h3", { text: title }), h("ul", {}, ...rows)));
  openDialog({ title: "Keys of this page", body: [h("div", { class: "help-groups" }, ...sections)], widthPx: 760 });
}
