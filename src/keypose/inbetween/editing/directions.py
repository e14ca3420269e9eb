"""Directions in space, where zero vectors and opposite ones must not hurt."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.rotations import conjugate, exp, from_matrix, multiply


def unit(v: Floats) -> Floats:
    """``v`` (..., 3) scaled to length 1; zero stays zero."""
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    scaled: Floats = np.where(length > 0, v / np.where(length > 0, length, 1.0), 0.0)
    return scaled


def square_to(v: Floats, along: Floats) -> Floats:
    """What of ``v`` (3,) stands square to the unit vector ``along`` (3,)."""
    left: Floats = v - (v @ along) * along
    return left


def any_square_to(along: Floats) -> Floats:
    """Some unit vector (3,) square to ``along`` (3,), the same for the same direction."""
    return unit(square_to(np.eye(3)[int(np.argmin(np.abs(along)))], along))


def shortest_turn(start: Floats, goal: Floats, half_turn_about: Floats) -> Floats:
    """The shortest turn (4,) from one unit vector (3,) to another; opposite ones turn about a given axis."""
    axis = np.cross(start, goal)
    sine, cosine = float(np.linalg.norm(axis)), float(start @ goal)
    if sine < 1e-9:
        return exp(half_turn_about * (np.pi if cosine < 0 else 0.0))
    return exp(axis / sine * np.arctan2(sine, cosine))


def turn_between(start: tuple[Floats, Floats], goal: tuple[Floats, Floats]) -> Floats:
    """The turn (4,) that takes two directions to two others: the first exactly, the second as near as it can."""
    return multiply(_frame(*goal), conjugate(_frame(*start)))


def _frame(along: Floats, beside: Floats) -> Floats:
    y = unit(square_to(beside, along))
    if not y.any():
        y = any_square_to(along)
    return from_matrix(np.stack((along, y, np.cross(along, y)), axis=-1))
