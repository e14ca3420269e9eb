"""How the joints of an edited file lie to those of the original: the same figure at rest, in other axes.

Programs choose the axes of joints as they like: Blender lays them along the limbs, BVH keeps them upright at rest.
Where two files show the figure in the same rest pose, each joint's axes differ by a turn that never changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.formats.figure.bind import bind_pose
from keypose.model import KeyedMotion, Motion, Pose, Skeleton
from keypose.rotations import IDENTITY, angle_between, conjugate, from_matrix, multiply

REST_TOLERANCE = 2e-3  # of the longest bone: what a bone may differ after a journey through text or float32
ROUNDING = 1e-5  # of the longest bone: no turn is better than a turn that explains no more than this
SAME_TURN_RAD = 1e-3  # rest poses that explain the movement equally well
FRAMES_COMPARED = 64


@dataclass(frozen=True)
class Change:
    """What brings the original's detail, in each joint's own frame, into the frames of the edit."""

    turns: Floats  # (P, 4) wxyz, of each joint of the edit that has a partner
    scale: float


class _Rest(NamedTuple):
    """A figure at rest, in the world."""

    positions: Floats  # (J, 3)
    rotations: Floats  # (J, 4)


class _Fit(NamedTuple):
    """How well two figures at rest lie on each other."""

    change: Change
    off: Floats  # (B,) how far bones are apart, in parts of the longest


@dataclass(frozen=True)
class _Bones:
    """From joints to the nearest joints above them that both files have."""

    joints: Ints  # (B,) numbers of partners
    above: Ints  # (B,) of partners

    def of(self, rest: _Rest, partners: Ints) -> Floats:
        """The bones (B, 3) of one of the two figures at rest."""
        return np.asarray(rest.positions[partners[self.joints]] - rest.positions[partners[self.above]])


def change_of_rest(edited: Motion, original: KeyedMotion, ours: Ints, theirs: Ints) -> Change:
    """Found from joints ``ours`` (P,) of the edit, whose partners in the original are ``theirs`` (P,).

    A file may show its rest pose as its reference pose or by its offsets alone: all pairs of such poses are tried, and
    one is taken only where one turn and scale brings all bones onto each other. Should several do so (they may differ
    by turns that move no bone), the one is right in which the edit moves as the original does.
    """
    bones = _shared_bones(edited.skeleton, original.skeleton, ours, theirs)
    some, its_some = _same_times(edited, original)
    fits = [
        fit
        for rest in _rests_of_edit(edited)
        for its_rest in _rests_of_original(its_some)
        if (fit := _fit(rest, its_rest, bones, ours, theirs)) is not None
    ]
    if not fits:  # points that no bone holds together
        return Change(np.tile(IDENTITY, (len(ours), 1)), _ratio_of_units(edited, original))
    good = [fit.change for fit in fits if fit.off.max() <= REST_TOLERANCE]
    if good:
        off_rad = [_off_in_movement(change, some, its_some, bones, ours, theirs) for change in good]
        return good[next(k for k, off in enumerate(off_rad) if off <= min(off_rad) + SAME_TURN_RAD)]
    off = min((fit.off for fit in fits), key=lambda off: float(off.max()))
    worst = int(off.argmax())
    raise OptionError(
        f"{edited.name}: at rest {edited.skeleton.names[ours[bones.joints[worst]]]} lies elsewhere than in "
        f"{original.name!r}, by {off[worst]:.1%} of the longest bone, so the detail does not fit; keep the bones' rest "
        f"pose and export them with the body that is bound to them, or hand over the .blend file itself"
    )


def _same_times(edited: Motion, original: KeyedMotion) -> tuple[Motion, Motion]:
    """A few frames of both, from frame 0 on."""
    frames = np.unique(np.linspace(0, edited.n_frames - 1, FRAMES_COMPARED).round().astype(int))
    some = replace(edited, translations=edited.translations[frames], rotations=edited.rotations[frames])
    at = np.minimum(frames * (original.fps / edited.fps), original.n_frames - 1.0)
    return some, original.sample(frames=at)


# Where bones rest


def _rests_of_edit(edited: Motion) -> Iterator[_Rest]:
    yield _placed(edited.skeleton, _unturned(edited.skeleton.offsets))
    if edited.reference_pose is not None:
        yield _placed(edited.skeleton, edited.reference_pose)


def _rests_of_original(original: Motion) -> Iterator[_Rest]:
    """By its offsets, and as our own files show it to other programs."""
    yield _placed(original.skeleton, _unturned(original.skeleton.offsets))
    if original.reference_pose is not None:
        yield _placed(original.skeleton, original.reference_pose)
    bound = bind_pose(replace(original, reference_pose=None))
    yield _placed(original.skeleton, bound)
    if (bound.rotations != np.array(IDENTITY)).any():
        yield _placed(original.skeleton, _unturned(bound.translations))  # as .blend files of Euler angles have it


def _unturned(translations: Floats) -> Pose:
    return Pose(translations, np.tile(IDENTITY, (len(translations), 1)))


def _placed(skeleton: Skeleton, pose: Pose) -> _Rest:
    positions, rotations = kinematics.forward(skeleton.parents, pose.translations[None], pose.rotations[None])
    return _Rest(positions[0], rotations[0])


def _shared_bones(edited: Skeleton, original: Skeleton, ours: Ints, theirs: Ints) -> _Bones:
    """Bones between joints that have partners; joints between them that only one file has are passed over."""
    number = ({j: p for p, j in enumerate(ours.tolist())}, {k: p for p, k in enumerate(theirs.tolist())})
    found = []
    for p, (j, k) in enumerate(zip(ours.tolist(), theirs.tolist(), strict=True)):
        above, its_above = _above(edited, j, number[0]), _above(original, k, number[1])
        if above is not None and above == its_above:
            found.append((p, above))
    pairs = np.array(found, np.int32).reshape(-1, 2)
    return _Bones(pairs[:, 0], pairs[:, 1])


def _above(skeleton: Skeleton, joint: int, number: dict[int, int]) -> int | None:
    """The partner number of the nearest joint above that has one."""
    joint = int(skeleton.parents[joint])
    while joint >= 0 and joint not in number:
        joint = int(skeleton.parents[joint])
    return number.get(joint)


# One figure on the other


def _fit(rest: _Rest, its_rest: _Rest, bones: _Bones, ours: Ints, theirs: Ints) -> _Fit | None:
    """The turn and scale that bring the original's bones nearest to those of the edit; None without bones."""
    to, of = bones.of(rest, ours), bones.of(its_rest, theirs)
    longest = float(np.linalg.norm(of, axis=1).max(initial=0.0))
    if not longest or not to.any():
        return None
    scale = float(np.linalg.norm(to) / np.linalg.norm(of))
    turn = _best_turn(of, to)
    off, off_unturned = (np.linalg.norm(to / scale - of @ t.T, axis=1) / longest for t in (turn, np.eye(3)))
    if off_unturned.max() <= off.max() + ROUNDING:
        turn, off = np.eye(3), off_unturned
    turned = multiply(np.broadcast_to(from_matrix(turn), (len(theirs), 4)), its_rest.rotations[theirs])
    return _Fit(Change(multiply(conjugate(rest.rotations[ours]), turned), scale), off)


def _best_turn(of: Floats, to: Floats) -> Floats:
    """The rotation matrix that brings bones ``of`` (B, 3) nearest to ``to``; none if they lie along one line."""
    u, sizes, vt = np.linalg.svd(to.T @ of)
    if sizes[1] <= 1e-6 * sizes[0]:
        return np.eye(3)
    mirror = np.diag((1.0, 1.0, np.sign(np.linalg.det(u @ vt))))
    return np.asarray(u @ mirror @ vt)


def _off_in_movement(
    change: Change, edited: Motion, original: Motion, bones: _Bones, ours: Ints, theirs: Ints
) -> float:
    """How far (rad) joints are turned otherwise than in the original, in most frames, with a change of axes."""
    turns, its = edited.world_rotations()[:, ours], original.world_rotations()[:, theirs]
    its = multiply(its, np.broadcast_to(conjugate(change.turns), its.shape))
    on_bones = (multiply(conjugate(each[:, bones.above]), each[:, bones.joints]) for each in (turns, its))
    return float(np.median(angle_between(*on_bones), axis=0).mean())


def _ratio_of_units(edited: Motion, original: KeyedMotion) -> float:
    """How much larger numbers are in the edit, as far as both say what their unit is."""
    if edited.metres_per_unit is None or original.metres_per_unit is None:
        return 1.0
    return original.metres_per_unit / edited.metres_per_unit
