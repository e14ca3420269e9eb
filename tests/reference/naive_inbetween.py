"""Slow obvious twins of curves through keys: one frame, one channel, one joint at a time."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from reference import naive


def hermite(s: float, gap: float, first: float, last: float, out_tangent: float, in_tangent: float) -> float:
    """Return a cubic at the fraction ``s`` of a span, as a Bezier curve whose handles lie a third of the span from its ends."""
    points = [first, first + out_tangent * gap / 3, last - in_tangent * gap / 3, last]
    while len(points) > 1:  # de Casteljau
        points = [a * (1 - s) + b * s for a, b in pairwise(points)]
    return points[0]


def quaternion_product(a, b) -> np.ndarray:
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return np.array(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )


def slerp(a, b, s: float) -> np.ndarray:
    """Return the spherical interpolation by the shorter rotation: weights are sines of fractions of the angle."""
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    b = np.array(b) if dot >= 0 else -np.array(b)
    angle = math.acos(min(1.0, abs(dot)))
    if angle < 1e-6:
        blended = (1 - s) * np.array(a) + s * b
    else:
        blended = (math.sin((1 - s) * angle) * np.array(a) + math.sin(s * angle) * b) / math.sin(angle)
    return blended / math.sqrt(sum(blended**2))


def euler_quaternion(angles_rad, order: str) -> np.ndarray:
    q = np.array([1.0, 0.0, 0.0, 0.0])
    for axis, angle in zip(order, angles_rad, strict=True):
        turn = np.array([math.cos(angle / 2), 0.0, 0.0, 0.0])
        turn[1 + "XYZ".index(axis)] = math.sin(angle / 2)
        q = quaternion_product(q, turn)
    return q


def sample(keyed, frames) -> tuple[np.ndarray, np.ndarray]:
    """Return local translations and unit quaternions of a keyed motion at ``frames``, without residual."""
    joints = keyed.skeleton.n_joints
    translations, rotations = np.zeros((len(frames), joints, 3)), np.zeros((len(frames), joints, 4))
    for t, frame in enumerate(frames):
        k, s = _span(keyed.keys.tolist(), frame)
        for j in range(joints):
            translations[t, j] = _channels_at(keyed.translations, keyed.keys, k, s, j)
            if keyed.rotation_orders is not None:
                angles = _channels_at(keyed.rotations, keyed.keys, k, s, j)
                rotations[t, j] = euler_quaternion(angles, keyed.rotation_orders[j])
            elif keyed.is_cubic or s == 0:
                q = np.array(_channels_at(keyed.rotations, keyed.keys, k, s, j))
                rotations[t, j] = q / math.sqrt(sum(q**2))
            else:
                rotations[t, j] = slerp(keyed.rotations.values[k, j], keyed.rotations.values[k + 1, j], s)
    return translations, rotations


def _span(keys: list[int], frame: float) -> tuple[int, float]:
    """Return the key before a frame, and the fraction of the span to the next one."""
    if frame >= keys[-1]:
        return len(keys) - 1, 0.0
    for k in range(len(keys) - 1, -1, -1):
        if keys[k] <= frame:
            return k, (frame - keys[k]) / (keys[k + 1] - keys[k])
    return 0, 0.0


def _channels_at(curves, keys, k: int, s: float, j: int) -> list[float]:
    numbers = []
    for c in range(curves.values.shape[2]):
        first = curves.values[k, j, c]
        if s == 0:
            numbers.append(first)
        elif curves.in_tangents is None:
            numbers.append(first * (1 - s) + curves.values[k + 1, j, c] * s)
        else:
            out_tangent, in_tangent = curves.out_tangents[k, j, c], curves.in_tangents[k + 1, j, c]
            numbers.append(
                hermite(s, float(keys[k + 1] - keys[k]), first, curves.values[k + 1, j, c], out_tangent, in_tangent)
            )
    return numbers


def fit_span_tangents(curve, i: int, j: int) -> tuple[float, float]:
    """Return the tangents of the least-squares cubic from frame ``i`` to ``j``; if undetermined, nearest to the chord."""
    gap = j - i
    chord = (curve[j] - curve[i]) / gap
    rows, right = [], []
    for t in range(i + 1, j):
        s = (t - i) / gap
        base = hermite(s, gap, curve[i], curve[j], chord, chord)
        rows.append([hermite(s, gap, 0, 0, 1, 0), hermite(s, gap, 0, 0, 0, 1)])
        right.append(curve[t] - base)
    if not rows:
        return chord, chord
    (start, end), *_ = np.linalg.lstsq(np.array(rows), np.array(right), rcond=None)
    return chord + start, chord + end


def fit_all_tangents(curve, keys: list[int], jump_penalty: float, ridge: float) -> np.ndarray:
    """Return start and end tangents (2 spans,) of all spans, by one dense least squares problem.

    Rows: every inner frame; every tangent's distance from its chord, weighed by ``ridge * gap^3``; every inner key's
    tangent jump, weighed by ``jump_penalty * mean gap^3``. An infinite penalty makes both sides of a key one unknown.
    """
    spans = list(pairwise(keys))
    unknowns = 2 * len(spans)
    rows, right = [], []
    for n, (i, j) in enumerate(spans):
        gap = j - i
        chord = (curve[j] - curve[i]) / gap
        for t in range(i + 1, j):
            row = np.zeros(unknowns)
            s = (t - i) / gap
            row[2 * n], row[2 * n + 1] = hermite(s, gap, 0, 0, 1, 0), hermite(s, gap, 0, 0, 0, 1)
            rows.append(row)
            right.append(curve[t] - hermite(s, gap, curve[i], curve[j], 0, 0))
        for side in (0, 1):
            row = np.zeros(unknowns)
            row[2 * n + side] = math.sqrt(ridge * gap**3)
            rows.append(row)
            right.append(row[2 * n + side] * chord)
    a, b = np.array(rows), np.array(right)
    if math.isinf(jump_penalty):
        shared = np.zeros((unknowns, len(keys)))
        for n in range(len(spans)):
            shared[2 * n, n] = shared[2 * n + 1, n + 1] = 1.0
        return shared @ np.linalg.lstsq(a @ shared, b, rcond=None)[0]
    for n in range(len(spans) - 1):
        row = np.zeros(unknowns)
        weight = jump_penalty * ((keys[n + 2] - keys[n]) / 2) ** 3
        row[2 * n + 1], row[2 * n + 2] = -math.sqrt(weight), math.sqrt(weight)
        a, b = np.vstack((a, row)), np.append(b, 0.0)
    return np.linalg.lstsq(a, b, rcond=None)[0]


def fitted_span_error(motion, translations, quaternions, i: int, j: int, weights) -> float:
    """Return the largest weighted world distance, in file units, over the inner frames of a cubic fitted from ``i`` to ``j``.

    ``translations`` and ``quaternions`` are the motion's own, the latter with continuous signs.
    """
    joints = motion.n_joints
    max_error = 0.0
    tangents = {}
    for name, values in (("t", translations), ("q", quaternions)):
        for joint in range(joints):
            for c in range(values.shape[2]):
                tangents[name, joint, c] = fit_span_tangents(values[:, joint, c], i, j)
    for t in range(i + 1, j):
        local_t, local_q = np.zeros((1, joints, 3)), np.zeros((1, joints, 4))
        for joint in range(joints):
            for name, values, out in (("t", translations, local_t), ("q", quaternions, local_q)):
                for c in range(values.shape[2]):
                    start, end = tangents[name, joint, c]
                    curve = values[:, joint, c]
                    out[0, joint, c] = hermite((t - i) / (j - i), j - i, curve[i], curve[j], start, end)
            local_q[0, joint] /= math.sqrt(sum(local_q[0, joint] ** 2))
        max_error = max(max_error, _max_error(motion, t, local_t, local_q, weights))
    return max_error


def slerp_span_error(motion, i: int, j: int, weights) -> float:
    """Return the same for linear translations and slerped rotations."""
    max_error = 0.0
    for t in range(i + 1, j):
        s = (t - i) / (j - i)
        local_t = (1 - s) * motion.translations[i : i + 1] + s * motion.translations[j : j + 1]
        rotations = [
            slerp(motion.rotations[i, joint], motion.rotations[j, joint], s) for joint in range(motion.n_joints)
        ]
        max_error = max(max_error, _max_error(motion, t, local_t, np.array(rotations)[None], weights))
    return max_error


def _max_error(motion, t: int, local_t, local_q, weights) -> float:
    parents = motion.skeleton.parents
    world = naive.forward(parents, local_t, local_q)[0][0]
    true = naive.forward(parents, motion.translations[t : t + 1], motion.rotations[t : t + 1])[0][0]
    return max(
        weights[joint] * math.dist(world[joint], true[joint]) for joint in range(motion.n_joints) if weights[joint] > 0
    )


def foot_slide(
    feet: list[np.ndarray], original_feet: list[np.ndarray], in_contact: np.ndarray, up: int
) -> float | None:
    """Return the mean slide of the foot point that moves least in each contact of the original."""
    sides = [axis for axis in range(3) if axis != up]
    total, count = 0.0, 0
    for foot in range(len(feet)):
        t = 0
        while t < len(in_contact):
            if not in_contact[t, foot]:
                t += 1
                continue
            end = t
            while end < len(in_contact) and in_contact[end, foot]:
                end += 1
            middle = (t + end) // 2

            def distances(points: np.ndarray, point: int, start=t, end=end, middle=middle) -> list[float]:
                return [math.dist(points[f, point, sides], points[middle, point, sides]) for f in range(start, end)]

            best = min(range(feet[foot].shape[1]), key=lambda p, foot=foot: sum(distances(original_feet[foot], p)))
            slides = distances(feet[foot], best)
            total, count = total + sum(slides), count + len(slides)
            t = end
    return total / count if count else None
