"""The slow twin of polish: the same sum of squares, its derivatives by trying, dense least squares."""

from __future__ import annotations

import numpy as np

import naive
from naive_inbetween import hermite


def errors(motion, channels, i: int, j: int, slopes: np.ndarray, lever_mm: float, weights) -> np.ndarray:
    """What is squared and added up: weighed errors of joints in mm, and of quaternions as of a point ``lever_mm`` away.

    ``slopes`` (2, J, 7): leaving i and arriving at j, of four numbers of the turn and three of the place in mm.
    """
    mm, joints, gap = motion.mm_per_unit, motion.n_joints, j - i
    carries = [joint in motion.skeleton.parents for joint in range(joints)]
    parts = []
    for t in range(i + 1, j):
        local_t, local_q = np.zeros((1, joints, 3)), np.zeros((1, joints, 4))
        for joint in range(joints):
            for c in range(4):
                curve = channels.rotations[:, joint, c]
                local_q[0, joint, c] = hermite((t - i) / gap, gap, curve[i], curve[j], *slopes[:, joint, c])
            for c in range(3):
                curve = channels.translations[:, joint, c] * mm
                local_t[0, joint, c] = hermite((t - i) / gap, gap, curve[i], curve[j], *slopes[:, joint, 4 + c])
            if carries[joint]:
                parts.append(2 * lever_mm * (local_q[0, joint] - channels.rotations[t, joint]))
            local_q[0, joint] /= np.linalg.norm(local_q[0, joint])
        world = naive.forward(motion.skeleton.parents, local_t, local_q)[0][0]
        off = world - mm * motion.world_positions()[t]
        parts.append((np.sqrt(weights)[:, None] * off).ravel())
    return np.concatenate(parts)


def polished(motion, channels, i: int, j: int, slopes: np.ndarray, lever_mm: float, weights, rounds: int) -> np.ndarray:
    """Gauss-Newton with a step length that is halved until it helps."""
    carries = np.isin(np.arange(motion.n_joints), motion.skeleton.parents)
    moves = np.ptp(motion.translations, axis=0).any(axis=1)
    for _ in range(rounds):
        now = errors(motion, channels, i, j, slopes, lever_mm, weights)
        columns = []
        for at in np.ndindex(slopes.shape):
            nudged = slopes.copy()
            if carries[at[1]] if at[2] < 4 else moves[at[1]]:
                nudged[at] += 1e-6
            columns.append((errors(motion, channels, i, j, nudged, lever_mm, weights) - now) / 1e-6)
        step = np.linalg.lstsq(np.array(columns).T, -now, rcond=1e-9)[0].reshape(slopes.shape)
        for length in (1.0, 0.5, 0.25, 0.125):
            tried = slopes + length * step
            if np.sum(errors(motion, channels, i, j, tried, lever_mm, weights) ** 2) < np.sum(now**2):
                slopes = tried
                break
    return slopes
