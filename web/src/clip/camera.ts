/** Camera views by name, and camera moves by keys. */

import { DEFAULT_VIEW, type View } from "../player/orbit";
import type { Player } from "../player/player";
import type { Command } from "../ui/commands";
import type { MenuItem } from "../ui/menu";

const VIEWS: readonly (readonly [string, Partial<View>])[] = [
  ["Three-quarter", { azimuth: 35, elevation: 9 }],
  ["Front", { azimuth: 0, elevation: 4 }],
  ["Left side", { azimuth: 90, elevation: 4 }],
  ["Right side", { azimuth: -90, elevation: 4 }],
  ["Back", { azimuth: 180, elevation: 4 }],
  ["Top", { azimuth: 0, elevation: 89 }],
];

/** Sets a named view, relative to the direction in which the figure faces in the first frame. */
function setCamera(player: Player, facingDeg: number, view: Partial<View>): void {
  const { azimuth, ...rest } = view;
  player.orbit.view = { ...player.orbit.view, ...rest, azimuth: facingDeg + (azimuth ?? 0), offset: [0, 0, 0] };
}

/** Returns the camera moves with their titles and keys. */
function cameraMoves(player: Player): { title: string; keys: string; run: () => void }[] {
  const orbit = (azimuth: number, elevation: number) => () => player.orbit.rotate(azimuth, elevation);
  return [
    { title: "Orbit left", keys: "Alt+ArrowLeft", run: orbit(-15, 0) },
    { title: "Orbit right", keys: "Alt+ArrowRight", run: orbit(15, 0) },
    { title: "Orbit up", keys: "Alt+ArrowUp", run: orbit(0, 10) },
    { title: "Orbit down", keys: "Alt+ArrowDown", run: orbit(0, -10) },
    { title: "Zoom in", keys: "Alt+PageUp", run: () => player.orbit.zoom(0.8) },
    { title: "Zoom out", keys: "Alt+PageDown", run: () => player.orbit.zoom(1.25) },
  ];
}

export function cameraCommands(player: Player, facingDeg: number): Command[] {
  return [
    ...cameraMoves(player).map((move) => ({ ...move, title: `Camera: ${move.title.toLowerCase()}` })),
    ...VIEWS.map(([title, view]) => ({
      title: `View: ${title.toLowerCase()}`,
      run: () => setCamera(player, facingDeg, view),
    })),
  ];
}

export function cameraItems(player: Player, facingDeg: number): (MenuItem | "line")[] {
  const views: MenuItem[] = VIEWS.map(([title, view]) => ({ title, run: () => setCamera(player, facingDeg, view) }));
  return [
    ...views,
    "line",
    ...cameraMoves(player),
    {
      title: "Reset view",
      run: () => (player.orbit.view = { ...DEFAULT_VIEW, azimuth: DEFAULT_VIEW.azimuth + facingDeg }),
    },
  ];
}
