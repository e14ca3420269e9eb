"""Limit knees and elbows that an edit bends beyond their range."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import index

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Bools, Floats, freeze
from keypose.curves.edit.directions import orthogonal_part, unit_vectors
from keypose.curves.edit.reach import BENT_SINE, Limb, find_limbs
from keypose.errors import OptionError
from keypose.model import Motion, Skeleton
from keypose.model.motion import check_source_frames
from keypose.rotations import conjugate, exp, multiply, normalise, rotate

DEFAULT_MIN_DEG = 3.0  # flexion to which a limb may be stretched even if it is always bent more
DEFAULT_MAX_DEG = 150.0  # flexion to which a limb may be folded even if it is never bent so far
SOFT_DEG = 5.0  # over which a joint slows down before a limit
MAX_RANGE_DEG = 270.0  # a joint with a larger range is no hinge
# The share of the lower bone in the plane of the hinge: below the second value the limit fades, below the first it is
# off.
SIDEWAYS, UPRIGHT = 0.5, 0.75
NOTE_MIN_DEG = 1.0  # smaller corrections are not noted
_SAME_RAD = 1e-9  # smaller differences are rounding error


@dataclass(frozen=True, eq=False)
class HingeResult:
    """A motion whose knees and elbows are within their range."""

    motion: Motion
    note: str = ""  # which joints are held, at which limits and when
    corrected_joints: tuple[int, ...] = ()  # knees and elbows that were corrected
    max_correction_deg: float = 0.0  # the largest correction

    def __repr__(self) -> str:
        return f"HingeResult({self.motion.name!r}, {self.note or 'nothing held'})"


@dataclass(frozen=True)
class _FlexionRange:
    """The range of a joint's flexion."""

    min_deg: float
    max_deg: float


def hold_hinges(
    before: Motion, after: Motion, *, source: ArrayLike | None = None, joints: Iterable[int] | None = None
) -> HingeResult:
    """Return ``after``, the edited ``before``, with knees and elbows that bend too far or backwards corrected.

    The hinge axis of a limb, relative to the upper bone, is that of the frame in which ``before`` bends it most. The
    limb may be stretched as far as in ``before``, or to ``DEFAULT_MIN_DEG``, and folded as far as in ``before``, or to
    ``DEFAULT_MAX_DEG``. It slows down ``SOFT_DEG`` before a limit, or from its flexion in ``before`` if that is nearer
    to the limit. ``source``, for a retimed motion: the frame of ``before``, which may be fractional, of each frame of
    ``after``. ``joints``: only these knees and elbows; None: those that differ from ``before``.

    Only the knee or elbow itself is rotated, about its hinge and no faster than in ``before`` or ``after``, unless
    ``after`` makes a full turn; frames well within the limits are exact copies. If ``before`` never bends a limb, its
    hinge is unknown and it is not limited.
    """
    if before.skeleton.names != after.skeleton.names:
        raise OptionError(f"{after.name} has other joints than {before.name}", expected="the same figure, edited")
    source_positions = check_source_frames(source, before.n_frames, after.n_frames)
    joint_filter = None if joints is None else _check_joints(joints, after.n_joints)
    selected_limbs = {
        part: limb
        for part, limb in find_limbs(after.skeleton).items()
        if joint_filter is None or limb.middle in joint_filter
    }
    if not selected_limbs:
        return HingeResult(after)
    unedited = before if source_positions is None else before.at_frames(source_positions)
    rotations, notes, max_correction, corrected_joints = after.rotations.copy(), [], 0.0, []
    for part, limb in selected_limbs.items():
        if (unedited.rotations[:, limb.middle] == after.rotations[:, limb.middle]).all():
            continue
        axes, degrees, flexion_range = _find_corrections(before, unedited, after, limb)
        rows = np.flatnonzero(np.abs(np.deg2rad(degrees)) > _SAME_RAD)
        if not len(rows):
            continue
        corrections = exp(axes[rows] * np.deg2rad(degrees[rows])[:, None])  # in the frame of the bone above
        rotations[rows, limb.middle] = normalise(multiply(corrections, rotations[rows, limb.middle]))
        max_correction = max(max_correction, float(np.abs(degrees).max()))
        corrected_joints.append(limb.middle)
        notes += _describe_limits(part, limb, degrees, flexion_range)
    if not corrected_joints:
        return HingeResult(after)
    return HingeResult(
        replace(after, rotations=freeze(rotations)), "; ".join(notes), tuple(sorted(corrected_joints)), max_correction
    )


def _find_corrections(
    before: Motion, unedited: Motion, after: Motion, limb: Limb
) -> tuple[Floats, Floats, _FlexionRange]:
    """Return the hinge axes (T, 3) of a limb in the frame of the bone above, corrections (T,) in degrees, the range."""
    hinge_axis = _find_hinge_axis(*_bone_directions(before, limb))
    unchanged = np.zeros((after.n_frames, 3)), np.zeros(after.n_frames), _FlexionRange(0.0, 0.0)
    if hinge_axis is None:
        return unchanged
    old_flexion, _, _ = _measure_flexion(*_bone_directions(before, limb), hinge_axis, middle=90.0)
    flexion_range = _FlexionRange(
        min(float(old_flexion.min()), DEFAULT_MIN_DEG), max(float(old_flexion.max()), DEFAULT_MAX_DEG)
    )
    if flexion_range.max_deg - flexion_range.min_deg > MAX_RANGE_DEG:
        return unchanged
    old_flexion, _, _ = _measure_flexion(*_bone_directions(unedited, limb), hinge_axis, middle=90.0)
    flexion, in_plane, axes = _measure_flexion(
        *_bone_directions(after, limb), hinge_axis, middle=(flexion_range.min_deg + flexion_range.max_deg) / 2
    )
    flexion, target = _limit_flexion(flexion, old_flexion, flexion_range, in_plane > SIDEWAYS)
    x = np.clip((in_plane - SIDEWAYS) / (UPRIGHT - SIDEWAYS), 0.0, 1.0)
    return axes, (target - flexion) * _smoothstep(x), flexion_range


def _limit_flexion(
    flexion: Floats, old_flexion: Floats, flexion_range: _FlexionRange, is_reliable: Bools
) -> tuple[Floats, Floats]:
    """Return flexions (T,), unwrapped where they are reliably out of range, and their limited values, in degrees."""
    unwrapped = np.unwrap(flexion, period=360.0)
    outside = is_reliable & ((flexion < flexion_range.min_deg) | (flexion > flexion_range.max_deg))
    # A joint that leaves its range is unwrapped, so that folding beyond 180 degrees is not bending backwards. When it
    # is within its range again, its full turns are dropped, as such a pose is valid.
    full_turns = np.round((unwrapped - flexion) / 360.0)
    frames = np.arange(len(flexion))
    last_inside = np.maximum.accumulate(np.where(outside, -1, frames))
    next_inside = np.minimum.accumulate(np.where(outside, len(flexion), frames)[::-1])[::-1]
    last_inside, next_inside = (
        np.where(last_inside < 0, next_inside, last_inside),
        np.where(next_inside == len(flexion), last_inside, next_inside),
    )
    last_inside, next_inside = (
        np.where(last_inside == len(flexion), 0, last_inside),
        np.where(next_inside < 0, 0, next_inside),
    )  # never within its range
    flexion = unwrapped - 360.0 * full_turns[last_inside]
    target = _soft_limit(flexion, old_flexion, flexion_range)
    # A joint that makes a full turn, leaving at one limit and entering at the other, rotates all the way back in
    # between.
    goes_round = outside & (full_turns[next_inside] != full_turns[last_inside])
    if goes_round.any():
        far_flexion = np.where(full_turns[next_inside] > full_turns[last_inside], flexion, flexion + 360.0)[goes_round]
        x = np.clip(
            (far_flexion - flexion_range.max_deg) / (flexion_range.min_deg + 360.0 - flexion_range.max_deg), 0.0, 1.0
        )
        ends = (
            _soft_limit(far_flexion, old_flexion[goes_round], flexion_range),
            _soft_limit(far_flexion - 360.0, old_flexion[goes_round], flexion_range),
        )
        target[goes_round] = ends[0] + _smoothstep(x) * (ends[1] - ends[0])
        flexion[goes_round] = np.where(
            far_flexion - target[goes_round] > 180.0, far_flexion - 360.0, far_flexion
        )  # the shorter way back
    return flexion, target


def _soft_limit(flexion: Floats, old_flexion: Floats, flexion_range: _FlexionRange) -> Floats:
    """Return flexions that slow down near a limit and never pass it; the flexion of ``before`` does not change."""
    below = _soft_maximum(flexion, np.maximum(old_flexion, flexion_range.max_deg - SOFT_DEG), flexion_range.max_deg)
    return -_soft_maximum(-below, np.maximum(-old_flexion, -flexion_range.min_deg - SOFT_DEG), -flexion_range.min_deg)


def _soft_maximum(x: Floats, start: Floats, limit: float) -> Floats:
    # The derivatives by x and by start are never negative and their sum is at most 1, so that no rotation becomes
    # faster.
    headroom = np.maximum(limit - start, 1e-12)
    return np.where(x > start, start + headroom * np.tanh((x - start) / headroom), x)


def _measure_flexion(upper: Floats, lower: Floats, hinge_axis: Floats, middle: float) -> tuple[Floats, Floats, Floats]:
    """Return flexions (T,) in degrees, within half a turn of ``middle``; the lower bone's share (T,) in plane; axes."""
    axes = unit_vectors(orthogonal_part(hinge_axis, upper))
    sine, cosine = np.sum(np.cross(upper, lower) * axes, axis=-1), np.sum(upper * lower, axis=-1)
    degrees = np.rad2deg(np.arctan2(sine, cosine))
    return degrees - 360.0 * np.ceil((degrees - middle - 180.0) / 360.0), np.hypot(sine, cosine), axes


def _find_hinge_axis(upper: Floats, lower: Floats) -> Floats | None:
    """Return the normal (3,) of a limb's plane where it is bent most, in the upper bone's frame; None: never bent."""
    normals = np.cross(upper, lower)
    sines = np.linalg.norm(normals, axis=-1)
    widest = int(np.argmax(sines))
    return None if sines[widest] < BENT_SINE else normals[widest] / sines[widest]


def _bone_directions(motion: Motion, limb: Limb) -> tuple[Floats, Floats]:
    """Return the directions (T, 3) of a limb's two bones in the frame of the parent of the middle joint.

    The parent is the upper joint or a twist joint below it, with which the hinge moves.
    """
    parents = motion.skeleton.parents
    above = int(parents[limb.middle])
    lower = rotate(motion.rotations[:, limb.middle], _relative_position(motion, limb.end, limb.middle))
    upper = _relative_position(motion, limb.middle, limb.upper)
    for j in reversed(_joints_between(motion.skeleton, above, limb.upper)):
        upper = rotate(conjugate(motion.rotations[:, j]), upper)
    return unit_vectors(upper), unit_vectors(lower)


def _relative_position(motion: Motion, joint: int, base: int) -> Floats:
    """Return the position (T, 3) of a joint in the frame of its ancestor ``base``."""
    position = motion.translations[:, joint]
    for j in _joints_between(motion.skeleton, int(motion.skeleton.parents[joint]), base):
        position = motion.translations[:, j] + rotate(motion.rotations[:, j], position)
    return position


def _joints_between(skeleton: Skeleton, joint: int, base: int) -> list[int]:
    """Return ``joint`` and its ancestors below ``base``."""
    joints = []
    while joint != base:
        joints.append(joint)
        joint = int(skeleton.parents[joint])
    return joints


def _smoothstep(x: Floats) -> Floats:
    return x * x * (3.0 - 2.0 * x)


def _check_joints(joints: Iterable[int], count: int) -> set[int]:
    try:
        chosen = {index(j) for j in joints}
    except TypeError:
        raise OptionError(option="joints", value=joints, expected="numbers of joints") from None
    wrong = [j for j in sorted(chosen) if not 0 <= j < count]
    if wrong:
        raise OptionError(f"joint {wrong[0]}", expected=f"numbers from 0 to {count - 1}")
    return chosen


def _describe_limits(body_part: str, limb: Limb, degrees: Floats, flexion_range: _FlexionRange) -> list[str]:
    """Describe one joint for the note: which of its limits was applied, and in which frames."""
    side = body_part.rpartition("_")[0]
    name = f"{side} {'knee' if limb.is_leg else 'elbow'}".strip()
    sides = (degrees > NOTE_MIN_DEG, flexion_range.min_deg), (degrees < -NOTE_MIN_DEG, flexion_range.max_deg)
    clauses = [
        f"at {limit:.0f} degrees in {_describe_frames(is_limited)}".replace("-0 ", "0 ")
        for is_limited, limit in sides
        if is_limited.any()
    ]
    return [f"{name} held {' and '.join(clauses)}"] if clauses else []


def _describe_frames(is_limited: Bools) -> str:
    frames = np.flatnonzero(is_limited)
    if len(frames) == 1:
        return f"frame {frames[0]}"
    n_runs = 1 + int(np.count_nonzero(np.diff(frames) > 1))
    prefix = f"{len(frames)} of the frames" if n_runs > 1 else "frames"
    return f"{prefix} {frames[0]} to {frames[-1]}"
