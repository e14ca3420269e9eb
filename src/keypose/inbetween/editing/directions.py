"""Directions in space, where zero vectors and opposite ones must not hurt."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.rotations import conjugate, exp, from_matrix, multiply

SAME_SINE = 1e-9  # of the angle between two directions that are the same or opposite


def unit(v: Floats) -> Floats:
    """``v`` (..., 3) scaled to length 1; zero stays zero."""
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    scaled: Floats = np.where(length > 0, v / np.where(length > 0, length, 1.0), 0.0)
    return scaled


def first_direction(*tried: Floats, least: float = 0.0) -> Floats:
    """Row by row the first of some vectors (..., C) that is longer than ``least``, scaled to length 1."""
    chosen = np.zeros(np.broadcast_shapes(*(v.shape for v in tried)))
    is_open: Bools = np.ones(chosen.shape[:-1], bool)
    for vectors in tried:
        given = np.broadcast_to(vectors, chosen.shape)
        length = np.linalg.norm(given, axis=-1)
        takes = is_open & (length > least)
        chosen[takes] = given[takes] / length[takes][..., None]
        is_open &= ~takes
    return chosen


def square_to(v: Floats, along: Floats) -> Floats:
    """What of ``v`` (..., 3) stands square to the unit vectors ``along`` (..., 3)."""
    left: Floats = v - np.sum(v * along, axis=-1, keepdims=True) * along
    return left


def any_square_to(along: Floats) -> Floats:
    """Some unit vectors (..., 3) square to ``along`` (..., 3), the same for the same direction."""
    return unit(square_to(np.eye(3)[np.argmin(np.abs(along), axis=-1)], along))


def shortest_turn(start: Floats, goal: Floats, half_turn_about: Floats) -> Floats:
    """The shortest turns (..., 4) from unit vectors (..., 3) to others; opposite ones turn about a given axis."""
    axis = np.cross(start, goal)
    sine, cosine = np.linalg.norm(axis, axis=-1, keepdims=True), np.sum(start * goal, axis=-1, keepdims=True)
    is_turn = sine > SAME_SINE
    turn = axis / np.where(is_turn, sine, 1.0) * np.arctan2(sine, cosine)
    return exp(np.where(is_turn, turn, half_turn_about * np.where(cosine < 0, np.pi, 0.0)))


def turn_between(start: tuple[Floats, Floats], goal: tuple[Floats, Floats]) -> Floats:
    """The turns (..., 4) that take two directions to two others: the first exactly, the second as near as it can."""
    return multiply(_frame(*goal), conjugate(_frame(*start)))


def _frame(along: Floats, beside: Floats) -> Floats:
    y = first_direction(square_to(beside, along), any_square_to(along))
    return from_matrix(np.stack((along, y, np.cross(along, y)), axis=-1))
