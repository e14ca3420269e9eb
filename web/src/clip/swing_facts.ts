/** The angles of the selected swing at its start and end, and its other facts. */

import { fill, h } from "../ui/dom";
import { duration } from "../ui/format";
import type { ClipState } from "./state";

const ANGLE_TITLE =
  "Rotation of the joint about the axis of the swing; 0° is the joint without any rotation. The arc in the view leads from start to end.";

/** A list of the angles at start and end of the selected swing. */
export function swingAngles(state: ClipState, cleanups: (() => void)[], { isDetailed = false } = {}): HTMLElement {
  const list = h("dl", { class: "swing-facts" });
  const row = (name: string, value: string, title = "") =>
    h("div", { title }, h("dt", { text: name }), h("dd", { text: value }));
  cleanups.push(
    state.swing.watchNow((swing) => {
      if (!swing) return fill(list);
      const { start, end, start_angle_deg: startAngle, angle_deg: angle, axis } = swing.info;
      const seconds = (end - start) / state.fps;
      fill(
        list,
        row("Start angle", degrees(startAngle), ANGLE_TITLE),
        row("End angle", degrees(startAngle + angle), ANGLE_TITLE),
        isDetailed && row("Angle", degrees(angle)),
        isDetailed && row("Frames", `${start} to ${end}`),
        row("Duration", duration(seconds)),
        row("Mean speed", `${Math.round(angle / seconds)} °/s`),
        isDetailed && row("Axis", axis.map((value) => minus(value.toFixed(2))).join(", "), "In the joint’s own frame"),
      );
    }),
  );
  return list;
}

function degrees(value: number): string {
  return `${minus(value.toFixed(1))}°`;
}

function minus(text: string): string {
  return text.replace("-", "−");
}
