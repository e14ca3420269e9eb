/** Handles in the view: rings that rotate a joint, balls that move hands, feet and hips (IK). */

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
import { add, axisRotation, cross, dot, type Quat, sub, type Vec } from "../player/vectors";
import { directionAboutAxis, pointerPosition, pointOnScreenPlane, type ScreenPoint } from "./pointer";

export interface IkHandle {
  joint: number;
  at: Vec;
  kind: "hand" | "foot" | "hips";
}

/** Three axes about which a joint is rotated. */
export type Axes = readonly [Vec, Vec, Vec];

const RING_SIZE = 0.085; // relative to the distance to the camera
const RING_HIT_PX = 9;
const BALL_HIT_PX = 15;
const CLICK_PX = 4; // shorter drags are clicks
const COLOURS = ["#f03e3e", "#37b24d", "#1c7ed6"];
const BALL_COLOURS = { hand: "#f59f00", foot: "#f59f00", hips: "#ae3ec9" };
// Rims around each ball, so that it is visible on figures of any colour in light and dark: size, colour
const RIMS = [
  [1.75, "#212529"],
  [1.4, "#ffffff"],
] as const;
const SAMPLES = 48;

type Drag =
  | { kind: "ring"; from: Vec; axis: Vec; angle: number; lastAngle: number }
  | { kind: "ball"; handle: IkHandle; from: Vec };

export interface HandleListeners {
  onRotate(rotation: Quat, done: boolean): void;
  onMove(handle: IkHandle, to: Vec, done: boolean): void;
  onSelect(joint: number): void; // a ball was clicked
  onPressView(x: number, y: number): void; // the view was clicked beside all handles
  onCancel(): void; // the drag was cancelled
}

export class Handles {
  readonly #player: Player;
  readonly #listeners: HandleListeners;
  readonly #rings = new Group();
  readonly #balls = new Group();
  readonly #ball = new SphereGeometry(1, 20, 14);
  readonly #stop = new AbortController();
  readonly #removeListener: () => void;
  #axes: Axes = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ];
  #centre: Vec | null = null;
  #ikHandles: readonly IkHandle[] = [];
  #drag: Drag | null = null;

  constructor(player: Player, listeners: HandleListeners) {
    this.#player = player;
    this.#listeners = listeners;
    for (const colour of COLOURS) {
      const material = new MeshBasicMaterial({ color: colour, transparent: true, opacity: 0.85, side: DoubleSide });
      this.#rings.add(new Mesh(new TorusGeometry(1, 0.022, 8, 72) as BufferGeometry, material));
    }
    player.overlay.add(this.#rings, this.#balls);
    this.#removeListener = player.beforeHandles(() => this.#updateScale());
    this.#listen();
    this.show(null, this.#axes, []);
  }

  /** Shows rings around a point (null: none) and balls, in world coordinates. */
  show(centre: Vec | null, axes: Axes, ikHandles: readonly IkHandle[]): void {
    this.#centre = centre;
    this.#axes = axes;
    this.#rings.visible = centre !== null;
    if (centre) this.#rings.position.set(...centre);
    this.#rings.children.forEach((ring, k) => {
      ring.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), new Vector3(...axes[k]!));
    });
    this.#ikHandles = ikHandles;
    while (this.#balls.children.length < ikHandles.length) this.#balls.add(this.#createBall());
    this.#balls.children.forEach((ball, k) => {
      const handle = ikHandles[k];
      ball.visible = handle !== undefined;
      if (!handle) return;
      ball.position.set(...handle.at);
      ((ball.children.at(-1) as Mesh).material as MeshBasicMaterial).color = new Color(BALL_COLOURS[handle.kind]);
    });
    this.#player.invalidate();
  }

  dispose(): void {
    this.#stop.abort();
    this.#removeListener();
    delete this.#player.canvas.dataset.handles;
    this.#player.overlay.remove(this.#rings, this.#balls);
    for (const mesh of [...this.#rings.children, ...this.#balls.children.flatMap((ball) => ball.children)] as Mesh[]) {
      mesh.geometry.dispose();
      (mesh.material as MeshBasicMaterial).dispose();
    }
  }

  /** Creates a ball with its rims, each drawn over the one before. */
  #createBall(): Group {
    const ball = new Group();
    for (const [k, [size, color]] of [...RIMS, [1, "#ffffff"] as const].entries()) {
      const material = new MeshBasicMaterial({ color, transparent: true, depthTest: false, depthWrite: false });
      const mesh = new Mesh(this.#ball, material);
      mesh.scale.setScalar(size);
      mesh.renderOrder = k + 1;
      ball.add(mesh);
    }
    return ball;
  }

  #updateScale(): void {
    const distanceTo = (at: Vec) => this.#player.camera.position.distanceTo(new Vector3(...at));
    if (this.#centre) this.#rings.scale.setScalar(RING_SIZE * distanceTo(this.#centre));
    this.#ikHandles.forEach((handle, k) => {
      this.#balls.children[k]?.scale.setScalar(0.0075 * distanceTo(handle.at));
    });
    const onScreen = this.#ikHandles.map(({ joint, at }) => [joint, this.#player.project(at)] as const);
    // Screen positions of the balls, for scripts that drive the page (tests).
    this.#player.canvas.dataset.handles = onScreen.map(([joint, { x, y }]) => `${joint}:${x | 0},${y | 0}`).join(" ");
  }

  #listen(): void {
    const { element, canvas } = this.#player;
    const { signal } = this.#stop;
    let pressed: ScreenPoint | null = null;
    let isMoved = false;
    element.addEventListener(
      "pointerdown",
      (event) => {
        if (event.button !== 0 || event.target !== canvas) return;
        pressed = pointerPosition(canvas, event);
        isMoved = false;
        this.#drag = this.#startDrag(pressed);
        if (!this.#drag) return;
        event.preventDefault(); // the camera does not move
        canvas.setPointerCapture(event.pointerId);
      },
      { signal, capture: true },
    );
    element.addEventListener(
      "pointermove",
      (event) => {
        const at = pointerPosition(canvas, event);
        isMoved ||= pressed !== null && Math.hypot(at.x - pressed.x, at.y - pressed.y) >= CLICK_PX;
        if (this.#drag && isMoved) this.#move(at, false);
        else if (!event.buttons) this.#hover(at);
      },
      { signal },
    );
    const cancel = () => {
      if (this.#drag) this.#listeners.onCancel();
      this.#drag = pressed = null;
    };
    element.addEventListener("pointercancel", cancel, { signal });
    element.addEventListener(
      "pointerup",
      (event) => {
        const at = pointerPosition(canvas, event);
        if (this.#drag && isMoved) this.#move(at, true);
        else if (this.#drag?.kind === "ball") this.#listeners.onSelect(this.#drag.handle.joint);
        else if (pressed && !isMoved && !this.#drag) this.#listeners.onPressView(at.x, at.y);
        this.#drag = pressed = null;
      },
      { signal },
    );
  }

  #startDrag(at: ScreenPoint): Drag | null {
    const handle = this.#ballAt(at);
    if (handle) return { kind: "ball", handle, from: pointOnScreenPlane(this.#player, handle.at, at) };
    const ring = this.#ringAt(at);
    if (ring === null || !this.#centre) return null;
    const axis = this.#axes[ring]!;
    const from = directionAboutAxis(this.#player, this.#centre, axis, at);
    return { kind: "ring", from, axis, angle: 0, lastAngle: 0 };
  }

  #move(at: ScreenPoint, done: boolean): void {
    const drag = this.#drag!;
    if (drag.kind === "ball") {
      const offset = sub(pointOnScreenPlane(this.#player, drag.handle.at, at), drag.from);
      this.#listeners.onMove(drag.handle, add(drag.handle.at, offset), done);
      return;
    }
    const to = directionAboutAxis(this.#player, this.#centre!, drag.axis, at);
    const angle = Math.atan2(dot(cross(drag.from, to), drag.axis), dot(drag.from, to));
    let step = angle - drag.lastAngle;
    step -= 2 * Math.PI * Math.round(step / (2 * Math.PI));
    drag.angle += step;
    drag.lastAngle = angle;
    this.#listeners.onRotate(axisRotation(drag.axis, drag.angle), done);
  }

  #hover(at: ScreenPoint): void {
    const ring = this.#ballAt(at) ? null : this.#ringAt(at);
    let isChanged = false;
    this.#rings.children.forEach((each, k) => {
      const material = (each as Mesh).material as MeshBasicMaterial;
      const opacity = ring === null || ring === k ? 0.85 : 0.3;
      isChanged ||= material.opacity !== opacity;
      material.opacity = opacity;
    });
    this.#player.canvas.style.cursor = ring !== null || this.#ballAt(at) ? "pointer" : "";
    if (isChanged) this.#player.invalidate();
  }

  #ballAt({ x, y }: ScreenPoint): IkHandle | null {
    let best: IkHandle | null = null;
    let minDistance = BALL_HIT_PX;
    for (const handle of this.#ikHandles) {
      const p = this.#player.project(handle.at);
      const distance = Math.hypot(p.x - x, p.y - y);
      if (p.isAhead && distance < minDistance) [best, minDistance] = [handle, distance];
    }
    return best;
  }

  #ringAt({ x, y }: ScreenPoint): number | null {
    if (!this.#centre) return null;
    let best: number | null = null;
    let minDistance = RING_HIT_PX;
    const size = this.#rings.scale.x;
    const rotation = new Quaternion();
    for (const [k, ring] of this.#rings.children.entries()) {
      rotation.copy(ring.quaternion);
      for (let s = 0; s < SAMPLES; s++) {
        const angle = (2 * Math.PI * s) / SAMPLES;
        const p = new Vector3(size * Math.cos(angle), size * Math.sin(angle), 0).applyQuaternion(rotation);
        const at = this.#player.project(add(this.#centre, [p.x, p.y, p.z]));
        const distance = Math.hypot(at.x - x, at.y - y);
        if (distance < minDistance) [best, minDistance] = [k, distance];
      }
    }
    return best;
  }
}
