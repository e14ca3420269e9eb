/** A camera that goes around a point: by dragging, the wheel, touch or commands. It can be written into an address. */

import { PerspectiveCamera, Vector3 } from "three";
import type { Vec } from "./vectors";

export interface View {
  azimuth: number; // degrees about the upright axis; 0 looks from +Z
  elevation: number; // degrees above the ground
  distance: number; // metres
  aside: Vec; // metres by which the middle was moved
}

const LEAST = 0.4;
const MOST = 40;
const FOV_DEG = 32;

export const FIRST_VIEW: View = { azimuth: 35, elevation: 9, distance: 4.6, aside: [0, 0, 0] };

/** A view as numbers for an address. */
export function viewNumbers({ azimuth, elevation, distance, aside }: View): number[] {
  return [azimuth, elevation, distance, ...(aside.some(Boolean) ? aside : [])];
}

/** The view that numbers say; null where they say none. */
export function viewOf(n: readonly number[] | null): View | null {
  if (!n || n.length < 3 || n.length > 6 || !n.every(Number.isFinite)) return null;
  return clamped({ azimuth: n[0]!, elevation: n[1]!, distance: n[2]!, aside: [n[3] ?? 0, n[4] ?? 0, n[5] ?? 0] });
}

/** Within limits, and rounded, so that an address says all of it. */
function clamped(view: View): View {
  const [x, y, z] = view.aside;
  return {
    azimuth: rounded(((((view.azimuth + 180) % 360) + 360) % 360) - 180),
    elevation: rounded(Math.min(89.5, Math.max(-20, view.elevation))),
    distance: rounded(Math.min(MOST, Math.max(LEAST, view.distance))),
    aside: [rounded(x), rounded(y), rounded(z)],
  };
}

const rounded = (value: number) => Math.round(1000 * value) / 1000;

export class Orbit {
  readonly camera = new PerspectiveCamera(FOV_DEG, 1, 0.05, 200);
  readonly #middle = new Vector3();
  #view: View;
  #changed: () => void;

  constructor(host: HTMLElement, view: View, changed: () => void) {
    this.#view = view;
    this.#changed = changed;
    this.#listen(host);
  }

  get view(): View {
    return this.#view;
  }

  set view(view: View) {
    this.#view = clamped(view);
    this.#changed();
  }

  turn(azimuth: number, elevation: number): void {
    this.view = { ...this.#view, azimuth: this.#view.azimuth + azimuth, elevation: this.#view.elevation + elevation };
  }

  zoom(factor: number): void {
    this.view = { ...this.#view, distance: this.#view.distance * factor };
  }

  /** Moves the middle by a way on the screen, in parts of its height. */
  pan(right: number, up: number): void {
    const scale = 2 * this.#view.distance * Math.tan((FOV_DEG * Math.PI) / 360);
    const { x, y, z } = new Vector3(right * scale, up * scale, 0).applyQuaternion(this.camera.quaternion);
    const [a, b, c] = this.#view.aside;
    this.view = { ...this.#view, aside: [a + x, b + y, c + z] };
  }

  /** The direction to the right on the screen. */
  get right(): Vec {
    const turn = (this.#view.azimuth * Math.PI) / 180;
    return [Math.cos(turn), 0, -Math.sin(turn)];
  }

  /** Places the camera around a point. */
  around(x: number, y: number, z: number, aspect: number): void {
    const { azimuth, elevation, distance, aside } = this.#view;
    const [turn, lift] = [(azimuth * Math.PI) / 180, (elevation * Math.PI) / 180];
    // On an upright screen the figure must still fit from side to side.
    const far = distance * Math.max(1, 0.75 / aspect);
    this.#middle.set(x + aside[0], y + aside[1], z + aside[2]);
    this.camera.position.set(
      this.#middle.x + far * Math.cos(lift) * Math.sin(turn),
      Math.max(0.05, this.#middle.y + far * Math.sin(lift)),
      this.#middle.z + far * Math.cos(lift) * Math.cos(turn),
    );
    this.camera.lookAt(this.#middle);
    if (this.camera.aspect !== aspect) {
      this.camera.aspect = aspect;
      this.camera.updateProjectionMatrix();
    }
    this.camera.updateMatrixWorld();
  }

  #listen(host: HTMLElement): void {
    const held = new Map<number, { x: number; y: number }>();
    host.addEventListener("pointerdown", (event) => {
      if (event.defaultPrevented) return; // something in the view was taken hold of
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
      host.setPointerCapture(event.pointerId);
    });
    host.addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (!before) return;
      const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
      const others = [...held].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
      const height = host.clientHeight || 1;
      if (others[0]) {
        const apart = (p: { x: number; y: number }) => Math.hypot(p.x - others[0]!.x, p.y - others[0]!.y) || 1;
        this.zoom(apart(before) / apart({ x: event.clientX, y: event.clientY }));
        this.pan(-dx / (2 * height), dy / (2 * height));
      } else if (event.shiftKey || event.buttons & 6) this.pan(-dx / height, dy / height);
      else this.turn((-dx * 220) / height, (dy * 160) / height);
    });
    for (const kind of ["pointerup", "pointercancel"] as const)
      host.addEventListener(kind, (event) => {
        held.delete(event.pointerId);
      });
    host.addEventListener("contextmenu", (event) => event.preventDefault());
    host.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.0022));
      },
      { passive: false },
    );
  }
}
