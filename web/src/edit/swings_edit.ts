/** The panel of an edit of swings: one swing, or all swings of a part of the body. */

import { button, labelled, section, slider } from "../clip/controls";
import type { ClipState } from "../clip/state";
import type { Signal } from "../state/signal";
import type { Bar } from "../timeline/lanes";
import type { Stretch } from "../timeline/stretching";
import { fill, h } from "../ui/dom";
import { spoken } from "../ui/format";
import type { Session } from "./session";
import { stepOf } from "./steps";

/** Which swing is edited: that of the panel, and that which is taken hold of on the timeline. */
export type Chosen = Signal<Pick<Bar, "joint" | "index"> | null>;

export function swingsEdit(state: ClipState, session: Session, chosen: Chosen, stops: (() => void)[]): HTMLElement {
  return h("div", {}, oneSection(state, session, chosen, stops), allSection(state, session));
}

function oneSection(state: ClipState, session: Session, chosen: Chosen, stops: (() => void)[]): HTMLElement {
  const joint = h("select", { class: "field" });
  const swing = h("select", { class: "field" });
  const some = Math.max(1, Math.round(state.fps / 30));
  const bars = () => session.made.value?.bars ?? [];
  const now = () => bars().find((bar) => bar.joint === joint.value && bar.index === Number(swing.value));
  const doing = (title: string, change: Stretch | "delete", look = "") => {
    const press = button(
      title,
      null,
      () => {
        const bar = now();
        if (bar)
          session.do(change === "delete" ? { op: "delete", joint: bar.joint, index: bar.index } : stepOf(bar, change));
      },
      `small ${look}`,
    );
    return press;
  };
  const showSwings = (was = swing.value) => {
    const own = bars().filter((bar) => bar.joint === joint.value);
    fill(
      swing,
      ...own.map((bar) =>
        h("option", { value: bar.index, text: `${bar.start} to ${bar.end}: ${Math.round(bar.angle)}°` }),
      ),
    );
    if (own.some((bar) => String(bar.index) === was)) swing.value = was;
    const bar = now();
    if (bar?.joint !== chosen.value?.joint || bar?.index !== chosen.value?.index)
      chosen.value = bar ? { joint: bar.joint, index: bar.index } : null;
  };
  const show = () => {
    const names = new Set(bars().map((bar) => bar.joint));
    const was = joint.value;
    const groups = state.parts.map((part) => {
      const own = part.joints.filter((name) => names.has(name));
      return (
        own.length > 0 &&
        h("optgroup", { label: spoken(part.name) }, ...own.map((name) => h("option", { value: name, text: name })))
      );
    });
    fill(joint, ...groups);
    if (names.has(was)) joint.value = was;
    showSwings();
  };
  joint.addEventListener("change", () => showSwings());
  swing.addEventListener("change", () => {
    showSwings();
    const bar = now();
    if (bar) state.goTo(bar.start);
  });
  const follow = (bar: Chosen["value"]) => {
    if (!bar) return;
    joint.value = bar.joint;
    showSwings(String(bar.index));
  };
  stops.push(session.made.show(show), chosen.watch(follow));
  const rows = h(
    "div",
    { class: "row" },
    doing("Earlier", { op: "shift", frames: -some }),
    doing("Later", { op: "shift", frames: some }),
    doing("Longer", { op: "lengthen", frames: 2 * some, anchor: "middle" }),
    doing("Shorter", { op: "shorten", frames: 2 * some, anchor: "middle" }),
    doing("Stronger", { op: "scale", factor: 1.15 }),
    doing("Weaker", { op: "scale", factor: 0.85 }),
    doing("Remove", "delete", "danger"),
  );
  const note = h("p", {
    class: "note",
    text: "Drag a bar on the timeline: its middle moves it, its ends change its length, up and down its strength.",
  });
  return section("One swing", {}, note, labelled("Joint", joint), labelled("Swing", swing), rows);
}

function allSection(state: ClipState, session: Session): HTMLElement {
  const named = state.parts.filter((part) => part.name in state.facts.groups);
  const options = named.map((part) => h("option", { value: part.name, text: spoken(part.name) }));
  const select = h("select", { class: "field" }, ...options);
  let factor = 1.2;
  const strength = slider("Strength", {
    least: 0.2,
    most: 2,
    step: 0.05,
    says: (value) => `× ${value.toFixed(2)}`,
    input: (value) => {
      factor = value;
    },
  });
  strength.set(factor);
  const apply = button(
    "Apply to all its swings",
    null,
    () => session.do({ op: "intensify", joint: select.value, factor }),
    "small",
  );
  if (!named.length) return h("div");
  return section("All swings of a part", {}, labelled("Part of the body", select), strength.element, apply);
}
