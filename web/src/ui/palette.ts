/** The command palette (Ctrl-K): finds commands of the page by some of their letters. */

import { type Command, commandKeys, listedCommands } from "./commands";
import { openDialog } from "./dialog";
import { fill, h } from "./dom";
import { keyLabels } from "./keys";

/** Returns how badly a title matches the typed text: null for no match, lower is better. */
export function matchCost(query: string, title: string): number | null {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const text = title.toLowerCase();
  let total = 0;
  for (const word of words) {
    const at = text.indexOf(word);
    if (at >= 0) total += at === 0 || text[at - 1] === " " ? at / 100 : 1 + at / 100;
    else if (hasLettersInOrder(word, text)) total += 10;
    else return null;
  }
  return total;
}

function hasLettersInOrder(letters: string, text: string): boolean {
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
    placeholder: "Search commands",
    "aria-label": "Search commands",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    autofocus: true,
  });
  const { close } = openDialog({ title: "Commands", body: [field, list], bare: true, widthPx: 560 });
  let matches: Command[] = [];
  let active = 0;

  const run = (command: Command | undefined) => {
    if (!command) return;
    close();
    command.run?.();
  };
  const markActive = () => {
    [...list.children].forEach((option, index) => {
      if (option.role === "option") option.setAttribute("aria-selected", String(index === active));
    });
    list.children[active]?.scrollIntoView({ block: "nearest" });
    if (matches.length > 0) field.setAttribute("aria-activedescendant", `palette-${active}`);
    else field.removeAttribute("aria-activedescendant");
  };
  const show = () => {
    matches = findMatches(field.value);
    active = 0;
    const options = matches.map((command, index) =>
      h(
        "div",
        {
          role: "option",
          id: `palette-${index}`,
          on: { click: () => run(command), pointermove: () => setActive(index) },
        },
        h("span", { class: "grow", text: command.title }),
        h("span", { class: "group", text: command.group ?? "" }),
        ...commandKeys(command).slice(0, 1).map(keyLabels),
      ),
    );
    fill(list, ...options);
    if (matches.length === 0) fill(list, h("p", { class: "palette-empty", text: "No matching command." }));
    markActive();
  };
  const setActive = (index: number) => {
    if (active === index) return;
    active = index;
    markActive();
  };
  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && matches.length > 0) setActive((active + step + matches.length) % matches.length);
    else if (event.key === "Enter") run(matches[active]);
    else return;
    event.preventDefault();
  });
  show();
}

function findMatches(query: string): Command[] {
  return listedCommands()
    .filter((command) => command.run && command.inPalette !== false && (command.enabled?.() ?? true))
    .map((command) => ({ command, score: matchCost(query, `${command.title} ${command.group ?? ""}`) }))
    .filter((each): each is { command: Command; score: number } => each.score !== null)
    .sort((a, b) => a.score - b.score)
    .map(({ command }) => command);
}
