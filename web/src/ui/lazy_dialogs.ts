/** Help and command palette, loaded on first use. */

import { ServerUnreachable } from "../api/client";
import { ignoreKeysUntil } from "./commands";
import { errorMessage } from "./states";
import { toast } from "./toast";

export function openHelp(): void {
  void openLazily(async () => (await import("./help")).openHelp());
}

export function openPalette(): void {
  void openLazily(async () => (await import("./palette")).openPalette());
}

async function openLazily(load: () => Promise<void>): Promise<void> {
  try {
    await ignoreKeysUntil(load());
  } catch {
    toast(errorMessage(new ServerUnreachable()));
  }
}
