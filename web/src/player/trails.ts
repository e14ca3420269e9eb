/** Trails of joints: a line through the frames around the current one, with a dot at each key. */

import { BufferAttribute, BufferGeometry, type Color, Group, Line, LineBasicMaterial } from "three";
import { Hulls } from "./hulls";
import { jointPosition, type Track } from "./track";

export interface TrailOptions {
  track: Track;
  joints: readonly number[];
  keys: readonly number[];
  first: number;
  last: number;
  now: number;
}

const MAX_DOTS = 400;
const DOT_M = 0.017; // metres
const CURRENT_DOT_M = 0.03;

export class Trails {
  readonly group = new Group();
  readonly #lines = new Group();
  readonly #dots = new Hulls(MAX_DOTS);

  constructor() {
    this.#dots.mesh.castShadow = false;
    this.#dots.mesh.renderOrder = 1; // over ghosts
    this.group.add(this.#lines, this.#dots.mesh);
  }

  /** Draws the trails of joints from `first` to `last`, each in its colour. */
  draw({ track, joints, keys, first, last, now }: TrailOptions, colours: readonly Color[]): void {
    this.clear();
    let dots = 0;
    for (const [n, joint] of joints.entries()) {
      const colour = colours[n]!;
      const line = new Line(buildLine(track, joint, first, last), new LineBasicMaterial({ color: colour }));
      line.frustumCulled = false;
      line.renderOrder = 1;
      this.#lines.add(line);
      for (const frame of [...keys, now]) {
        if (frame < first || frame > last || dots >= MAX_DOTS) continue;
        const [x, y, z] = jointPosition(track, frame, joint);
        for (let ball = 0; ball < 4; ball++)
          this.#dots.place(dots, ball, x, y, z, frame === now ? CURRENT_DOT_M : DOT_M);
        this.#dots.colour(dots++, colour.r, colour.g, colour.b, 1);
      }
    }
    this.#dots.show(dots);
  }

  clear(): void {
    for (const line of this.#lines.children as Line[]) {
      line.geometry.dispose();
      (line.material as LineBasicMaterial).dispose();
    }
    this.#lines.clear();
    this.#dots.show(0);
  }

  dispose(): void {
    this.clear();
    this.#dots.dispose();
  }
}

function buildLine(track: Track, joint: number, first: number, last: number): BufferGeometry {
  const positions = new Float32Array(3 * (last - first + 1));
  for (let frame = first; frame <= last; frame++)
    positions.set(jointPosition(track, frame, joint), 3 * (frame - first));
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(positions, 3));
  return geometry;
}
