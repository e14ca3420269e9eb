"""Scale successive rotations about a mean, however far they rotate."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.rotations import angle_between, conjugate, exp, log, multiply, normalise, rotate
from keypose.swings.edit.pieces import nearest_branch
from keypose.swings.means import mean_rotation


def scale_about(mean: Floats, rotations: Floats, factor: float) -> Floats:
    """Return successive rotations (K, 4) scaled about the mean (4,); about their own mean if they make full turns."""
    offsets, is_far = _offsets_from_mean(mean, rotations)
    if not is_far:
        return normalise(multiply(mean, exp(factor * offsets)))
    mean = mean_rotation(rotations)
    offsets, _ = _offsets_from_mean(mean, rotations)
    candidates = (_scale_full_turns(mean, rotations, factor), normalise(multiply(mean, exp(factor * offsets))))
    expected_step = factor * _largest_step(rotations)
    return min(candidates, key=lambda some: abs(_largest_step(some) - expected_step))


def _offsets_from_mean(mean: Floats, rotations: Floats) -> tuple[Floats, bool]:
    """Return continuous rotation vectors (K, 3) from the mean (4,) to rotations (K, 4), and whether any is far.

    Far ones are more than half a turn away.
    """
    rotation_vectors = log(multiply(conjugate(mean), rotations))
    if (np.linalg.norm(np.diff(rotation_vectors, axis=0), axis=1) <= np.pi).all():
        return rotation_vectors, False
    followed = _follow_branches(rotation_vectors, 0)
    # from the key nearest to the mean on; of several such keys, from the one in the middle
    distances = np.linalg.norm(rotation_vectors, axis=1) + 0.1 * np.linalg.norm(
        followed - followed.mean(axis=0), axis=1
    )
    return _follow_branches(rotation_vectors, int(distances.argmin())), True


def _follow_branches(rotation_vectors: Floats, start: int) -> Floats:
    """Return equivalent rotation vectors (K, 3), each nearest to the one beside it, from key ``start`` on."""
    rotation_vectors = rotation_vectors.copy()
    for k in range(start + 1, len(rotation_vectors)):
        rotation_vectors[k] = nearest_branch(rotation_vectors[k : k + 1], rotation_vectors[k - 1 : k])[0]
    for k in range(start - 1, -1, -1):
        rotation_vectors[k] = nearest_branch(rotation_vectors[k : k + 1], rotation_vectors[k + 1 : k + 2])[0]
    return rotation_vectors


def _scale_full_turns(mean: Floats, rotations: Floats, factor: float) -> Floats:
    """Return rotations (K, 4) scaled about their mean (4,), separately about their main axis and across it.

    Near full turns from the mean the axis of a rotation is ill-defined, and a slight lean would become a large one.
    """
    steps = log(multiply(rotations[1:], conjugate(rotations[:-1])))
    axis = rotate(conjugate(mean), np.linalg.eigh(steps.T @ steps)[1][:, -1])
    offsets = multiply(conjugate(mean), rotations)
    angles = np.unwrap(2.0 * np.arctan2(offsets[:, 1:] @ axis, offsets[:, 0]))
    leans = log(multiply(exp(-angles[:, None] * axis), offsets))
    angles -= 2 * np.pi * np.round(angles.mean() / (2 * np.pi))
    return normalise(multiply(mean, multiply(exp(factor * angles[:, None] * axis), exp(factor * leans))))


def _largest_step(rotations: Floats) -> float:
    return float(angle_between(rotations[:-1], rotations[1:]).max())
