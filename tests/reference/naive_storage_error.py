"""Reference of the largest error of a stored motion, point by point with matrices and loops."""

from __future__ import annotations

import math

import numpy as np

from reference import naive


def points(skeleton, translations, rotations, arm: float):
    """Yield every point of every frame: (frame, joint name, point name, position)."""
    positions, matrices = naive.forward(skeleton.parents, translations, rotations)
    for t in range(len(positions)):
        for j, name in enumerate(skeleton.names):
            yield t, name, "joint", positions[t, j]
            for sign, mark in ((1.0, "+"), (-1.0, "-")):
                for axis, letter in zip(np.eye(3), "XYZ", strict=True):
                    yield t, name, f"3 cm along {mark}{letter}", positions[t, j] + matrices[t, j] @ (sign * arm * axis)
        for j, offset in zip(skeleton.end_joints, skeleton.end_offsets, strict=True):
            yield t, skeleton.names[j], "end site", positions[t, j] + matrices[t, j] @ offset


def distances_mm(original, decoded, mm_per_unit: float):
    """Yield the error of each point: (mm, frame, joint name, point name)."""
    arm = 30.0 / mm_per_unit
    ours = points(original.skeleton, original.translations, original.rotations, arm)
    theirs = points(decoded.skeleton, decoded.translations, decoded.rotations, arm)
    for (t, name, point, original_position), (_, _, _, decoded_position) in zip(ours, theirs, strict=True):
        yield mm_per_unit * math.dist(original_position, decoded_position), t, name, point


def largest_error(original, decoded, mm_per_unit: float):
    """Return the largest error, the first of equal ones."""
    return max(distances_mm(original, decoded, mm_per_unit), key=lambda row: row[0])
