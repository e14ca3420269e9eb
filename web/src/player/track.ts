/** The joint positions at every frame: of the capture, of curves through keys, or of an edit. */

import type { Vec } from "./vectors";

export interface Track {
  positions: Float32Array; // (T, J, 3) metres
  ends: Float32Array; // (T, E, 3)
  nFrames: number;
}

/** Copies the pose at `frame` into `points`: joints, then end sites. */
export function copyPose(points: Float32Array, track: Track, frame: number): void {
  const joints = track.positions.length / track.nFrames;
  const ends = track.ends.length / track.nFrames;
  const at = Math.min(track.nFrames - 1, Math.max(0, frame));
  for (let k = 0, from = at * joints; k < joints; k++) points[k] = track.positions[from + k]!;
  for (let k = 0, from = at * ends; k < ends; k++) points[joints + k] = track.ends[from + k]!;
}

/** Returns the position of a joint at a frame. */
export function jointPosition(track: Track, frame: number, joint: number): Vec {
  const at = frame * (track.positions.length / track.nFrames) + 3 * joint;
  return [track.positions[at]!, track.positions[at + 1]!, track.positions[at + 2]!];
}

/** Returns a smooth path (T, 3) for the camera: the joint's, averaged over `window` frames on both sides. */
export function smoothPath(track: Track, joint: number, window: number): Float32Array {
  const { nFrames } = track;
  const sums = new Float64Array(3 * (nFrames + 1));
  for (let t = 0; t < nFrames; t++) {
    const p = jointPosition(track, t, joint);
    for (let k = 0; k < 3; k++) sums[3 * (t + 1) + k] = sums[3 * t + k]! + p[k]!;
  }
  const path = new Float32Array(3 * nFrames);
  for (let t = 0; t < nFrames; t++) {
    const reach = Math.min(window, t, nFrames - 1 - t); // the same on both sides, so that the ends do not drift
    const first = t - reach;
    const end = t + reach + 1;
    for (let k = 0; k < 3; k++) path[3 * t + k] = (sums[3 * end + k]! - sums[3 * first + k]!) / (end - first);
  }
  return path;
}
