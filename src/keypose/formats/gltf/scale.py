"""From glTF's local transforms, which scale, to rigid local poses with the same world positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.formats.base import Source
from keypose.formats.gltf.nodes import nearest_rotation
from keypose.rotations import conjugate, from_matrix, multiply, rotate, to_matrix

SAME_SCALE = 1e-5  # relative: exporters write 0.9999998 for 1
# Bounds of the memory of the general way: of what it keeps of each joint and frame, and of its own steps.
_BLOCK_BYTES, _BYTES_PER_POSE = 48 << 20, 128
_BLOCK_FRAMES = 1024


@dataclass(frozen=True)
class LocalPoses:
    """What the nodes of the joints say at each frame; changed in place on the way to rigid poses."""

    parents: list[int]
    bases: dict[int, Floats]  # for each root: (4, 4), what stands above it
    translations: Floats  # (F, J, 3)
    rotations: Floats  # (F, J, 4) unit wxyz
    scales: list[Floats]  # for each joint: (1, 3) if it keeps still, else (F, 3)


def make_rigid(source: Source, poses: LocalPoses) -> None:
    """Takes scale and bases out of ``poses``: world positions stay, joints no longer scale."""
    with np.errstate(over="ignore", invalid="ignore"):
        factors = even_factors(poses)
        if factors is not None:
            scale_evenly(poses, factors)
        else:
            source.note(
                "joints are scaled unevenly, mirrored or in time; positions follow it, rotations are the nearest"
            )
            step = min(_BLOCK_FRAMES, max(1, _BLOCK_BYTES // (_BYTES_PER_POSE * len(poses.parents))))
            for start in range(0, len(poses.translations), step):
                _follow_scale(source, poses, slice(start, start + step))
    if not np.isfinite(poses.translations).all():
        raise source.error("positions grow beyond all bounds, expected finite ones")


def even_factors(poses: LocalPoses) -> list[float] | None:
    """By what each joint's translation is scaled, if every scale is even, positive and still; else None."""
    factors: list[float] = []
    inner = set(poses.parents)
    own = [1.0] * len(poses.parents)
    for j, parent in enumerate(poses.parents):
        if parent >= 0:
            factors.append(factors[parent] * own[parent])
        else:
            linear = poses.bases[j][:3, :3]
            factors.append(float(np.cbrt(np.linalg.det(linear))))
            if not factors[j] > 0:
                return None
            if np.abs(linear.T @ linear / factors[j] ** 2 - np.eye(3)).max() > SAME_SCALE:
                return None
        if j in inner:
            scale = poses.scales[j]
            own[j] = float(scale.mean())
            if not own[j] > 0 or np.ptp(scale) > SAME_SCALE * own[j]:
                return None
    return factors


def scale_evenly(poses: LocalPoses, factors: list[float]) -> None:
    """Makes poses rigid whose scales are even, in place."""
    for j, parent in enumerate(poses.parents):
        if parent < 0 and (poses.bases[j] != np.eye(4)).any():
            base = poses.bases[j]
            turn = from_matrix(base[:3, :3] / factors[j])
            poses.translations[:, j] = poses.translations[:, j] @ base[:3, :3].T + base[:3, 3]
            poses.rotations[:, j] = multiply(turn, poses.rotations[:, j])
        elif parent >= 0 and factors[j] != 1.0:
            poses.translations[:, j] *= factors[j]


def _follow_scale(source: Source, poses: LocalPoses, frames: slice) -> None:
    """The general way: world matrices first, then the rigid poses nearest to them, at the same positions."""
    t, q = poses.translations[frames], poses.rotations[frames]
    linears: list[Floats] = []  # (F, 3, 3) world_from_local
    places: list[Floats] = []  # (F, 3)
    turns: list[Floats] = []  # (F, 4)
    for j, parent in enumerate(poses.parents):
        above = linears[parent] if parent >= 0 else poses.bases[j][:3, :3]
        origin = places[parent] if parent >= 0 else poses.bases[j][:3, 3]
        scale = poses.scales[j] if len(poses.scales[j]) == 1 else poses.scales[j][frames]
        linear = above @ (to_matrix(q[:, j]) * scale[:, None, :])
        if not np.isfinite(linear).all():
            raise source.error("scales grow beyond all bounds, expected finite ones")
        linears.append(linear)
        places.append(origin + (above @ t[:, j, :, None])[..., 0])
        turns.append(from_matrix(nearest_rotation(linear)))
        if parent < 0:
            t[:, j], q[:, j] = places[j], turns[j]
        else:
            back = conjugate(turns[parent])
            t[:, j] = rotate(back, places[j] - places[parent])
            q[:, j] = multiply(back, turns[j])
