/** Ctrl-K: any command of the page, found by some of its letters. */

import { type Command, keysOf, listedCommands } from "./commands";
import { openDialog } from "./dialog";
import { fill, h } from "./dom";
import { keySigns } from "./keys";

/** How well a command is meant by what was typed: null not at all, else the lower the better. */
export function distance(typed: string, title: string): number | null {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const text = title.toLowerCase();
  let total = 0;
  for (const word of words) {
    const at = text.indexOf(word);
    if (at >= 0) total += at === 0 || text[at - 1] === " " ? at / 100 : 1 + at / 100;
    else if (isScattered(word, text)) total += 10;
    else return null;
  }
  return total;
}

function isScattered(letters: string, text: string): boolean {
  let from = 0;
  for (const letter of letters) {
    from = text.indexOf(letter, from) + 1;
    if (from === 0) return false;
  }
  return true;
}

export function openPalette(): void {
  const list = h("div", { class: "palette-list", role: "listbox", id: "palette-list", "aria-label": "Commands" });
  const field = h("input", {
    class: "palette-field",
    role: "combobox",
    placeholder: "What would you like to do?",
    "aria-label": "Find a command",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    autofocus: true,
  });
  const { close } = openDialog({ title: "Commands", body: [field, list], bare: true, widthPx: 560 });
  let found: Command[] = [];
  let at = 0;

  const run = (command: Command | undefined) => {
    if (!command) return;
    close();
    command.run?.();
  };
  const mark = () => {
    [...list.children].forEach((option, index) => {
      if (option.role === "option") option.setAttribute("aria-selected", String(index === at));
    });
    list.children[at]?.scrollIntoView({ block: "nearest" });
    if (found.length > 0) field.setAttribute("aria-activedescendant", `palette-${at}`);
    else field.removeAttribute("aria-activedescendant");
  };
  const show = () => {
    found = matching(field.value);
    at = 0;
    const options = found.map((command, index) =>
      h(
        "div",
        { role: "option", id: `palette-${index}`, on: { click: () => run(command), pointermove: () => mark2(index) } },
        h("span", { class: "wide", text: command.title }),
        h("span", { class: "group", text: command.group ?? "" }),
        ...keysOf(command).slice(0, 1).map(keySigns),
      ),
    );
    fill(list, ...options);
    if (found.length === 0) fill(list, h("p", { class: "palette-none", text: "Nothing here is called that." }));
    mark();
  };
  const mark2 = (index: number) => {
    if (at === index) return;
    at = index;
    mark();
  };
  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) mark2((at + step + found.length) % found.length);
    else if (event.key === "Enter") run(found[at]);
    else return;
    event.preventDefault();
  });
  show();
}

function matching(typed: string): Command[] {
  return listedCommands()
    .filter((command) => command.run && command.offered !== false && (command.enabled?.() ?? true))
    .map((command) => ({ command, far: distance(typed, `${command.title} ${command.group ?? ""}`) }))
    .filter((each): each is { command: Command; far: number } => each.far !== null)
    .sort((a, b) => a.far - b.far)
    .map(({ command }) => command);
}
