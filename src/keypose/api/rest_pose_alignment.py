"""Find the change of joint axes between an edited file and its original: the same rest pose in other axes.

Programs choose joint axes differently: in Blender they are along the limbs, in BVH files upright in the rest pose. If
the figure has the same rest pose in two files, the axes of each joint differ by a constant rotation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.formats.figure import bind_pose
from keypose.model import KeyedMotion, Motion, Pose, Skeleton
from keypose.rotations import IDENTITY, angle_between, conjugate, from_matrix, multiply

REST_TOLERANCE = 2e-3  # of the longest bone: maximum difference of a bone after conversion through text or float32
ROUNDING = 1e-5  # of the longest bone: a rotation that improves the fit by less is not used
SAME_ROTATION_RAD = 1e-3  # rest poses within this motion error are equally good
FRAMES_COMPARED = 64


@dataclass(frozen=True)
class AxisChange:
    """Rotations and scale that convert the original's detail to the joint axes and units of the edit."""

    rotations: Floats  # (P, 4) wxyz, per joint of the edit with a partner
    scale: float


class _RestPose(NamedTuple):
    """A rest pose in world space."""

    positions: Floats  # (J, 3)
    rotations: Floats  # (J, 4)


class _Fit(NamedTuple):
    """How well two rest poses match."""

    change: AxisChange
    bone_errors: Floats  # (B,) differences of bones, relative to the longest


@dataclass(frozen=True)
class _Bones:
    """Bones from joints to their nearest ancestors that both files have."""

    joints: Ints  # (B,) indices into the pairs
    parents: Ints  # (B,) likewise

    def vectors(self, rest_pose: _RestPose, joints: Ints) -> Floats:
        """Return the bone vectors (B, 3) of one of the two rest poses."""
        return np.asarray(rest_pose.positions[joints[self.joints]] - rest_pose.positions[joints[self.parents]])


def align_rest_poses(edited: Motion, original: KeyedMotion, edited_joints: Ints, original_joints: Ints) -> AxisChange:
    """Return the change of axes, from joints (P,) of the edit and their partners (P,) in the original.

    A file may have its rest pose as its reference pose or only by its offsets: all pairs of such poses are tried, and a
    pair is valid if one rotation and scale maps all bones onto each other. If several pairs are valid (they may differ
    by rotations that move no bone), the pair is used with which the movement of the edit is most similar to that of the
    original.
    """
    bones = _shared_bones(edited.skeleton, original.skeleton, edited_joints, original_joints)
    edited_sample, original_sample = _sample_same_times(edited, original)
    fits = [
        fit
        for rest in _edited_rest_poses(edited)
        for its_rest in _original_rest_poses(original_sample)
        if (fit := _fit_rest_poses(rest, its_rest, bones, edited_joints, original_joints)) is not None
    ]
    if not fits:  # there are no shared bones
        return AxisChange(np.tile(IDENTITY, (len(edited_joints), 1)), _unit_ratio(edited, original))
    changes = [fit.change for fit in fits if fit.bone_errors.max() <= REST_TOLERANCE]
    if changes:
        errors_rad = [
            _motion_error_rad(change, edited_sample, original_sample, bones, edited_joints, original_joints)
            for change in changes
        ]
        return changes[next(k for k, off in enumerate(errors_rad) if off <= min(errors_rad) + SAME_ROTATION_RAD)]
    off = min((fit.bone_errors for fit in fits), key=lambda off: float(off.max()))
    worst = int(off.argmax())
    joint = edited.skeleton.names[edited_joints[bones.joints[worst]]]
    raise OptionError(
        f"at rest {joint} lies elsewhere than "
        f"in {original.name!r}, by {off[worst]:.1%} of the longest bone, so the detail does not fit",
        code="different_motions",
        subject=edited.name,
        value=joint,
        hint=(
            "keep the bones' rest pose and export them with the body that is bound to them, or hand "
            "over the .blend file itself"
        ),
    )


def _sample_same_times(edited: Motion, original: KeyedMotion) -> tuple[Motion, Motion]:
    """Return a few frames of both at the same times, from frame 0."""
    frames = np.unique(np.linspace(0, edited.n_frames - 1, FRAMES_COMPARED).round().astype(int))
    some = replace(edited, translations=edited.translations[frames], rotations=edited.rotations[frames])
    at = np.minimum(frames * (original.fps / edited.fps), original.n_frames - 1.0)
    return some, original.sample(frames=at)


# Candidates of rest poses


def _edited_rest_poses(edited: Motion) -> Iterator[_RestPose]:
    yield _world_rest_pose(edited.skeleton, _pose_without_rotation(edited.skeleton.offsets))
    if edited.reference_pose is not None:
        yield _world_rest_pose(edited.skeleton, edited.reference_pose)


def _original_rest_poses(original: Motion) -> Iterator[_RestPose]:
    """Return the rest pose by its offsets, and the one that Keypose writes to files of other programs."""
    yield _world_rest_pose(original.skeleton, _pose_without_rotation(original.skeleton.offsets))
    if original.reference_pose is not None:
        yield _world_rest_pose(original.skeleton, original.reference_pose)
    bound = bind_pose(replace(original, reference_pose=None))
    yield _world_rest_pose(original.skeleton, bound)
    if (bound.rotations != np.array(IDENTITY)).any():
        yield _world_rest_pose(
            original.skeleton, _pose_without_rotation(bound.translations)
        )  # as in .blend files with Euler angles


def _pose_without_rotation(translations: Floats) -> Pose:
    return Pose(translations, np.tile(IDENTITY, (len(translations), 1)))


def _world_rest_pose(skeleton: Skeleton, pose: Pose) -> _RestPose:
    positions, rotations = kinematics.forward(skeleton.parents, pose.translations[None], pose.rotations[None])
    return _RestPose(positions[0], rotations[0])


def _shared_bones(edited: Skeleton, original: Skeleton, edited_joints: Ints, original_joints: Ints) -> _Bones:
    """Return the bones between paired joints, skipping joints between them that only one file has."""
    number = (
        {j: p for p, j in enumerate(edited_joints.tolist())},
        {k: p for p, k in enumerate(original_joints.tolist())},
    )
    bones = []
    for p, (j, k) in enumerate(zip(edited_joints.tolist(), original_joints.tolist(), strict=True)):
        edited_parent, original_parent = (
            _nearest_paired_ancestor(edited, j, number[0]),
            _nearest_paired_ancestor(original, k, number[1]),
        )
        if edited_parent is not None and edited_parent == original_parent:
            bones.append((p, edited_parent))
    pairs = np.array(bones, np.int32).reshape(-1, 2)
    return _Bones(pairs[:, 0], pairs[:, 1])


def _nearest_paired_ancestor(skeleton: Skeleton, joint: int, number: dict[int, int]) -> int | None:
    """Return the pair index of the nearest ancestor that has one."""
    joint = int(skeleton.parents[joint])
    while joint >= 0 and joint not in number:
        joint = int(skeleton.parents[joint])
    return number.get(joint)


# Fit of two rest poses


def _fit_rest_poses(
    edited_rest: _RestPose, original_rest: _RestPose, bones: _Bones, edited_joints: Ints, original_joints: Ints
) -> _Fit | None:
    """Return the rotation and scale that best map the original's bones to those of the edit; None without bones."""
    edited_bones, original_bones = (
        bones.vectors(edited_rest, edited_joints),
        bones.vectors(original_rest, original_joints),
    )
    max_length = float(np.linalg.norm(original_bones, axis=1).max(initial=0.0))
    if not max_length or not edited_bones.any():
        return None
    scale = float(np.linalg.norm(edited_bones) / np.linalg.norm(original_bones))
    rotation = _best_rotation(original_bones, edited_bones)
    errors, errors_unrotated = (
        np.linalg.norm(edited_bones / scale - original_bones @ t.T, axis=1) / max_length for t in (rotation, np.eye(3))
    )
    if errors_unrotated.max() <= errors.max() + ROUNDING:
        rotation, errors = np.eye(3), errors_unrotated
    rotated = multiply(
        np.broadcast_to(from_matrix(rotation), (len(original_joints), 4)), original_rest.rotations[original_joints]
    )
    return _Fit(AxisChange(multiply(conjugate(edited_rest.rotations[edited_joints]), rotated), scale), errors)


def _best_rotation(source: Floats, target: Floats) -> Floats:
    """Return the rotation matrix that maps ``source`` (B, 3) closest to ``target``; identity if they are collinear."""
    u, sizes, vt = np.linalg.svd(target.T @ source)
    if sizes[1] <= 1e-6 * sizes[0]:
        return np.eye(3)
    mirror = np.diag((1.0, 1.0, np.sign(np.linalg.det(u @ vt))))
    return np.asarray(u @ mirror @ vt)


def _motion_error_rad(
    change: AxisChange, edited: Motion, original: Motion, bones: _Bones, edited_joints: Ints, original_joints: Ints
) -> float:
    """Return the difference (rad) of bone rotations from the original with a change of axes: median over frames, mean
    over bones.
    """
    edited_rotations, original_rotations = (
        edited.world_rotations()[:, edited_joints],
        original.world_rotations()[:, original_joints],
    )
    original_rotations = multiply(
        original_rotations, np.broadcast_to(conjugate(change.rotations), original_rotations.shape)
    )
    bone_rotations = (
        multiply(conjugate(each[:, bones.parents]), each[:, bones.joints])
        for each in (edited_rotations, original_rotations)
    )
    return float(np.median(angle_between(*bone_rotations), axis=0).mean())


def _unit_ratio(edited: Motion, original: KeyedMotion) -> float:
    """Return the ratio of the units of original and edit; 1 if one is unknown."""
    if edited.metres_per_unit is None or original.metres_per_unit is None:
        return 1.0
    return original.metres_per_unit / edited.metres_per_unit
