/** All that the keyboard does on a clip's page. */

import type { Player } from "../player/player";
import type { Timeline } from "../timeline/timeline";
import type { Command } from "../ui/commands";
import { cameraCommands } from "./camera";
import type { Choosing } from "./choosing";
import { isOnButton } from "./controls";
import { findLike, findPart, findPose } from "./pins_panel";
import type { Playing } from "./playing";
import { SHOWN, SPEEDS } from "./recipe";
import type { ClipState } from "./state";

interface On {
  state: ClipState;
  playing: Playing;
  choosing: Choosing;
  player: Player | null;
  timeline: Timeline;
  facing: number;
  takeAway: () => void;
  compare: () => void;
}

const SHOWN_TITLES = { capture: "capture", keys: "keys", over: "both in one place", beside: "both side by side" };

export function commandsOf({ state, playing, choosing, player, timeline, facing, takeAway, compare }: On): Command[] {
  const step = (frames: number) => () => state.goTo(state.frame.value + frames);
  const toKey = (way: 1 | -1) => () => {
    const key = state.keyBeside(state.frame.value, way);
    if (key !== null) state.goTo(key);
  };
  const speed = (way: 1 | -1) => () => {
    const now = state.settings.speed ?? 1;
    const next = way > 0 ? SPEEDS.find((each) => each > now) : SPEEDS.findLast((each) => each < now);
    if (next) state.url.set({ speed: next === 1 ? null : next });
  };
  const mark = (end: 0 | 1) => () => {
    const range: [number, number] = [...(state.settings.range ?? [0, state.nFrames - 1])] as [number, number];
    range[end] = state.frame.value;
    state.url.set({ range: range[0] < range[1] ? range : [Math.min(...range), Math.max(...range)] });
  };
  const more = (keys: number) => () => choosing.choose(state.keys.value.length + keys);
  const cliff = (way: 1 | -1) => () => {
    const keys = state.rungs.value?.cliffBeside(state.keys.value.length, way);
    if (keys) choosing.choose(keys);
  };
  const hasRange = () => state.settings.range !== null;
  const play: Command[] = [
    { title: "Play or pause", keys: ["Space", "K"], run: () => playing.toggle(), enabled: () => !isOnButton() },
    { title: "One frame on", keys: ["ArrowRight", "."], run: step(1) },
    { title: "One frame back", keys: ["ArrowLeft", ","], run: step(-1) },
    { title: "Ten frames on", keys: ["Shift+ArrowRight", "PageUp"], run: step(10) },
    { title: "Ten frames back", keys: ["Shift+ArrowLeft", "PageDown"], run: step(-10) },
    { title: "Next key", keys: ["ArrowUp", "]"], run: toKey(1) },
    { title: "Key before", keys: ["ArrowDown", "["], run: toKey(-1) },
    { title: "First frame", keys: "Home", run: () => state.goTo(state.played[0]) },
    { title: "Last frame", keys: "End", run: () => state.goTo(state.played[1]) },
    { title: "Faster", keys: "Shift+ArrowUp", run: speed(1) },
    { title: "Slower", keys: "Shift+ArrowDown", run: speed(-1) },
    { title: "Loop on or off", keys: "L", run: () => state.url.set({ loop: !state.settings.loop }) },
  ];
  const range: Command[] = [
    { title: "Range starts here", keys: "I", run: mark(0) },
    { title: "Range ends here", keys: "O", run: mark(1) },
    { title: "Clear the range", keys: "X", run: () => state.url.set({ range: null, only: false }), enabled: hasRange },
    { title: "Mark a range by dragging", keys: "Shift+Drag" },
    { title: "Find this range elsewhere", keys: "F", run: () => findPart(state), enabled: hasRange },
    { title: "Find this pose elsewhere", run: () => findPose(state) },
    { title: "More clips like this", run: () => findLike(state) },
  ];
  const keys: Command[] = [
    { title: "One key more", keys: "+", run: more(1) },
    { title: "One key less", keys: "-", run: more(-1) },
    { title: "Next cliff: more keys", keys: "}", run: cliff(1) },
    { title: "Cliff before: fewer keys", keys: "{", run: cliff(-1) },
    {
      title: "As many keys as the curve says (auto)",
      keys: "A",
      run: () => state.url.set({ keys: null, tolerance: null }),
    },
    { title: "Pin or unpin this frame", keys: "P", run: () => state.togglePin(state.frame.value) },
    { title: "Clear all pins", run: () => state.url.set({ pins: null }), enabled: () => !!state.settings.pins?.length },
    ...state.opened.library.methods.map(({ name }) => ({
      title: `Method: ${name}`,
      run: () => state.url.set({ method: name }),
    })),
  ];
  const view: Command[] = [
    ...SHOWN.map((show, n) => ({
      title: `Show ${SHOWN_TITLES[show]}`,
      keys: String(n + 1),
      run: () => state.url.set({ show }),
    })),
    { title: "Ghosts on or off", keys: "G", run: () => state.url.set({ ghosts: state.settings.ghosts ? null : 2 }) },
    { title: "Keys only on or off", keys: "H", run: () => state.url.set({ hold: !state.settings.hold }) },
    { title: "Follow the figure on or off", keys: "C", run: () => state.url.set({ follow: !state.settings.follow }) },
    ...(player ? cameraCommands(player, facing) : []),
    { title: "Whole timeline", keys: "Shift+Z", run: () => timeline.rezoom((scale) => scale.fit()) },
    { title: "Timeline: nearer", run: () => timeline.rezoom((scale) => scale.zoom(0.6, scale.xOf(state.frame.value))) },
    {
      title: "Timeline: farther",
      run: () => timeline.rezoom((scale) => scale.zoom(1.6, scale.xOf(state.frame.value))),
    },
  ];
  const clip: Command[] = [
    { title: "Take away…", keys: "E", run: takeAway },
    { title: "Compare methods", run: compare },
    { title: "Panel: keys", run: () => state.url.set({ panel: "keys" }) },
    { title: "Panel: edit", run: () => state.url.set({ panel: "edit" }) },
  ];
  const grouped = (group: string, some: Command[]) => some.map((command) => ({ ...command, group }));
  return [
    ...grouped("Play", play), ...grouped("Range and search", range), ...grouped("Keys", keys),
    ...grouped("View", view), ...grouped("Clip", clip),
  ]; // biome-ignore format: one look
}
