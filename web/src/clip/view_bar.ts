/** The view toolbar: which figure, ghosts of keys, trails of joints, camera. */

import type { Player } from "../player/player";
import { h } from "../ui/dom";
import { toLabel } from "../ui/format";
import { type MenuItem, openMenu } from "../ui/menu";
import { cameraItems } from "./camera";
import { button, segmentedControl } from "./controls";
import type { ClipState } from "./state";

const TRAIL_PARTS = ["left_hand", "right_hand", "left_foot", "right_foot", "head", "hips"];

export function viewBar(state: ClipState, player: Player, facingDeg: number, cleanups: (() => void)[]): HTMLElement {
  const viewMode = segmentedControl(
    "View mode",
    [
      ["capture", "Capture", "Only the capture"],
      ["keys", "Keys", "Only the curves through the keys"],
      ["overlay", "Overlay", "Both figures in the same place"],
      ["side_by_side", "Side by side", "Both figures next to each other"],
    ] as const,
    (mode) => state.url.set({ view_mode: mode }),
  );
  const ghosts = button(
    "Ghosts",
    "ghost",
    () => {
      const items: MenuItem[] = [0, 1, 2, 3, 5, 8].map((n) => ({
        title: n ? `${n} key${n > 1 ? "s" : ""} before and after` : "None",
        checked: (state.settings.ghosts ?? 0) === n,
        run: () => state.url.set({ ghosts: n || null }),
      }));
      openMenu(ghosts, "Ghosts of key poses", items);
    },
    "small",
  );
  const stepped = button("Stepped", "key", () => state.url.set({ stepped: !state.settings.stepped }), "small");
  stepped.title = "Hold each key pose until the next key, without in-betweens";
  const trails = button("Trails", "film", () => openMenu(trails, "Trails of joints", trailItems(state)), "small");
  const follow = button("Follow", "figure", () => state.url.set({ follow: !state.settings.follow }), "small");
  follow.title = "The camera follows the figure";
  const camera = button("Camera", "camera", () => openMenu(camera, "Camera", cameraItems(player, facingDeg)), "small");
  for (const each of [ghosts, trails, camera]) each.setAttribute("aria-haspopup", "menu");
  cleanups.push(
    state.url.values.watchNow((settings) => {
      viewMode.set(settings.view_mode);
      ghosts.setAttribute("aria-pressed", String((settings.ghosts ?? 0) > 0));
      trails.setAttribute("aria-pressed", String(settings.trails.length > 0));
      stepped.setAttribute("aria-pressed", String(settings.stepped));
      follow.setAttribute("aria-pressed", String(settings.follow));
    }),
  );
  const figureLabel = h("span");
  const legend = h(
    "p",
    { class: "overlay-legend" },
    h("i", { class: "swatch-keys" }),
    figureLabel,
    h("i", { class: "swatch-capture" }),
    "Capture",
  );
  cleanups.push(
    state.url.values.watchNow(({ view_mode: mode }) => {
      legend.hidden = mode !== "overlay";
    }),
    state.figureName.watchNow((name) => {
      viewMode.rename("keys", name, name === "Swings" ? "Only the played swings" : "Only the curves through the keys");
      figureLabel.textContent = name;
      player.figureName = name;
    }),
  );
  const group = h("div", { class: "view-tools" }, ghosts, stepped, trails, follow, camera);
  return h("div", { class: "view-bar", role: "toolbar", "aria-label": "View" }, viewMode.element, group, legend);
}

function trailItems(state: ClipState): (MenuItem | "line")[] {
  const joints = TRAIL_PARTS.map((label) => ({
    part: label,
    joint: state.details.joints.find((each) => each.body_part === label)?.name,
  }));
  const knownJoints = joints.filter((each) => each.joint !== undefined);
  const choices = knownJoints.length
    ? knownJoints
    : state.jointNames.slice(0, 12).map((joint) => ({ part: joint, joint }));
  const { trails } = state.settings;
  const items: (MenuItem | "line")[] = choices.map(({ part: label, joint }) => ({
    title: toLabel(label),
    checked: trails.includes(joint!),
    run: () => state.url.set({ trails: toggle(trails, joint!) }),
  }));
  return [...items, "line", { title: "None", run: () => state.url.set({ trails: [] }), disabled: !trails.length }];
}

function toggle(items: readonly string[], item: string): string[] {
  return items.includes(item) ? items.filter((each) => each !== item) : [...items, item];
}
