/** The figures on the stage: the capture, the curves through keys, ghosts of keys, trails of joints. */

import { Color, Group, type WebGLRenderer } from "three";
import { Body, type JointInfo } from "./body";
import { COLOURS, type Colours } from "./colours";
import { Hulls } from "./hulls";
import { countUpTo, keyAtOrBefore } from "./key_lookup";
import { areMarkers, findMarkerLinks } from "./marker_links";
import { copyPose, type Track } from "./track";
import { Trails } from "./trails";

export type ViewMode = "capture" | "keys" | "overlay" | "side_by_side";

export interface ViewOptions {
  mode: ViewMode;
  ghosts: number; // keys before and after
  isStepped: boolean; // poses hold until the next key
  trails: readonly number[]; // joints
  follow: boolean;
}

export interface FigureData {
  joints: readonly JointInfo[];
  endJoints: readonly number[];
  hasFace: boolean; // the last end site is a point in front of it
  capture: Track;
  fps: number;
}

type Tint = { r: number; g: number; b: number };

const MAX_GHOSTS = 8; // on each side
const OVERLAY_OPACITY = 0.45; // opacity of the overlaid capture
const OVERLAY_SCALE = 0.9; // slightly smaller, so that it is hidden where both figures agree
const GHOST_FACE_MIX = 0.4; // contrast between the face of a ghost and the rest of it
const TRAIL_S = 1.2;

export class Figures {
  readonly group = new Group();
  readonly body: Body;
  readonly hasBones: boolean; // or markers; else all joints coincide in the first frame
  colours: Colours = COLOURS.light;
  viewOptions: ViewOptions = { mode: "capture", ghosts: 0, isStepped: false, trails: [], follow: true };
  keyed: Track | null = null;
  keys: readonly number[] = [];
  frame = 0;
  preview: Float32Array | null = null; // replaces the pose at this frame
  isTrailStale = true;
  readonly #data: FigureData;
  readonly #solid: Hulls;
  readonly #ghosts: Hulls;
  readonly #overlay: Hulls;
  readonly #trails = new Trails();
  readonly #points: Float32Array;
  readonly #paper = new Color();
  readonly #tint = new Color();
  readonly #ghostFace = new Color();

  constructor(data: FigureData) {
    this.#data = data;
    const pose = new Float32Array(3 * (data.joints.length + data.endJoints.length));
    copyPose(pose, data.capture, 0);
    const hasMarkers = areMarkers(data.joints.map(({ parent }) => parent));
    const rods = hasMarkers ? findMarkerLinks(data.capture, data.joints.length) : [];
    this.body = new Body(data.joints, data.endJoints, pose, rods, data.hasFace);
    this.hasBones = hasMarkers || this.body.solids.some(({ points }) => points.length > 1);
    this.#points = new Float32Array(3 * this.body.nPoints);
    const nSolids = this.body.solids.length;
    this.#solid = new Hulls(2 * nSolids);
    this.#ghosts = new Hulls(2 * MAX_GHOSTS * nSolids);
    this.#overlay = new Hulls(nSolids, "transparent");
    this.#ghosts.mesh.castShadow = false;
    this.#ghosts.mesh.renderOrder = -2;
    this.#solid.mesh.onBeforeRender = (renderer) => {
      (renderer as WebGLRenderer).state.buffers.depth.setMask(true);
      (renderer as WebGLRenderer).clearDepth(); // ghosts stay behind
    };
    this.group.add(
      this.#ghosts.mesh,
      this.#solid.mesh,
      this.#trails.group,
      this.#overlay.depthMesh!,
      this.#overlay.mesh,
    );
  }

  /** The track that is edited and has ghosts and trails: the keys' figure if it is displayed and loaded. */
  get mainTrack(): Track {
    return this.viewOptions.mode === "capture" || !this.keyed ? this.#data.capture : this.keyed;
  }

  /** Places all figures; in the side-by-side view they are offset by `ox` and `oz`. */
  update(ox: number, oz: number): void {
    const { mode, isStepped } = this.viewOptions;
    const { capture } = this.#data;
    const frame = isStepped ? keyAtOrBefore(this.keys, this.frame) : this.frame;
    const nSolids = this.body.solids.length;
    if (mode === "side_by_side") {
      this.#placeFigure(this.#solid, 0, capture, this.frame, -ox, -oz);
      this.#placeFigure(this.#solid, 1, this.keyed ?? capture, frame, ox, oz, this.preview);
    } else this.#placeFigure(this.#solid, 0, this.mainTrack, frame, 0, 0, this.preview);
    this.#solid.show(mode === "side_by_side" ? 2 * nSolids : nSolids);
    const hasOverlay = mode === "overlay" || (this.preview !== null && mode === "keys");
    if (hasOverlay) {
      const track = mode === "overlay" ? capture : this.mainTrack;
      this.#placeFigure(this.#overlay, 0, track, this.frame, 0, 0, null, this.colours.transparent, OVERLAY_OPACITY);
    }
    this.#overlay.show(hasOverlay ? nSolids : 0);
    this.#placeGhosts(ox, oz);
    if (this.isTrailStale) this.#drawTrails(ox, oz);
  }

  dispose(): void {
    for (const disposable of [this.#solid, this.#ghosts, this.#overlay, this.#trails]) disposable.dispose();
  }

  /** Places the ghosts of the keys before and after. */
  #placeGhosts(ox: number, oz: number): void {
    const n = Math.min(MAX_GHOSTS, this.viewOptions.ghosts);
    let nGhosts = 0;
    if (n) {
      const { keys, mainTrack: main } = this;
      const before = countUpTo(keys, this.frame - 1);
      const after = countUpTo(keys, this.frame);
      for (let k = Math.max(0, before - n); k < before; k++)
        this.#placeFigure(
          this.#ghosts,
          nGhosts++,
          main,
          keys[k]!,
          ox,
          oz,
          null,
          this.#ghostTint("before", (before - 1 - k) / n),
        );
      for (let k = after; k < Math.min(keys.length, after + n); k++)
        this.#placeFigure(
          this.#ghosts,
          nGhosts++,
          main,
          keys[k]!,
          ox,
          oz,
          null,
          this.#ghostTint("after", (k - after) / n),
        );
    }
    this.#ghosts.show(nGhosts * this.body.solids.length);
  }

  /** Returns the colour of a ghost: the further away in time, the closer to the background. */
  #ghostTint(which: "before" | "after", distance: number): Tint {
    this.#paper.set(this.colours.background);
    return this.#tint.copy(this.colours[which]).lerp(this.#paper, 0.8 * distance);
  }

  #placeFigure(
    hulls: Hulls,
    slot: number,
    track: Track,
    frame: number,
    ox: number,
    oz: number,
    preview: Float32Array | null = null,
    tint: Tint | null = null,
    alpha = 1,
  ): void {
    const points = this.#points;
    if (preview) points.set(preview);
    else copyPose(points, track, frame);
    this.body.complete(points);
    const first = slot * this.body.solids.length;
    const scale = alpha < 1 ? OVERLAY_SCALE : 1;
    const { sides, face } = this.colours;
    if (tint) this.#ghostFace.setRGB(tint.r, tint.g, tint.b).lerp(face, GHOST_FACE_MIX);
    for (let s = 0; s < this.body.solids.length; s++) {
      const solid = this.body.solids[s]!;
      const colour = solid.isFace ? (tint ? this.#ghostFace : face) : (tint ?? sides[solid.side]);
      hulls.colour(first + s, colour.r, colour.g, colour.b, alpha);
      for (let ball = 0; ball < 4; ball++) {
        const k = ball < solid.points.length ? ball : 0;
        const at = 3 * solid.points[k]!;
        hulls.place(first + s, ball, points[at]! + ox, points[at + 1]!, points[at + 2]! + oz, scale * solid.radii[k]!);
      }
    }
  }

  #drawTrails(ox: number, oz: number): void {
    this.isTrailStale = false;
    const { trails } = this.viewOptions;
    if (!trails.length) {
      this.#trails.clear();
      return;
    }
    const track = this.mainTrack;
    const reach = Math.round(TRAIL_S * this.#data.fps);
    const now = Math.min(track.nFrames - 1, this.frame);
    const [first, last] = [Math.max(0, now - reach), Math.min(track.nFrames - 1, now + reach)];
    const { left, right, middle } = this.colours.sides;
    const colours = trails.map((joint) => {
      const bodyPart = this.#data.joints[joint]?.body_part ?? "";
      return bodyPart.startsWith("left") ? left : bodyPart.startsWith("right") ? right : middle;
    });
    this.#trails.draw({ track, joints: trails, keys: this.keys, first, last, now }, colours);
    this.#trails.group.position.set(ox, 0, oz);
  }
}
