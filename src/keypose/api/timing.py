"""Assign detail to the frames of an edit, in which keys may have been moved, added and deleted."""

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

SAME_ROTATION_RAD = np.deg2rad(2.0)  # rotations between two keys that differ by less count as equal
FRAME_TOLERANCE = 1e-3  # frames

KeyPair: TypeAlias = tuple[int, int]  # indices of a key in the edit and in the original


class TimingMap(NamedTuple):
    """The frame of the detail that each frame of an edit uses."""

    source_frames: Floats  # (T,)
    n_moved_keys: int  # with their detail
    n_late_frames: int  # beyond the end of the original

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes about moved keys and late frames."""
        notes = []
        if self.n_moved_keys:
            which = "1 key was" if self.n_moved_keys == 1 else f"{self.n_moved_keys} keys were"
            notes.append(f"rebake: {which} moved in time and took the detail along")
        if self.n_late_frames:
            notes.append(
                f"rebake: the last {self.n_late_frames} frames lie beyond the original's end and hold its last detail"
            )
        return tuple(notes)


def build_timing_map(
    edited: KeyedMotion | Motion, original: KeyedMotion, detail: Residual, timing: Timing
) -> TimingMap:
    """Return the timing of the detail of ``original`` in ``edited``."""
    frames = np.arange(edited.n_frames, dtype=np.float64)
    rate = original.fps / edited.fps
    if abs(rate - 1) <= WHOLE_RATIO_TOLERANCE:
        rate = 1.0
    pairs: list[KeyPair] = []
    if timing == "keys":
        if not isinstance(edited, KeyedMotion):
            raise OptionError("timing='keys' needs a KeyedMotion, as kp.load_keyed gives; a Motion goes by frames")
        if edited.n_keys != original.n_keys:
            raise OptionError(f"timing='keys' needs as many keys in the edit ({edited.n_keys}) as in the original "
                              f"({original.n_keys}); use timing='frames'")  # fmt: skip
        pairs = [(k, k) for k in range(edited.n_keys)]
    elif timing == "auto" and isinstance(edited, KeyedMotion):
        pairs = match_keys(edited, original, rate)
    source_frames, n_moved = rate * frames + _trimmed_frames(edited, original), 0
    if pairs and isinstance(edited, KeyedMotion):
        edited_keys, original_keys = edited.keys[[k for k, _ in pairs]], original.keys[[k for _, k in pairs]]
        source_frames = np.interp(frames, edited_keys, original_keys)
        source_frames += rate * (
            np.minimum(0, frames - edited_keys[0]) + np.maximum(0, frames - edited_keys[-1])
        )  # time continues beyond the keys
        n_moved = int((np.abs(rate * edited_keys - original_keys) > FRAME_TOLERANCE).sum())
    n_late = int((source_frames > original.n_frames - 1 + 1e-6).sum())
    return TimingMap(detail.source_frames(source_frames), n_moved, n_late)


def _trimmed_frames(edited: KeyedMotion | Motion, original: KeyedMotion) -> int:
    """Return how many frames of the original were trimmed before the edit, by its frame numbers."""
    cut = edited.first_frame - original.first_frame
    is_part = isinstance(edited, Motion) and 0 < cut <= original.n_frames - edited.n_frames
    return cut if is_part and edited.name == original.name else 0


def match_keys(edited: KeyedMotion, original: KeyedMotion, rate: float) -> list[KeyPair]:
    """Return pairs of corresponding keys of the edit and the original, in order.

    Keys at the same frame correspond; so do keys between two such keys if both have the same number there. If both have
    the same number of keys in total, the n-th keys correspond if fewer than half of the frames agree, or if the
    rotations between consecutive keys agree (all keys were moved, some onto the frames of others). Rotations between
    keys do not depend on the axes of the joints.
    """
    edited_keys, original_keys = (rate * edited.keys).tolist(), original.keys.tolist()
    n_in_place = sum(round(frame) in set(original_keys) for frame in edited_keys)
    in_order = [(k, k) for k in range(edited.n_keys)]
    if len(edited_keys) == len(original_keys) and (
        2 * n_in_place < len(edited_keys) or _has_same_rotations(edited, original)
    ):
        return in_order
    return _match_around_anchors(edited_keys, original_keys)


def _match_around_anchors(edited_keys: list[float], original_keys: list[int]) -> list[KeyPair]:
    index = {frame: j for j, frame in enumerate(original_keys)}
    anchors = [(i, index[round(frame)]) for i, frame in enumerate(edited_keys) if round(frame) in index]
    pairs: list[KeyPair] = []
    for (i, j), (k, m) in pairwise([(-1, -1), *anchors, (len(edited_keys), len(original_keys))]):
        if k - i == m - j:
            pairs += zip(range(i + 1, k), range(j + 1, m), strict=True)
        if k < len(edited_keys):
            pairs.append((k, m))
    return pairs


def _has_same_rotations(edited: KeyedMotion, original: KeyedMotion) -> bool:
    """Return whether the joint rotations between consecutive keys agree with the original."""
    common = [name for name in edited.skeleton.names if name in original.skeleton.names]
    steps = []
    for keyed in (edited, original):
        joints = [keyed.skeleton.names.index(name) for name in common]
        rotations = np.stack([pose.rotations[joints] for pose in keyed.poses])
        steps.append(angle_between(rotations[:-1], rotations[1:]))  # (K - 1, common joints)
    return bool((np.abs(steps[0] - steps[1]) < SAME_ROTATION_RAD).all())
