"""The capture under an edit: what swings leave out of a motion stays in it, and only the edit is put on top."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Floats, give_away
from keypose.model import Motion
from keypose.rotations import IDENTITY, conjugate, multiply, normalise, sign_continuous

SMOOTHED_S = 0.1  # seams that are moved in time leave steps in what the edit does: they are spread over so long


def over_capture(capture: Motion, before: Motion, after: Motion, source: Floats | None) -> Motion:
    """``capture`` turned by what leads from ``before`` to ``after``, both played by swings, in each joint's parent.

    ``source`` (T,): the frame of the capture, whole or not, for each frame of ``after``; None: the same ones. Joints
    and frames that play as before have the capture's very numbers.
    """
    if source is not None:
        capture, before = capture.at_frames(source), before.at_frames(source)
    rotations = capture.rotations.copy()
    box = 2 * round(SMOOTHED_S * after.fps / 2) + 1
    for j in np.flatnonzero((after.rotations != before.rotations).any(axis=(0, 2))).tolist():
        same = (after.rotations[:, j] == before.rotations[:, j]).all(axis=1)
        turn = multiply(after.rotations[:, j], conjugate(before.rotations[:, j]))
        turn[same] = IDENTITY
        touched = _means(np.where(same, 0.0, 1.0)[:, None], box)[:, 0] > 0
        spread = normalise(_means(sign_continuous(turn), box))
        rotations[touched, j] = normalise(multiply(spread[touched], rotations[touched, j]))
    return replace(
        capture, fps=after.fps, name=after.name, rotations=give_away(rotations), first_frame=after.first_frame
    )


def _means(values: Floats, box: int) -> Floats:
    """Means (T, C) over ``box`` frames around each; beyond the ends the end's values count."""
    padded = np.pad(values, ((box // 2, box // 2), (0, 0)), mode="edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, box, axis=0).mean(axis=-1))
