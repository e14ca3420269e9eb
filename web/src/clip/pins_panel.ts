/** What must be among the keys (pins), and which stretch of the clip is meant (the range). */

import { navigate } from "../router";
import { fill, h } from "../ui/dom";
import { duration } from "../ui/format";
import { icon } from "../ui/icons";
import { button, check, section } from "./controls";
import { keepsPins } from "./recipe";
import type { ClipState } from "./state";

export function pinsSection(state: ClipState, stops: (() => void)[]): HTMLElement {
  const chips = h("div", { class: "chips" });
  const note = h("p", { class: "note" });
  const here = button("Pin this frame", "pin", () => state.togglePin(state.frame.value), "small");
  const clear = button("Clear", null, () => state.url.set({ pins: null }), "small quiet");
  const show = () => {
    const { pins, method } = state.settings;
    const isKept = keepsPins(state.opened.library, method);
    fill(chips, ...(pins ?? []).map((pin) => chip(state, pin)));
    clear.hidden = !pins?.length;
    note.textContent = isKept
      ? "Pinned frames are always keys. Press the pin lane of the timeline, or Alt and any frame."
      : `The method “${method}” chooses freely: pins wait until “salient” is chosen again.`;
    here.textContent = pins?.includes(state.frame.value) ? "Unpin this frame" : "Pin this frame";
    here.prepend(icon("pin"));
  };
  stops.push(
    state.url.values.show(show),
    state.frame.watch(() => !state.playing.value && show()),
  );
  return section("Pins", {}, note, chips, h("div", { class: "row" }, here, clear));
}

function chip(state: ClipState, pin: number): HTMLElement {
  const go = h("button", { class: "chip-go", type: "button", text: String(pin), title: `Go to frame ${pin}` });
  go.addEventListener("click", () => state.goTo(pin));
  const away = button(`Unpin frame ${pin}`, "cross", () => state.togglePin(pin), "quiet icon-only tiny");
  return h("span", { class: "chip pinned" }, go, away);
}

/** The range: ends in numbers, and what can be done with it. */
export function rangeBar(state: ClipState, stops: (() => void)[]): HTMLElement {
  const start = h("input", {
    class: "field small",
    type: "number",
    min: 0,
    max: state.nFrames - 1,
    "aria-label": "First frame of the range",
  });
  const end = h("input", {
    class: "field small",
    type: "number",
    min: 0,
    max: state.nFrames - 1,
    "aria-label": "Last frame of the range",
  });
  const told = () => {
    const [a, b] = [state.clamp(Number(start.value)), state.clamp(Number(end.value))];
    state.url.set({ range: a < b ? [a, b] : [b, a] });
  };
  start.addEventListener("change", told);
  end.addEventListener("change", told);
  const only = check("Keys in it only", (isOn) => state.url.set({ only: isOn }));
  const says = h("span", { class: "note" });
  const find = button("Find this elsewhere", "search", () => findPart(state), "small primary");
  const clear = button(
    "Clear the range",
    "cross",
    () => state.url.set({ range: null, only: false }),
    "small quiet icon-only",
  );
  const bar = h(
    "div",
    { class: "range-bar", role: "group", "aria-label": "Range" },
    h("span", { class: "label", text: "Range" }),
    start,
    "–",
    end,
    says,
    only.element,
    find,
    clear,
  );
  stops.push(
    state.url.values.show(({ range, only: isOnly }) => {
      bar.hidden = !range;
      if (!range) return;
      start.value = String(range[0]);
      end.value = String(range[1]);
      only.set(isOnly);
      says.textContent = duration((range[1] - range[0]) / state.fps);
    }),
  );
  return bar;
}

/** Searches the library for what happens in the range. */
export function findPart(state: ClipState): void {
  const { range } = state.settings;
  if (!range) return;
  state.url.flush();
  navigate(`/?part=${state.facts.hash}:${range[0]}-${range[1]}`);
}

/** Searches the library for the pose of this frame. */
export function findPose(state: ClipState): void {
  state.url.flush();
  navigate(`/?pose=${state.facts.hash}:${state.frame.value}`);
}

/** Searches the library for clips like this one. */
export function findLike(state: ClipState): void {
  state.url.flush();
  navigate(`/?like=${state.facts.hash}`);
}
