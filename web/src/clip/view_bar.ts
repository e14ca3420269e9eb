/** What is seen in the view: which figure, ghosts of keys, ways of joints, from where. */

import type { Player } from "../player/player";
import { h } from "../ui/dom";
import { spoken } from "../ui/format";
import { type MenuItem, openMenu } from "../ui/menu";
import { cameraItems } from "./camera";
import { button, segmented } from "./controls";
import type { ClipState } from "./state";

const TRAILED = ["left_hand", "right_hand", "left_foot", "right_foot", "head", "hips"];

export function viewBar(state: ClipState, player: Player, facing: number, stops: (() => void)[]): HTMLElement {
  const shown = segmented(
    "Which figure",
    [
      ["capture", "Capture", "The capture alone"],
      ["keys", "Keys", "The curves through the keys alone"],
      ["over", "Over", "Both in one place"],
      ["beside", "Beside", "Both side by side"],
    ] as const,
    (show) => state.url.set({ show }),
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
      openMenu(ghosts, "Ghosts of keys", items);
    },
    "small",
  );
  const hold = button("Keys only", "key", () => state.url.set({ hold: !state.settings.hold }), "small");
  hold.title = "Poses hold until the next key";
  const trails = button("Trails", "film", () => openMenu(trails, "Ways of joints", trailItems(state)), "small");
  const follow = button("Follow", "figure", () => state.url.set({ follow: !state.settings.follow }), "small");
  follow.title = "The camera goes with the figure";
  const camera = button("Camera", "camera", () => openMenu(camera, "Look from", cameraItems(player, facing)), "small");
  for (const each of [ghosts, trails, camera]) each.setAttribute("aria-haspopup", "menu");
  stops.push(
    state.url.values.show((settings) => {
      shown.set(settings.show);
      ghosts.setAttribute("aria-pressed", String((settings.ghosts ?? 0) > 0));
      trails.setAttribute("aria-pressed", String(settings.trails.length > 0));
      hold.setAttribute("aria-pressed", String(settings.hold));
      follow.setAttribute("aria-pressed", String(settings.follow));
    }),
  );
  const legend = h(
    "p",
    { class: "over-legend" },
    h("i", { class: "swatch-keys" }),
    "Keys",
    h("i", { class: "swatch-capture" }),
    "Capture",
  );
  stops.push(
    state.url.values.show(({ show }) => {
      legend.hidden = show !== "over";
    }),
  );
  const group = h("div", { class: "view-tools" }, ghosts, hold, trails, follow, camera);
  return h("div", { class: "view-bar", role: "toolbar", "aria-label": "View" }, shown.element, group, legend);
}

function trailItems(state: ClipState): (MenuItem | "line")[] {
  const joints = TRAILED.map((part) => ({ part, joint: state.facts.joints.find((each) => each.part === part)?.name }));
  const known = joints.filter((each) => each.joint !== undefined);
  const offered = known.length ? known : state.names.slice(0, 12).map((joint) => ({ part: joint, joint }));
  const { trails } = state.settings;
  const items: (MenuItem | "line")[] = offered.map(({ part, joint }) => ({
    title: spoken(part),
    checked: trails.includes(joint!),
    run: () => state.url.set({ trails: toggled(trails, joint!) }),
  }));
  return [...items, "line", { title: "None", run: () => state.url.set({ trails: [] }), disabled: !trails.length }];
}

function toggled(all: readonly string[], one: string): string[] {
  return all.includes(one) ? all.filter((each) => each !== one) : [...all, one];
}
