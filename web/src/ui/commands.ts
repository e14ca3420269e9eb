/** The registry of commands: listed by "?", found by Ctrl-K, run by shortcuts. */

import { isTyping, matches } from "./keys";

export interface Command {
  title: string;
  /** One shortcut, or several. */
  keys?: string | readonly string[];
  /** The heading in the help. */
  group?: string;
  /** Without this the command is only listed: the focused control handles the keys. */
  run?: () => void;
  /** Whether it is available now. */
  enabled?: () => boolean;
  /** Also active while the user types in a field. */
  whileTyping?: boolean;
  /** false: not listed by Ctrl-K. */
  inPalette?: boolean;
}

const registrations: (readonly Command[])[] = [];

/** Adds commands. The returned function removes them. Of two with the same keys the later one runs. */
export function register(commands: readonly Command[]): () => void {
  registrations.push(commands);
  return () => {
    const at = registrations.indexOf(commands);
    if (at >= 0) registrations.splice(at, 1);
  };
}

export function allCommands(): Command[] {
  return registrations.flat();
}

/** All commands in display order: those of the page before the general ones. */
export function listedCommands(): Command[] {
  return [...registrations.slice(1), ...registrations.slice(0, 1)].flat();
}

export function commandKeys(command: Command): readonly string[] {
  return typeof command.keys === "string" ? [command.keys] : (command.keys ?? []);
}

/** Returns the command for a key press, if any. */
export function findCommand(event: KeyboardEvent, isInField: boolean): Command | undefined {
  return allCommands()
    .reverse()
    .find(
      (command) =>
        command.run &&
        (!isInField || command.whileTyping) &&
        commandKeys(command).some((keys) => matches(event, keys)) &&
        (command.enabled?.() ?? true),
    );
}

let nOpeningDialogs = 0;

/** Ignores shortcuts until a dialog has opened: the keys are meant for it. */
export async function ignoreKeysUntil(dialogOpened: Promise<void>): Promise<void> {
  nOpeningDialogs += 1;
  try {
    await dialogOpened;
  } finally {
    nOpeningDialogs -= 1;
  }
}

export function listenForKeys(): void {
  document.addEventListener("keydown", (event) => {
    const isBusy = nOpeningDialogs > 0 || document.querySelector("dialog:modal, .menu:popover-open");
    if (event.defaultPrevented || event.isComposing || isBusy) return;
    const command = findCommand(event, isTyping(event.target));
    if (!command?.run) return;
    event.preventDefault();
    command.run();
  });
}
