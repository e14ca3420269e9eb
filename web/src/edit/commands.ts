/** What the keyboard does in an edit. */

import type { ClipState } from "../clip/state";
import type { Command } from "../ui/commands";
import type { Hands } from "./hands";
import type { Session } from "./session";

interface On {
  state: ClipState;
  session: Session;
  hands: Hands;
  isOpen: () => boolean;
  begin: (kind: "keys" | "swings") => void;
}

export function editCommands({ state, session, hands, isOpen, begin }: On): Command[] {
  const isKeys = () => isOpen() && session.story.value?.start.kind === "keys";
  const atKey = () => isKeys() && hands.isAtKey;
  const isNone = () => !session.story.value;
  const frame = () => state.frame.value;
  const canUndo = () => isOpen() && !!session.story.value?.canUndo;
  const canRedo = () => isOpen() && !!session.story.value?.canRedo;
  const insert = () => session.do({ op: "insert_key", frame: frame() });
  const remove = () => session.do({ op: "delete_key", frame: frame() });
  const mirror = () => session.do({ op: "mirror", frame: frame() });
  const some: Command[] = [
    { title: "Undo", keys: "Mod+Z", run: () => session.undo(), enabled: canUndo },
    { title: "Redo", keys: ["Mod+Shift+Z", "Mod+Y"], run: () => session.redo(), enabled: canRedo },
    { title: "Add a key here", keys: "N", run: insert, enabled: () => isKeys() && !hands.isAtKey },
    { title: "Remove this key", keys: ["Delete", "Backspace"], run: remove, enabled: atKey },
    { title: "Mirror this pose", keys: "M", run: mirror, enabled: atKey },
    { title: "Edit these keys", run: () => begin("keys"), enabled: isNone },
    { title: "Edit swings", run: () => begin("swings"), enabled: isNone },
  ];
  return some.map((command) => ({ ...command, group: "Edit" }));
}
