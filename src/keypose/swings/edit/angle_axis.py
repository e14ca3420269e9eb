"""Change the angle and axis of swings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats
from keypose.curves.edit.arguments import check_vector
from keypose.errors import OptionError
from keypose.rotations import exp, multiply, normalise, rotate
from keypose.swings.edit.apply_edit import edit_each_swing
from keypose.swings.edit.baseline import Baseline
from keypose.swings.edit.change import SwingChange
from keypose.swings.edit.pieces import Piece, build_swing_piece
from keypose.swings.edit.pieces import Point as Point
from keypose.swings.edit.targets import SwingTargets
from keypose.swings.model import Swings
from keypose.swings.swing import MAX_ANGLE, MIN_ANGLE
from keypose.validation import check_choice, check_number

POINTS: tuple[Point, ...] = get_args(Point)
MAX_FACTOR, MAX_DEG = 1000.0, 36_000.0
_FRACTIONS = {"start": 0.0, "middle": 0.5, "end": 1.0}


def scale(
    swings: Swings, baseline: Baseline, targets: SwingTargets, factor: Any, *, about: Point = "start"
) -> SwingChange:
    """Multiply the angles of swings by ``factor``; a negative one reverses them.

    The rotation at the start, middle or end of each swing does not change.
    """
    multiplier = check_number("factor", factor, min_value=-MAX_FACTOR, max_value=MAX_FACTOR)
    check_choice("about", about, POINTS)
    return _rotate_swings(swings, baseline, targets, lambda turn: turn * multiplier, about)


def set_angle(
    swings: Swings, baseline: Baseline, targets: SwingTargets, degrees: Any, *, about: Point = "start"
) -> SwingChange:
    """Set the angle of swings about the same axis; a negative one reverses them."""
    angle = float(np.deg2rad(check_number("degrees", degrees, min_value=-MAX_DEG, max_value=MAX_DEG)))
    check_choice("about", about, POINTS)
    return _rotate_swings(swings, baseline, targets, lambda turn: _axis_of(turn) * angle, about)


def set_axis(swings: Swings, baseline: Baseline, targets: SwingTargets, axis: ArrayLike) -> SwingChange:
    """Set the axis (3,) of swings, in the joint's own frame; angle and start do not change."""
    unit = _check_direction("axis", axis)
    return _rotate_swings(swings, baseline, targets, lambda turn: unit * np.linalg.norm(turn), "start")


def turn_axis(
    swings: Swings, baseline: Baseline, targets: SwingTargets, *, about: ArrayLike, degrees: Any
) -> SwingChange:
    """Rotate the axes of swings by ``degrees`` about a direction (3,) in the joint's own frame."""
    tilt = exp(
        _check_direction("about", about)
        * np.deg2rad(check_number("degrees", degrees, min_value=-MAX_DEG, max_value=MAX_DEG))
    )
    return _rotate_swings(swings, baseline, targets, lambda turn: rotate(tilt, turn), "start")


def _rotate_swings(
    swings: Swings, baseline: Baseline, targets: SwingTargets, transform: Callable[[Floats], Floats], about: Point
) -> SwingChange:
    """Apply ``transform`` to the rotation vector (3,) of each swing."""
    return edit_each_swing(
        swings,
        baseline,
        targets,
        lambda run: [rotate_piece_about(p, about, transform(swing_vector(p))) for p in run],
        about,
    )


def rotate_piece_about(
    piece: Piece, about: Point, rotation_vector: Floats, frames: tuple[int, int] | None = None
) -> Piece:
    """Return a fixed swing with another rotation, the same rotation at one point, and optionally other frames.

    An unchanged piece is returned as it is.
    """
    old_vector = swing_vector(piece)
    start, end = (piece.start, piece.end) if frames is None else frames
    if (start, end) == (piece.start, piece.end) and (rotation_vector == old_vector).all():
        return piece
    if np.abs(rotation_vector).max() > MAX_ANGLE:
        raise OptionError(f"a swing that turns too far, expected at most {MAX_ANGLE:g} radians")
    fraction = _FRACTIONS[about]
    if fraction == 0.0 or (rotation_vector == old_vector).all():
        first = piece.rotations[0]
    else:
        first = normalise(
            multiply(multiply(piece.rotations[0], exp(fraction * old_vector)), exp(-fraction * rotation_vector))
        )
    return build_swing_piece(start, end, first, rotation_vector, piece.old_index)


def swing_vector(piece: Piece) -> Floats:
    """Return the rotation vector (3,) of a piece that is a swing."""
    assert piece.rotation_vector is not None
    return piece.rotation_vector


def _axis_of(rotation_vector: Floats) -> Floats:
    angle = float(np.linalg.norm(rotation_vector))
    return rotation_vector / angle if angle > MIN_ANGLE else np.array((1.0, 0.0, 0.0))


def _check_direction(option: str, values: ArrayLike) -> Floats:
    vector = check_vector(option, values)
    length = float(np.linalg.norm(vector))
    if length < 1e-12:
        raise OptionError(f"{option}={values!r}, expected a direction")
    return np.asarray(vector / length)
