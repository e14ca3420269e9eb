/** The bar below the view: play, step, loop, speed, and where one is. */

import { fill, h } from "../ui/dom";
import { timecode } from "../ui/format";
import { icon } from "../ui/icons";
import { button } from "./controls";
import type { Playing } from "./playing";
import { SPEEDS } from "./recipe";
import type { ClipState } from "./state";

export function transport(state: ClipState, playing: Playing, stops: (() => void)[]): HTMLElement {
  const toKey = (way: 1 | -1) => {
    const key = state.keyBeside(state.frame.value, way);
    if (key !== null) state.goTo(key);
  };
  const play = button("Play", "play", () => playing.toggle(), "icon-only primary");
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
    max: state.nFrames - 1,
    "aria-label": "Frame",
  });
  frame.addEventListener("change", () => state.goTo(Number(frame.value)));
  const time = h("span", { class: "time" });
  stops.push(
    state.frame.show((value) => {
      if (document.activeElement !== frame || state.playing.value) frame.value = String(value);
      time.textContent = timecode(value / state.fps);
    }),
    state.playing.show((isPlaying) => {
      fill(play, icon(isPlaying ? "pause" : "play"));
      play.title = isPlaying ? "Pause" : "Play";
      play.setAttribute("aria-label", play.title);
    }),
    state.url.values.show((settings) => {
      loop.setAttribute("aria-pressed", String(settings.loop));
      const now = settings.speed ?? 1;
      if (!SPEEDS.some((each) => each === now) && !speed.querySelector(`[value="${now}"]`))
        speed.append(h("option", { value: now, text: `${now}×` }));
      speed.value = String(now);
    }),
  );
  return h(
    "div",
    { class: "transport", role: "toolbar", "aria-label": "Playback" },
    button("First frame", "first", () => state.goTo(state.played[0]), "icon-only quiet"),
    button("Key before", "left", () => toKey(-1), "icon-only quiet to-key"),
    play,
    button("Next key", "right", () => toKey(1), "icon-only quiet to-key"),
    button("Last frame", "last", () => state.goTo(state.played[1]), "icon-only quiet"),
    loop,
    speed,
    h("span", { class: "where" }, frame, h("span", { class: "muted", text: `/ ${state.nFrames - 1}` }), time),
  );
}
