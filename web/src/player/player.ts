/** The stage: figures on the ground and an orbit camera. It is drawn only when something has changed. */

import { type Camera, Scene, Vector3 } from "three";
import { h } from "../ui/dom";
import { AdaptiveRenderer } from "./adaptive_renderer";
import { type JointInfo, pointAt } from "./body";
import { COLOURS, type Theme } from "./colours";
import { type FigureData, Figures, type ViewOptions } from "./figures";
import { Ground } from "./ground";
import { Orbit, type View } from "./orbit";
import { SwingArc, type SwingArcData } from "./swing_arc";
import { copyPose, smoothPath, type Track } from "./track";
import type { Vec } from "./vectors";

const EYE_HEIGHT_M = 0.88; // metres: the height that the camera looks at
const LABEL_PLACEMENT = { up: 1.6, out: 1.55 }; // position of the labels: metres above the ground, and a multiple of the figure's offset
const SIDE_OFFSET_M = 0.62; // metres to each side, in the side-by-side view
const FOLLOW_S = 0.6;
const LABEL_MARGIN_PX = { x: 34, y: 18 }; // minimum distance from edges and toolbar to the centre of a label

export class Player {
  readonly element: HTMLElement;
  readonly canvas = h("canvas", { class: "stage" });
  readonly overlay = new Scene(); // drawn over everything: handles
  readonly orbit: Orbit;
  readonly #listeners = new Set<() => void>();
  readonly #figures: Figures;
  #nFrames: number;
  readonly #renderer: AdaptiveRenderer;
  readonly #scene = new Scene();
  readonly #ground = new Ground();
  readonly #data: FigureData;
  readonly #capturePath: Float32Array;
  readonly #arc = new SwingArc();
  #cameraPath: Float32Array;
  readonly #labels = ["Capture", "Keys"].map((text) => h("span", { class: "figure-label", text, hidden: true }));
  readonly #resizeObserver: ResizeObserver;
  readonly #projected = new Vector3();
  #animationFrame = 0;
  #coveredPx = 0; // of the stage, by the toolbar

  constructor(data: FigureData, view: View, onViewChange: () => void) {
    this.#renderer = new AdaptiveRenderer(this.canvas, () => this.#render());
    this.#figures = new Figures(data);
    this.#data = data;
    this.#nFrames = data.capture.nFrames;
    this.#cameraPath = this.#capturePath = this.#pathOf(data.capture);
    this.element = h("div", { class: "player" }, this.canvas, ...this.#labels);
    this.#scene.add(this.#ground.group, this.#figures.group, this.#arc.group);
    this.orbit = new Orbit(this.canvas, view, () => {
      onViewChange();
      if (this.#figures.viewOptions.mode === "side_by_side") this.#invalidateTrails();
      this.invalidate();
    });
    this.#resizeObserver = new ResizeObserver(() => this.#resize());
    this.#resizeObserver.observe(this.element);
  }

  get camera(): Camera {
    return this.orbit.camera;
  }

  set viewOptions(options: ViewOptions) {
    if (isSameOptions(options, this.#figures.viewOptions)) return;
    this.#figures.viewOptions = options;
    this.#invalidateTrails();
  }

  /** The curves through keys, or the edit; null until they are loaded. */
  set keyed(track: Track | null) {
    const isVisible = this.#figures.viewOptions.mode !== "capture" || this.#figures.preview !== null;
    const isRetimed = track !== null && track.nFrames !== this.#data.capture.nFrames;
    this.#nFrames = track?.nFrames ?? this.#data.capture.nFrames;
    this.#cameraPath = isRetimed ? this.#pathOf(track) : this.#capturePath;
    this.#figures.keyed = track;
    this.#figures.preview = null;
    if (isVisible) this.#invalidateTrails();
  }

  /** What the figure beside the capture plays. */
  set figureName(name: string) {
    this.#labels[1]!.textContent = name;
    this.invalidate();
  }

  /** The arc of the selected swing; null for none. */
  set arc(data: SwingArcData | null) {
    this.#arc.data = data;
    this.canvas.toggleAttribute("data-has-arc", data !== null);
    this.invalidate();
  }

  set keys(keys: readonly number[]) {
    this.#figures.keys = keys;
    const { ghosts, isStepped, trails } = this.#figures.viewOptions;
    if (ghosts || isStepped || trails.length) this.#invalidateTrails(); // otherwise keys are not visible here
  }

  set frame(frame: number) {
    this.#figures.frame = frame;
    this.#figures.preview = null;
    this.#invalidateTrails();
  }

  /** A pose that replaces the one at this frame: joints and end sites. Null for none. */
  set preview(points: Float32Array | null) {
    this.#figures.preview = points;
    this.invalidate();
  }

  set theme(theme: Theme) {
    this.#figures.colours = COLOURS[theme];
    this.#ground.setColours(COLOURS[theme]);
    this.#arc.colour = COLOURS[theme].arc;
    this.#renderer.renderer.setClearColor(COLOURS[theme].background);
    this.#invalidateTrails();
  }

  /** Calls `listener` before the handles are drawn. The returned function removes it. */
  beforeHandles(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Places labels below `tools`, which cover a part of the stage. The returned function ends that. */
  placeLabelsBelow(tools: HTMLElement): () => void {
    const watch = new ResizeObserver(() => {
      this.#coveredPx = tools.offsetTop + tools.offsetHeight;
      this.invalidate();
    });
    watch.observe(tools);
    return () => watch.disconnect();
  }

  invalidate(): void {
    if (!this.#animationFrame) this.#animationFrame = requestAnimationFrame(this.#draw);
  }

  /**
   * Returns the pose that edits start from: joints and end sites of the keys' figure at this frame, without its
   * offset.
   */
  currentPose(): Float32Array {
    const { body, mainTrack, frame } = this.#figures;
    const pose = new Float32Array(3 * (body.nJoints + body.nEnds));
    copyPose(pose, mainTrack, frame);
    return pose;
  }

  /** The offset of the edited figure in the side-by-side view. */
  get offset(): Vec {
    if (this.#figures.viewOptions.mode !== "side_by_side") return [0, 0, 0];
    const [x, , z] = this.orbit.right;
    return [SIDE_OFFSET_M * x, 0, SIDE_OFFSET_M * z];
  }

  /** Projects a point of the world to CSS pixels of the stage. */
  project(at: Vec): { x: number; y: number; isAhead: boolean } {
    const p = this.#projected.set(...at).project(this.orbit.camera);
    const { clientWidth, clientHeight } = this.canvas;
    return { x: ((p.x + 1) / 2) * clientWidth, y: ((1 - p.y) / 2) * clientHeight, isAhead: p.z < 1 };
  }

  /** Returns the joint nearest to a screen position within `maxPx` pixels, or null. */
  pickJoint(x: number, y: number, maxPx: number): number | null {
    const pose = this.#figures.preview ?? this.currentPose();
    const [ox, , oz] = this.offset;
    let best: number | null = null;
    let minDistance = maxPx;
    for (let joint = 0; joint < this.#figures.body.nJoints; joint++) {
      const [px, py, pz] = pointAt(pose, joint);
      const at = this.project([px + ox, py, pz + oz]);
      const distance = Math.hypot(at.x - x, at.y - y);
      if (at.isAhead && distance < minDistance) [best, minDistance] = [joint, distance];
    }
    return best;
  }

  dispose(): void {
    cancelAnimationFrame(this.#animationFrame);
    this.#animationFrame = -1; // nothing is drawn any more
    this.#resizeObserver.disconnect();
    this.#figures.dispose();
    this.#ground.dispose();
    this.#arc.dispose();
    this.#renderer.dispose();
  }

  #pathOf(track: Track): Float32Array {
    return smoothPath(track, findRoot(this.#data.joints), Math.round(FOLLOW_S * this.#data.fps));
  }

  #invalidateTrails(): void {
    this.#figures.isTrailStale = true;
    this.invalidate();
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.element;
    if (!clientWidth || !clientHeight || this.#animationFrame < 0) return;
    this.#renderer.resize(clientWidth, clientHeight);
    cancelAnimationFrame(this.#animationFrame);
    this.#draw(); // a resized canvas is empty: draw before it is displayed
  }

  readonly #draw = (): void => {
    this.#animationFrame = 0;
    const [ox, , oz] = this.offset;
    this.#figures.update(ox, oz);
    this.#arc.place(this.#figures.frame, ox, oz);
    const { viewOptions, frame } = this.#figures;
    const { clientWidth, clientHeight } = this.element;
    const at = viewOptions.follow ? 3 * Math.min(this.#nFrames - 1, frame) : 0;
    const height = this.#figures.hasBones ? EYE_HEIGHT_M : this.#cameraPath[at + 1]!; // others may be at any height
    this.orbit.lookAt(
      this.#cameraPath[at]!,
      height,
      this.#cameraPath[at + 2]!,
      clientWidth / Math.max(1, clientHeight),
    );
    const figureAt = 3 * Math.min(this.#nFrames - 1, frame);
    this.#ground.follow(this.#cameraPath[figureAt]!, this.#cameraPath[figureAt + 2]!, this.orbit.view.azimuth);
    this.#renderer.beforeDraw();
    this.#render();
    this.#placeLabels(this.#cameraPath[figureAt]!, this.#cameraPath[figureAt + 2]!, ox, oz);
  };

  #render(): void {
    const { renderer } = this.#renderer;
    renderer.clear();
    renderer.render(this.#scene, this.orbit.camera);
    if (!this.overlay.children.length) return;
    for (const listener of this.#listeners) listener();
    renderer.clearDepth();
    renderer.render(this.overlay, this.orbit.camera);
  }

  /** Places the labels beside the heads of the two figures. */
  #placeLabels(x: number, z: number, ox: number, oz: number): void {
    const isSideBySide = this.#figures.viewOptions.mode === "side_by_side";
    this.#labels.forEach((label, n) => {
      label.hidden = !isSideBySide;
      if (!isSideBySide) return;
      const out = (n ? 1 : -1) * LABEL_PLACEMENT.out;
      const p = this.project([x + out * ox, LABEL_PLACEMENT.up, z + out * oz]);
      const left = Math.min(this.canvas.clientWidth - LABEL_MARGIN_PX.x, Math.max(LABEL_MARGIN_PX.x, p.x));
      const top = Math.max(this.#coveredPx + LABEL_MARGIN_PX.y, p.y);
      label.style.transform = `translate(-50%, -50%) translate(${left.toFixed(1)}px, ${top.toFixed(1)}px)`;
    });
  }
}

function isSameOptions(a: ViewOptions, b: ViewOptions): boolean {
  const isSame = a.mode === b.mode && a.ghosts === b.ghosts && a.isStepped === b.isStepped && a.follow === b.follow;
  return isSame && a.trails.length === b.trails.length && a.trails.every((joint, n) => joint === b.trails[n]);
}

function findRoot(joints: readonly JointInfo[]): number {
  return Math.max(0, joints.findIndex((joint) => joint.body_part === "hips")); // biome-ignore format: short
}
