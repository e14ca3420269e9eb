/** An orbit camera, controlled by dragging, wheel, touch or commands. Its view can be stored in an address. */

import { PerspectiveCamera, Vector3 } from "three";
import type { Vec } from "./vectors";

export interface View {
  azimuth: number; // degrees about the vertical axis; 0 looks from +Z
  elevation: number; // degrees above the ground
  distance: number; // metres
  offset: Vec; // metres by which the centre was moved
}

const MIN_DISTANCE_M = 0.4;
const MAX_DISTANCE_M = 40;
const FOV_DEG = 32;

export const DEFAULT_VIEW: View = { azimuth: 35, elevation: 9, distance: 4.6, offset: [0, 0, 0] };

/** Converts a view to numbers for an address. */
export function viewToNumbers({ azimuth, elevation, distance, offset }: View): number[] {
  return [azimuth, elevation, distance, ...(offset.some(Boolean) ? offset : [])];
}

/** Converts numbers to a view; null if they are invalid. */
export function parseView(numbers: readonly number[] | null): View | null {
  if (!numbers || numbers.length < 3 || numbers.length > 6 || !numbers.every(Number.isFinite)) return null;
  return clampView({
    azimuth: numbers[0]!,
    elevation: numbers[1]!,
    distance: numbers[2]!,
    offset: [numbers[3] ?? 0, numbers[4] ?? 0, numbers[5] ?? 0],
  });
}

/** Clamps and rounds a view, so that it fits into an address exactly. */
function clampView(view: View): View {
  const [x, y, z] = view.offset;
  return {
    azimuth: roundTo3(((((view.azimuth + 180) % 360) + 360) % 360) - 180),
    elevation: roundTo3(Math.min(89.5, Math.max(-20, view.elevation))),
    distance: roundTo3(Math.min(MAX_DISTANCE_M, Math.max(MIN_DISTANCE_M, view.distance))),
    offset: [roundTo3(x), roundTo3(y), roundTo3(z)],
  };
}

const roundTo3 = (value: number) => Math.round(1000 * value) / 1000;

export class Orbit {
  readonly camera = new PerspectiveCamera(FOV_DEG, 1, 0.05, 200);
  readonly #centre = new Vector3();
  #view: View;
  #onChange: () => void;

  constructor(host: HTMLElement, view: View, onChange: () => void) {
    this.#view = view;
    this.#onChange = onChange;
    this.#listen(host);
  }

  get view(): View {
    return this.#view;
  }

  set view(view: View) {
    this.#view = clampView(view);
    this.#onChange();
  }

  rotate(azimuth: number, elevation: number): void {
    this.view = { ...this.#view, azimuth: this.#view.azimuth + azimuth, elevation: this.#view.elevation + elevation };
  }

  zoom(factor: number): void {
    this.view = { ...this.#view, distance: this.#view.distance * factor };
  }

  /** Moves the centre on the screen, by fractions of its height. */
  pan(right: number, up: number): void {
    const scale = 2 * this.#view.distance * Math.tan((FOV_DEG * Math.PI) / 360);
    const { x, y, z } = new Vector3(right * scale, up * scale, 0).applyQuaternion(this.camera.quaternion);
    const [a, b, c] = this.#view.offset;
    this.view = { ...this.#view, offset: [a + x, b + y, c + z] };
  }

  /** The direction to the right on the screen. */
  get right(): Vec {
    const azimuthRad = (this.#view.azimuth * Math.PI) / 180;
    return [Math.cos(azimuthRad), 0, -Math.sin(azimuthRad)];
  }

  /** Places the camera around a point. */
  lookAt(x: number, y: number, z: number, aspect: number): void {
    const { azimuth, elevation, distance, offset } = this.#view;
    const [azimuthRad, elevationRad] = [(azimuth * Math.PI) / 180, (elevation * Math.PI) / 180];
    // On a portrait screen the figure must still fit from side to side.
    const fitted = distance * Math.max(1, 0.75 / aspect);
    this.#centre.set(x + offset[0], y + offset[1], z + offset[2]);
    this.camera.position.set(
      this.#centre.x + fitted * Math.cos(elevationRad) * Math.sin(azimuthRad),
      Math.max(0.05, this.#centre.y + fitted * Math.sin(elevationRad)),
      this.#centre.z + fitted * Math.cos(elevationRad) * Math.cos(azimuthRad),
    );
    this.camera.lookAt(this.#centre);
    if (this.camera.aspect !== aspect) {
      this.camera.aspect = aspect;
      this.camera.updateProjectionMatrix();
    }
    this.camera.updateMatrixWorld();
  }

  #listen(host: HTMLElement): void {
    const pointers = new Map<number, { x: number; y: number }>();
    host.addEventListener("pointerdown", (event) => {
      if (event.defaultPrevented) return; // a handle in the view is dragged
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      host.setPointerCapture(event.pointerId);
    });
    host.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
      const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      const height = host.clientHeight || 1;
      if (others[0]) {
        const spacing = (p: { x: number; y: number }) => Math.hypot(p.x - others[0]!.x, p.y - others[0]!.y) || 1;
        this.zoom(spacing(before) / spacing({ x: event.clientX, y: event.clientY }));
        this.pan(-dx / (2 * height), dy / (2 * height));
      } else if (event.shiftKey || event.buttons & 6) this.pan(-dx / height, dy / height);
      else this.rotate((-dx * 220) / height, (dy * 160) / height);
    });
    for (const kind of ["pointerup", "pointercancel"] as const)
      host.addEventListener(kind, (event) => {
        pointers.delete(event.pointerId);
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
