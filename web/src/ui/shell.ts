/** What stays while pages come and go: the bar at the top, the main element, toasts. */

import { register } from "./commands";
import { h } from "./dom";
import { type IconName, icon } from "./icons";
import { openMenu } from "./menu";
import { chooseTheme, type ThemeChoice, themeChoice } from "./theme";
import { toastRegion } from "./toast";
import { openHelp, openPalette } from "./wanted";

export const shell = {
  /** The page's part of the bar; emptied when the page changes. */
  slot: h("div", { class: "bar-slot" }),
  main: h("main", { id: "main", tabindex: -1 }),
};

const THEMES: readonly [ThemeChoice, string, IconName][] = [
  ["system", "As the system", "screen"],
  ["light", "Light", "sun"],
  ["dark", "Dark", "moon"],
];

export function buildShell(): void {
  const brand = h(
    "a",
    { class: "brand", href: "/", "aria-label": "Keypose: library" },
    h("img", { src: "/icon.svg", alt: "", width: 26, height: 26 }),
    h("span", { text: "Keypose" }),
  );
  const tools = h("div", { class: "bar-tools" }, tool("command", "Commands", openPalette, "wide-only"));
  tools.append(tool("help", "Keys of this page", openHelp, "wide-only"), themeButton());
  document.body.append(
    h("a", { class: "skip-link", href: "#main", text: "Skip to the content" }),
    h("header", { class: "bar" }, brand, shell.slot, tools),
    shell.main,
    toastRegion(),
  );
  register([
    {
      title: "Find a command",
      keys: "Mod+K",
      group: "Everywhere",
      run: openPalette,
      whileTyping: true,
      offered: false,
    },
    { title: "Show the keys of this page", keys: "?", group: "Everywhere", run: openHelp },
    ...THEMES.map(([choice, title]) => ({
      title: `Colours: ${title.toLowerCase()}`,
      group: "Everywhere",
      run: () => chooseTheme(choice),
    })),
  ]);
}

function tool(name: IconName, title: string, run: () => void, more = ""): HTMLElement {
  const look = `button quiet icon-only ${more}`;
  return h("button", { class: look, type: "button", title, "aria-label": title, on: { click: run } }, icon(name));
}

function themeButton(): HTMLElement {
  const button = tool("sun", "Colours", () => {
    const items = THEMES.map(([choice, title]) => ({
      title,
      checked: themeChoice.value === choice,
      run: () => chooseTheme(choice),
    }));
    openMenu(button, "Colours", items);
  });
  button.setAttribute("aria-haspopup", "menu");
  button.setAttribute("aria-expanded", "false");
  themeChoice.show((choice) => {
    button.replaceChildren(icon(THEMES.find(([each]) => each === choice)?.[2] ?? "screen"));
  });
  return button;
}
