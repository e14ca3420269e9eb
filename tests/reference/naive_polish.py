"""The slow twin of the polish: the same sum of squares, with numeric derivatives and dense least squares."""

from __future__ import annotations

import numpy as np

from reference import naive
from reference.naive_inbetween import hermite


def residuals(
    motion, channels, i: int, j: int, tangents: np.ndarray, lever_mm: float, weights, key_targets=None, key_weights=None
) -> np.ndarray:
    """Return the residuals: weighted errors of joints in mm, and of quaternions, measured at a point ``lever_mm`` away.

    ``tangents`` (2, J, 7): out-tangents at i and in-tangents at j, of the quaternion and of the translation in mm.
    ``key_targets`` (2, J, 3): second positions of frames i + 1 and j - 1, with ``key_weights`` (2,).
    """
    mm, joints, gap = motion.mm_per_unit, motion.n_joints, j - i
    carries = [joint in motion.skeleton.parents for joint in range(joints)]
    terms = []
    for t in range(i + 1, j):
        local_t, local_q = np.zeros((1, joints, 3)), np.zeros((1, joints, 4))
        for joint in range(joints):
            for c in range(4):
                curve = channels.rotations[:, joint, c]
                local_q[0, joint, c] = hermite((t - i) / gap, gap, curve[i], curve[j], *tangents[:, joint, c])
            for c in range(3):
                curve = channels.translations[:, joint, c] * mm
                local_t[0, joint, c] = hermite((t - i) / gap, gap, curve[i], curve[j], *tangents[:, joint, 4 + c])
            if carries[joint]:
                terms.append(2 * lever_mm * (local_q[0, joint] - channels.rotations[t, joint]))
            local_q[0, joint] /= np.linalg.norm(local_q[0, joint])
        world = naive.forward(motion.skeleton.parents, local_t, local_q)[0][0]
        offsets = world - mm * motion.world_positions()[t]
        terms.append((np.sqrt(weights)[:, None] * offsets).ravel())
        for end, frame in enumerate((i + 1, j - 1)):
            if key_targets is not None and t == frame:
                terms.append((np.sqrt(key_weights[end] * weights)[:, None] * (world - key_targets[end])).ravel())
    return np.concatenate(terms)


def polish(
    motion, channels, i: int, j: int, tangents: np.ndarray, lever_mm: float, weights, *key_options, rounds: int
) -> np.ndarray:
    """Return polished tangents, by the Gauss-Newton method with steps that are halved until the cost decreases."""

    def compute(at: np.ndarray) -> np.ndarray:
        return residuals(motion, channels, i, j, at, lever_mm, weights, *key_options)

    carries = np.isin(np.arange(motion.n_joints), motion.skeleton.parents)
    moves = np.ptp(motion.translations, axis=0).any(axis=1)
    for _ in range(rounds):
        current = compute(tangents)
        columns = []
        for at in np.ndindex(tangents.shape):
            shifted = tangents.copy()
            if carries[at[1]] if at[2] < 4 else moves[at[1]]:
                shifted[at] += 1e-6
            columns.append((compute(shifted) - current) / 1e-6)
        step = np.linalg.lstsq(np.array(columns).T, -current, rcond=1e-9)[0].reshape(tangents.shape)
        for length in (1.0, 0.5, 0.25, 0.125):
            candidate = tangents + length * step
            if np.sum(compute(candidate) ** 2) < np.sum(current**2):
                tangents = candidate
                break
    return tangents
