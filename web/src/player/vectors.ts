/** Small vector mathematics: vectors as triples, quaternions as wxyz, as the server writes them. */

export type Vec = readonly [number, number, number];
export type Quat = readonly [number, number, number, number];

export const sub = (a: Vec, b: Vec): Vec => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const add = (a: Vec, b: Vec): Vec => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const scale = (a: Vec, s: number): Vec => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a: Vec, b: Vec): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Vec, b: Vec): Vec => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const length = (a: Vec): number => Math.hypot(a[0], a[1], a[2]);

/** Returns `a` with length 1, or `fallback` for a zero vector. */
export function unit(a: Vec, fallback: Vec = [0, 1, 0]): Vec {
  const size = length(a);
  return size > 1e-9 ? scale(a, 1 / size) : fallback;
}

/** Returns the part of `a` that is perpendicular to the unit vector `along`. */
export const perpendicularPart = (a: Vec, along: Vec): Vec => sub(a, scale(along, dot(a, along)));

/** Returns the rotation about a unit axis. */
export function axisRotation(axis: Vec, radians: number): Quat {
  const s = Math.sin(radians / 2);
  return [Math.cos(radians / 2), axis[0] * s, axis[1] * s, axis[2] * s];
}

export function multiply(a: Quat, b: Quat): Quat {
  return [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];
}

export function rotate(q: Quat, v: Vec): Vec {
  const axis: Vec = [q[1], q[2], q[3]];
  const t = scale(cross(axis, v), 2);
  return add(add(v, scale(t, q[0])), cross(axis, t));
}

/** Returns the shortest rotation between unit vectors; opposite ones rotate about `axisIfOpposite`. */
export function rotationBetween(from: Vec, to: Vec, axisIfOpposite: Vec): Quat {
  const axis = cross(from, to);
  const sine = length(axis);
  const cosine = dot(from, to);
  if (sine < 1e-9) return cosine > 0 ? [1, 0, 0, 0] : axisRotation(axisIfOpposite, Math.PI);
  return axisRotation(scale(axis, 1 / sine), Math.atan2(sine, cosine));
}
