/** The commands of the edit panel. */

import type { ClipState } from "../clip/state";
import type { Command } from "../ui/commands";
import type { EditSession } from "./edit_session";
import type { PoseTool } from "./pose_tool";

interface EditCommandContext {
  state: ClipState;
  session: EditSession;
  poseTool: PoseTool;
  isOpen: () => boolean;
  startDraft: (kind: "keys" | "swings") => void;
}

export function editCommands({ state, session, poseTool, isOpen, startDraft }: EditCommandContext): Command[] {
  const isKeys = () => isOpen() && session.history.value?.start.kind === "keys";
  const isAtKey = () => isKeys() && poseTool.isAtKey;
  const hasNoDraft = () => !session.history.value;
  const frame = () => state.frame.value;
  const canUndo = () => isOpen() && !!session.history.value?.canUndo;
  const canRedo = () => isOpen() && !!session.history.value?.canRedo;
  const insert = () => session.applyStep({ op: "insert_key", frame: frame() });
  const remove = () => session.applyStep({ op: "delete_key", frame: frame() });
  const mirror = () => session.applyStep({ op: "mirror", frame: frame() });
  const commands: Command[] = [
    { title: "Undo", keys: "Mod+Z", run: () => session.undo(), enabled: canUndo },
    { title: "Redo", keys: ["Mod+Shift+Z", "Mod+Y"], run: () => session.redo(), enabled: canRedo },
    { title: "Add a key here", keys: "N", run: insert, enabled: () => isKeys() && !poseTool.isAtKey },
    { title: "Remove this key", keys: ["Delete", "Backspace"], run: remove, enabled: isAtKey },
    { title: "Mirror this pose", keys: "M", run: mirror, enabled: isAtKey },
    { title: "Edit these keys", run: () => startDraft("keys"), enabled: hasNoDraft },
    { title: "Edit swings", run: () => startDraft("swings"), enabled: hasNoDraft },
  ];
  return commands.map((command) => ({ ...command, group: "Edit" }));
}
