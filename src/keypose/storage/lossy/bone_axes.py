"""Axes along the bones: a rotation about a bone moves points far less than one across it."""

from __future__ import annotations

from math import sqrt

import numpy as np

from keypose.arrays import Floats
from keypose.model import Skeleton


def compute_bone_axes(skeleton: Skeleton) -> Floats:
    """Return three orthogonal axes for each joint (J, 3, 3), the first along its longest bone.

    Computed with scalar sums, products, quotients and square roots only, so that every machine gets the same bits.
    """
    axes = np.tile(np.eye(3), (skeleton.n_joints, 1, 1))
    max_squares = np.zeros(skeleton.n_joints)
    parents = skeleton.parents.tolist() + skeleton.end_joints.tolist()
    for joint, offset in zip(parents, skeleton.offsets.tolist() + skeleton.end_offsets.tolist(), strict=True):
        x, y, z = offset
        square = x * x + y * y + z * z
        if joint < 0 or square <= max_squares[joint] or not 1e-200 < square < 1e200:
            continue
        max_squares[joint] = square
        length = sqrt(square)
        x, y, z = x / length, y / length, z / length
        smallest = min(range(3), key=lambda axis: abs((x, y, z)[axis]))
        # across = bone x axis, normalised; third = bone x across
        across = ((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0))[smallest]
        norm = sqrt(across[0] * across[0] + across[1] * across[1] + across[2] * across[2])
        a, b, c = across[0] / norm, across[1] / norm, across[2] / norm
        axes[joint] = (x, y, z), (a, b, c), (y * c - z * b, z * a - x * c, x * b - y * a)
    return axes
