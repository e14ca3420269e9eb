/** The stage: figures on the ground, seen by a camera that goes around them. It is drawn only when something changed. */

import { type Camera, Scene, Vector3 } from "three";
import { h } from "../ui/dom";
import { type JointOf, place } from "./body";
import { COLOURS, type Theme } from "./colours";
import { Drawing } from "./drawing";
import { type Cast, Figures, type Look } from "./figures";
import { Ground } from "./ground";
import { Orbit, type View } from "./orbit";
import { poseInto, smoothWay, type Track } from "./track";
import type { Vec } from "./vectors";

const EYE = 0.88; // metres: the height that the camera looks at
const NAMED = { up: 1.6, out: 1.55 }; // where names stand: metres above the ground, times the way to a figure
const APART = 0.62; // metres to each side, for figures beside each other
const FOLLOW_S = 0.6;
const LABEL_PX = { x: 34, y: 18 }; // from edges and tools to the middle of a name, at least

export class Player {
  readonly element: HTMLElement;
  readonly canvas = h("canvas", { class: "stage" });
  readonly overlay = new Scene(); // drawn over everything: handles
  readonly orbit: Orbit;
  readonly #listeners = new Set<() => void>();
  readonly #figures: Figures;
  readonly #nFrames: number;
  readonly #drawing: Drawing;
  readonly #scene = new Scene();
  readonly #ground = new Ground();
  readonly #way: Float32Array;
  readonly #labels = ["Capture", "Keys"].map((text) => h("span", { class: "figure-label", text, hidden: true }));
  readonly #watch: ResizeObserver;
  readonly #projected = new Vector3();
  #asked = 0;
  #topPx = 0; // of the stage that is covered

  constructor(cast: Cast, view: View, viewed: () => void) {
    this.#drawing = new Drawing(this.canvas, () => this.#render());
    this.#figures = new Figures(cast);
    this.#nFrames = cast.capture.nFrames;
    this.#way = smoothWay(cast.capture, rootOf(cast.joints), Math.round(FOLLOW_S * cast.fps));
    this.element = h("div", { class: "player" }, this.canvas, ...this.#labels);
    this.#scene.add(this.#ground.group, this.#figures.group);
    this.orbit = new Orbit(this.canvas, view, () => {
      viewed();
      if (this.#figures.look.shown === "beside") this.#stale();
      this.invalidate();
    });
    this.#watch = new ResizeObserver(() => this.#resize());
    this.#watch.observe(this.element);
  }

  get camera(): Camera {
    return this.orbit.camera;
  }

  set look(look: Look) {
    if (isSameLook(look, this.#figures.look)) return;
    this.#figures.look = look;
    this.#stale();
  }

  /** The curves through keys, or the edit; null: not known yet. */
  set keyed(track: Track | null) {
    const isSeen = this.#figures.look.shown !== "capture" || this.#figures.preview !== null;
    this.#figures.keyed = track;
    this.#figures.preview = null;
    if (isSeen) this.#stale();
  }

  set keys(keys: readonly number[]) {
    this.#figures.keys = keys;
    const { ghosts, keysOnly, trails } = this.#figures.look;
    if (ghosts || keysOnly || trails.length) this.#stale(); // else keys are not seen here
  }

  set frame(frame: number) {
    this.#figures.frame = frame;
    this.#figures.preview = null;
    this.#stale();
  }

  /** A pose to be shown in place of the one at this frame: joints and end sites. Null: as it is. */
  set preview(points: Float32Array | null) {
    this.#figures.preview = points;
    this.invalidate();
  }

  set theme(theme: Theme) {
    this.#figures.colours = COLOURS[theme];
    this.#ground.paint(COLOURS[theme]);
    this.#drawing.renderer.setClearColor(COLOURS[theme].background);
    this.#stale();
  }

  /** Calls `listener` just before handles are drawn; what comes back ends that. */
  beforeHandles(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Names hang below `tools`, which lie over the stage; what comes back ends that. */
  below(tools: HTMLElement): () => void {
    const watch = new ResizeObserver(() => {
      this.#topPx = tools.offsetTop + tools.offsetHeight;
      this.invalidate();
    });
    watch.observe(tools);
    return () => watch.disconnect();
  }

  invalidate(): void {
    if (!this.#asked) this.#asked = requestAnimationFrame(this.#draw);
  }

  /** The pose that edits start from: joints and end sites of the keys' figure at this frame, without its offset. */
  poseNow(): Float32Array {
    const { body, main, frame } = this.#figures;
    const pose = new Float32Array(3 * (body.nJoints + body.nEnds));
    poseInto(pose, main, frame);
    return pose;
  }

  /** Where the figure that is edited stands beside its place. */
  get offset(): Vec {
    if (this.#figures.look.shown !== "beside") return [0, 0, 0];
    const [x, , z] = this.orbit.right;
    return [APART * x, 0, APART * z];
  }

  /** Where a point of the world is on the screen, in CSS pixels of the stage. */
  project(at: Vec): { x: number; y: number; isAhead: boolean } {
    const p = this.#projected.set(...at).project(this.orbit.camera);
    const { clientWidth, clientHeight } = this.canvas;
    return { x: ((p.x + 1) / 2) * clientWidth, y: ((1 - p.y) / 2) * clientHeight, isAhead: p.z < 1 };
  }

  /** The joint nearest to a place on the screen, if one is within `reach` pixels. */
  pick(x: number, y: number, reach: number): number | null {
    const pose = this.#figures.preview ?? this.poseNow();
    const [ox, , oz] = this.offset;
    let best: number | null = null;
    let least = reach;
    for (let joint = 0; joint < this.#figures.body.nJoints; joint++) {
      const [px, py, pz] = place(pose, joint);
      const at = this.project([px + ox, py, pz + oz]);
      const away = Math.hypot(at.x - x, at.y - y);
      if (at.isAhead && away < least) [best, least] = [joint, away];
    }
    return best;
  }

  dispose(): void {
    cancelAnimationFrame(this.#asked);
    this.#asked = -1; // nothing is drawn any more
    this.#watch.disconnect();
    this.#figures.dispose();
    this.#ground.dispose();
    this.#drawing.dispose();
  }

  #stale(): void {
    this.#figures.isTrailStale = true;
    this.invalidate();
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.element;
    if (!clientWidth || !clientHeight || this.#asked < 0) return;
    this.#drawing.resize(clientWidth, clientHeight);
    cancelAnimationFrame(this.#asked);
    this.#draw(); // a resized canvas is empty: it is drawn before anyone sees it
  }

  readonly #draw = (): void => {
    this.#asked = 0;
    const [ox, , oz] = this.offset;
    this.#figures.place(ox, oz);
    const { look, frame } = this.#figures;
    const { clientWidth, clientHeight } = this.element;
    const at = look.follow ? 3 * Math.min(this.#nFrames - 1, frame) : 0;
    this.orbit.around(this.#way[at]!, EYE, this.#way[at + 2]!, clientWidth / Math.max(1, clientHeight));
    const lit = 3 * Math.min(this.#nFrames - 1, frame);
    this.#ground.follow(this.#way[lit]!, this.#way[lit + 2]!, this.orbit.view.azimuth);
    this.#drawing.begin();
    this.#render();
    this.#label(this.#way[lit]!, this.#way[lit + 2]!, ox, oz);
  };

  #render(): void {
    const { renderer } = this.#drawing;
    renderer.clear();
    renderer.render(this.#scene, this.orbit.camera);
    if (!this.overlay.children.length) return;
    for (const listener of this.#listeners) listener();
    renderer.clearDepth();
    renderer.render(this.overlay, this.orbit.camera);
  }

  /** Names beside the heads of two figures, on their outer sides. */
  #label(x: number, z: number, ox: number, oz: number): void {
    const isBeside = this.#figures.look.shown === "beside";
    this.#labels.forEach((label, n) => {
      label.hidden = !isBeside;
      if (!isBeside) return;
      const out = (n ? 1 : -1) * NAMED.out;
      const p = this.project([x + out * ox, NAMED.up, z + out * oz]);
      const left = Math.min(this.canvas.clientWidth - LABEL_PX.x, Math.max(LABEL_PX.x, p.x));
      const top = Math.max(this.#topPx + LABEL_PX.y, p.y);
      label.style.transform = `translate(-50%, -50%) translate(${left.toFixed(1)}px, ${top.toFixed(1)}px)`;
    });
  }
}

function isSameLook(a: Look, b: Look): boolean {
  const isSame = a.shown === b.shown && a.ghosts === b.ghosts && a.keysOnly === b.keysOnly && a.follow === b.follow;
  return isSame && a.trails.length === b.trails.length && a.trails.every((joint, n) => joint === b.trails[n]);
}

function rootOf(joints: readonly JointOf[]): number {
  return Math.max(0, joints.findIndex((joint) => joint.part === "hips")); // biome-ignore format: short
}
