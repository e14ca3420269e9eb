/** Pins (frames that must be keys) and the range. */

import { navigate } from "../router";
import { fill, h } from "../ui/dom";
import { duration } from "../ui/format";
import { icon } from "../ui/icons";
import { button, checkbox, section } from "./controls";
import { supportsPins } from "./settings";
import type { ClipState } from "./state";

export function pinsSection(state: ClipState, cleanups: (() => void)[]): HTMLElement {
  const chips = h("div", { class: "chips" });
  const note = h("p", { class: "note" });
  const pinButton = button("Pin this frame", "pin", () => state.togglePin(state.frame.value), "small");
  const clear = button("Clear", null, () => state.url.set({ pins: null }), "small quiet");
  const show = () => {
    const { pins, method } = state.settings;
    const isSupported = supportsPins(state.clip.library, method);
    fill(chips, ...(pins ?? []).map((pin) => pinChip(state, pin)));
    clear.hidden = !pins?.length;
    note.textContent = isSupported
      ? "Pinned frames are always keys. Click in the Pins row of the timeline, or Alt-click any frame."
      : `The method “${method}” does not support pins. The method “salient” does.`;
    pinButton.textContent = pins?.includes(state.frame.value) ? "Unpin this frame" : "Pin this frame";
    pinButton.prepend(icon("pin"));
  };
  cleanups.push(
    state.url.values.watchNow(show),
    state.frame.watch(() => !state.playing.value && show()),
  );
  return section("Pins", {}, note, chips, h("div", { class: "row" }, pinButton, clear));
}

function pinChip(state: ClipState, pin: number): HTMLElement {
  const goButton = h("button", { class: "chip-link", type: "button", text: String(pin), title: `Go to frame ${pin}` });
  goButton.addEventListener("click", () => state.goTo(pin));
  const unpinButton = button(`Unpin frame ${pin}`, "cross", () => state.togglePin(pin), "quiet icon-only tiny");
  return h("span", { class: "chip pinned" }, goButton, unpinButton);
}

/** The bar of the range: its ends as numbers, and its actions. */
export function rangeBar(state: ClipState, cleanups: (() => void)[]): HTMLElement {
  const start = h("input", {
    class: "field small",
    type: "number",
    min: 0,
    "aria-label": "First frame of the range",
  });
  const end = h("input", {
    class: "field small",
    type: "number",
    min: 0,
    "aria-label": "Last frame of the range",
  });
  const updateRange = () => {
    const [a, b] = [state.clamp(Number(start.value)), state.clamp(Number(end.value))];
    state.url.set({ range: a < b ? [a, b] : [b, a] });
  };
  start.addEventListener("change", updateRange);
  end.addEventListener("change", updateRange);
  const only = checkbox("Keys in this range only", (isOn) => state.url.set({ range_only: isOn }));
  const durationLabel = h("span", { class: "note" });
  const searchButton = button("Search for this range", "search", () => searchRange(state), "small primary");
  const clear = button(
    "Clear the range",
    "cross",
    () => state.url.set({ range: null, range_only: false }),
    "small quiet icon-only",
  );
  const bar = h(
    "div",
    { class: "range-bar", role: "group", "aria-label": "Range" },
    h("span", { class: "label", text: "Range" }),
    start,
    "–",
    end,
    durationLabel,
    only.element,
    searchButton,
    clear,
  );
  cleanups.push(
    state.length.watchNow((nFrames) => {
      start.max = end.max = String(nFrames - 1);
    }),
    state.url.values.watchNow(({ range, range_only: isOnly }) => {
      bar.hidden = !range;
      if (!range) return;
      start.value = String(range[0]);
      end.value = String(range[1]);
      only.set(isOnly);
      durationLabel.textContent = duration((range[1] - range[0]) / state.fps);
    }),
  );
  return bar;
}

/** Searches the library for the motion in the range. */
export function searchRange(state: ClipState): void {
  const { range } = state.settings;
  if (!range) return;
  state.url.flush();
  navigate(`/?span=${state.details.hash}:${range[0]}-${range[1]}`);
}

/** Searches the library for the pose of this frame. */
export function searchPose(state: ClipState): void {
  state.url.flush();
  navigate(`/?pose=${state.details.hash}:${state.frame.value}`);
}

/** Searches the library for clips like this one. */
export function searchSimilar(state: ClipState): void {
  state.url.flush();
  navigate(`/?clip=${state.details.hash}`);
}
