"""From local poses to the world: forward kinematics, the up axis, the height, ground contacts.

Pure functions on arrays. Positions are in file units unless a name says otherwise; a height is the
vertical extent of a standing figure, and ``REFERENCE_HEIGHT_MM`` is the figure on which all errors of
this package are stated.
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

# Ground contact, stated on a figure of REFERENCE_HEIGHT_MM.
CONTACT_HEIGHT_M = 0.08
CONTACT_SPEED_M_PER_S = 0.25
CONTACT_LEAST_S = 0.1
CONTACT_GAP_S = 0.05
RUN_TOLERANCE_FRAMES = 0.01  # a rate of 120.0005 fps (.0083333 s) still has 12 frames in 0.1 s

# A rest pose counts as upright when it is at least this tall compared with its widest side: a T-pose is
# about as wide as it is tall, a skeleton drawn lying down is much wider.
UPRIGHT_RATIO = 0.7

# An axis is the way up when it holds at least this part of the way from feet to head: within 41 degrees,
# so that no two axes qualify.
DOMINANT_PART = 0.75


def forward(parents: Ints, translations: Floats, rotations: Floats) -> tuple[Floats, Floats]:
    """World positions (T, J, 3) and rotations (T, J, 4) of local poses; parents before children."""
    return _core.forward_kinematics(
        np.ascontiguousarray(parents, dtype=np.int32),
        np.ascontiguousarray(translations, dtype=np.float64),
        np.ascontiguousarray(rotations, dtype=np.float64),
    )


def end_positions(world_positions: Floats, world_rotations: Floats, end_joints: Ints, end_offsets: Floats) -> Floats:
    """World positions (T, E, 3) of the end sites."""
    return world_positions[:, end_joints] + rotate(world_rotations[:, end_joints], end_offsets)


def up_axis(up: Up) -> tuple[int, float]:
    """The index of the up axis and its sign."""
    return "XYZ".index(up[-1]), -1.0 if up.startswith("-") else 1.0


def heights_above(points: Floats, up: Up) -> Floats:
    """The coordinate of ``points`` (..., 3) along the up axis."""
    axis, sign = up_axis(up)
    return sign * points[..., axis]


def vertical_extent(points: Floats, up: Up) -> Floats:
    """Highest minus lowest of ``points`` (..., N, 3): one number per pose."""
    extent: Floats = np.ptp(heights_above(points, up), axis=-1)
    return extent


def is_upright(points: Floats, up: Up) -> bool:
    """Whether one pose (N, 3) stands along the up axis."""
    widest = float(np.ptp(points, axis=0).max())
    return widest > 0 and float(vertical_extent(points, up)) >= UPRIGHT_RATIO * widest


def dominant_up(below: Floats, above: Floats) -> Up | None:
    """The axis along which points ``above`` lie over ``below`` (both (T, 3)) in most frames, if any does."""
    direction = np.median(above - below, axis=0)
    axis = int(np.argmax(np.abs(direction)))
    if np.abs(direction[axis]) <= DOMINANT_PART * np.linalg.norm(direction):
        return None
    return UPS[axis if direction[axis] > 0 else axis + 3]


def ground_contacts(feet: Floats, fps: float, up: Up, metres_per_unit: float) -> Bools:
    """Which feet touch the ground: (T, F) from ``feet`` (T, F, P, 3), P points (ankle, toe) for each foot.

    A foot is in contact where one of its points is near the clip's floor and slow, for a least time, with
    short gaps closed; ``metres_per_unit`` is that of the figure scaled to the reference height.
    """
    metres = feet * metres_per_unit
    height = heights_above(metres, up)
    floor = np.percentile(height.min(axis=(1, 2)), 5.0)
    velocity = np.gradient(metres, axis=0) * fps if len(metres) > 1 else np.zeros_like(metres)
    slow = np.linalg.norm(velocity, axis=-1) < CONTACT_SPEED_M_PER_S
    touching: Bools = ((height - floor < CONTACT_HEIGHT_M) & slow).any(axis=2)
    for foot in range(touching.shape[1]):
        column = touching[:, foot]
        _fill_runs(column, False, shorter_than=CONTACT_GAP_S * fps - RUN_TOLERANCE_FRAMES, inner_only=True)
        _fill_runs(column, True, shorter_than=CONTACT_LEAST_S * fps - RUN_TOLERANCE_FRAMES, inner_only=False)
    return touching


class Stance(NamedTuple):
    """One contact of one foot, and the point of the foot (ankle or toe) that stands."""

    foot: int
    point: int
    start: int  # frame
    end: int  # the frame after the last


def stances(feet: Sequence[Floats], touching: Bools, up: Up) -> tuple[Stance, ...]:
    """The contacts ``touching`` (T, F) of ``feet``, each (T, P, 3).

    The point that stands is the one that strays least: a foot that rolls over its toes moves its ankle yet does not
    slide.
    """
    found = []
    for foot, points in enumerate(feet):
        for start, end in runs(touching[:, foot]):
            strays = [_strays(points[:, point], start, end, up).mean() for point in range(points.shape[1])]
            found.append(Stance(foot, int(np.argmin(strays)), start, end))
    return tuple(found)


def foot_slide(feet: Sequence[Floats], standing: Sequence[Stance], up: Up) -> float | None:
    """How far ``feet``, each (T, P, 3), are on average from their place at the middle of each contact, horizontally.

    In file units, over all frames of contact; None where there is no contact.
    """
    if not standing:
        return None
    strays = [_strays(feet[each.foot][:, each.point], each.start, each.end, up) for each in standing]
    return float(np.concatenate(strays).mean())


def _strays(points: Floats, start: int, end: int, up: Up) -> Floats:
    """Horizontal distances (end - start,) of a point (T, 3) from its place at the middle of these frames."""
    off = points[start:end] - points[(start + end) // 2]
    off[:, up_axis(up)[0]] = 0.0
    return np.asarray(np.linalg.norm(off, axis=-1))


def _fill_runs(values: Bools, of: bool, *, shorter_than: float, inner_only: bool) -> None:
    """Inverts, in place, the runs of ``of`` that are too short."""
    for start, end in runs(values == of):
        touches_an_end = start == 0 or end == len(values)
        if end - start < shorter_than and not (inner_only and touches_an_end):
            values[start:end] = not of
