/** Where the camera looks from, by name and by keys. */

import { FIRST_VIEW, type View } from "../player/orbit";
import type { Player } from "../player/player";
import type { Command } from "../ui/commands";
import type { MenuItem } from "../ui/menu";

const VIEWS: readonly (readonly [string, Partial<View>])[] = [
  ["Three quarters", { azimuth: 35, elevation: 9 }],
  ["Front", { azimuth: 0, elevation: 4 }],
  ["Left side", { azimuth: 90, elevation: 4 }],
  ["Right side", { azimuth: -90, elevation: 4 }],
  ["Back", { azimuth: 180, elevation: 4 }],
  ["Top", { azimuth: 0, elevation: 89 }],
];

/** Looks from one of the named sides, of the figure as it stands in the first frame. */
function lookFrom(player: Player, facing: number, view: Partial<View>): void {
  const { azimuth, ...rest } = view;
  player.orbit.view = { ...player.orbit.view, ...rest, azimuth: facing + (azimuth ?? 0), aside: [0, 0, 0] };
}

/** By how much it moves: a name, keys, what is done. */
function moves(player: Player): { title: string; keys: string; run: () => void }[] {
  const turn = (azimuth: number, elevation: number) => () => player.orbit.turn(azimuth, elevation);
  return [
    { title: "Around to the left", keys: "Alt+ArrowLeft", run: turn(-15, 0) },
    { title: "Around to the right", keys: "Alt+ArrowRight", run: turn(15, 0) },
    { title: "Higher", keys: "Alt+ArrowUp", run: turn(0, 10) },
    { title: "Lower", keys: "Alt+ArrowDown", run: turn(0, -10) },
    { title: "Nearer", keys: "Alt+PageUp", run: () => player.orbit.zoom(0.8) },
    { title: "Farther", keys: "Alt+PageDown", run: () => player.orbit.zoom(1.25) },
  ];
}

export function cameraCommands(player: Player, facing: number): Command[] {
  return [
    ...moves(player).map((move) => ({ ...move, title: `Camera: ${move.title.toLowerCase()}` })),
    ...VIEWS.map(([title, view]) => ({
      title: `Look from: ${title.toLowerCase()}`,
      run: () => lookFrom(player, facing, view),
    })),
  ];
}

export function cameraItems(player: Player, facing: number): (MenuItem | "line")[] {
  const sides: MenuItem[] = VIEWS.map(([title, view]) => ({ title, run: () => lookFrom(player, facing, view) }));
  return [
    ...sides,
    "line",
    ...moves(player),
    { title: "As at first", run: () => (player.orbit.view = { ...FIRST_VIEW, azimuth: FIRST_VIEW.azimuth + facing }) },
  ];
}
