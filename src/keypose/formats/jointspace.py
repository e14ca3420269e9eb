"""Joint transforms as 3D programs store them (moved, turned, scaled, under a moving parent) as plain local poses.

A Motion knows translations and rotations only. Here scales and the transform of the whole figure are folded
in: joint positions in the world stay exactly where the file puts them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats, Ints
from keypose.formats.base import ReadOptions, Source
from keypose.formats.reference import frames_to_skip
from keypose.kinematics import Up
from keypose.model import Pose, Skeleton
from keypose.rotations import IDENTITY, conjugate, from_matrix, multiply, normalise, rotate, to_matrix

SCALE_TOLERANCE = 1e-3  # scales come in half precision


@dataclass(frozen=True)
class LocalPoses:
    """Poses of J joints in T frames: ``p = translation + rotation * scale * child``."""

    translations: Floats  # (T, J, 3)
    rotations: Floats  # (T, J, 4) unit wxyz
    scales: Floats  # (T, J, 3)

    @property
    def scaled(self) -> bool:
        """Whether any joint is larger or smaller than itself."""
        return bool(np.abs(self.scales - 1.0).max(initial=0.0) > SCALE_TOLERANCE)

    @property
    def evenly_scaled(self) -> bool:
        """Whether every joint has one scale for its three axes, the same in all frames."""
        spread = np.ptp(self.scales, axis=(0, 2)) if self.scales.size else np.zeros(0)
        return bool((spread <= SCALE_TOLERANCE * np.abs(self.scales).max(initial=1.0)).all())


def decompose(matrices: Floats) -> LocalPoses:
    """Translations, rotations and scales of matrices (T, J, 4, 4) that act on column vectors.

    Shear is left out: the rotation is the nearest one. A mirrored matrix gives a negative scale.
    """
    linear = matrices[..., :3, :3]
    u, _, vt = np.linalg.svd(linear)
    nearest = u @ vt
    u[..., :, -1] *= np.where(np.linalg.det(nearest) < 0, -1.0, 1.0)[..., None]
    turn = u @ vt
    scales = np.einsum("...ki,...ki->...i", turn, linear)
    return LocalPoses(matrices[..., :3, 3].copy(), from_matrix(turn), scales)


def fold(poses: LocalPoses, parents: Ints, world_from_figure: Floats) -> tuple[Floats, Floats]:
    """Local translations (T, J, 3) and rotations (T, J, 4) without scales, roots in the world.

    ``world_from_figure`` (T or 1, 4, 4) acts on column vectors. World positions are exact for any scales.
    """
    figure = decompose(world_from_figure[:, None])
    frames, joints = poses.translations.shape[:2]
    is_plain = not poses.scaled and not figure.scaled
    roots = parents < 0
    rotations = poses.rotations.copy()
    rotations[:, roots] = normalise(multiply(np.broadcast_to(figure.rotations, (frames, 1, 4)), rotations[:, roots]))
    translations = poses.translations.copy()
    if is_plain:
        translations[:, roots] = rotate(
            np.broadcast_to(figure.rotations, (frames, 1, 4)), translations[:, roots]
        ) + np.broadcast_to(figure.translations, (frames, 1, 3))
        return translations, rotations

    position = np.empty((frames, joints, 3))
    linear = np.empty((frames, joints, 3, 3))  # scales and all
    turn = np.empty((frames, joints, 4))  # rotation only
    for j, parent in enumerate(parents.tolist()):
        above = linear[:, parent] if parent >= 0 else np.broadcast_to(world_from_figure[:, :3, :3], (frames, 3, 3))
        origin = position[:, parent] if parent >= 0 else world_from_figure[:, :3, 3]
        position[:, j] = origin + np.einsum("tik,tk->ti", above, poses.translations[:, j])
        linear[:, j] = above @ (to_matrix(poses.rotations[:, j]) * poses.scales[:, j, None, :])
        if parent >= 0:
            turn[:, j] = multiply(turn[:, parent], poses.rotations[:, j])
            step = position[:, j] - position[:, parent]
            translations[:, j] = rotate(conjugate(turn[:, parent]), step)
        else:
            turn[:, j] = rotations[:, j]
            translations[:, j] = position[:, j]
    return translations, rotations


def rest_aligned(parents: Ints, rotations: Floats, rest: Floats) -> Floats:
    """Local rotations (T, J, 4) in joint axes that are the world's at ``rest`` (J, 4), as in a BVH file."""
    _, world = kinematics.forward(parents, np.zeros((1, len(parents), 3)), rest[None])
    above = np.where((parents >= 0)[:, None], world[0, np.maximum(parents, 0)], np.array(IDENTITY))
    return multiply(multiply(np.broadcast_to(above, rotations.shape), rotations), conjugate(world))


def reference_of(
    source: Source,
    options: ReadOptions,
    skeleton: Skeleton,
    translations: Floats,
    rotations: Floats,
    rest: Pose,
    up: Up,
) -> tuple[Pose | None, int]:
    """The pose to keep apart, and how many first frames it takes away from the movement.

    It is frame 0 where that is an artificial pose; else the rest pose, where the skeleton's offsets alone
    do not show it and it stands upright.
    """
    skip = frames_to_skip(rest_aligned(skeleton.parents, rotations, rest.rotations), options.reference_pose)
    if skip:
        source.note("frame 0 is a reference pose (T-pose), kept apart from the movement")
        return Pose(translations[0], rotations[0]), 1
    if np.abs(rest.rotations[:, 1:]).max() < 1e-6:
        return None, 0
    world, _ = kinematics.forward(skeleton.parents, rest.translations[None], rest.rotations[None])
    return (rest if kinematics.is_upright(world[0], up) else None), 0
