/** The frame around the pages: top bar, main element, toasts. */

import { register } from "./commands";
import { h } from "./dom";
import { type IconName, icon } from "./icons";
import { openHelp, openPalette } from "./lazy_dialogs";
import { openMenu } from "./menu";
import { setThemeChoice, type ThemeChoice, themeChoice } from "./theme";
import { toastRegion } from "./toast";

export const shell = {
  /** The page's part of the bar; emptied when the page changes. */
  slot: h("div", { class: "bar-slot" }),
  main: h("main", { id: "main", tabindex: -1 }),
};

const THEMES: readonly [ThemeChoice, string, IconName][] = [
  ["system", "System", "screen"],
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
  const tools = h("div", { class: "bar-tools" }, barButton("command", "Search commands", openPalette, "wide-only"));
  tools.append(barButton("help", "Keyboard shortcuts", openHelp, "wide-only"), themeButton());
  document.body.append(
    h("a", { class: "skip-link", href: "#main", text: "Skip to content" }),
    h("header", { class: "bar" }, brand, shell.slot, tools),
    shell.main,
    toastRegion(),
  );
  register([
    {
      title: "Search commands",
      keys: "Mod+K",
      group: "General",
      run: openPalette,
      whileTyping: true,
      inPalette: false,
    },
    { title: "Show keyboard shortcuts", keys: "?", group: "General", run: openHelp },
    ...THEMES.map(([choice, title]) => ({
      title: `Theme: ${title.toLowerCase()}`,
      group: "General",
      run: () => setThemeChoice(choice),
    })),
  ]);
}

function barButton(name: IconName, title: string, run: () => void, classes = ""): HTMLElement {
  const allClasses = `button quiet icon-only ${classes}`;
  return h("button", { class: allClasses, type: "button", title, "aria-label": title, on: { click: run } }, icon(name));
}

function themeButton(): HTMLElement {
  const button = barButton("sun", "Theme", () => {
    const items = THEMES.map(([choice, title]) => ({
      title,
      checked: themeChoice.value === choice,
      run: () => setThemeChoice(choice),
    }));
    openMenu(button, "Theme", items);
  });
  button.setAttribute("aria-haspopup", "menu");
  button.setAttribute("aria-expanded", "false");
  themeChoice.watchNow((choice) => {
    button.replaceChildren(icon(THEMES.find(([each]) => each === choice)?.[2] ?? "screen"));
  });
  return button;
}
