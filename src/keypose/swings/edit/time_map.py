"""Time and speeds before and after an edit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from keypose.arrays import Floats, Frozen, Ints, freeze_floats
from keypose.swings.edit.pieces import Piece, build_course, split_track
from keypose.swings.model import Swings

MAX_SPEEDUP = 2.0  # maximum speed of a capture between swings; a faster one would look like a jump


@dataclass(frozen=True, eq=False)
class TimeMap(Frozen):
    """A piecewise linear map of the frames of a whole clip.

    The first and the last frame are mapped to the first and the last.
    """

    before: Floats  # (N,) increasing, from 0 to the last frame
    after: Floats  # (N,) likewise

    def __post_init__(self) -> None:
        self._set_field("before", freeze_floats(self.before, (None,), "frames before"))
        self._set_field("after", freeze_floats(self.after, self.before.shape, "frames after"))

    @property
    def n_frames(self) -> int:
        """The number of frames after retiming."""
        return round(float(self.after[-1])) + 1

    def map_frames(self, frames: Ints) -> Ints:
        """Return the new frames of old frames (N,), rounded."""
        return np.asarray(np.floor(np.interp(frames, self.before, self.after) + 0.5), np.int32)

    def source_times(self, frames: Floats) -> Floats:
        """Return the old times of new frames (N,), both possibly fractional."""
        return np.asarray(np.interp(frames, self.after, self.before))

    def map_times(self, frames: Floats) -> Floats:
        """Return the new times of old frames (N,), both possibly fractional."""
        return np.asarray(np.interp(frames, self.before, self.after))


def build_warp(
    old_row: Sequence[Piece], row: Sequence[Piece], n_frames: int, unmoved_frames: Sequence[int] = ()
) -> Floats | None:
    """Return the time (T,) before an operation, in frames, of each frame of a joint after it; None: the same.

    ``unmoved_frames`` are not moved, nor are keys.

    Within swings the time map is that of the swing. Between them it is interpolated, but at most ``MAX_SPEEDUP`` times
    as fast, for gaps that have become narrow.
    """
    knots = {0.0: 0.0, n_frames - 1.0: n_frames - 1.0} | {float(frame): float(frame) for frame in unmoved_frames}
    for piece in row:
        if piece.rest is not None:
            continue  # a joint at rest has hardly any detail that could be at a wrong time
        is_moved = piece.rotation_vector is not None and piece.old_index >= 0 and not piece.is_return
        source = old_row[piece.old_index] if is_moved else piece
        knots |= {float(piece.start): float(source.start), float(piece.end): float(source.end)}
    after = np.array(sorted(knots))
    before = np.maximum.accumulate([knots[frame] for frame in after.tolist()])
    if (before == after).all():
        return None
    frames = np.arange(n_frames, dtype=np.float64)
    source_times = np.interp(frames, after, before)
    # The result is the mean of the nearest slow enough curves below and above.
    ahead = source_times - MAX_SPEEDUP * frames
    below, above = np.minimum.accumulate(ahead), np.maximum.accumulate(ahead[::-1])[::-1]
    return np.asarray((below + above) / 2.0 + MAX_SPEEDUP * frames)


class SpeedLimits(NamedTuple):
    """Speed limits of each joint, in radians per frame. A joint that is never faster than rest has the limits of the
    clip."""

    hard: Floats  # (J,) the largest step from frame to frame, which no seam may exceed
    soft: Floats  # (J,) the same without seams: the limit of adapted seams, unless the joint was faster before


def measure_speed_limits(swings: Swings) -> SpeedLimits:
    """Return the speed limits for edits of these swings."""
    hard, soft = np.zeros(swings.n_joints), np.zeros(swings.n_joints)
    for j, track in enumerate(swings.tracks):
        course = build_course(split_track(track))
        steps = course.steps()
        hard[j], soft[j] = steps.max(initial=0.0), steps[~course.is_bridge].max(initial=0.0)
    is_still = hard < swings.settings.rest_rad_per_s / swings.fps
    clip_hard, clip_soft = hard.max(), soft.max()
    hard[is_still], soft[is_still] = clip_hard, clip_soft
    return SpeedLimits(hard, soft)
