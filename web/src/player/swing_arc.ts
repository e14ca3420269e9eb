/** The arc of a swing: the path of the end of its bone from start to end, the bone at both, and the axis. */

import {
  BufferAttribute,
  BufferGeometry,
  type ColorRepresentation,
  DoubleSide,
  Group,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
} from "three";

/** The arc in the frame of the joint's parent, and where that is in each frame. */
export interface SwingArcData {
  arc: Float32Array; // (K, 3) metres from the joint
  axis: Float32Array; // (3,)
  origins: Float32Array; // (T, 3) the joint
  rotations: Float32Array; // (T, 3, 3)
  start: number; // frame
  end: number;
}

const FILL_OPACITY = { during: 0.34, otherwise: 0.16 };
const LINE_OPACITY = { during: 1, otherwise: 0.55 };
const AXIS_M = 0.12; // metres on both sides of the joint
const BAND_M = 0.014; // width of the arc
const BONE_M = 0.004; // half of the width of the bones at start and end
const ARROW = { length: 0.06, width: 0.03, shareOfArc: 0.4 }; // metres, and not more than that share of the arc
const ABOVE_FIGURES = 10; // drawing order

export class SwingArc {
  readonly group = new Group();
  readonly #fill = new Mesh(new BufferGeometry(), createFillMaterial());
  readonly #band = new Mesh(new BufferGeometry(), createFillMaterial());
  readonly #bones = new Mesh(new BufferGeometry(), createFillMaterial());
  readonly #axis = new LineSegments(new BufferGeometry(), createLineMaterial());
  readonly #arrow = new Mesh(new BufferGeometry(), createFillMaterial());
  readonly #placement = new Matrix4();
  #data: SwingArcData | null = null;

  constructor() {
    this.group.matrixAutoUpdate = false;
    this.group.visible = false;
    for (const part of this.#parts) {
      part.frustumCulled = false;
      part.renderOrder = ABOVE_FIGURES;
      this.group.add(part);
    }
  }

  get data(): SwingArcData | null {
    return this.#data;
  }

  /** Replaces the arc; null for none. */
  set data(data: SwingArcData | null) {
    this.#data = data;
    this.group.visible = data !== null;
    if (!data) return;
    const { arc, axis } = data;
    const nPoints = arc.length / 3;
    const triangles: number[] = [];
    for (let k = 1; k < nPoints; k++) triangles.push(0, k, k + 1);
    this.#replace(this.#fill, [0, 0, 0, ...arc], triangles);
    this.#replace(this.#band, ...band(arc));
    this.#replace(this.#bones, ...bones(arc));
    const along = [...axis].map((value) => AXIS_M * value);
    this.#replace(this.#axis, [...along.map((value) => -value), ...along]);
    this.#replace(this.#arrow, arrowHead(arc));
  }

  set colour(colour: ColorRepresentation) {
    for (const part of this.#parts) (part.material as MeshBasicMaterial | LineBasicMaterial).color.set(colour);
  }

  /** Moves the arc to where the parent of the joint is in a frame, offset by `ox` and `oz`. */
  place(frame: number, ox: number, oz: number): void {
    const data = this.#data;
    if (!data) return;
    const at = Math.min(data.origins.length / 3 - 1, Math.max(0, frame));
    const [x, y, z] = data.origins.subarray(3 * at, 3 * at + 3) as unknown as [number, number, number];
    const r = data.rotations.subarray(9 * at, 9 * at + 9);
    this.#placement.set(
      r[0]!, r[1]!, r[2]!, x + ox,
      r[3]!, r[4]!, r[5]!, y,
      r[6]!, r[7]!, r[8]!, z + oz,
      0, 0, 0, 1,
    ); // biome-ignore format: a matrix
    this.group.matrix.copy(this.#placement);
    this.group.matrixWorldNeedsUpdate = true;
    const when = at >= data.start && at <= data.end ? "during" : "otherwise";
    this.#fill.material.opacity = FILL_OPACITY[when];
    for (const part of [this.#band, this.#bones, this.#axis, this.#arrow]) part.material.opacity = LINE_OPACITY[when];
  }

  dispose(): void {
    for (const part of this.#parts) {
      part.geometry.dispose();
      (part.material as MeshBasicMaterial).dispose();
    }
  }

  get #parts() {
    return [this.#fill, this.#band, this.#bones, this.#axis, this.#arrow];
  }

  #replace(part: Mesh | LineSegments, positions: readonly number[], triangles: readonly number[] | null = null): void {
    part.geometry.dispose();
    part.geometry = new BufferGeometry();
    part.geometry.setAttribute("position", new BufferAttribute(Float32Array.from(positions), 3));
    if (triangles) part.geometry.setIndex([...triangles]);
  }
}

/** Returns a band along the inner side of an arc: points and triangles. */
export function band(arc: Float32Array): [number[], number[]] {
  const points: number[] = [];
  const triangles: number[] = [];
  for (let k = 0; k < arc.length / 3; k++) {
    const p = [arc[3 * k]!, arc[3 * k + 1]!, arc[3 * k + 2]!] as const;
    const shrink = Math.max(0, 1 - BAND_M / (Math.hypot(...p) || 1));
    points.push(...p, ...p.map((value) => shrink * value));
    if (k) triangles.push(2 * k - 2, 2 * k - 1, 2 * k, 2 * k - 1, 2 * k + 1, 2 * k);
  }
  return [points, triangles];
}

/** Returns the bone at the start and at the end of an arc as narrow rectangles in its surface. */
function bones(arc: Float32Array): [number[], number[]] {
  const points: number[] = [];
  const n = arc.length / 3;
  for (const [at, beside] of [
    [0, 1],
    [n - 1, n - 2],
  ] as const) {
    const tip = [0, 1, 2].map((k) => arc[3 * at + k]!);
    const side = normalize([0, 1, 2].map((k) => arc[3 * beside + k]! - tip[k]!)).map((value) => BONE_M * value);
    for (const sign of [-1, 1]) points.push(...side.map((value) => sign * value));
    for (const sign of [-1, 1]) points.push(...tip.map((value, k) => value + sign * side[k]!));
  }
  return [points, [0, 1, 2, 1, 3, 2, 4, 5, 6, 5, 7, 6]];
}

/** Returns the triangle of an arrow head at the end of an arc: tip, and two corners in the plane of its last piece. */
export function arrowHead(arc: Float32Array): number[] {
  const point = (k: number) => [arc[3 * k]!, arc[3 * k + 1]!, arc[3 * k + 2]!] as const;
  const n = arc.length / 3;
  const tip = point(n - 1);
  let length = 0;
  let back = n - 1;
  for (; back > 0 && length < ARROW.length; back--) length += distance(point(back), point(back - 1));
  const total = Array.from({ length: n - 1 }, (_, k) => distance(point(k), point(k + 1))).reduce((a, b) => a + b, 0);
  const size = Math.min(ARROW.length, ARROW.shareOfArc * total);
  const from = point(Math.min(back, n - 2));
  const along = normalize([tip[0] - from[0], tip[1] - from[1], tip[2] - from[2]]);
  const radial = normalize([...tip]);
  const inward = along[0] * radial[0] + along[1] * radial[1] + along[2] * radial[2];
  const side = normalize([0, 1, 2].map((k) => radial[k]! - inward * along[k]!));
  const corner = (sign: number) =>
    [0, 1, 2].map((k) => tip[k]! - size * along[k]! + (sign * (size * ARROW.width * side[k]!)) / ARROW.length);
  return [...tip, ...corner(1), ...corner(-1)];
}

function distance(a: readonly number[], b: readonly number[]): number {
  return Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!);
}

function normalize(v: readonly number[]): [number, number, number] {
  const length = Math.hypot(...v) || 1;
  return [v[0]! / length, v[1]! / length, v[2]! / length];
}

function createFillMaterial(): MeshBasicMaterial {
  return new MeshBasicMaterial({ transparent: true, depthTest: false, depthWrite: false, side: DoubleSide });
}

function createLineMaterial(): LineBasicMaterial {
  return new LineBasicMaterial({ transparent: true, depthTest: false, depthWrite: false });
}
