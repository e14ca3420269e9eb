/** Everything that a page can do, by name: found by Ctrl-K, pressed by keys, listed by "?". */

import { isTyping, matches } from "./keys";

export interface Command {
  title: string;
  /** One way to press it, or several. */
  keys?: string | readonly string[];
  /** Under which heading the help lists it. */
  group?: string;
  /** Without this the command is only listed: the control that has the focus hears the keys. */
  run?: () => void;
  /** Whether it can be done now. */
  enabled?: () => boolean;
  /** Also while somebody is typing in a field. */
  whileTyping?: boolean;
  /** false: not found by Ctrl-K. */
  offered?: boolean;
}

const sets: (readonly Command[])[] = [];

/** Adds commands; what comes back takes them away. Of two with the same keys the later one is heard. */
export function register(commands: readonly Command[]): () => void {
  sets.push(commands);
  return () => {
    const at = sets.indexOf(commands);
    if (at >= 0) sets.splice(at, 1);
  };
}

export function allCommands(): Command[] {
  return sets.flat();
}

/** As people are shown them: what the page can do comes before what can be done everywhere. */
export function listedCommands(): Command[] {
  return [...sets.slice(1), ...sets.slice(0, 1)].flat();
}

export function keysOf(command: Command): readonly string[] {
  return typeof command.keys === "string" ? [command.keys] : (command.keys ?? []);
}

/** The command that hears these keys, if any. */
export function heard(event: KeyboardEvent, typing: boolean): Command | undefined {
  return allCommands()
    .reverse()
    .find(
      (command) =>
        command.run &&
        (!typing || command.whileTyping) &&
        keysOf(command).some((keys) => matches(event, keys)) &&
        (command.enabled?.() ?? true),
    );
}

let opening = 0;

/** Hears no keys until this is done: they are meant for what is about to open. */
export async function unheard(opened: Promise<void>): Promise<void> {
  opening += 1;
  try {
    await opened;
  } finally {
    opening -= 1;
  }
}

export function listenForKeys(): void {
  document.addEventListener("keydown", (event) => {
    const isBusy = opening > 0 || document.querySelector("dialog:modal, .menu:popover-open");
    if (event.defaultPrevented || event.isComposing || isBusy) return;
    const command = heard(event, isTyping(event.target));
    if (!command?.run) return;
    event.preventDefault();
    command.run();
  });
}
