/** Maps the pointer to points in the world, on a plane through the dragged handle. */

import { Vector3 } from "three";
import type { Player } from "../player/player";
import { add, cross, dot, perpendicularPart, scale, sub, unit, type Vec } from "../player/vectors";

/** A position on the stage, in CSS pixels. */
export interface ScreenPoint {
  x: number;
  y: number;
}

const MIN_PLANE_SINE = 0.12; // sine of the angle below which a plane counts as seen edge-on

export function pointerPosition(canvas: HTMLCanvasElement, event: PointerEvent): ScreenPoint {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/**
 * Returns the direction from `centre` to the pointer, perpendicular to `axis`. If that plane is seen edge-on, it is
 * approximated on the screen.
 */
export function directionAboutAxis(player: Player, centre: Vec, axis: Vec, at: ScreenPoint): Vec {
  const { from, direction } = pointerRay(player, at);
  const normal = Math.abs(dot(direction, axis)) > MIN_PLANE_SINE ? axis : unit(perpendicularPart(direction, axis));
  const distance = dot(sub(centre, from), normal) / (dot(direction, normal) || 1e-6);
  return unit(
    perpendicularPart(sub(add(from, scale(direction, distance)), centre), axis),
    unit(cross(axis, direction)),
  );
}

/** Returns the pointer's position on the plane through a point, parallel to the screen. */
export function pointOnScreenPlane(player: Player, through: Vec, at: ScreenPoint): Vec {
  const { from, direction } = pointerRay(player, at);
  const ahead = player.camera.getWorldDirection(new Vector3());
  const normal: Vec = [ahead.x, ahead.y, ahead.z];
  return add(from, scale(direction, dot(sub(through, from), normal) / (dot(direction, normal) || 1e-6)));
}

function pointerRay({ canvas, camera }: Player, { x, y }: ScreenPoint): { from: Vec; direction: Vec } {
  const p = new Vector3((2 * x) / canvas.clientWidth - 1, 1 - (2 * y) / canvas.clientHeight, 0.5).unproject(camera);
  const from: Vec = [camera.position.x, camera.position.y, camera.position.z];
  return { from, direction: unit(sub([p.x, p.y, p.z], from)) };
}
