"""The capture under an edit: what swings leave out of a motion stays in it, and only the edit is put on top.

The detail of a joint is what leads from its unedited swings to the capture. It moves along with swings that are moved
in time, and is scaled along where all that a joint does is scaled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from keypose.arrays import Bools, Floats, give_away
from keypose.model import Motion
from keypose.rotations import (
    IDENTITY,
    angle_between,
    at_frames,
    conjugate,
    exp,
    log,
    multiply,
    normalise,
    sign_continuous,
)
from keypose.swings.editing.scaling import scaled_about
from keypose.swings.noun import Swings

SMOOTHED_S = 0.1  # seams that adapt leave steps in what the edit does: they are spread over so long
SUDDEN, LEAST_STEP = 2.0, np.deg2rad(0.5)  # a step is so many times those beside it, and more than this


def over_capture(
    capture: Motion,
    base: Swings,
    now: Swings,
    source: Floats | None,
    gains: Mapping[int, float],
    warps: Mapping[int, Floats],
    shares: Mapping[int, Floats],
) -> Motion:
    """``capture`` turned by what leads from the swings ``base`` to ``now``, in each joint's parent.

    ``source`` (T,): the frame of the capture, whole or not, of each frame; None: the same ones. Of some joints
    ``gains``: how many times as far from their mean; ``warps`` (T,): which frame of ``base`` each follows; ``shares``
    (T,): how much of the detail is left. Joints that play as before, and frames farther than ``spread_frames`` from any
    that does not, have the capture's very numbers.
    """
    frames = np.arange(now.n_frames, dtype=np.float64)
    clip = frames if source is None else source
    under = capture if source is None else capture.at_frames(source)
    rotations = under.rotations.copy()
    for j, (old, new) in enumerate(zip(base.tracks, now.tracks, strict=True)):
        gain, came, share = gains.get(j, 1.0), warps.get(j), shares.get(j)
        if old is new and gain == 1 and came is None and share is None:
            continue
        at = frames if came is None else came
        captured = under.rotations[:, j]
        if came is not None:
            captured = at_frames(capture.rotations[:, j], np.interp(came, frames, clip))
        before, touched = old.sample(at), at != frames
        if share is not None:
            captured = np.where(share[:, None] < 1, _nearer(captured, before, share), captured)
            touched |= share < 1
        if gain != 1:
            before, captured = (scaled_about(old.mean_rotation, each, gain) for each in (before, captured))
            touched[:] = True
        touched, turned = _turned(captured, before, new.sample(frames), touched, spread_frames(now.fps))
        rotations[touched, j] = turned[touched]
    return replace(under, name=now.name, fps=now.fps, first_frame=now.first_frame, rotations=give_away(rotations))


def spread_frames(fps: float) -> int:
    """How many frames before and after those that an edit changes it may reach."""
    return round(SMOOTHED_S * fps / 2)


def _nearer(captured: Floats, before: Floats, share: Floats) -> Floats:
    """What is left of ``captured`` (T, 4) where only a share (T,) of what leads there from ``before`` (T, 4) is."""
    detail = log(multiply(conjugate(before), captured))
    return normalise(multiply(before, exp(share[:, None] * detail)))


def _turned(captured: Floats, before: Floats, after: Floats, touched: Bools, spread: int) -> tuple[Bools, Floats]:
    """What one joint becomes (T, 4), and in which frames (T,) that is anything new."""
    same = (after == before).all(axis=1)
    turn = sign_continuous(np.where(same[:, None], np.array(IDENTITY), multiply(after, conjugate(before))))
    near = _widened(_steps(turn), spread)
    turn[near] = _means(turn, 2 * spread + 1)[near]
    return touched | near | ~same, normalise(multiply(normalise(turn), captured))


def _steps(turn: Floats) -> Bools:
    """Frames (T,) beside a step in turns (T, 4): one that those before and after it do not go on with."""
    found = np.zeros(len(turn), bool)
    if len(turn) < 4:
        return found
    steps = angle_between(turn[1:], turn[:-1])
    beside = np.maximum(np.append(0.0, steps[:-1]), np.append(steps[1:], 0.0))
    sudden = np.flatnonzero(steps > SUDDEN * beside + LEAST_STEP)
    found[sudden] = found[sudden + 1] = True
    return found


def _widened(frames: Bools, spread: int) -> Bools:
    """``frames`` (T,) with as many more on both sides."""
    return np.asarray(_means(frames[:, None].astype(np.float64), 2 * spread + 1)[:, 0] > 0)


def _means(values: Floats, box: int) -> Floats:
    """Means (T, C) over ``box`` frames around each; beyond the ends the end's values count."""
    padded = np.pad(values, ((box // 2, box // 2), (0, 0)), mode="edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, box, axis=0).mean(axis=-1))
