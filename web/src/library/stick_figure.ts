/** Draws a clip as a small stick figure on a canvas; markers and single joints as dots. */

import { areMarkers, findMarkerLinks, sideOfMarker } from "../player/marker_links";

export interface FigureMotion {
  fps: number;
  nFrames: number;
  nJoints: number;
  parents: readonly number[];
  names: readonly string[];
  /** (T, J, 3) in metres, Y up, the ground at 0. */
  positions: Float32Array;
  /** (T, E, 3) end sites, and the joint of each. */
  ends: Float32Array;
  endJoints: readonly number[];
}

export interface Colours {
  paper: string;
  floor: string;
  left: string;
  middle: string;
  right: string;
}

type Side = "left" | "right" | "middle";
type Point = readonly [x: number, y: number, depth: number];

const PITCH = (11 * Math.PI) / 180;
const YAW_FROM_FRONT = (38 * Math.PI) / 180; // from the front: both legs and the swing of the arms are visible
const MIN_VISIBLE_M = 1.8; // above the ground; more if the figure jumps
const BELOW_M = 0.22; // below the ground line
const ABOVE_M = 0.12;
const FOLLOW_S = 0.35; // time constant with which the view follows the hips
const DOT_M = 0.5; // between the dots of the floor
const MIN_BONE_M = 0.005; // a figure whose bones are all shorter in the first frame is drawn as dots

/** Returns the side of the body that a joint's name indicates. */
export function sideOf(name: string): Side {
  const asf = /^(l|r)(hipjoint|femur|tibia|foot|toes|clavicle|humerus|radius|wrist|hand|fingers|thumb)/i.exec(
    name,
  )?.[1];
  const mark = asf ?? /(?:^|[^a-z])(left|right|l|r)(?:[^a-z]|$)/i.exec(name)?.[1] ?? /(left|right)/i.exec(name)?.[1];
  if (!mark) return "middle";
  return mark[0]?.toLowerCase() === "l" ? "left" : "right";
}

function findSides({ names, parents }: FigureMotion): Side[] {
  const all = new Set(names);
  return names.map((name) => (areMarkers(parents) ? sideOfMarker(name, all) : sideOf(name)));
}

/** Returns the yaw from which the figure is seen best: half from its average front. */
export function bestYaw(motion: FigureMotion): number {
  const sides = findSides(motion);
  const [left, right] = (["left", "right"] as const).map((side) =>
    sides.flatMap((each, joint) => (each === side ? [joint] : [])),
  ) as [number[], number[]];
  if (left.length === 0 || right.length === 0) return YAW_FROM_FRONT;
  let [x, z] = [0, 0];
  const step = Math.max(1, Math.floor(motion.nFrames / 24));
  for (let frame = 0; frame < motion.nFrames; frame += step) {
    const mean = (joints: number[], axis: number) =>
      joints.reduce((sum, joint) => sum + motion.positions[3 * (frame * motion.nJoints + joint) + axis]!, 0) /
      joints.length;
    const [dx, dz] = [mean(left, 0) - mean(right, 0), mean(left, 2) - mean(right, 2)];
    const length = Math.hypot(dx, dz) || 1;
    x += dx / length;
    z += dz / length;
  }
  // The figure's x axis points from right to left; it faces along x cross y.
  return Math.atan2(-z, x) + YAW_FROM_FRONT;
}

/**
 * Returns the centre of the view in each frame, (T, 2) x and z, smoothed without lag: the root, or the middle of
 * markers, none of which is one.
 */
export function cameraPath(motion: FigureMotion): Float32Array {
  const path = new Float32Array(2 * motion.nFrames);
  const share = 1 - Math.exp(-1 / (FOLLOW_S * motion.fps));
  const nRoots = areMarkers(motion.parents) ? motion.nJoints : 1;
  for (const axis of [0, 1]) {
    const root = (frame: number) => {
      let sum = 0;
      for (let joint = 0; joint < nRoots; joint++)
        sum += motion.positions[3 * (frame * motion.nJoints + joint) + 2 * axis]!;
      return sum / nRoots;
    };
    let at = root(0);
    for (let frame = 0; frame < motion.nFrames; frame++) {
      at += share * (root(frame) - at);
      path[2 * frame + axis] = at;
    }
    at = path[2 * (motion.nFrames - 1) + axis]!;
    for (let frame = motion.nFrames - 1; frame >= 0; frame--) {
      at += share * (path[2 * frame + axis]! - at);
      path[2 * frame + axis] = at; // forward and backward: no lag
    }
  }
  return path;
}

/** Returns the joints to draw as dots, those of markers and of figures without bones, and the links between markers. */
export function findDots(motion: FigureMotion): {
  dots: readonly number[];
  links: readonly (readonly [number, number])[];
} {
  const { positions, ends, nFrames, nJoints, parents } = motion;
  const joints = [...parents.keys()];
  if (areMarkers(parents)) return { dots: joints, links: findMarkerLinks({ positions, ends, nFrames }, nJoints) };
  return { dots: hasBones(motion) ? [] : joints, links: [] };
}

/** Whether any bone has a length in the first frame. */
function hasBones({ positions, ends, parents, endJoints }: FigureMotion): boolean {
  const isLong = (from: Float32Array, index: number, parent: number) =>
    Math.hypot(...[0, 1, 2].map((axis) => from[3 * index + axis]! - positions[3 * parent + axis]!)) > MIN_BONE_M;
  return (
    parents.some((parent, joint) => parent >= 0 && isLong(positions, joint, parent)) ||
    endJoints.some((parent, end) => isLong(ends, end, parent))
  );
}

/** Returns the index of the head joint, or -1. */
function findHead(names: readonly string[]): number {
  return names.findIndex((name) => /(^|[^a-z])head$/i.test(name) || /Head$/.test(name));
}

export class StickFigure {
  readonly #yaw: number;
  readonly #head: number;
  readonly #visibleM: number;
  readonly #path: Float32Array;
  readonly #sides: readonly Side[];
  readonly #dots: readonly number[];
  readonly #links: readonly (readonly [number, number])[];

  constructor(readonly motion: FigureMotion) {
    this.#yaw = bestYaw(motion);
    this.#path = cameraPath(motion);
    this.#sides = findSides(motion);
    ({ dots: this.#dots, links: this.#links } = findDots(motion));
    this.#head = findHead(motion.names);
    let top = MIN_VISIBLE_M;
    for (let at = 1; at < motion.positions.length; at += 3) top = Math.max(top, motion.positions[at]!);
    this.#visibleM = BELOW_M + top + ABOVE_M;
  }

  /** Draws a frame on a canvas of this size in CSS pixels. */
  draw(context: CanvasRenderingContext2D, frame: number, width: number, height: number, colours: Colours): void {
    const scale = height / this.#visibleM;
    const [cx, cz] = [this.#path[2 * frame]!, this.#path[2 * frame + 1]!];
    const [sin, cos] = [Math.sin(this.#yaw), Math.cos(this.#yaw)];
    const project = (x: number, y: number, z: number): Point => {
      const [dx, dz] = [x - cx, z - cz];
      const [across, towards] = [cos * dx - sin * dz, sin * dx + cos * dz];
      const up = y * Math.cos(PITCH) - towards * Math.sin(PITCH);
      return [width / 2 + scale * across, height - scale * (BELOW_M + up), towards];
    };
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, width, height);
    this.#drawFloor(context, project, [cx, cz], width / scale, colours);
    this.#drawBones(context, project, frame, height, colours);
  }

  #drawFloor(
    context: CanvasRenderingContext2D,
    project: (x: number, y: number, z: number) => Point,
    centre: [number, number],
    widthM: number,
    colours: Colours,
  ): void {
    context.fillStyle = colours.floor;
    context.globalAlpha = 0.45;
    const reach = Math.min(12, Math.ceil(widthM / 2 / DOT_M) + 1);
    const [ix, iz] = centre.map((each) => Math.round(each / DOT_M)) as [number, number];
    for (let x = ix - reach; x <= ix + reach; x++) {
      for (let z = iz - reach; z <= iz + reach; z++) {
        const [px, py, towards] = project(x * DOT_M, 0, z * DOT_M);
        if (Math.abs(towards) < 0.9) context.fillRect(px - 0.75, py - 0.75, 1.5, 1.5);
      }
    }
    context.globalAlpha = 1;
  }

  #drawBones(
    context: CanvasRenderingContext2D,
    project: (x: number, y: number, z: number) => Point,
    frame: number,
    height: number,
    colours: Colours,
  ): void {
    const { motion } = this;
    const projectPoint = (from: Float32Array, index: number) =>
      project(from[3 * index]!, from[3 * index + 1]!, from[3 * index + 2]!);
    const joints = motion.parents.map((_, joint) => projectPoint(motion.positions, frame * motion.nJoints + joint));
    const bones = motion.parents.flatMap((parent, joint) =>
      parent < 0 ? [] : [{ from: joints[parent]!, to: joints[joint]!, side: this.#sides[joint]! }],
    );
    motion.endJoints.forEach((joint, end) => {
      const to = projectPoint(motion.ends, frame * motion.endJoints.length + end);
      bones.push({ from: joints[joint]!, to, side: this.#sides[joint]! });
    });
    for (const [a, b] of this.#links) {
      const side = this.#sides[a] === this.#sides[b] ? this.#sides[a]! : "middle";
      bones.push({ from: joints[a]!, to: joints[b]!, side });
    }
    bones.sort((a, b) => a.from[2] + a.to[2] - (b.from[2] + b.to[2]));
    context.lineCap = "round";
    context.lineWidth = this.#links.length ? Math.max(1, height / 70) : Math.max(2, height / 28);
    for (const { from, to, side } of bones) {
      context.strokeStyle = colours[side];
      context.beginPath();
      context.moveTo(from[0], from[1]);
      context.lineTo(to[0], to[1]);
      context.stroke();
    }
    for (const joint of this.#dots) {
      const [x, y] = joints[joint]!;
      context.fillStyle = colours[this.#sides[joint]!];
      context.beginPath();
      context.arc(x, y, Math.max(2, height / 50), 0, 2 * Math.PI);
      context.fill();
    }
    const head = joints[this.#head];
    const crown = motion.endJoints.indexOf(this.#head);
    if (!head || crown < 0) return;
    const top = projectPoint(motion.ends, frame * motion.endJoints.length + crown);
    context.fillStyle = colours.middle;
    context.beginPath();
    context.arc((head[0] + top[0]) / 2, (head[1] + top[1]) / 2, height / 22, 0, 2 * Math.PI);
    context.fill();
  }
}
