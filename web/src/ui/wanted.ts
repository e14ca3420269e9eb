/** "?" and Ctrl-K, loaded when they are first wanted. */

import { ServerGone } from "../api/client";
import { unheard } from "./commands";
import { messageOf } from "./states";
import { toast } from "./toast";

export function openHelp(): void {
  void open(async () => (await import("./help")).openHelp());
}

export function openPalette(): void {
  void open(async () => (await import("./palette")).openPalette());
}

async function open(load: () => Promise<void>): Promise<void> {
  try {
    await unheard(load());
  } catch {
    toast(messageOf(new ServerGone()));
  }
}
