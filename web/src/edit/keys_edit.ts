/** The panel of an edit of keys: joints, hands and feet, keys in time. Everything that the view does by dragging. */

import { button, check, labelled, section, segmented, slider } from "../clip/controls";
import type { ClipState } from "../clip/state";
import { nearest } from "../timeline/hits";
import { fill, h } from "../ui/dom";
import { spoken } from "../ui/format";
import { toast } from "../ui/toast";
import type { Hands } from "./hands";
import { legend } from "./legend";
import type { Session } from "./session";
import type { KeyStep } from "./steps";

const TURN_DEG = 5;
const PULL_M = 0.02;
const AXES = { bone: ["Twist", "Swing", "Bend"], world: ["X", "Y", "Z"] } as const;

export interface KeysEdit {
  element: HTMLElement;
  copied: { frame: number | null };
}

export function keysEdit(state: ClipState, session: Session, hands: Hands, stops: (() => void)[]): HTMLElement {
  return h(
    "div",
    {},
    whereSection(state, session, stops),
    jointSection(state, hands, stops),
    pullSection(state, hands, stops),
    keySection(state, session, stops),
    howSection(session, hands, stops),
  );
}

/** Where one is: at a key, or between two. */
function whereSection(state: ClipState, session: Session, stops: (() => void)[]): HTMLElement {
  const here = h("div", { class: "at-frame" });
  const show = () => {
    if (state.playing.value) return;
    const [keys, frame] = [state.keys.value, state.frame.value];
    const at = keys.indexOf(frame);
    if (at >= 0)
      return fill(here, h("p", { class: "at-key", text: `Key ${at + 1} of ${keys.length}, frame ${frame}` }));
    const near = nearest(keys, frame);
    const go = button(`Go to key ${near}`, "key", () => near !== null && state.goTo(near), "small");
    const add = button("Add a key here", "plus", () => session.do({ op: "insert_key", frame }), "small");
    fill(
      here,
      h("p", { class: "note", text: `Frame ${frame} is between keys. Poses are edited at keys.` }),
      h("div", { class: "row" }, go, add),
    );
  };
  stops.push(state.frame.show(show), state.keys.watch(show), state.playing.watch(show));
  return section("Pose", {}, here);
}

function jointSection(state: ClipState, hands: Hands, stops: (() => void)[]): HTMLElement {
  const groups = state.parts.map(({ name, joints }) =>
    h(
      "optgroup",
      { label: spoken(name) },
      ...joints.map((joint) => h("option", { value: state.names.indexOf(joint), text: joint })),
    ),
  );
  const select = h(
    "select",
    { class: "field" },
    h("option", { value: "", text: "Press a joint in the view" }),
    ...groups,
  );
  select.addEventListener("change", () => {
    hands.selected.value = select.value === "" ? null : Number(select.value);
  });
  const about = segmented(
    "Axes",
    [
      ["bone", "Along the bone"],
      ["world", "World"],
    ] as const,
    (axes) => {
      hands.axes.value = axes;
    },
  );
  const turns = h("div", { class: "turns" });
  const show = () => {
    about.set(hands.axes.value);
    select.value = hands.selected.value === null ? "" : String(hands.selected.value);
    const isOff = hands.selected.value === null;
    const rows = AXES[hands.axes.value].map((name, k) => {
      const turn = (degrees: number) => {
        const sign = degrees > 0 ? "+" : "−";
        const press = button(
          `${sign}${Math.abs(degrees)}°`,
          null,
          () => turned(hands, k as 0 | 1 | 2, degrees),
          "small",
        );
        press.setAttribute("aria-label", `${name} ${sign}${Math.abs(degrees)} degrees`);
        press.disabled = isOff;
        return press;
      };
      return h("div", { class: `turn axis-${k}` }, h("span", { text: name }), turn(-TURN_DEG), turn(TURN_DEG));
    });
    const focused = turns.contains(document.activeElement) ? document.activeElement?.getAttribute("aria-label") : null;
    fill(turns, ...rows);
    if (focused) turns.querySelector<HTMLElement>(`[aria-label="${focused}"]`)?.focus();
  };
  stops.push(hands.selected.show(show), hands.axes.watch(show));
  return section("Turn a joint", {}, labelled("Joint", select), about.element, turns);
}

function turned(hands: Hands, axis: 0 | 1 | 2, degrees: number): void {
  if (hands.isAtKey) hands.turnBy(axis, degrees);
  else toast("Poses are edited at keys: go to a key first, or add one here.");
}

function pullSection(state: ClipState, hands: Hands, stops: (() => void)[]): HTMLElement {
  const { pulled } = hands;
  const options = pulled.map(({ joint, kind }) =>
    h("option", {
      value: joint,
      text: kind === "hips" ? "hips (whole figure)" : spoken(state.facts.joints[joint]?.part ?? state.names[joint]!),
    }),
  );
  const select = h("select", { class: "field" }, ...options);
  stops.push(
    hands.selected.show((joint) => {
      const end = joint === null ? null : hands.pulledWith(joint);
      if (end !== null) select.value = String(end);
    }),
  );
  const pull = (title: string, by: readonly [number, number, number]) => {
    const press = button(
      title,
      null,
      () => {
        const grip = pulled.find(({ joint }) => joint === Number(select.value));
        if (!grip) return;
        if (hands.isAtKey) hands.pullBy(grip.joint, grip.kind, by);
        else toast("Poses are edited at keys: go to a key first, or add one here.");
      },
      "small",
    );
    press.setAttribute("aria-label", `${title} by ${100 * PULL_M} centimetres`);
    return press;
  };
  const ways = h(
    "div",
    { class: "ways" },
    pull("Up", [0, PULL_M, 0]),
    pull("Down", [0, -PULL_M, 0]),
    pull("+X", [PULL_M, 0, 0]),
    pull("−X", [-PULL_M, 0, 0]),
    pull("+Z", [0, 0, PULL_M]),
    pull("−Z", [0, 0, -PULL_M]),
  );
  return section("Pull hands, feet, hips", {}, labelled("Drag its ball in the view, or", select), ways);
}

function keySection(state: ClipState, session: Session, stops: (() => void)[]): HTMLElement {
  let copied: number | null = null;
  let ripples = false;
  const at = () => state.frame.value;
  const doing = (step: KeyStep) => () => session.do(step);
  const move = (by: number) => () => {
    const [from, to] = [at(), at() + by];
    session.do({ op: "move_key", frame: from, to, ripple: ripples });
    state.goTo(to);
  };
  const paste = button(
    "Paste pose",
    null,
    () => copied !== null && session.do({ op: "paste", frame: at(), from_frame: copied }),
    "small",
  );
  const copy = button(
    "Copy pose",
    null,
    () => {
      copied = at();
      show();
    },
    "small",
  );
  const earlier = button("One frame earlier", "left", move(-1), "small");
  const later = button("One frame later", "right", move(1), "small");
  const mirror = button("Mirror pose", "mirror", () => doing({ op: "mirror", frame: at() })(), "small");
  const remove = button("Remove key", "trash", () => doing({ op: "delete_key", frame: at() })(), "small danger");
  const ripple = check("Everything behind moves too", (isOn) => {
    ripples = isOn;
  });
  const show = () => {
    if (state.playing.value) return;
    const isKey = state.keys.value.includes(at());
    for (const each of [earlier, later, mirror, remove]) each.disabled = !isKey;
    paste.disabled = !isKey || copied === null;
    paste.textContent = copied === null ? "Paste pose" : `Paste pose of ${copied}`;
  };
  stops.push(state.frame.show(show), state.keys.watch(show), state.playing.watch(show));
  const note = h("p", { class: "note", text: "Drag its mark on the timeline, or:" });
  return section(
    "This key",
    {},
    legend(),
    note,
    h("div", { class: "row" }, earlier, later, mirror, copy, paste, remove),
    ripple.element,
  );
}

function howSection(session: Session, hands: Hands, stops: (() => void)[]): HTMLElement {
  const spread = slider("Spread over keys nearby", {
    least: 0,
    most: 2,
    step: 0.05,
    says: (seconds) => (seconds ? `${seconds.toFixed(2)} s` : "this key alone"),
    input: (seconds) => {
      hands.options.value = { ...hands.options.value, spread_s: seconds };
    },
  });
  const feet = check("Keep feet where they stand", (isOn) => {
    hands.options.value = { ...hands.options.value, keep_feet: isOn };
  });
  const residual = slider("Detail of the capture", {
    least: 0,
    most: 100,
    step: 1,
    says: (percent) => `${percent} %`,
    input: (percent) => session.setResidual(percent / 100),
  });
  stops.push(
    hands.options.show(({ spread_s, keep_feet }) => {
      spread.set(spread_s);
      feet.set(keep_feet);
    }),
    session.story.show((story) => residual.set(Math.round(100 * (story?.now.residual ?? 0)))),
  );
  return section("How", {}, spread.element, feet.element, residual.element);
}
