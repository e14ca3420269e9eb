/** A dialog with the keys of every joint in a table, and the curves and the path of one, captured and through the keys. */

import { fetchFile } from "../api/client";
import { openDialog } from "../ui/dialog";
import { type Child, fill, h } from "../ui/dom";
import { count, countOf } from "../ui/format";
import { errorMessage, toSentence } from "../ui/states";
import { theme } from "../ui/theme";
import { segmentedControl } from "./controls";
import { LatestOnly } from "./latest_only";
import { methodForm, methodOptions } from "./method_options";
import type { SelectionController } from "./selection_controller";
import { buildCurveSettings, buildJointKeysSpec } from "./settings";
import type { ClipState, RefineRow } from "./state";

const PICTURE_PX = 620;
const WIDTH_PX = 1280;
const WIDE = "(min-width: 821px)";

type Picture = "curves" | "path" | "saliency";
type Axes = "xyz" | "x" | "y" | "z";
type Values = "euler" | "positions";

export function openJointCurves(state: ClipState, selection: SelectionController): void {
  const cleanups: (() => void)[] = [];
  let [picture, axes, values]: [Picture, Axes, Values] = ["curves", "xyz", "euler"];
  let joint = state.isPerJoint ? state.displayedJoint : 0;
  let pictureUrl = "";
  const image = h("img", { class: "joint-picture", alt: "" });
  const message = h("p", { class: "error-note", role: "alert", hidden: true });
  const figure = h("figure", { class: "joint-figure", "aria-busy": "false" }, image, message);
  const table = h("div", { class: "joint-table", tabindex: 0, role: "region", "aria-label": "Keys of all joints" });
  const summary = h("p", { class: "note", role: "status" });

  const requests = new LatestOnly<Record<string, unknown>, Blob>(
    async (body, signal) => (await fetchFile(`/api/clips/${state.details.hash}/curves.svg`, { body, signal })).blob,
    (blob) => {
      URL.revokeObjectURL(pictureUrl);
      pictureUrl = URL.createObjectURL(blob);
      image.src = pictureUrl;
      showError(null);
    },
    (error) => showError(error),
  );

  function showError(error: unknown): void {
    figure.setAttribute("aria-busy", "false");
    image.hidden = error !== null;
    message.hidden = error === null;
    message.textContent = error === null ? "" : toSentence(errorMessage(error));
  }

  function loadPicture(): void {
    const name = state.jointNames[joint];
    if (name === undefined || !state.keys.value.length) return;
    const { settings, details, clip } = state;
    const keys = state.isPerJoint
      ? { joint_keys: buildJointKeysSpec(settings, details, clip.library) }
      : { frames: state.keys.value };
    image.alt = {
      curves: `Curves of ${name}, captured and through the keys`,
      path: `Path of ${name}, captured and through the keys`,
      saliency: `Saliency of each axis of ${name}, with candidates and extrema`,
    }[picture];
    figure.setAttribute("aria-busy", "true");
    requests.submit({
      ...buildCurveSettings(settings, clip.library),
      ...keys,
      joint: name,
      picture,
      axes,
      values,
      width_px: PICTURE_PX,
      theme: theme.value,
    });
  }

  function showTable(): void {
    const curves = state.curves.value;
    const refine = new Map((curves?.refine ?? []).map((row) => [row.joint, row]));
    const counts = state.jointNames.map((_, n) => curves?.jointKeys?.[n]?.length ?? state.keys.value.length);
    fill(table, buildTable(state, counts, refine, joint, select));
    const total = counts.reduce((sum, each) => sum + each, 0);
    const share = (100 * (1 - total / (counts.length * state.nFrames))).toFixed(1);
    summary.textContent = `${countOf(total, "key")} of all joints together; ${share} % of the frames are removed.`;
  }

  function select(next: number): void {
    joint = next;
    if (state.isPerJoint) state.url.set({ joint: state.jointNames[next]! });
    showTable();
    table.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
    loadPicture();
  }

  const pictureControl = segmentedControl<Picture>(
    "Picture",
    [["curves", "Curves"], ["path", "Path"], ["saliency", "Saliency"]],
    (value) => {
      picture = value;
      axesControl.element.hidden = value === "path";
      valuesControl.element.hidden = value !== "curves";
      legend.hidden = value === "saliency";
      loadPicture();
    },
  ); // biome-ignore format: one look
  const axesControl = segmentedControl<Axes>(
    "Axes",
    [["xyz", "All axes"], ["x", "X"], ["y", "Y"], ["z", "Z"]],
    (value) => {
      axes = value;
      loadPicture();
    },
  ); // biome-ignore format: one look
  const valuesControl = segmentedControl<Values>(
    "Values",
    [["euler", "Angles"], ["positions", "Positions"]],
    (value) => {
      values = value;
      loadPicture();
    },
  ); // biome-ignore format: one look
  pictureControl.set(picture);
  axesControl.set(axes);
  valuesControl.set(values);

  const form = methodForm(state, cleanups);
  const options = h(
    "details",
    { class: "joint-options", open: state.settings.method === "refine" && matchMedia(WIDE).matches },
    h("summary", { text: `Options of ${state.settings.method}` }),
    form.element,
  );
  options.hidden = !methodOptions(state).length;
  cleanups.push(
    state.curves.watch(() => {
      showTable();
      loadPicture();
    }),
    selection.curveLoader.quality.watch((quality) => {
      if (typeof quality === "object") form.setError(quality.error);
    }),
  );
  const legend = h("p", {
    class: "note",
    text: "Wide and pale: the capture. Thin: the curve through the keys, with its keys as dots.",
  });
  openDialog({
    title: `Curves of joints of “${state.details.name}”`,
    body: [
      h(
        "div",
        { class: "joint-curves" },
        options,
        h("div", { class: "joint-side" }, summary, table),
        h(
          "div",
          { class: "joint-view" },
          h("div", { class: "row" }, pictureControl.element, axesControl.element, valuesControl.element),
          figure,
          legend,
        ),
      ),
    ],
    onClose: () => {
      for (const stop of cleanups) stop();
      requests.cancel();
      URL.revokeObjectURL(pictureUrl);
    },
    widthPx: WIDTH_PX,
  });
  showTable();
  loadPicture();
}

function buildTable(
  state: ClipState,
  counts: readonly number[],
  refine: ReadonlyMap<string, RefineRow>,
  selected: number,
  select: (joint: number) => void,
): HTMLElement {
  const cell = (content: Child, title = "") => h("td", { title: title || null }, content);
  const head = (text: string, title: string) => h("th", { scope: "col", title, text });
  const isRefined = refine.size > 0;
  const columns = isRefined
    ? [
        head("Per axis", "Keys of each axis, at 30 fps"),
        head("Overlap", "Frames that are keys on any axis, at 30 fps"),
        head("Reduced", "Keys after reduction, at 30 fps"),
        head("Removed", "Share of the frames that are no keys"),
        head("Error", "Largest error of the spline, as a share of the amplitude of an axis"),
      ]
    : [head("Keys", "Keys of the joint"), head("Removed", "Share of the frames that are no keys")];
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const rows = state.jointNames.map((name, n) => {
    const choose = h("button", {
      class: "button quiet small",
      type: "button",
      text: name,
      "aria-pressed": n === selected,
    });
    choose.addEventListener("click", () => select(n));
    const row = refine.get(name);
    const cells = !isRefined
      ? [cell(count(counts[n] ?? 0)), cell(percent(1 - (counts[n] ?? 0) / state.nFrames))]
      : row
        ? [
            cell(row.keys_per_axis.join(" / ")),
            cell(count(row.overlap)),
            cell(count(row.keys)),
            cell(percent(row.removed_ratio)),
            cell(percent(row.max_error_ratio)),
          ]
        : [h("td", { colspan: 5, class: "muted", text: `not in the table; ${countOf(counts[n] ?? 0, "key")}` })];
    return h("tr", { class: n === selected ? "selected" : "" }, h("th", { scope: "row" }, choose), ...cells);
  });
  return h(
    "table",
    {},
    h("caption", { class: "visually-hidden", text: "Keys of all joints" }),
    h("thead", {}, h("tr", {}, head("Joint", "Press to see its curves"), ...columns)),
    h("tbody", {}, ...rows),
  );
}
