"""Swings that turn farther, less far, the other way or about another axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.inbetween.editing.arguments import vector
from keypose.options import number, one_of
from keypose.rotations import exp, multiply, normalise, rotate
from keypose.swings.editing.change import SwingChange
from keypose.swings.editing.fitting import each_swing
from keypose.swings.editing.pieces import Piece, swing_piece
from keypose.swings.editing.pieces import Point as Point
from keypose.swings.editing.selection import Which
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings
from keypose.swings.parts import GREATEST_ANGLE, LEAST_ANGLE

POINTS: tuple[Point, ...] = get_args(Point)
GREATEST_FACTOR, GREATEST_DEG = 1000.0, 36_000.0
_PARTS = {"start": 0.0, "middle": 0.5, "end": 1.0}


def scale(now: Swings, before: Unedited, which: Which, factor: Any, *, about: Point = "start") -> SwingChange:
    """The angles of swings times ``factor``; a negative one turns them the other way.

    The rotation at the start, middle or end of each swing stays.
    """
    times = number("factor", factor, least=-GREATEST_FACTOR, most=GREATEST_FACTOR)
    one_of("about", about, POINTS)
    return _turned(now, before, which, lambda turn: turn * times, about)


def set_angle(now: Swings, before: Unedited, which: Which, degrees: Any, *, about: Point = "start") -> SwingChange:
    """Swings through another angle about the same axis; a negative one the other way."""
    angle = float(np.deg2rad(number("degrees", degrees, least=-GREATEST_DEG, most=GREATEST_DEG)))
    one_of("about", about, POINTS)
    return _turned(now, before, which, lambda turn: _axis(turn) * angle, about)


def set_axis(now: Swings, before: Unedited, which: Which, axis: ArrayLike) -> SwingChange:
    """Swings about another axis (3,), in the joint's own frame, through the same angle from the same start."""
    unit = _direction("axis", axis)
    return _turned(now, before, which, lambda turn: unit * np.linalg.norm(turn), "start")


def turn_axis(now: Swings, before: Unedited, which: Which, *, about: ArrayLike, degrees: Any) -> SwingChange:
    """Swings whose axes are turned by ``degrees`` about a direction (3,) in the joint's own frame."""
    tilt = exp(
        _direction("about", about) * np.deg2rad(number("degrees", degrees, least=-GREATEST_DEG, most=GREATEST_DEG))
    )
    return _turned(now, before, which, lambda turn: rotate(tilt, turn), "start")


def _turned(now: Swings, before: Unedited, which: Which, made: Callable[[Floats], Floats], about: Point) -> SwingChange:
    """Each swing by the turn (3,) that is ``made`` of its own."""
    return each_swing(now, before, which, lambda run: [turned_about(p, about, made(turn_of(p))) for p in run], about)


def turned_about(piece: Piece, about: Point, turn: Floats, frames: tuple[int, int] | None = None) -> Piece:
    """A swing by another turn, with the same rotation at one point, and maybe at other frames; fixed there.

    What would be the same is the very piece.
    """
    old = turn_of(piece)
    start, end = (piece.start, piece.end) if frames is None else frames
    if (start, end) == (piece.start, piece.end) and (turn == old).all():
        return piece
    if np.abs(turn).max() > GREATEST_ANGLE:
        raise OptionError(f"a swing that turns too far, expected at most {GREATEST_ANGLE:g} radians")
    part = _PARTS[about]
    if part == 0.0 or (turn == old).all():
        first = piece.rotations[0]
    else:
        first = normalise(multiply(multiply(piece.rotations[0], exp(part * old)), exp(-part * turn)))
    return swing_piece(start, end, first, turn, piece.place)


def turn_of(piece: Piece) -> Floats:
    """The turn (3,) of a piece that is a swing."""
    assert piece.turn is not None
    return piece.turn


def _axis(turn: Floats) -> Floats:
    angle = float(np.linalg.norm(turn))
    return turn / angle if angle > LEAST_ANGLE else np.array((1.0, 0.0, 0.0))


def _direction(what: str, values: ArrayLike) -> Floats:
    given = vector(what, values)
    length = float(np.linalg.norm(given))
    if length < 1e-12:
        raise OptionError(f"{what}={values!r}, expected a direction")
    return np.asarray(given / length)
