"""Curves of a few joints that follow turns given frame by frame, with the keys that there are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Bools, Floats, Ints, give_away
from keypose.inbetween.editing.euler import nearest_angles
from keypose.inbetween.editing.poses import key_pose, with_pose
from keypose.inbetween.fitted import fitted
from keypose.model import Curves, KeyedMotion, Pose
from keypose.rotations import sign_continuous


def following(keyed: KeyedMotion, joints: list[int], frames: Ints, turns: Floats, differs: Bools) -> KeyedMotion:
    """``keyed`` with ``turns`` (N, joints, 4) at its keys among ``frames`` (N,), one after the other.

    Between keys slopes are fitted to the turns. Where nothing ``differs`` (N,) from what ``keyed`` shows, keys and
    spans are left as they are.
    """
    for n in np.flatnonzero(np.isin(frames, keyed.keys) & differs).tolist():
        key = keyed.key_index(int(frames[n]))
        pose = key_pose(keyed, key)
        rotations = pose.rotations.copy()
        rotations[joints] = turns[n]
        keyed = with_pose(keyed, key, Pose(pose.translations, rotations)).keyed
    return _fitted_to(keyed, joints, frames, turns, differs)


def _fitted_to(keyed: KeyedMotion, joints: list[int], frames: Ints, turns: Floats, differs: Bools) -> KeyedMotion:
    curves = keyed.rotations
    if curves.arriving is None or curves.leaving is None:
        return keyed
    arriving, leaving = curves.arriving.copy(), curves.leaving.copy()
    rows = keyed.keys - frames[0]
    for a in np.flatnonzero((rows[:-1] >= 0) & (rows[1:] < len(frames)) & (np.diff(rows) > 1)).tolist():
        span = slice(int(rows[a]), int(rows[a + 1]) + 1)
        if not differs[span].any():
            continue
        for column, j in enumerate(joints):
            values = _channel(keyed, j, a, turns[span, column])
            if np.abs(values[-1] - curves.values[a + 1, j]).max() < 1e-6:  # else the turns went another way round
                # each span for itself: what the hips do may break at keys, and the leg has to break with it
                cubic = fitted(values[:, None], np.array([0, len(values) - 1], np.int32))
                assert cubic.leaving is not None and cubic.arriving is not None
                leaving[a, j], arriving[a + 1, j] = cubic.leaving[0, 0], cubic.arriving[1, 0]
    return replace(keyed, rotations=Curves(curves.values, give_away(arriving), give_away(leaving)))


def _channel(keyed: KeyedMotion, joint: int, key: int, turns: Floats) -> Floats:
    """Turns (N, 4) from a key on as the numbers (N, C) that a joint's curve has, going on from the key's own."""
    values: Floats = keyed.rotations.values[key, joint]
    if keyed.rotation_orders is None:
        return sign_continuous(np.concatenate((values[None], turns[1:])))
    rows = [values]
    for turn in turns[1:]:
        rows.append(nearest_angles(turn[None], keyed.rotation_orders[joint], rows[-1][None])[0])
    return np.array(rows)
