/** What is seen in the view: which figure, ghosts of keys, ways of joints, from where. */

import { FIRST_VIEW, type View } from "../player/orbit";
import type { Player } from "../player/player";
import { h } from "../ui/dom";
import { spoken } from "../ui/format";
import { type MenuItem, openMenu } from "../ui/menu";
import { button, segmented } from "./controls";
import type { ClipState } from "./state";

export const VIEWS: readonly (readonly [string, Partial<View>])[] = [
  ["Three quarters", { azimuth: 35, elevation: 9 }],
  ["Front", { azimuth: 0, elevation: 4 }],
  ["Left side", { azimuth: 90, elevation: 4 }],
  ["Right side", { azimuth: -90, elevation: 4 }],
  ["Back", { azimuth: 180, elevation: 4 }],
  ["Top", { azimuth: 0, elevation: 89 }],
];

const TRAILED = ["left_hand", "right_hand", "left_foot", "right_foot", "head", "hips"];

/** Looks from one of the named sides, of the figure as it stands in the first frame. */
export function lookFrom(player: Player, facing: number, view: Partial<View>): void {
  const { azimuth, ...rest } = view;
  player.orbit.view = { ...player.orbit.view, ...rest, azimuth: facing + (azimuth ?? 0), aside: [0, 0, 0] };
}

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
  const group = h("div", { class: "view-tools" }, ghosts, hold, trails, follow, camera);
  return h("div", { class: "view-bar", role: "toolbar", "aria-label": "View" }, shown.element, group);
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

function cameraItems(player: Player, facing: number): (MenuItem | "line")[] {
  const sides: MenuItem[] = VIEWS.map(([title, view]) => ({ title, run: () => lookFrom(player, facing, view) }));
  return [
    ...sides,
    "line",
    { title: "Nearer", keys: "+", run: () => player.orbit.zoom(0.8) },
    { title: "Farther", keys: "-", run: () => player.orbit.zoom(1.25) },
    { title: "As at first", run: () => (player.orbit.view = { ...FIRST_VIEW, azimuth: FIRST_VIEW.azimuth + facing }) },
  ];
}
