/** Handles in the view: rings that turn a joint, balls that pull hands, feet and hips. */

import {
  type BufferGeometry,
  Color,
  DoubleSide,
  Group,
  Mesh,
  MeshBasicMaterial,
  Quaternion,
  SphereGeometry,
  TorusGeometry,
  Vector3,
} from "three";
import type { Player } from "../player/player";
import { aboutAxis, add, cross, dot, type Quat, sub, type Vec } from "../player/vectors";
import { aboutPlane, onScreen, placeIn, type Spot } from "./pointing";

export interface Grip {
  joint: number;
  at: Vec;
  kind: "hand" | "foot" | "hips";
}

/** Three axes about which a joint is turned. */
export type Axes = readonly [Vec, Vec, Vec];

const RING_SIZE = 0.085; // of the distance to the camera
const NEAR_PX = 9;
const BALL_PX = 15;
const CLICK_PX = 4; // moved less, it was a press
const COLOURS = ["#f03e3e", "#37b24d", "#1c7ed6"];
const BALLS = { hand: "#f59f00", foot: "#f59f00", hips: "#ae3ec9" };
// Around each ball, so that it is seen on limbs of any colour and on light and dark: how large, and what colour
const RIMS = [
  [1.75, "#212529"],
  [1.4, "#ffffff"],
] as const;
const SAMPLES = 48;

type Dragging =
  | { kind: "ring"; from: Vec; axis: Vec; turned: number; last: number }
  | { kind: "ball"; grip: Grip; from: Vec };

export interface Does {
  turning(turn: Quat, done: boolean): void;
  pulling(grip: Grip, to: Vec, done: boolean): void;
  selected(joint: number): void; // its ball was pressed
  pressed(x: number, y: number): void; // the view, but no handle
  cancelled(): void; // what was held is let go as it was
}

export class Handles {
  readonly #player: Player;
  readonly #does: Does;
  readonly #rings = new Group();
  readonly #balls = new Group();
  readonly #ball = new SphereGeometry(1, 20, 14);
  readonly #stop = new AbortController();
  readonly #unwatch: () => void;
  #axes: Axes = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ];
  #middle: Vec | null = null;
  #grips: readonly Grip[] = [];
  #drag: Dragging | null = null;

  constructor(player: Player, does: Does) {
    this.#player = player;
    this.#does = does;
    for (const colour of COLOURS) {
      const skin = new MeshBasicMaterial({ color: colour, transparent: true, opacity: 0.85, side: DoubleSide });
      this.#rings.add(new Mesh(new TorusGeometry(1, 0.022, 8, 72) as BufferGeometry, skin));
    }
    player.overlay.add(this.#rings, this.#balls);
    this.#unwatch = player.beforeHandles(() => this.#size());
    this.#listen();
    this.show(null, this.#axes, []);
  }

  /** Rings around a place (null: none), and balls. All in the world, where the figure stands. */
  show(middle: Vec | null, axes: Axes, grips: readonly Grip[]): void {
    this.#middle = middle;
    this.#axes = axes;
    this.#rings.visible = middle !== null;
    if (middle) this.#rings.position.set(...middle);
    this.#rings.children.forEach((ring, k) => {
      ring.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), new Vector3(...axes[k]!));
    });
    this.#grips = grips;
    while (this.#balls.children.length < grips.length) this.#balls.add(this.#rimmed());
    this.#balls.children.forEach((ball, k) => {
      const grip = grips[k];
      ball.visible = grip !== undefined;
      if (!grip) return;
      ball.position.set(...grip.at);
      ((ball.children.at(-1) as Mesh).material as MeshBasicMaterial).color = new Color(BALLS[grip.kind]);
    });
    this.#player.invalidate();
  }

  dispose(): void {
    this.#stop.abort();
    this.#unwatch();
    delete this.#player.canvas.dataset.grips;
    this.#player.overlay.remove(this.#rings, this.#balls);
    for (const mesh of [...this.#rings.children, ...this.#balls.children.flatMap((ball) => ball.children)] as Mesh[]) {
      mesh.geometry.dispose();
      (mesh.material as MeshBasicMaterial).dispose();
    }
  }

  /** A ball within its rims, each drawn over the one before. */
  #rimmed(): Group {
    const ball = new Group();
    for (const [k, [size, color]] of [...RIMS, [1, "#ffffff"] as const].entries()) {
      const skin = new MeshBasicMaterial({ color, transparent: true, depthTest: false, depthWrite: false });
      const mesh = new Mesh(this.#ball, skin);
      mesh.scale.setScalar(size);
      mesh.renderOrder = k + 1;
      ball.add(mesh);
    }
    return ball;
  }

  #size(): void {
    const away = (at: Vec) => this.#player.camera.position.distanceTo(new Vector3(...at));
    if (this.#middle) this.#rings.scale.setScalar(RING_SIZE * away(this.#middle));
    this.#grips.forEach((grip, k) => {
      this.#balls.children[k]?.scale.setScalar(0.0075 * away(grip.at));
    });
    const seen = this.#grips.map(({ joint, at }) => [joint, this.#player.project(at)] as const);
    // Where balls can be taken hold of, for whoever drives the page by a script.
    this.#player.canvas.dataset.grips = seen.map(([joint, { x, y }]) => `${joint}:${x | 0},${y | 0}`).join(" ");
  }

  #listen(): void {
    const { element, canvas } = this.#player;
    const { signal } = this.#stop;
    let pressed: Spot | null = null;
    let isMoved = false;
    element.addEventListener(
      "pointerdown",
      (event) => {
        if (event.button !== 0 || event.target !== canvas) return;
        pressed = placeIn(canvas, event);
        isMoved = false;
        this.#drag = this.#take(pressed);
        if (!this.#drag) return;
        event.preventDefault(); // the camera stays
        canvas.setPointerCapture(event.pointerId);
      },
      { signal, capture: true },
    );
    element.addEventListener(
      "pointermove",
      (event) => {
        const at = placeIn(canvas, event);
        isMoved ||= pressed !== null && Math.hypot(at.x - pressed.x, at.y - pressed.y) >= CLICK_PX;
        if (this.#drag && isMoved) this.#move(at, false);
        else if (!event.buttons) this.#hover(at);
      },
      { signal },
    );
    const cancel = () => {
      if (this.#drag) this.#does.cancelled();
      this.#drag = pressed = null;
    };
    element.addEventListener("pointercancel", cancel, { signal });
    element.addEventListener(
      "pointerup",
      (event) => {
        const at = placeIn(canvas, event);
        if (this.#drag && isMoved) this.#move(at, true);
        else if (this.#drag?.kind === "ball") this.#does.selected(this.#drag.grip.joint);
        else if (pressed && !isMoved && !this.#drag) this.#does.pressed(at.x, at.y);
        this.#drag = pressed = null;
      },
      { signal },
    );
  }

  #take(at: Spot): Dragging | null {
    const grip = this.#ballAt(at);
    if (grip) return { kind: "ball", grip, from: onScreen(this.#player, grip.at, at) };
    const ring = this.#ringAt(at);
    if (ring === null || !this.#middle) return null;
    const axis = this.#axes[ring]!;
    const from = aboutPlane(this.#player, this.#middle, axis, at);
    return { kind: "ring", from, axis, turned: 0, last: 0 };
  }

  #move(at: Spot, done: boolean): void {
    const drag = this.#drag!;
    if (drag.kind === "ball") {
      const way = sub(onScreen(this.#player, drag.grip.at, at), drag.from);
      this.#does.pulling(drag.grip, add(drag.grip.at, way), done);
      return;
    }
    const to = aboutPlane(this.#player, this.#middle!, drag.axis, at);
    const angle = Math.atan2(dot(cross(drag.from, to), drag.axis), dot(drag.from, to));
    let step = angle - drag.last;
    step -= 2 * Math.PI * Math.round(step / (2 * Math.PI));
    drag.turned += step;
    drag.last = angle;
    this.#does.turning(aboutAxis(drag.axis, drag.turned), done);
  }

  #hover(at: Spot): void {
    const ring = this.#ballAt(at) ? null : this.#ringAt(at);
    let isChanged = false;
    this.#rings.children.forEach((each, k) => {
      const skin = (each as Mesh).material as MeshBasicMaterial;
      const opacity = ring === null || ring === k ? 0.85 : 0.3;
      isChanged ||= skin.opacity !== opacity;
      skin.opacity = opacity;
    });
    this.#player.canvas.style.cursor = ring !== null || this.#ballAt(at) ? "pointer" : "";
    if (isChanged) this.#player.invalidate();
  }

  #ballAt({ x, y }: Spot): Grip | null {
    let best: Grip | null = null;
    let least = BALL_PX;
    for (const grip of this.#grips) {
      const p = this.#player.project(grip.at);
      const away = Math.hypot(p.x - x, p.y - y);
      if (p.isAhead && away < least) [best, least] = [grip, away];
    }
    return best;
  }

  #ringAt({ x, y }: Spot): number | null {
    if (!this.#middle) return null;
    let best: number | null = null;
    let least = NEAR_PX;
    const size = this.#rings.scale.x;
    const turn = new Quaternion();
    for (const [k, ring] of this.#rings.children.entries()) {
      turn.copy(ring.quaternion);
      for (let s = 0; s < SAMPLES; s++) {
        const angle = (2 * Math.PI * s) / SAMPLES;
        const p = new Vector3(size * Math.cos(angle), size * Math.sin(angle), 0).applyQuaternion(turn);
        const at = this.#player.project(add(this.#middle, [p.x, p.y, p.z]));
        const away = Math.hypot(at.x - x, at.y - y);
        if (away < least) [best, least] = [k, away];
      }
    }
    return best;
  }
}
