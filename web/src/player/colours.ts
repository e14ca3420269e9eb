/** The colours of the stage in light and dark. Left is warm and dark, right cold and light, as in the strips. */

import { Color } from "three";
import type { Side } from "./body";

export type Theme = "light" | "dark";

export interface Colours {
  background: string;
  line: string; // of the grid
  sides: Record<Side, Color>;
  face: Color;
  before: Color; // ghosts of earlier keys
  after: Color; // ghosts of later keys
  transparent: Color;
  shadow: number; // opacity
  sky: string;
  earth: string;
  selected: string;
  arc: string; // of the selected swing
}

const SIDES = { left: "#d9480f", middle: "#868e96", right: "#4dabf7" };

export const COLOURS: Record<Theme, Colours> = {
  light: {
    background: "#f4f5f7",
    line: "#9aa3ad",
    sides: toColours({ ...SIDES, middle: "#8f979f" }),
    face: new Color("#3d444c"),
    before: new Color("#cdbdf2"),
    after: new Color("#b3e4c8"),
    transparent: new Color("#343a40"),
    shadow: 0.28,
    sky: "#ffffff",
    earth: "#b8bcc4",
    selected: "#e03131",
    arc: "#6741d9",
  },
  dark: {
    background: "#15171b",
    line: "#5b6470",
    sides: toColours({ left: "#e8590c", middle: "#8a929b", right: "#74c0fc" }),
    face: new Color("#e9ecef"),
    before: new Color("#4b3d78"),
    after: new Color("#23614a"),
    transparent: new Color("#dee2e6"),
    shadow: 0.55,
    sky: "#dfe6f0",
    earth: "#3a3f48",
    selected: "#ff8787",
    arc: "#b197fc",
  },
};

function toColours(sides: Record<Side, string>): Record<Side, Color> {
  return { left: new Color(sides.left), middle: new Color(sides.middle), right: new Color(sides.right) };
}
