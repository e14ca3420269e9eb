"""How far stored motion is off its original: the measure in which a stored file's tolerance is promised.

Millimetres on a figure of 1.7 m, over the joints, the end sites and six points 3 cm off each joint, along its own axes
both ways: where a joint is tells nothing of how it is turned, its points do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.kinematics import REFERENCE_HEIGHT_MM
from keypose.model import Motion, Skeleton
from keypose.rotations import to_matrix

ARM_MM = 30.0  # how far the six points are off their joint
POINTS = ("joint", "3 cm along +X", "3 cm along +Y", "3 cm along +Z", "3 cm along -X", "3 cm along -Y", "3 cm along -Z")
END_SITE = "end site"
LEAST_HEIGHT = 1e-9  # of the largest coordinate: less is what rounding leaves of a figure without height
UNKNOWN_MM_PER_UNIT = 1000.0
BLOCK_POSES = 1 << 14  # frames x joints and end sites that are compared together: some 10 MB


@dataclass(frozen=True)
class LargestError:
    """The largest error of a stored motion, and where it is."""

    mm: float
    frame: int  # counted from 0
    joint: str  # that carries the point
    what: str  # which point: one of POINTS or END_SITE

    def __str__(self) -> str:
        point = self.joint if self.what == POINTS[0] else f"{self.joint} ({self.what})"
        return f"{self.mm:.3g} mm at frame {self.frame}, {point}"


def mm_per_unit_of(motion: Motion) -> float:
    """Millimetres per file unit, in which a tolerance is promised for ``motion``.

    On the figure scaled to 1.7 m, as ``motion.mm_per_unit`` has it. A figure without height (one joint, markers in a
    plane) has no such scale: true millimetres then, where the file says its unit. Where it does not, a unit counts as
    a metre, the largest unit in use, so that the promise holds whichever unit was meant.
    """
    height = motion.height
    coordinates = max(float(np.abs(motion.translations).max()), float(np.abs(motion.skeleton.offsets).max(initial=0.0)))
    if height > LEAST_HEIGHT * coordinates and 0 < (scale := REFERENCE_HEIGHT_MM / height) < np.inf:
        return scale
    return UNKNOWN_MM_PER_UNIT if motion.metres_per_unit is None else 1000.0 * motion.metres_per_unit


def largest_error(original: Motion, decoded: Motion, *, mm_per_unit: float | None = None) -> LargestError:
    """The largest distance between a point of ``original`` and the same point of ``decoded``, and where it is.

    Both have the same joints and frames. ``mm_per_unit`` is needed where ``original`` is a part of the clip for which
    the promise was made; None: as ``mm_per_unit_of(original)`` says.
    """
    scale = mm_per_unit_of(original) if mm_per_unit is None else mm_per_unit
    largest, frame, point = -1.0, 0, 0
    for start, stop in blocks(original):
        errors = errors_mm(original, decoded, start, stop, mm_per_unit=scale)
        at, where = (int(i) for i in np.unravel_index(int(errors.argmax()), errors.shape))
        if errors[at, where] > largest:
            largest, frame, point = float(errors[at, where]), start + at, where
    return LargestError(largest, frame, *_named(original.skeleton, point))


def frame_errors_mm(original: Motion, decoded: Motion, *, mm_per_unit: float | None = None) -> Floats:
    """The largest distance in each frame (T,)."""
    scale = mm_per_unit_of(original) if mm_per_unit is None else mm_per_unit
    parts = [errors_mm(original, decoded, *some, mm_per_unit=scale).max(axis=1) for some in blocks(original)]
    return np.concatenate(parts)


def blocks(motion: Motion) -> Iterator[tuple[int, int]]:
    """Frames that are compared together, first and end: few enough to keep memory small."""
    length = max(1, BLOCK_POSES // (motion.n_joints + len(motion.skeleton.end_joints)))
    return ((start, min(start + length, motion.n_frames)) for start in range(0, motion.n_frames, length))


def errors_mm(original: Motion, decoded: Motion, start: int, stop: int, *, mm_per_unit: float) -> Floats:
    """The distances (N, 7 J + E) of frames ``start`` to ``stop - 1``: seven points of each joint, then end sites."""
    _check_alike(original, decoded)
    here, there = (_points(motion, start, stop, ARM_MM / mm_per_unit) for motion in (original, decoded))
    off = there - here
    return np.asarray(mm_per_unit * np.sqrt(np.einsum("tpk,tpk->tp", off, off)))


def _points(motion: Motion, start: int, stop: int, arm: float) -> Floats:
    """World positions (N, 7 J + E, 3) of all points, ``arm`` in file units."""
    s = motion.skeleton
    positions, turns = kinematics.forward(s.parents, motion.translations[start:stop], motion.rotations[start:stop])
    arms = arm * np.swapaxes(to_matrix(turns), -1, -2)  # (N, J, 3, 3): where each of the joint's axes points
    at_joint = positions[:, :, None, :]
    own = np.concatenate((at_joint, at_joint + arms, at_joint - arms), axis=2).reshape(len(positions), -1, 3)
    return np.concatenate((own, kinematics.end_positions(positions, turns, s.end_joints, s.end_offsets)), axis=1)


def _named(skeleton: Skeleton, point: int) -> tuple[str, str]:
    """The joint of one column of the distances, and which of its points."""
    joint, which = divmod(point, len(POINTS))
    if joint < skeleton.n_joints:
        return skeleton.names[joint], POINTS[which]
    end = point - len(POINTS) * skeleton.n_joints
    return skeleton.names[int(skeleton.end_joints[end])], END_SITE


def _check_alike(original: Motion, decoded: Motion) -> None:
    ours, theirs = original.skeleton, decoded.skeleton
    if ours.names != theirs.names or (ours.parents != theirs.parents).any():
        raise OptionError(f"{original.name!r} and {decoded.name!r} have different joints")
    if len(ours.end_joints) != len(theirs.end_joints) or (ours.end_joints != theirs.end_joints).any():
        raise OptionError(f"{original.name!r} and {decoded.name!r} have different end sites")
    if original.n_frames != decoded.n_frames:
        raise OptionError(f"{original.name!r} has {original.n_frames} frames, {decoded.name!r} {decoded.n_frames}")
