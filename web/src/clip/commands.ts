/** The commands of the clip page. */

import type { Player } from "../player/player";
import type { Timeline } from "../timeline/timeline";
import type { Command } from "../ui/commands";
import { cameraCommands } from "./camera";
import { isButtonFocused } from "./controls";
import { openJointCurves } from "./joint_keys_panel";
import { searchPose, searchRange, searchSimilar } from "./pins_panel";
import type { Playback } from "./playback";
import type { SelectionController } from "./selection_controller";
import { SPEEDS, VIEW_MODES } from "./settings";
import type { ClipState } from "./state";

interface CommandContext {
  state: ClipState;
  playback: Playback;
  selection: SelectionController;
  player: Player | null;
  timeline: Timeline;
  facingDeg: number;
  openExport: () => void;
  compare: () => void;
}

const VIEW_MODE_TITLES = {
  capture: "capture",
  keys: "keys",
  overlay: "overlay",
  side_by_side: "side by side",
};

export function buildCommands({
  state,
  playback,
  selection,
  player,
  timeline,
  facingDeg,
  openExport,
  compare,
}: CommandContext): Command[] {
  const step = (frames: number) => () => state.goTo(state.frame.value + frames);
  const goToKey = (direction: 1 | -1) => () => {
    const key = state.adjacentKey(state.frame.value, direction);
    if (key !== null) state.goTo(key);
  };
  const speed = (direction: 1 | -1) => () => {
    const now = state.settings.speed ?? 1;
    const next = direction > 0 ? SPEEDS.find((each) => each > now) : SPEEDS.findLast((each) => each < now);
    if (next) state.url.set({ speed: next === 1 ? null : next });
  };
  const mark = (end: 0 | 1) => () => {
    const range: [number, number] = [...(state.settings.range ?? [0, state.nFrames - 1])] as [number, number];
    range[end] = state.frame.value;
    state.url.set({ range: range[0] < range[1] ? range : [Math.min(...range), Math.max(...range)] });
  };
  const addKeys = (keys: number) => () => selection.setKeyCount(state.keys.value.length + keys);
  const cliff = (direction: 1 | -1) => () => {
    const keys = state.ladder.value?.nextCliff(state.keys.value.length, direction);
    if (keys) selection.setKeyCount(keys);
  };
  const hasRange = () => state.settings.range !== null;
  const play: Command[] = [
    { title: "Play or pause", keys: ["Space", "K"], run: () => playback.toggle(), enabled: () => !isButtonFocused() },
    { title: "Next frame", keys: ["ArrowRight", "."], run: step(1) },
    { title: "Previous frame", keys: ["ArrowLeft", ","], run: step(-1) },
    { title: "Forward ten frames", keys: ["Shift+ArrowRight", "PageUp"], run: step(10) },
    { title: "Back ten frames", keys: ["Shift+ArrowLeft", "PageDown"], run: step(-10) },
    { title: "Next key", keys: ["ArrowUp", "]"], run: goToKey(1) },
    { title: "Previous key", keys: ["ArrowDown", "["], run: goToKey(-1) },
    { title: "First frame", keys: "Home", run: () => state.goTo(state.playRange[0]) },
    { title: "Last frame", keys: "End", run: () => state.goTo(state.playRange[1]) },
    { title: "Faster", keys: "Shift+ArrowUp", run: speed(1) },
    { title: "Slower", keys: "Shift+ArrowDown", run: speed(-1) },
    { title: "Toggle loop", keys: "L", run: () => state.url.set({ loop: !state.settings.loop }) },
  ];
  const range: Command[] = [
    { title: "Set the start of the range", keys: "I", run: mark(0) },
    { title: "Set the end of the range", keys: "O", run: mark(1) },
    {
      title: "Clear the range",
      keys: "X",
      run: () => state.url.set({ range: null, range_only: false }),
      enabled: hasRange,
    },
    { title: "Mark a range by dragging", keys: "Shift+Drag" },
    { title: "Search for this range", keys: "F", run: () => searchRange(state), enabled: hasRange },
    { title: "Search for this pose", run: () => searchPose(state) },
    { title: "Search for similar clips", run: () => searchSimilar(state) },
  ];
  const keys: Command[] = [
    { title: "One more key", keys: "+", run: addKeys(1) },
    { title: "One fewer key", keys: "-", run: addKeys(-1) },
    { title: "Next recommended number of keys", keys: "}", run: cliff(1) },
    { title: "Previous recommended number of keys", keys: "{", run: cliff(-1) },
    {
      title: "Automatic number of keys",
      keys: "A",
      run: () => state.url.set({ keys: null, tolerance: null }),
    },
    { title: "Pin or unpin this frame", keys: "P", run: () => state.togglePin(state.frame.value) },
    { title: "Clear all pins", run: () => state.url.set({ pins: null }), enabled: () => !!state.settings.pins?.length },
    ...state.clip.library.methods.map(({ name }) => ({
      title: `Method: ${name}`,
      run: () => state.url.set({ method: name, options: [] }),
    })),
    { title: "Keys of whole poses", run: () => state.url.set({ per: "pose" }) },
    { title: "Keys of each joint", run: () => state.url.set({ per: "joint" }) },
    {
      title: "Curves of joints…",
      run: () => void openJointCurves(state, selection),
      enabled: () => state.keys.value.length > 0,
    },
  ];
  const view: Command[] = [
    ...VIEW_MODES.map((mode, n) => ({
      title: `View mode: ${VIEW_MODE_TITLES[mode]}`,
      keys: String(n + 1),
      run: () => state.url.set({ view_mode: mode }),
    })),
    { title: "Toggle ghosts", keys: "G", run: () => state.url.set({ ghosts: state.settings.ghosts ? null : 2 }) },
    { title: "Toggle stepped playback", keys: "H", run: () => state.url.set({ stepped: !state.settings.stepped }) },
    {
      title: "Toggle follow camera",
      keys: "C",
      run: () => state.url.set({ follow: !state.settings.follow }),
    },
    ...(player ? cameraCommands(player, facingDeg) : []),
    { title: "Timeline: show all frames", keys: "Shift+Z", run: () => timeline.changeScale((scale) => scale.fit()) },
    {
      title: "Timeline: zoom in",
      run: () => timeline.changeScale((scale) => scale.zoom(0.6, scale.xOf(state.frame.value))),
    },
    {
      title: "Timeline: zoom out",
      run: () => timeline.changeScale((scale) => scale.zoom(1.6, scale.xOf(state.frame.value))),
    },
  ];
  const clip: Command[] = [
    { title: "Export…", keys: "E", run: openExport },
    { title: "Compare methods", run: compare },
    { title: "Panel: keys", run: () => state.url.set({ panel: "keys" }) },
    { title: "Panel: swings", run: () => state.url.set({ panel: "swings" }) },
    { title: "Panel: edit", run: () => state.url.set({ panel: "edit" }) },
    { title: "Panel: info", run: () => state.url.set({ panel: "info" }) },
  ];
  const withGroup = (group: string, commands: Command[]) => commands.map((command) => ({ ...command, group }));
  return [
    ...withGroup("Playback", play), ...withGroup("Range and search", range), ...withGroup("Keys", keys),
    ...withGroup("View", view), ...withGroup("Clip", clip),
  ]; // biome-ignore format: one look
}
