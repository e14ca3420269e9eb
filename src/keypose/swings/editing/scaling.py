"""Rotations farther from a mean, or nearer, one after another, however far they turn."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.rotations import angle_between, conjugate, exp, log, multiply, normalise, rotate
from keypose.swings.editing.pieces import nearest_branch
from keypose.swings.means import mean_of


def scaled_about(mean: Floats, rotations: Floats, times: float) -> Floats:
    """Rotations (K, 4), one after another, farther from the mean (4,); from their own where they turn right round."""
    off, is_far = _from_mean(mean, rotations)
    if not is_far:
        return normalise(multiply(mean, exp(times * off)))
    mean = mean_of(rotations)
    off, _ = _from_mean(mean, rotations)
    both = (_scaled_round(mean, rotations, times), normalise(multiply(mean, exp(times * off))))
    wanted = times * _largest_step(rotations)
    return min(both, key=lambda some: abs(_largest_step(some) - wanted))


def _from_mean(mean: Floats, rotations: Floats) -> tuple[Floats, bool]:
    """Turns (K, 3) from the mean (4,) to rotations (K, 4), that go on from key to key; and whether any is far.

    Far ones are more than half a turn away.
    """
    turns = log(multiply(conjugate(mean), rotations))
    if (np.linalg.norm(np.diff(turns, axis=0), axis=1) <= np.pi).all():
        return turns, False
    way = _followed(turns, 0)
    # from the key nearest to the mean on; where it comes by more than once, from that in the middle of the way
    aside = np.linalg.norm(turns, axis=1) + 0.1 * np.linalg.norm(way - way.mean(axis=0), axis=1)
    return _followed(turns, int(aside.argmin())), True


def _followed(turns: Floats, at: int) -> Floats:
    """Turns (K, 3) that end as the given ones do, each as near as can be to the one beside it, from key ``at`` on."""
    turns = turns.copy()
    for k in range(at + 1, len(turns)):
        turns[k] = nearest_branch(turns[k : k + 1], turns[k - 1 : k])[0]
    for k in range(at - 1, -1, -1):
        turns[k] = nearest_branch(turns[k : k + 1], turns[k + 1 : k + 2])[0]
    return turns


def _scaled_round(mean: Floats, rotations: Floats, times: float) -> Floats:
    """Rotations (K, 4) farther from their mean (4,), those round the axis that they mostly turn about by themselves.

    Near whole turns away from the mean the axis of a turn can be any, and a slight lean would be taken for a great one.
    """
    steps = log(multiply(rotations[1:], conjugate(rotations[:-1])))
    axis = rotate(conjugate(mean), np.linalg.eigh(steps.T @ steps)[1][:, -1])
    off = multiply(conjugate(mean), rotations)
    angles = np.unwrap(2.0 * np.arctan2(off[:, 1:] @ axis, off[:, 0]))
    leans = log(multiply(exp(-angles[:, None] * axis), off))
    angles -= 2 * np.pi * np.round(angles.mean() / (2 * np.pi))
    return normalise(multiply(mean, multiply(exp(times * angles[:, None] * axis), exp(times * leans))))


def _largest_step(rotations: Floats) -> float:
    return float(angle_between(rotations[:-1], rotations[1:]).max())
