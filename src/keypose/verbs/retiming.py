"""Which detail belongs to which frame of an edit, in which keys may have been moved, added and deleted."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.model import KeyedMotion, Motion, Residual
from keypose.model.motion import WHOLE_RATIO_TOLERANCE
from keypose.rotations import angle_between

Timing: TypeAlias = Literal["auto", "keys", "frames"]
TIMINGS: tuple[Timing, ...] = get_args(Timing)

SAME_STEP_RAD = np.deg2rad(2.0)  # by how much a turn from one key to the next may differ and still be the same
ON_FRAME = 1e-3  # frames

Pair: TypeAlias = tuple[int, int]  # a key of the edit and the key of the original that it was


class Clock(NamedTuple):
    """Which frame of the detail each frame of an edit takes."""

    sources: Floats  # (T,)
    moved_keys: int  # that took their detail along
    late_frames: int  # that lie beyond the original's end

    @property
    def notes(self) -> tuple[str, ...]:
        """What is worth a word."""
        notes = []
        if self.moved_keys:
            which = "1 key was" if self.moved_keys == 1 else f"{self.moved_keys} keys were"
            notes.append(f"rebake: {which} moved in time and took the detail along")
        if self.late_frames:
            notes.append(f"rebake: the last {self.late_frames} frames lie beyond the original's end and hold its last "
                         "detail")  # fmt: skip
        return tuple(notes)


def clock_of(edited: KeyedMotion | Motion, original: KeyedMotion, detail: Residual, timing: Timing) -> Clock:
    """The clock of the detail of ``original`` in ``edited``."""
    frames = np.arange(edited.n_frames, dtype=np.float64)
    rate = original.fps / edited.fps
    if abs(rate - 1) <= WHOLE_RATIO_TOLERANCE:
        rate = 1.0
    pairs: list[Pair] = []
    if timing == "keys":
        if not isinstance(edited, KeyedMotion):
            raise OptionError("timing='keys' needs a KeyedMotion, as kp.load_keyed gives; a Motion goes by frames")
        if edited.n_keys != original.n_keys:
            raise OptionError(f"timing='keys' needs as many keys in the edit ({edited.n_keys}) as in the original "
                              f"({original.n_keys}); use timing='frames'")  # fmt: skip
        pairs = [(k, k) for k in range(edited.n_keys)]
    elif timing == "auto" and isinstance(edited, KeyedMotion):
        pairs = same_keys(edited, original, rate)
    at, moved = rate * frames + _cut(edited, original), 0
    if pairs and isinstance(edited, KeyedMotion):
        ours, theirs = edited.keys[[k for k, _ in pairs]], original.keys[[k for _, k in pairs]]
        at = np.interp(frames, ours, theirs)
        at += rate * (
            np.minimum(0, frames - ours[0]) + np.maximum(0, frames - ours[-1])
        )  # beyond the keys time goes on
        moved = int((np.abs(rate * ours - theirs) > ON_FRAME).sum())
    late = int((at > original.n_frames - 1 + 1e-6).sum())
    return Clock(detail.source_of(at), moved, late)


def _cut(edited: KeyedMotion | Motion, original: KeyedMotion) -> int:
    """How many frames were cut off before a motion that is a part of the original by its numbers of frames."""
    cut = edited.first_frame - original.first_frame
    is_part = isinstance(edited, Motion) and 0 < cut <= original.n_frames - edited.n_frames
    return cut if is_part and edited.name == original.name else 0


def same_keys(edited: KeyedMotion, original: KeyedMotion, rate: float) -> list[Pair]:
    """Which keys of the edit were which of the original, in order.

    Keys at the same frame are the same, and between two such those in between if there are as many. But where both have
    as many keys in all, the n-th is the n-th if fewer than half are at a frame where one was, or if the figure turns
    from each to the next just as it did (so that all were moved, some onto the frames of others). Turns between keys
    are the same whatever the axes of the joints.
    """
    ours, theirs = (rate * edited.keys).tolist(), original.keys.tolist()
    in_place = sum(round(frame) in set(theirs) for frame in ours)
    in_order = [(k, k) for k in range(edited.n_keys)]
    if len(ours) == len(theirs) and (2 * in_place < len(ours) or _is_alike(edited, original)):
        return in_order
    return _anchored(ours, theirs)


def _anchored(ours: list[float], theirs: list[int]) -> list[Pair]:
    place = {frame: j for j, frame in enumerate(theirs)}
    anchors = [(i, place[round(frame)]) for i, frame in enumerate(ours) if round(frame) in place]
    found: list[Pair] = []
    for (i, j), (k, m) in pairwise([(-1, -1), *anchors, (len(ours), len(theirs))]):
        if k - i == m - j:
            found += zip(range(i + 1, k), range(j + 1, m), strict=True)
        if k < len(ours):
            found.append((k, m))
    return found


def _is_alike(edited: KeyedMotion, original: KeyedMotion) -> bool:
    """Whether every step from one key to the next turns the joints as it did in the original."""
    common = [name for name in edited.skeleton.names if name in original.skeleton.names]
    steps = []
    for keyed in (edited, original):
        joints = [keyed.skeleton.names.index(name) for name in common]
        turns = np.stack([pose.rotations[joints] for pose in keyed.poses])
        steps.append(angle_between(turns[:-1], turns[1:]))  # (K - 1, common joints)
    return bool((np.abs(steps[0] - steps[1]) < SAME_STEP_RAD).all())
