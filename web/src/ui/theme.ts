/** Light and dark: as the system prefers, or as was chosen here. */

import { Signal } from "../state/signal";

export type ThemeChoice = "system" | "light" | "dark";
export type Theme = "light" | "dark";

const KEPT_AS = "keypose.theme";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

/** What was chosen. */
export const themeChoice = new Signal<ThemeChoice>("system");
/** What is shown; pictures made by the server are asked for in it. */
export const theme = new Signal<Theme>("light");

export function startTheme(): void {
  const kept = read();
  themeChoice.value = kept;
  themeChoice.show(apply);
  prefersDark.addEventListener("change", () => apply(themeChoice.value));
}

export function chooseTheme(choice: ThemeChoice): void {
  themeChoice.value = choice;
  try {
    localStorage.setItem(KEPT_AS, choice);
  } catch {
    // storage may be forbidden: then the choice lasts as long as the page
  }
}

/** The colour of a custom property as it is now, for canvases and 3D: cssColour("--left"). */
export function cssColour(name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  probe.hidden = true;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

function read(): ThemeChoice {
  try {
    const kept = localStorage.getItem(KEPT_AS);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system";
  }
}

function apply(choice: ThemeChoice): void {
  if (choice === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  theme.value = choice === "system" ? (prefersDark.matches ? "dark" : "light") : choice;
}
