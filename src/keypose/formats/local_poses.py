"""Convert poses and keys between Keypose and 3D programs, and for formats with fewer features."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats, Ints, freeze
from keypose.formats.base import Source
from keypose.formats.orientation import frames_to_skip
from keypose.kinematics import Up
from keypose.model import REFERENCE_POSE_NOTE, Curves, KeyedMotion, Motion, Pose, Skeleton
from keypose.options import LoadOptions
from keypose.rotations import IDENTITY, align_signs, conjugate, from_matrix, multiply, normalise, rotate, to_matrix

SCALE_TOLERANCE = 1e-3  # scales come in half precision


@dataclass(frozen=True)
class LocalPoses:
    """Poses of J joints in T frames: ``p = translation + rotation * scale * child``."""

    translations: Floats  # (T, J, 3)
    rotations: Floats  # (T, J, 4) unit wxyz
    scales: Floats  # (T, J, 3)

    @property
    def is_scaled(self) -> bool:
        """Whether any scale differs from 1."""
        return bool(np.abs(self.scales - 1.0).max(initial=0.0) > SCALE_TOLERANCE)

    @property
    def is_evenly_scaled(self) -> bool:
        """Whether every joint has one scale for its three axes, the same in all frames."""
        spread = np.ptp(self.scales, axis=(0, 2)) if self.scales.size else np.zeros(0)
        return bool((spread <= SCALE_TOLERANCE * np.abs(self.scales).max(initial=1.0)).all())


def decompose(matrices: Floats) -> LocalPoses:
    """Return translations, rotations and scales of matrices (T, J, 4, 4) that act on column vectors.

    Shear is dropped: the rotation is the nearest one. A mirrored matrix gives a negative scale.
    """
    linear = matrices[..., :3, :3]
    u, _, vt = np.linalg.svd(linear)
    nearest = u @ vt
    u[..., :, -1] *= np.where(np.linalg.det(nearest) < 0, -1.0, 1.0)[..., None]
    rotation_matrices = u @ vt
    scales = np.einsum("...ki,...ki->...i", rotation_matrices, linear)
    return LocalPoses(matrices[..., :3, 3].copy(), from_matrix(rotation_matrices), scales)


def remove_scales(poses: LocalPoses, parents: Ints, world_from_figure: Floats) -> tuple[Floats, Floats]:
    """Return local translations (T, J, 3) and rotations (T, J, 4) without scales, with roots in the world.

    ``world_from_figure`` (T or 1, 4, 4) acts on column vectors. World positions are exact for any scales.
    """
    figure = decompose(world_from_figure[:, None])
    frames, joints = poses.translations.shape[:2]
    is_plain = not poses.is_scaled and not figure.is_scaled
    roots = parents < 0
    rotations = poses.rotations.copy()
    rotations[:, roots] = normalise(multiply(np.broadcast_to(figure.rotations, (frames, 1, 4)), rotations[:, roots]))
    translations = poses.translations.copy()
    if is_plain:
        translations[:, roots] = rotate(
            np.broadcast_to(figure.rotations, (frames, 1, 4)), translations[:, roots]
        ) + np.broadcast_to(figure.translations, (frames, 1, 3))
        return translations, rotations

    world_positions = np.empty((frames, joints, 3))
    world_linear = np.empty((frames, joints, 3, 3))  # with scales
    world_rotations = np.empty((frames, joints, 4))  # rotation only
    for j, parent in enumerate(parents.tolist()):
        parent_linear = (
            world_linear[:, parent] if parent >= 0 else np.broadcast_to(world_from_figure[:, :3, :3], (frames, 3, 3))
        )
        origin = world_positions[:, parent] if parent >= 0 else world_from_figure[:, :3, 3]
        world_positions[:, j] = origin + np.einsum("tik,tk->ti", parent_linear, poses.translations[:, j])
        world_linear[:, j] = parent_linear @ (to_matrix(poses.rotations[:, j]) * poses.scales[:, j, None, :])
        if parent >= 0:
            world_rotations[:, j] = multiply(world_rotations[:, parent], poses.rotations[:, j])
            step = world_positions[:, j] - world_positions[:, parent]
            translations[:, j] = rotate(conjugate(world_rotations[:, parent]), step)
        else:
            world_rotations[:, j] = rotations[:, j]
            translations[:, j] = world_positions[:, j]
    return translations, rotations


def align_to_rest(parents: Ints, rotations: Floats, rest: Floats) -> Floats:
    """Return local rotations (T, J, 4) in joint axes that equal the world's in the ``rest`` pose (J, 4), as in BVH."""
    _, world = kinematics.forward(parents, np.zeros((1, len(parents), 3)), rest[None])
    parent_rotations = np.where((parents >= 0)[:, None], world[0, np.maximum(parents, 0)], np.array(IDENTITY))
    return multiply(multiply(np.broadcast_to(parent_rotations, rotations.shape), rotations), conjugate(world))


def find_reference_pose(
    source: Source,
    options: LoadOptions,
    skeleton: Skeleton,
    translations: Floats,
    rotations: Floats,
    rest: Pose,
    up: Up,
) -> tuple[Pose | None, int]:
    """Return the reference pose, and how many frames at the start (0 or 1) do not belong to the movement.

    The reference pose is frame 0 if that is artificial; else the rest pose, if it is upright and differs from the
    pose of the skeleton's offsets; else None.
    """
    skip = frames_to_skip(align_to_rest(skeleton.parents, rotations, rest.rotations), options.reference_pose)
    if skip:
        source.note(REFERENCE_POSE_NOTE)
        return Pose(translations[0], rotations[0]), 1
    if np.abs(rest.rotations[:, 1:]).max() < 1e-6:
        return None, 0
    world, _ = kinematics.forward(skeleton.parents, rest.translations[None], rest.rotations[None])
    return (rest if kinematics.is_upright(world[0], up) else None), 0


def key_every_frame(motion: Motion) -> KeyedMotion:
    """Return a dense motion as a keyed one with a key on every frame."""
    return KeyedMotion(
        name=motion.name,
        skeleton=motion.skeleton,
        fps=motion.fps,
        n_frames=motion.n_frames,
        keys=np.arange(motion.n_frames, dtype=np.int32),
        translations=Curves(motion.translations),
        rotations=Curves(freeze(align_signs(motion.rotations))),
        up=motion.up,
        metres_per_unit=motion.metres_per_unit,
        first_frame=motion.first_frame,
        reference_pose=motion.reference_pose,
        notes=motion.notes,
        tolerance_mm=motion.tolerance_mm,
    )


def prepend_key_pose(keyed: KeyedMotion, pose: Pose) -> KeyedMotion:
    """Return ``keyed`` (quaternion curves) with ``pose`` as an extra first frame and key; without a residual."""
    is_held = bool(keyed.keys[0] > 0)  # whether the pose is constant before the first key
    sign = np.where(np.sum(pose.rotations * keyed.rotations.values[0], axis=-1, keepdims=True) < 0, -1.0, 1.0)

    def curves(old: Curves, first: Floats) -> Curves:
        values = np.concatenate((first[None], old.values[:1].repeat(is_held, axis=0), old.values))
        is_key = np.concatenate((np.ones((1 + is_held, values.shape[1]), bool), old.key_flags()))
        is_key[1] = True  # a joint that has no key there would leave the pose later
        if old.in_tangents is None or old.out_tangents is None:
            return Curves(values, is_key=is_key)
        zeros = np.zeros((1 + is_held, *first.shape))
        in_tangents, out_tangents = np.concatenate((zeros, old.in_tangents)), np.concatenate((zeros, old.out_tangents))
        in_tangents[1] = out_tangents[0] = values[1] - values[0]
        if is_held:
            in_tangents[2] = 0.0
        return Curves(values, in_tangents, out_tangents, is_key=is_key)

    return replace(
        keyed,
        n_frames=keyed.n_frames + 1,
        keys=np.concatenate(([0, 1] if is_held else [0], keyed.keys + 1)),
        translations=curves(keyed.translations, pose.translations),
        rotations=curves(keyed.rotations, sign * pose.rotations),
        extremes=np.concatenate(([True, False] if is_held else [True], keyed.extremes)),
        first_frame=keyed.first_frame - 1,
        residual=None,
    )
