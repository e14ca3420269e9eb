"""Convert glTF's local transforms, which may scale, to rigid local poses with the same world positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.formats.base import Source
from keypose.formats.gltf.nodes import nearest_rotation
from keypose.rotations import conjugate, from_matrix, multiply, rotate, to_matrix

SAME_SCALE = 1e-5  # relative: exporters write 0.9999998 for 1
# Memory bounds of the general case: for the poses of all joints of a block of frames, and for its temporaries.
_BLOCK_BYTES, _BYTES_PER_POSE = 48 << 20, 128
_BLOCK_FRAMES = 1024


@dataclass(frozen=True)
class LocalPoses:
    """Local transforms of the joints at each frame; made rigid in place."""

    parents: list[int]
    bases: dict[int, Floats]  # for each root: (4, 4) world matrix of its parent
    translations: Floats  # (F, J, 3)
    rotations: Floats  # (F, J, 4) unit wxyz
    scales: list[Floats]  # for each joint: (1, 3) if it is constant, else (F, 3)


def make_rigid(source: Source, poses: LocalPoses) -> None:
    """Remove scales and bases from ``poses`` in place; world positions stay the same."""
    with np.errstate(over="ignore", invalid="ignore"):
        factors = uniform_scale_factors(poses)
        if factors is not None:
            apply_uniform_scale(poses, factors)
        else:
            source.note(
                "joints are scaled unevenly, mirrored or in time; positions follow it, rotations are the nearest"
            )
            step = min(_BLOCK_FRAMES, max(1, _BLOCK_BYTES // (_BYTES_PER_POSE * len(poses.parents))))
            for start in range(0, len(poses.translations), step):
                _apply_general_scale(source, poses, slice(start, start + step))
    if not np.isfinite(poses.translations).all():
        raise source.error("positions grow beyond all bounds, expected finite ones")


def uniform_scale_factors(poses: LocalPoses) -> list[float] | None:
    """Return the factor of each joint's translation if every scale is uniform, positive and constant; else None."""
    factors: list[float] = []
    inner = set(poses.parents)
    own_scales = [1.0] * len(poses.parents)
    for j, parent in enumerate(poses.parents):
        if parent >= 0:
            factors.append(factors[parent] * own_scales[parent])
        else:
            linear = poses.bases[j][:3, :3]
            factors.append(float(np.cbrt(np.linalg.det(linear))))
            if not factors[j] > 0:
                return None
            if np.abs(linear.T @ linear / factors[j] ** 2 - np.eye(3)).max() > SAME_SCALE:
                return None
        if j in inner:
            scale = poses.scales[j]
            own_scales[j] = float(scale.mean())
            if not own_scales[j] > 0 or np.ptp(scale) > SAME_SCALE * own_scales[j]:
                return None
    return factors


def apply_uniform_scale(poses: LocalPoses, factors: list[float]) -> None:
    """Make poses with uniform scales rigid, in place."""
    for j, parent in enumerate(poses.parents):
        if parent < 0 and (poses.bases[j] != np.eye(4)).any():
            base = poses.bases[j]
            rotation = from_matrix(base[:3, :3] / factors[j])
            poses.translations[:, j] = poses.translations[:, j] @ base[:3, :3].T + base[:3, 3]
            poses.rotations[:, j] = multiply(rotation, poses.rotations[:, j])
        elif parent >= 0 and factors[j] != 1.0:
            poses.translations[:, j] *= factors[j]


def _apply_general_scale(source: Source, poses: LocalPoses, frames: slice) -> None:
    """Make any poses rigid, in place: compute world matrices, then the nearest rigid poses at the same positions."""
    t, q = poses.translations[frames], poses.rotations[frames]
    linears: list[Floats] = []  # (F, 3, 3) world_from_local
    positions: list[Floats] = []  # (F, 3)
    rotations: list[Floats] = []  # (F, 4)
    for j, parent in enumerate(poses.parents):
        parent_linear = linears[parent] if parent >= 0 else poses.bases[j][:3, :3]
        origin = positions[parent] if parent >= 0 else poses.bases[j][:3, 3]
        scale = poses.scales[j] if len(poses.scales[j]) == 1 else poses.scales[j][frames]
        linear = parent_linear @ (to_matrix(q[:, j]) * scale[:, None, :])
        if not np.isfinite(linear).all():
            raise source.error("scales grow beyond all bounds, expected finite ones")
        linears.append(linear)
        positions.append(origin + (parent_linear @ t[:, j, :, None])[..., 0])
        rotations.append(from_matrix(nearest_rotation(linear)))
        if parent < 0:
            t[:, j], q[:, j] = positions[j], rotations[j]
        else:
            parent_inverse = conjugate(rotations[parent])
            t[:, j] = rotate(parent_inverse, positions[j] - positions[parent])
            q[:, j] = multiply(parent_inverse, rotations[j])
