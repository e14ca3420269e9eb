"""The capture under an edit: what swings leave out of a motion stays in it, and only the edit is put on top.

The detail of a joint is what leads from its unedited swings to the capture. It moves along with swings that are moved
in time, and is scaled along where all that a joint does is scaled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
from keypose.swings.editing.clock import warp
from keypose.swings.noun import Swings
from keypose.swings.track import Track

SMOOTHED_S = 0.1  # seams that adapt leave steps in what the edit does: they are spread over so long
SUDDEN, LEAST_STEP = 2.0, np.deg2rad(0.5)  # a step is so many times those beside it, and more than this


def over_capture(
    capture: Motion, base: Swings, now: Swings, source: Floats | None, gains: Mapping[int, float]
) -> Motion:
    """``capture`` turned by what leads from the swings ``base`` to ``now``, in each joint's parent.

    ``source`` (T,): the frame of the capture, whole or not, of each frame; None: the same ones. ``gains``: how many
    times the detail of some joints. Joints that play as before, and frames farther than ``spread_frames`` from any that
    does not, have the capture's very numbers.
    """
    frames = np.arange(now.n_frames, dtype=np.float64)
    clip = frames if source is None else source
    under = capture if source is None else capture.at_frames(source)
    rotations = under.rotations.copy()
    for j, (old, new) in enumerate(zip(base.tracks, now.tracks, strict=True)):
        gain = gains.get(j, 1.0)
        if old is new and gain == 1:
            continue
        came = warp(old, new, now.n_frames)
        at = frames if came is None else came
        captured = under.rotations[:, j]
        if came is not None:
            captured = at_frames(capture.rotations[:, j], np.interp(came, frames, clip))
        touched, turned = _turned(captured, old.sample(at), new, at != frames, gain, spread_frames(now.fps))
        rotations[touched, j] = turned[touched]
    return replace(under, name=now.name, fps=now.fps, first_frame=now.first_frame, rotations=give_away(rotations))


def reach(before: Swings, after: Swings, joints: Iterable[int], played: tuple[int, int]) -> tuple[int, int]:
    """The first and the last frame that differ over a capture, given those that are ``played`` differently by swings.

    Detail moves with swings that are moved in time, and steps are spread.
    """
    first, last = played
    if last < first or before.n_frames != after.n_frames:
        return played
    for j in joints:
        came = warp(before.tracks[j], after.tracks[j], after.n_frames)
        if came is not None:
            moved = np.flatnonzero(came != np.arange(after.n_frames))
            first, last = min(first, int(moved[0])), max(last, int(moved[-1]))
    spread = spread_frames(after.fps)
    return max(0, first - spread), min(after.n_frames - 1, last + spread)


def spread_frames(fps: float) -> int:
    """How many frames before and after those that an edit changes it may reach."""
    return round(SMOOTHED_S * fps / 2)


def _turned(
    captured: Floats, before: Floats, now: Track, moved: Bools, gain: float, spread: int
) -> tuple[Bools, Floats]:
    """What one joint becomes (T, 4), and in which frames (T,) that is anything new."""
    after = now.sample(np.arange(len(before), dtype=np.float64))
    same = (after == before).all(axis=1)
    turn = sign_continuous(np.where(same[:, None], np.array(IDENTITY), multiply(after, conjugate(before))))
    near = _widened(_steps(turn), spread)
    touched = near | ~same | moved
    if gain != 1:
        touched[:] = True
        captured = multiply(before, exp(gain * log(multiply(conjugate(before), captured))))
    turn[near] = _means(turn, 2 * spread + 1)[near]
    return touched, normalise(multiply(normalise(turn), captured))


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
