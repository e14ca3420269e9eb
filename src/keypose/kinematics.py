"""Forward kinematics, the up axis, the height of a figure, ground contacts.

Pure functions on arrays. Positions are in file units unless a name has another unit. A height is the vertical extent of
a standing figure; all errors of this package are stated on a figure of ``REFERENCE_HEIGHT_MM``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from keypose import _core
from keypose.arrays import Bools, Floats, Ints, runs
from keypose.rotations import rotate

Up = Literal["X", "Y", "Z", "-X", "-Y", "-Z"]
UPS: tuple[Up, ...] = get_args(Up)

REFERENCE_HEIGHT_MM = 1700.0

# Limits of ground contacts, on a figure of REFERENCE_HEIGHT_MM.
CONTACT_HEIGHT_M = 0.08
CONTACT_SPEED_M_PER_S = 0.25
MIN_CONTACT_S = 0.1
MAX_CONTACT_GAP_S = 0.05
RUN_TOLERANCE_FRAMES = 0.01  # so that 0.1 s are 12 frames also at 120.0005 fps (a frame time of .0083333 s)

# A rest pose is upright if the ratio of its height to its widest side is at least this: a T-pose is about as wide as it
# is tall; a skeleton that lies down is much wider.
UPRIGHT_RATIO = 0.7

# An axis is up if its share of the vector from feet to head is at least this: within 41 degrees, so that no two
# axes qualify.
DOMINANT_SHARE = 0.75


def forward(parents: Ints, translations: Floats, rotations: Floats) -> tuple[Floats, Floats]:
    """Return world positions (T, J, 3) and rotations (T, J, 4) of local poses; parents come before children."""
    return _core.forward_kinematics(
        np.ascontiguousarray(parents, dtype=np.int32),
        np.ascontiguousarray(translations, dtype=np.float64),
        np.ascontiguousarray(rotations, dtype=np.float64),
    )


def end_positions(world_positions: Floats, world_rotations: Floats, end_joints: Ints, end_offsets: Floats) -> Floats:
    """Return the world positions (T, E, 3) of the end sites."""
    return world_positions[:, end_joints] + rotate(world_rotations[:, end_joints], end_offsets)


def up_axis(up: Up) -> tuple[int, float]:
    """Return the index of the up axis and its sign."""
    return "XYZ".index(up[-1]), -1.0 if up.startswith("-") else 1.0


def heights_above(points: Floats, up: Up) -> Floats:
    """Return the coordinate of ``points`` (..., 3) along the up axis."""
    axis, sign = up_axis(up)
    return sign * points[..., axis]


def y_up(points: Floats, up: Up) -> Floats:
    """Return points (..., 3) of a right-handed world rotated so that Y is up."""
    axis, sign = up_axis(up)
    rotated = np.roll(points, 1 - axis, axis=-1)  # a cyclic permutation of the axes does not change handedness
    return rotated if sign > 0 else rotated * np.array((-1.0, -1.0, 1.0))


def vertical_extent(points: Floats, up: Up) -> Floats:
    """Return the highest minus the lowest of ``points`` (..., N, 3), one number per pose."""
    extent: Floats = np.ptp(heights_above(points, up), axis=-1)
    return extent


def is_upright(points: Floats, up: Up) -> bool:
    """Return whether one pose (N, 3) is upright along the up axis."""
    widest = float(np.ptp(points, axis=0).max())
    return widest > 0 and float(vertical_extent(points, up)) >= UPRIGHT_RATIO * widest


def dominant_up(below: Floats, above: Floats) -> Up | None:
    """Return the axis along which ``above`` is above ``below`` (both (T, 3)) in most frames; None if there is none."""
    direction = np.median(above - below, axis=0)
    axis = int(np.argmax(np.abs(direction)))
    if np.abs(direction[axis]) <= DOMINANT_SHARE * np.linalg.norm(direction):
        return None
    return UPS[axis if direction[axis] > 0 else axis + 3]


def find_ground_contacts(feet: Floats, fps: float, up: Up, metres_per_unit: float) -> Bools:
    """Return which feet touch the ground, (T, F), from ``feet`` (T, F, P, 3): P points (ankle, toe) for each foot.

    A foot is in contact while one of its points is near the floor of the clip and slow, for at least ``MIN_CONTACT_S``;
    gaps shorter than ``MAX_CONTACT_GAP_S`` are closed. ``metres_per_unit``: of the figure scaled to the reference
    height.
    """
    metres = feet * metres_per_unit
    height = heights_above(metres, up)
    floor = np.percentile(height.min(axis=(1, 2)), 5.0)
    velocity = np.gradient(metres, axis=0) * fps if len(metres) > 1 else np.zeros_like(metres)
    is_slow = np.linalg.norm(velocity, axis=-1) < CONTACT_SPEED_M_PER_S
    in_contact: Bools = ((height - floor < CONTACT_HEIGHT_M) & is_slow).any(axis=2)
    for foot in range(in_contact.shape[1]):
        column = in_contact[:, foot]
        _invert_short_runs(column, False, shorter_than=MAX_CONTACT_GAP_S * fps - RUN_TOLERANCE_FRAMES, inner_only=True)
        _invert_short_runs(column, True, shorter_than=MIN_CONTACT_S * fps - RUN_TOLERANCE_FRAMES, inner_only=False)
    return in_contact


class Stance(NamedTuple):
    """One contact of one foot, and the point of the foot (ankle or toe) that stays in place."""

    foot: int
    point: int
    start: int  # frame
    end: int  # the frame after the last


def find_stances(feet: Sequence[Floats], in_contact: Bools, up: Up) -> tuple[Stance, ...]:
    """Return the stances of ``feet``, each (T, P, 3), for the flags ``in_contact`` (T, F).

    The point of a stance is the one that moves least: a foot that rolls over its toes moves its ankle but does not
    slide.
    """
    stances = []
    for foot, points in enumerate(feet):
        for start, end in runs(in_contact[:, foot]):
            drift = [_horizontal_drift(points[:, point], start, end, up).mean() for point in range(points.shape[1])]
            stances.append(Stance(foot, int(np.argmin(drift)), start, end))
    return tuple(stances)


def foot_slide(feet: Sequence[Floats], stances: Sequence[Stance], up: Up) -> float | None:
    """Return the mean horizontal distance of ``feet``, each (T, P, 3), from their mid-contact position.

    It is in file units and the mean over all frames of contact; None if there is no contact.
    """
    if not stances:
        return None
    drift = [_horizontal_drift(feet[stance.foot][:, stance.point], stance.start, stance.end, up) for stance in stances]
    return float(np.concatenate(drift).mean())


def _horizontal_drift(points: Floats, start: int, end: int, up: Up) -> Floats:
    """Return horizontal distances (end - start,) of a point (T, 3) from its position at the middle of these frames."""
    offsets = points[start:end] - points[(start + end) // 2]
    offsets[:, up_axis(up)[0]] = 0.0
    return np.asarray(np.linalg.norm(offsets, axis=-1))


def _invert_short_runs(values: Bools, value: bool, *, shorter_than: float, inner_only: bool) -> None:
    """Invert, in place, the runs of ``value`` that are shorter than ``shorter_than`` frames."""
    for start, end in runs(values == value):
        is_at_end = start == 0 or end == len(values)
        if end - start < shorter_than and not (inner_only and is_at_end):
            values[start:end] = not value


def distances(points: Floats, others: Floats) -> Floats:
    """Return the distance of each point (..., 3) from its counterpart."""
    offsets = others - points
    lengths: Floats = np.sqrt(np.einsum("...k,...k->...", offsets, offsets))
    return lengths


def accelerations(world_positions: Floats, frames: Ints) -> Floats:
    """Return the second differences (N, J, 3) of positions (T, J, 3) at inner ``frames`` (N,), per frame squared."""
    return world_positions[frames - 1] - 2 * world_positions[frames] + world_positions[frames + 1]
