/** The panel for editing keys: joints, IK handles, timing. It offers everything that dragging in the view does. */

import { button, checkbox, detailSlider, fieldWithLabel, section, segmentedControl, slider } from "../clip/controls";
import type { ClipState } from "../clip/state";
import { nearest } from "../timeline/hit_test";
import { fill, h } from "../ui/dom";
import { toLabel } from "../ui/format";
import { toast } from "../ui/toast";
import type { EditSession } from "./edit_session";
import { keyLegend } from "./key_legend";
import type { PoseTool } from "./pose_tool";
import type { KeyStep } from "./steps";

const ROTATE_STEP_DEG = 5;
const MOVE_STEP_M = 0.02;
const AXES = { bone: ["Twist", "Tilt", "Bend"], world: ["X", "Y", "Z"] } as const;

export function keysEditor(
  state: ClipState,
  session: EditSession,
  poseTool: PoseTool,
  cleanups: (() => void)[],
): HTMLElement {
  return h(
    "div",
    {},
    poseSection(state, session, cleanups),
    jointSection(state, poseTool, cleanups),
    ikSection(state, poseTool, cleanups),
    keySection(state, session, cleanups),
    optionsSection(session, poseTool, cleanups),
  );
}

/** Shows whether the current frame is a key. */
function poseSection(state: ClipState, session: EditSession, cleanups: (() => void)[]): HTMLElement {
  const position = h("div");
  const show = () => {
    if (state.playing.value) return;
    const [keys, frame] = [state.keys.value, state.frame.value];
    const at = keys.indexOf(frame);
    if (at >= 0)
      return fill(position, h("p", { class: "key-position", text: `Key ${at + 1} of ${keys.length}, frame ${frame}` }));
    const nearestKey = nearest(keys, frame);
    const go = button(
      `Go to the key at frame ${nearestKey}`,
      "key",
      () => nearestKey !== null && state.goTo(nearestKey),
      "small",
    );
    const add = button("Add a key here", "plus", () => session.applyStep({ op: "insert_key", frame }), "small");
    fill(
      position,
      h("p", { class: "note", text: `Frame ${frame} is not a key. Poses can be edited only at keys.` }),
      h("div", { class: "row" }, go, add),
    );
  };
  cleanups.push(state.frame.watchNow(show), state.keys.watch(show), state.playing.watch(show));
  return section("Pose", {}, position);
}

function jointSection(state: ClipState, poseTool: PoseTool, cleanups: (() => void)[]): HTMLElement {
  const groups = state.bodyParts.map(({ name, joints }) =>
    h(
      "optgroup",
      { label: toLabel(name) },
      ...joints.map((joint) => h("option", { value: state.jointNames.indexOf(joint), text: joint })),
    ),
  );
  const select = h(
    "select",
    { class: "field" },
    h("option", { value: "", text: "Click a joint in the view" }),
    ...groups,
  );
  select.addEventListener("change", () => {
    poseTool.selected.value = select.value === "" ? null : Number(select.value);
  });
  const axesControl = segmentedControl(
    "Axes",
    [
      ["bone", "Bone"],
      ["world", "World"],
    ] as const,
    (axes) => {
      poseTool.axes.value = axes;
    },
  );
  const rotateButtons = h("div", { class: "rotate-buttons" });
  const show = () => {
    axesControl.set(poseTool.axes.value);
    select.value = poseTool.selected.value === null ? "" : String(poseTool.selected.value);
    const isDisabled = poseTool.selected.value === null;
    const rows = AXES[poseTool.axes.value].map((name, k) => {
      const rotateButton = (degrees: number) => {
        const sign = degrees > 0 ? "+" : "−";
        const element = button(
          `${sign}${Math.abs(degrees)}°`,
          null,
          () => rotateOrToast(poseTool, k as 0 | 1 | 2, degrees),
          "small",
        );
        element.setAttribute("aria-label", `${name} ${sign}${Math.abs(degrees)} degrees`);
        element.disabled = isDisabled;
        return element;
      };
      return h(
        "div",
        { class: `rotate-row axis-${k}` },
        h("span", { text: name }),
        rotateButton(-ROTATE_STEP_DEG),
        rotateButton(ROTATE_STEP_DEG),
      );
    });
    const focused = rotateButtons.contains(document.activeElement)
      ? document.activeElement?.getAttribute("aria-label")
      : null;
    fill(rotateButtons, ...rows);
    if (focused) rotateButtons.querySelector<HTMLElement>(`[aria-label="${focused}"]`)?.focus();
  };
  cleanups.push(poseTool.selected.watchNow(show), poseTool.axes.watch(show));
  return section("Rotate a joint", {}, fieldWithLabel("Joint", select), axesControl.element, rotateButtons);
}

function rotateOrToast(poseTool: PoseTool, axis: 0 | 1 | 2, degrees: number): void {
  if (poseTool.isAtKey) poseTool.rotateBy(axis, degrees);
  else toast("Poses can be edited only at keys. Go to a key first, or add one here.");
}

function ikSection(state: ClipState, poseTool: PoseTool, cleanups: (() => void)[]): HTMLElement {
  const { ikHandles } = poseTool;
  const options = ikHandles.map(({ joint, kind }) =>
    h("option", {
      value: joint,
      text:
        kind === "hips"
          ? "Hips (whole body)"
          : toLabel(state.details.joints[joint]?.body_part ?? state.jointNames[joint]!),
    }),
  );
  const select = h("select", { class: "field" }, ...options);
  cleanups.push(
    poseTool.selected.watchNow((joint) => {
      const end = joint === null ? null : poseTool.findIkHandle(joint);
      if (end !== null) select.value = String(end);
    }),
  );
  const moveButton = (title: string, by: readonly [number, number, number]) => {
    const element = button(
      title,
      null,
      () => {
        const handle = ikHandles.find(({ joint }) => joint === Number(select.value));
        if (!handle) return;
        if (poseTool.isAtKey) poseTool.moveBy(handle.joint, handle.kind, by);
        else toast("Poses can be edited only at keys. Go to a key first, or add one here.");
      },
      "small",
    );
    element.setAttribute("aria-label", `${title} by ${100 * MOVE_STEP_M} centimetres`);
    return element;
  };
  const moveButtons = h(
    "div",
    { class: "move-buttons" },
    moveButton("Up", [0, MOVE_STEP_M, 0]),
    moveButton("Down", [0, -MOVE_STEP_M, 0]),
    moveButton("+X", [MOVE_STEP_M, 0, 0]),
    moveButton("−X", [-MOVE_STEP_M, 0, 0]),
    moveButton("+Z", [0, 0, MOVE_STEP_M]),
    moveButton("−Z", [0, 0, -MOVE_STEP_M]),
  );
  return section(
    "IK handles",
    {},
    h("p", { class: "note", text: `Drag a handle in the view, or move it in steps of ${100 * MOVE_STEP_M}\u00a0cm.` }),
    fieldWithLabel("Handle", select),
    moveButtons,
  );
}

function keySection(state: ClipState, session: EditSession, cleanups: (() => void)[]): HTMLElement {
  let copiedFrame: number | null = null;
  let isRipple = false;
  const at = () => state.frame.value;
  const applyStep = (step: KeyStep) => () => session.applyStep(step);
  const move = (by: number) => () => {
    const [from, to] = [at(), at() + by];
    session.applyStep({ op: "move_key", frame: from, to, ripple: isRipple });
    state.goTo(to);
  };
  const paste = button(
    "Paste pose",
    null,
    () => copiedFrame !== null && session.applyStep({ op: "paste", frame: at(), from_frame: copiedFrame }),
    "small",
  );
  const copy = button(
    "Copy pose",
    null,
    () => {
      copiedFrame = at();
      show();
    },
    "small",
  );
  const earlier = button("One frame earlier", "left", move(-1), "small");
  const later = button("One frame later", "right", move(1), "small");
  const mirror = button("Mirror pose", "mirror", () => applyStep({ op: "mirror", frame: at() })(), "small");
  const remove = button("Remove key", "trash", () => applyStep({ op: "delete_key", frame: at() })(), "small danger");
  const ripple = checkbox("Move all later keys too", (isOn) => {
    isRipple = isOn;
  });
  const show = () => {
    if (state.playing.value) return;
    const isKey = state.keys.value.includes(at());
    for (const each of [earlier, later, mirror, remove]) each.disabled = !isKey;
    paste.disabled = !isKey || copiedFrame === null;
    paste.textContent = copiedFrame === null ? "Paste pose" : `Paste pose from frame ${copiedFrame}`;
  };
  cleanups.push(state.frame.watchNow(show), state.keys.watch(show), state.playing.watch(show));
  const note = h("p", { class: "note", text: "Drag the key on the timeline, or:" });
  return section(
    "This key",
    {},
    keyLegend(),
    note,
    h("div", { class: "row" }, earlier, later, mirror, copy, paste, remove),
    ripple.element,
  );
}

function optionsSection(session: EditSession, poseTool: PoseTool, cleanups: (() => void)[]): HTMLElement {
  const spread = slider("Blend into nearby keys", {
    min: 0,
    max: 2,
    step: 0.05,
    format: (seconds) => (seconds ? `${seconds.toFixed(2)} s` : "This key only"),
    onInput: (seconds) => {
      poseTool.options.value = { ...poseTool.options.value, spread_s: seconds };
    },
  });
  const feet = checkbox("Keep feet in place", (isOn) => {
    poseTool.options.value = { ...poseTool.options.value, keep_feet: isOn };
  });
  const residual = detailSlider((share) => session.setResidual(share));
  cleanups.push(
    poseTool.options.watchNow(({ spread_s, keep_feet }) => {
      spread.set(spread_s);
      feet.set(keep_feet);
    }),
    session.history.watchNow((history) => residual.set(Math.round(100 * (history?.current.residual ?? 0)))),
  );
  return section("Options", {}, spread.element, feet.element, residual.element);
}
