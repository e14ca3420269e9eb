"""Keys where swings are inaccurate: slow and still joints, and whatever does not rotate about one axis.

A track plays segments of constant speed: swings, spans between keys, and bridges. A swing whose own frames are accurate
enough may stay; around such swings the fewest keys within the tolerance are found (``core/swing_keys.cpp``), and keys
replace a swing where they take less space. Of the segments between keys, those that follow a found swing become swings
again (``chain.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from keypose import _core
from keypose.arrays import Bools, Floats, Ints
from keypose.errors import OptionError
from keypose.model import Motion
from keypose.rotations import angle_between
from keypose.swings.chain import build_track
from keypose.swings.model import Swings
from keypose.swings.track import Track
from keypose.validation import check_number

MAX_GAP_S = 8.0  # from one key to the next: bounds the work on still joints
SWING_COST = 1.9  # keys: a swing takes the space of two, and is preferred a little


def add_keys(
    motion: Motion,
    swings: Swings,
    tolerance_deg: float,
    per_joint: Mapping[str, float] | Sequence[float] | Floats | None = None,
) -> Swings:
    """Return ``swings`` with keys wherever a joint's rotation differs by more than ``tolerance_deg`` from ``motion``.

    Afterwards no frame of any joint exceeds its tolerance. ``per_joint``: other tolerances, of all joints in order or
    of some by name. Tracks within their tolerance are not changed.
    """
    return KeyFitter(motion, swings).fit(check_tolerances(swings, tolerance_deg, per_joint)).build_swings()


def check_tolerances(
    swings: Swings, tolerance_deg: float, per_joint: Mapping[str, float] | Sequence[float] | Floats | None
) -> Floats:
    """Return a checked tolerance for each joint (J,) in degrees."""
    tolerances = np.full(swings.n_joints, check_number("tolerance_deg", tolerance_deg, above=0.0))
    if per_joint is None:
        return tolerances
    if isinstance(per_joint, Mapping):
        for name, value in per_joint.items():
            tolerances[swings.skeleton.joint(name)] = check_number(f"per_joint[{name!r}]", value, above=0.0)
        return tolerances
    if len(per_joint) != swings.n_joints:
        raise OptionError(f"per_joint: {len(per_joint)} tolerances, expected one for each of {swings.n_joints} joints")
    return np.array([check_number(f"per_joint[{j}]", value, above=0.0) for j, value in enumerate(per_joint)])


class KeyFitter:
    """Adds keys to the swings of one motion, for one or several tolerances."""

    def __init__(self, motion: Motion, swings: Swings) -> None:
        if motion.skeleton.names != swings.skeleton.names or motion.n_frames != swings.n_frames:
            raise OptionError(f"{motion.name!r} is not the motion that the swings of {swings.name!r} were found in: "
                              f"other joints or frames")  # fmt: skip
        self.motion, self.original = motion, swings
        self.played = swings.play()
        self.errors = angle_between(motion.rotations, self.played.rotations)  # (T, J) radians

    def fit(self, tolerances_deg: Floats) -> KeyFit:
        """Fit keys where a joint exceeds its tolerance (J,)."""
        tolerances = np.deg2rad(tolerances_deg)
        joints = np.flatnonzero(self.errors.max(axis=0) > tolerances).tolist()
        tracks = [self.original.tracks[j] for j in joints]
        good_swings = [
            _find_good_swings(track, self.errors[:, j] > tolerances[j]) for j, track in zip(joints, tracks, strict=True)
        ]
        return KeyFit(self, joints, tracks, good_swings, tolerances[joints])


class KeyFit:
    """The chains of swings and keys of the joints that needed keys."""

    def __init__(
        self, fitter: KeyFitter, joints: list[int], tracks: list[Track], good_swings: list[Ints], tolerances: Floats
    ) -> None:
        self._fitter, self._joints, self._tracks = fitter, joints, tracks
        if not joints:
            return
        swing_joints = np.repeat(np.arange(len(joints), dtype=np.int32), [len(indices) for indices in good_swings])
        motion = fitter.motion
        key_joints, frames, keys, remains, self._played_rotations = _core.swing_keys(
            np.ascontiguousarray(motion.rotations[:, joints]),
            tolerances,
            swing_joints,
            np.concatenate([track.starts[some] for track, some in zip(tracks, good_swings, strict=True)]),
            np.concatenate([track.ends[some] for track, some in zip(tracks, good_swings, strict=True)]),
            np.concatenate([track.start_rotations[some] for track, some in zip(tracks, good_swings, strict=True)]),
            np.concatenate([track.rotation_vectors[some] for track, some in zip(tracks, good_swings, strict=True)]),
            SWING_COST,
            max(1, round(MAX_GAP_S * motion.fps)),
        )
        edges = np.searchsorted(key_joints, np.arange(1, len(joints)))
        self._frames, self._rotations = np.split(frames, edges), np.split(keys, edges)
        flags = np.split(remains.astype(bool), np.cumsum([len(some) for some in good_swings])[:-1])
        self._swing_indices = [some[stays] for some, stays in zip(good_swings, flags, strict=True)]

    def play_rotations(self) -> Floats:
        """Return the local rotations (T, J, 4) of all joints as played, without building the tracks."""
        if not self._joints:
            return self._fitter.played.rotations
        rotations = self._fitter.played.rotations.copy()
        rotations[:, self._joints] = self._played_rotations
        return rotations

    def build_swings(self) -> Swings:
        """Return the swings with keys."""
        swings = self._fitter.original
        if not self._joints:
            return swings
        min_frames = max(2, round(swings.settings.min_duration_s * swings.fps))
        min_speed = swings.settings.rest_rad_per_s / swings.fps
        chains = zip(self._joints, self._tracks, self._swing_indices, self._frames, self._rotations, strict=True)
        return swings.replace_tracks(
            {
                j: build_track(track, swing_indices, frames, rotations, min_frames, min_speed)
                for j, track, swing_indices, frames, rotations in chains
            }
        )


def _find_good_swings(track: Track, bad_frames: Bools) -> Ints:
    """Return the indices of the swings without a bad frame."""
    bad_until = np.concatenate(([0], np.cumsum(bad_frames)))
    return np.flatnonzero(bad_until[track.ends + 1] == bad_until[track.starts]).astype(np.int32)
