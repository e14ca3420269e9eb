/** The figures on the stage: the capture, the curves through keys, ghosts of keys, ways of joints. */

import { Color, Group, type WebGLRenderer } from "three";
import { Body, type JointOf } from "./body";
import { COLOURS, type Colours } from "./colours";
import { Hulls } from "./hulls";
import { heldKey, upTo } from "./keys";
import { areMarkers, links } from "./links";
import { poseInto, type Track } from "./track";
import { Trails } from "./trails";

export type Shown = "capture" | "keys" | "over" | "beside";

export interface Look {
  shown: Shown;
  ghosts: number; // keys before and after
  keysOnly: boolean; // poses hold until the next key
  trails: readonly number[]; // joints
  follow: boolean;
}

export interface Cast {
  joints: readonly JointOf[];
  endJoints: readonly number[];
  hasFace: boolean; // the last end site is a point before it
  capture: Track;
  fps: number;
}

type Wash = { r: number; g: number; b: number };

const MOST_GHOSTS = 8; // on each side
const GLASS = 0.45; // how much of it is seen
const THIN = 0.9; // glass hides in what it agrees with
const FACED = 0.4; // how far the face of a ghost differs from the rest of it
const TRAIL_S = 1.2;

export class Figures {
  readonly group = new Group();
  readonly body: Body;
  colours: Colours = COLOURS.light;
  look: Look = { shown: "capture", ghosts: 0, keysOnly: false, trails: [], follow: true };
  keyed: Track | null = null;
  keys: readonly number[] = [];
  frame = 0;
  preview: Float32Array | null = null; // a pose in place of the one at this frame
  isTrailStale = true;
  readonly #cast: Cast;
  readonly #solid: Hulls;
  readonly #ghosts: Hulls;
  readonly #glass: Hulls;
  readonly #trails = new Trails();
  readonly #points: Float32Array;
  readonly #paper = new Color();
  readonly #wash = new Color();
  readonly #ghostFace = new Color();

  constructor(cast: Cast) {
    this.#cast = cast;
    const pose = new Float32Array(3 * (cast.joints.length + cast.endJoints.length));
    poseInto(pose, cast.capture, 0);
    const rods = areMarkers(cast.joints) ? links(cast.capture, cast.joints.length) : [];
    this.body = new Body(cast.joints, cast.endJoints, pose, rods, cast.hasFace);
    this.#points = new Float32Array(3 * this.body.nPoints);
    const each = this.body.solids.length;
    this.#solid = new Hulls(2 * each);
    this.#ghosts = new Hulls(2 * MOST_GHOSTS * each);
    this.#glass = new Hulls(each, "glass");
    this.#ghosts.mesh.castShadow = false;
    this.#ghosts.mesh.renderOrder = -2;
    this.#solid.mesh.onBeforeRender = (renderer) => {
      (renderer as WebGLRenderer).state.buffers.depth.setMask(true);
      (renderer as WebGLRenderer).clearDepth(); // ghosts stay behind
    };
    this.group.add(this.#ghosts.mesh, this.#solid.mesh, this.#trails.group, this.#glass.under!, this.#glass.mesh);
  }

  /** What is edited, and what has ghosts and ways: the keys' figure, where it is shown and known. */
  get main(): Track {
    return this.look.shown === "capture" || !this.keyed ? this.#cast.capture : this.keyed;
  }

  /** Puts everything where it is now; figures beside each other stand `ox` and `oz` from their place. */
  place(ox: number, oz: number): void {
    const { shown, keysOnly } = this.look;
    const { capture } = this.#cast;
    const frame = keysOnly ? heldKey(this.keys, this.frame) : this.frame;
    const each = this.body.solids.length;
    if (shown === "beside") {
      this.#figure(this.#solid, 0, capture, this.frame, -ox, -oz);
      this.#figure(this.#solid, 1, this.keyed ?? capture, frame, ox, oz, this.preview);
    } else this.#figure(this.#solid, 0, this.main, frame, 0, 0, this.preview);
    this.#solid.show(shown === "beside" ? 2 * each : each);
    const isUnder = shown === "over" || (this.preview !== null && shown === "keys");
    if (isUnder) {
      const under = shown === "over" ? capture : this.main;
      this.#figure(this.#glass, 0, under, this.frame, 0, 0, null, this.colours.glass, GLASS);
    }
    this.#glass.show(isUnder ? each : 0);
    this.#haunt(ox, oz);
    if (this.isTrailStale) this.#trace(ox, oz);
  }

  dispose(): void {
    for (const part of [this.#solid, this.#ghosts, this.#glass, this.#trails]) part.dispose();
  }

  /** Ghosts of the keys before and after. */
  #haunt(ox: number, oz: number): void {
    const n = Math.min(MOST_GHOSTS, this.look.ghosts);
    let shown = 0;
    if (n) {
      const { keys, main } = this;
      const before = upTo(keys, this.frame - 1);
      const after = upTo(keys, this.frame);
      for (let k = Math.max(0, before - n); k < before; k++)
        this.#figure(this.#ghosts, shown++, main, keys[k]!, ox, oz, null, this.#faded("before", (before - 1 - k) / n));
      for (let k = after; k < Math.min(keys.length, after + n); k++)
        this.#figure(this.#ghosts, shown++, main, keys[k]!, ox, oz, null, this.#faded("after", (k - after) / n));
    }
    this.#ghosts.show(shown * this.body.solids.length);
  }

  /** The colour of a ghost: the farther in time, the nearer to the paper. */
  #faded(which: "before" | "after", far: number): Wash {
    this.#paper.set(this.colours.background);
    return this.#wash.copy(this.colours[which]).lerp(this.#paper, 0.8 * far);
  }

  #figure(
    hulls: Hulls,
    slot: number,
    track: Track,
    frame: number,
    ox: number,
    oz: number,
    preview: Float32Array | null = null,
    wash: Wash | null = null,
    alpha = 1,
  ): void {
    const points = this.#points;
    if (preview) points.set(preview);
    else poseInto(points, track, frame);
    this.body.complete(points);
    const first = slot * this.body.solids.length;
    const thin = alpha < 1 ? THIN : 1;
    const { sides, face } = this.colours;
    if (wash) this.#ghostFace.setRGB(wash.r, wash.g, wash.b).lerp(face, FACED);
    for (let s = 0; s < this.body.solids.length; s++) {
      const solid = this.body.solids[s]!;
      const colour = solid.isFace ? (wash ? this.#ghostFace : face) : (wash ?? sides[solid.side]);
      hulls.colour(first + s, colour.r, colour.g, colour.b, alpha);
      for (let ball = 0; ball < 4; ball++) {
        const k = ball < solid.points.length ? ball : 0;
        const at = 3 * solid.points[k]!;
        hulls.place(first + s, ball, points[at]! + ox, points[at + 1]!, points[at + 2]! + oz, thin * solid.radii[k]!);
      }
    }
  }

  #trace(ox: number, oz: number): void {
    this.isTrailStale = false;
    const { trails } = this.look;
    if (!trails.length) {
      this.#trails.clear();
      return;
    }
    const track = this.main;
    const reach = Math.round(TRAIL_S * this.#cast.fps);
    const now = Math.min(track.nFrames - 1, this.frame);
    const [first, last] = [Math.max(0, now - reach), Math.min(track.nFrames - 1, now + reach)];
    const { left, right, middle } = this.colours.sides;
    const colours = trails.map((joint) => {
      const part = this.#cast.joints[joint]?.part ?? "";
      return part.startsWith("left") ? left : part.startsWith("right") ? right : middle;
    });
    this.#trails.draw({ track, joints: trails, keys: this.keys, first, last, now }, colours);
    this.#trails.group.position.set(ox, 0, oz);
  }
}
