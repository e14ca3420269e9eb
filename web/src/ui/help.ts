/** The dialog that lists the shortcuts of the page. */

import { commandKeys, listedCommands } from "./commands";
import { openDialog } from "./dialog";
import { h } from "./dom";
import { keyLabels } from "./keys";

export function openHelp(): void {
  const groups = new Map<string, HTMLElement[]>();
  for (const command of listedCommands()) {
    const keys = commandKeys(command);
    if (keys.length === 0) continue;
    const separator = keys.length > 2 ? " " : " or ";
    const labels = keys.flatMap((each, index) => (index === 0 ? [keyLabels(each)] : [separator, keyLabels(each)]));
    const row = h("li", {}, h("span", { text: command.title }), h("span", {}, ...labels));
    const group = command.group ?? "This page";
    groups.set(group, [...(groups.get(group) ?? []), row]);
  }
  const sections = [...groups].map(([title, rows]) => h("section", {}, h("h3", { text: title }), h("ul", {}, ...rows)));
  openDialog({ title: "Keyboard shortcuts", body: [h("div", { class: "help-groups" }, ...sections)], widthPx: 760 });
}
