/** The transport bar: play, step, loop, speed and the current frame. */

import { fill, h } from "../ui/dom";
import { timecode } from "../ui/format";
import { icon } from "../ui/icons";
import { button } from "./controls";
import type { Playback } from "./playback";
import { SPEEDS } from "./settings";
import type { ClipState } from "./state";

export function transport(state: ClipState, playback: Playback, cleanups: (() => void)[]): HTMLElement {
  const goToKey = (direction: 1 | -1) => {
    const key = state.adjacentKey(state.frame.value, direction);
    if (key !== null) state.goTo(key);
  };
  const play = button("Play", "play", () => playback.toggle(), "icon-only primary");
  const loop = button("Loop", "loop", () => state.url.set({ loop: !state.settings.loop }), "icon-only quiet");
  const speeds = SPEEDS.map((speed) => h("option", { value: speed, text: `${speed}×` }));
  const speed = h("select", { class: "field small", "aria-label": "Speed" }, ...speeds);
  speed.addEventListener("change", () =>
    state.url.set({ speed: Number(speed.value) === 1 ? null : Number(speed.value) }),
  );
  const frame = h("input", {
    class: "field small frame-field",
    type: "number",
    min: 0,
    "aria-label": "Frame",
  });
  frame.addEventListener("change", () => state.goTo(Number(frame.value)));
  const time = h("span", { class: "time" });
  const lastFrame = h("span", { class: "muted" });
  cleanups.push(
    state.length.watchNow((nFrames) => {
      frame.max = String(nFrames - 1);
      lastFrame.textContent = `/ ${nFrames - 1}`;
    }),
    state.frame.watchNow((value) => {
      if (document.activeElement !== frame || state.playing.value) frame.value = String(value);
      time.textContent = timecode(value / state.fps);
    }),
    state.playing.watchNow((isPlaying) => {
      fill(play, icon(isPlaying ? "pause" : "play"));
      play.title = isPlaying ? "Pause" : "Play";
      play.setAttribute("aria-label", play.title);
    }),
    state.url.values.watchNow((settings) => {
      loop.setAttribute("aria-pressed", String(settings.loop));
      const current = settings.speed ?? 1;
      if (!SPEEDS.some((each) => each === current) && !speed.querySelector(`[value="${current}"]`))
        speed.append(h("option", { value: current, text: `${current}×` }));
      speed.value = String(current);
    }),
  );
  return h(
    "div",
    { class: "transport", role: "toolbar", "aria-label": "Playback" },
    button("First frame", "first", () => state.goTo(state.playRange[0]), "icon-only quiet"),
    button("Previous key", "left", () => goToKey(-1), "icon-only quiet"),
    play,
    button("Next key", "right", () => goToKey(1), "icon-only quiet"),
    button("Last frame", "last", () => state.goTo(state.playRange[1]), "icon-only quiet"),
    loop,
    speed,
    h("span", { class: "position" }, frame, lastFrame, time),
  );
}
