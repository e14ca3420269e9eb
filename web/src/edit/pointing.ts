/** Where the pointer is in the world: on a plane through what is held. */

import { Vector3 } from "three";
import type { Player } from "../player/player";
import { add, cross, dot, squareTo, sub, times, unit, type Vec } from "../player/vectors";

/** A place on the stage, in CSS pixels. */
export interface Spot {
  x: number;
  y: number;
}

const EDGE_ON = 0.12; // sine of the angle below which a plane is seen from its edge

export function placeIn(canvas: HTMLCanvasElement, event: PointerEvent): Spot {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

/** The direction from `middle` to the pointer, square to `axis`; seen from its edge, as far as the screen tells. */
export function aboutPlane(player: Player, middle: Vec, axis: Vec, at: Spot): Vec {
  const { from, way } = ray(player, at);
  const flat = Math.abs(dot(way, axis)) > EDGE_ON ? axis : unit(squareTo(way, axis));
  const far = dot(sub(middle, from), flat) / (dot(way, flat) || 1e-6);
  return unit(squareTo(sub(add(from, times(way, far)), middle), axis), unit(cross(axis, way)));
}

/** Where the pointer is on the plane through a place that is parallel to the screen. */
export function onScreen(player: Player, through: Vec, at: Spot): Vec {
  const { from, way } = ray(player, at);
  const ahead = player.camera.getWorldDirection(new Vector3());
  const normal: Vec = [ahead.x, ahead.y, ahead.z];
  return add(from, times(way, dot(sub(through, from), normal) / (dot(way, normal) || 1e-6)));
}

function ray({ canvas, camera }: Player, { x, y }: Spot): { from: Vec; way: Vec } {
  const p = new Vector3((2 * x) / canvas.clientWidth - 1, 1 - (2 * y) / canvas.clientHeight, 0.5).unproject(camera);
  const from: Vec = [camera.position.x, camera.position.y, camera.position.z];
  return { from, way: unit(sub([p.x, p.y, p.z], from)) };
}
