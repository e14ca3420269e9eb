/** The colour theme: chosen by the user, or that of the system. */

import { Signal } from "../state/signal";

export type ThemeChoice = "system" | "light" | "dark";
export type Theme = "light" | "dark";

const STORAGE_KEY = "keypose.theme";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

/** The user's choice. */
export const themeChoice = new Signal<ThemeChoice>("system");
/** The theme in effect; pictures are requested from the server in it. */
export const theme = new Signal<Theme>("light");

export function startTheme(): void {
  const storedChoice = readStoredChoice();
  themeChoice.value = storedChoice;
  themeChoice.watchNow(applyTheme);
  prefersDark.addEventListener("change", () => applyTheme(themeChoice.value));
}

export function setThemeChoice(choice: ThemeChoice): void {
  themeChoice.value = choice;
  try {
    localStorage.setItem(STORAGE_KEY, choice);
  } catch {
    // storage may be blocked: the choice then lasts until the page is closed
  }
}

/** Returns the current colour of a custom property, for canvases and 3D: cssColour("--left"). */
export function cssColour(name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  probe.hidden = true;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

function readStoredChoice(): ThemeChoice {
  try {
    const stored = localStorage.getItem(STORAGE_KEY);
    return stored === "light" || stored === "dark" ? stored : "system";
  } catch {
    return "system";
  }
}

function applyTheme(choice: ThemeChoice): void {
  if (choice === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  theme.value = choice === "system" ? (prefersDark.matches ? "dark" : "light") : choice;
}
