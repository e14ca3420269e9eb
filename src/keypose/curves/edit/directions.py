"""Directions in space, safe for zero and opposite vectors."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.rotations import conjugate, exp, from_matrix, multiply

SAME_SINE = 1e-9  # of the angle between two directions that are the same or opposite


def unit_vectors(v: Floats) -> Floats:
    """Return ``v`` (..., 3) scaled to length 1; zero stays zero."""
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    units: Floats = np.where(length > 0, v / np.where(length > 0, length, 1.0), 0.0)
    return units


def first_nonzero_direction(*candidates: Floats, min_length: float = 0.0) -> Floats:
    """Return for each row the first of the candidates (..., C) longer than ``min_length``, scaled to length 1."""
    chosen = np.zeros(np.broadcast_shapes(*(v.shape for v in candidates)))
    is_open: Bools = np.ones(chosen.shape[:-1], bool)
    for vectors in candidates:
        broadcast = np.broadcast_to(vectors, chosen.shape)
        length = np.linalg.norm(broadcast, axis=-1)
        is_chosen = is_open & (length > min_length)
        chosen[is_chosen] = broadcast[is_chosen] / length[is_chosen][..., None]
        is_open &= ~is_chosen
    return chosen


def orthogonal_part(v: Floats, along: Floats) -> Floats:
    """Return the part of ``v`` (..., 3) orthogonal to the unit vectors ``along`` (..., 3)."""
    remainder: Floats = v - np.sum(v * along, axis=-1, keepdims=True) * along
    return remainder


def any_orthogonal(along: Floats) -> Floats:
    """Return unit vectors (..., 3) orthogonal to ``along`` (..., 3), the same for the same direction."""
    return unit_vectors(orthogonal_part(np.eye(3)[np.argmin(np.abs(along), axis=-1)], along))


def shortest_rotation(start: Floats, goal: Floats, half_turn_about: Floats) -> Floats:
    """Return the shortest rotations (..., 4) between unit vectors (..., 3); opposite ones turn about a given axis."""
    axis = np.cross(start, goal)
    sine, cosine = np.linalg.norm(axis, axis=-1, keepdims=True), np.sum(start * goal, axis=-1, keepdims=True)
    is_turn = sine > SAME_SINE
    turn = axis / np.where(is_turn, sine, 1.0) * np.arctan2(sine, cosine)
    return exp(np.where(is_turn, turn, half_turn_about * np.where(cosine < 0, np.pi, 0.0)))


def rotation_between(start: tuple[Floats, Floats], goal: tuple[Floats, Floats]) -> Floats:
    """Return the rotations (..., 4) that take two directions to two others: the first exactly, the second nearly."""
    return multiply(_orthonormal_frame(*goal), conjugate(_orthonormal_frame(*start)))


def _orthonormal_frame(along: Floats, beside: Floats) -> Floats:
    y = first_nonzero_direction(orthogonal_part(beside, along), any_orthogonal(along))
    return from_matrix(np.stack((along, y, np.cross(along, y)), axis=-1))
