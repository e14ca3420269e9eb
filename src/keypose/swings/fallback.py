"""Keys where swings describe a joint badly: slow and still joints, and whatever does not turn about one axis.

A track plays even turns, one after another: swings, spans between keys, and bridges. A swing whose own frames are near
enough may stay; around such swings the fewest keys are found whose turns are near enough too (``core/swing_keys.cpp``),
and where keys take less room than a swing they take its place. Of these turns, those that run along a swing that was
found become swings again: as long as they fit, and by the turn that fits (``chain.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from keypose import _core
from keypose.arrays import Bools, Floats, Ints
from keypose.errors import OptionError
from keypose.model import Motion
from keypose.options import number
from keypose.rotations import angle_between
from keypose.swings.chain import track_of_chain
from keypose.swings.noun import Swings
from keypose.swings.track import Track

LONGEST_S = 8.0  # from one key to the next: bounds the work on still joints
SWING_COST = 1.9  # keys: a swing takes the room of two, and is worth a little more


def with_keys(
    motion: Motion,
    found: Swings,
    tolerance_deg: float,
    per_joint: Mapping[str, float] | Sequence[float] | Floats | None = None,
) -> Swings:
    """``found`` with keys wherever it plays a joint's turn farther off than ``tolerance_deg`` from that of ``motion``.

    Afterwards no frame of any joint is farther off. ``per_joint``: other tolerances, of all joints in order or of some
    by name. Tracks that are near enough stay as they are.
    """
    return Keying(motion, found).within(tolerances_of(found, tolerance_deg, per_joint)).swings()


def tolerances_of(
    swings: Swings, tolerance_deg: float, per_joint: Mapping[str, float] | Sequence[float] | Floats | None
) -> Floats:
    """A tolerance for each joint (J,) in degrees, checked."""
    every = np.full(swings.n_joints, number("tolerance_deg", tolerance_deg, above=0.0))
    if per_joint is None:
        return every
    if isinstance(per_joint, Mapping):
        for name, value in per_joint.items():
            every[swings.skeleton.joint(name)] = number(f"per_joint[{name!r}]", value, above=0.0)
        return every
    if len(per_joint) != swings.n_joints:
        raise OptionError(f"per_joint: {len(per_joint)} tolerances, expected one for each of {swings.n_joints} joints")
    return np.array([number(f"per_joint[{j}]", value, above=0.0) for j, value in enumerate(per_joint)])


class Keying:
    """Swings beside their motion, to be keyed within one tolerance or another."""

    def __init__(self, motion: Motion, found: Swings) -> None:
        if motion.skeleton.names != found.skeleton.names or motion.n_frames != found.n_frames:
            raise OptionError(f"{motion.name!r} is not the motion that the swings of {found.name!r} were found in: "
                              f"other joints or frames")  # fmt: skip
        self.motion, self.found = motion, found
        self.plain = found.play()
        self.off = angle_between(motion.rotations, self.plain.rotations)  # (T, J) radians

    def within(self, tolerances_deg: Floats) -> Keyed:
        """With keys where a joint is farther off than its tolerance (J,)."""
        tolerances = np.deg2rad(tolerances_deg)
        joints = np.flatnonzero(self.off.max(axis=0) > tolerances).tolist()
        tracks = [self.found.tracks[j] for j in joints]
        good = [_good(track, self.off[:, j] > tolerances[j]) for j, track in zip(joints, tracks, strict=True)]
        return Keyed(self, joints, tracks, good, tolerances[joints])


class Keyed:
    """The chains of swings and keys of the joints that needed keys."""

    def __init__(
        self, keying: Keying, joints: list[int], tracks: list[Track], good: list[Ints], tolerances: Floats
    ) -> None:
        self._keying, self._joints, self._tracks = keying, joints, tracks
        if not joints:
            return
        of = np.repeat(np.arange(len(joints), dtype=np.int32), [len(some) for some in good])
        motion = keying.motion
        key_of, frames, keys, kept, self._chains_play = _core.swing_keys(
            np.ascontiguousarray(motion.rotations[:, joints]),
            tolerances,
            of,
            np.concatenate([track.starts[some] for track, some in zip(tracks, good, strict=True)]),
            np.concatenate([track.ends[some] for track, some in zip(tracks, good, strict=True)]),
            np.concatenate([track.start_rotations[some] for track, some in zip(tracks, good, strict=True)]),
            np.concatenate([track.turns[some] for track, some in zip(tracks, good, strict=True)]),
            SWING_COST,
            max(1, round(LONGEST_S * motion.fps)),
        )
        edges = np.searchsorted(key_of, np.arange(1, len(joints)))
        self._frames, self._rotations = np.split(frames, edges), np.split(keys, edges)
        left = np.split(kept.astype(bool), np.cumsum([len(some) for some in good])[:-1])
        self._kept = [some[stays] for some, stays in zip(good, left, strict=True)]

    def played(self) -> Floats:
        """The local rotations (T, J, 4) of all joints that are played, without making the tracks."""
        if not self._joints:
            return self._keying.plain.rotations
        rotations = self._keying.plain.rotations.copy()
        rotations[:, self._joints] = self._chains_play
        return rotations

    def swings(self) -> Swings:
        """The swings."""
        found = self._keying.found
        if not self._joints:
            return found
        least = max(2, round(found.settings.least_s * found.fps))
        slowest = found.settings.rest_rad_per_s / found.fps
        chains = zip(self._joints, self._tracks, self._kept, self._frames, self._rotations, strict=True)
        return found.with_tracks(
            {
                j: track_of_chain(track, kept, frames, rotations, least, slowest)
                for j, track, kept, frames, rotations in chains
            }
        )


def _good(track: Track, bad_frames: Bools) -> Ints:
    """The swings that have no bad frame."""
    bad_until = np.concatenate(([0], np.cumsum(bad_frames)))
    return np.flatnonzero(bad_until[track.ends + 1] == bad_until[track.starts]).astype(np.int32)
