"""Keys where swings are inaccurate: for slow and still joints, and for rotations that are not about one axis.

A track plays segments of constant speed: swings, spans between keys, and bridges. A swing may be kept if its own frames
are accurate enough. Around such swings the fewest keys within the tolerance are searched (``core/swing_keys.cpp``), and
keys replace a swing where they need less space. Segments between keys that are part of a found swing become swings
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from keypose import _core
from keypose.arrays import Bools, Floats, Ints
from keypose.errors import OptionError, format_count
from keypose.model import Motion
from keypose.rotations import align_signs, angle_between, conjugate, log, multiply, normalise
from keypose.swings.model import Swings
from keypose.swings.swing import KeyedSpan
from keypose.swings.track import Track
from keypose.validation import check_number

MAX_GAP_S = 8.0  # from one key to the next, to limit the time spent on still joints
SWING_COST = 1.9  # in keys: a swing needs the space of two, and is preferred slightly
# Minimum share of the frames between two keys in a found swing for the segment to be part of that swing.
MIN_OVERLAP = 0.75


def add_keys(
    motion: Motion,
    swings: Swings,
    tolerance_deg: float,
    per_joint: Mapping[str, float] | Sequence[float] | Floats | None = None,
) -> Swings:
    """Return ``swings`` with keys wherever a joint's rotation differs by more than ``tolerance_deg`` from ``motion``.

    In the result every frame of each joint is within its tolerance. ``per_joint``: other tolerances, for all joints in
    order or for some by name. Tracks within their tolerance do not change.
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
        raise OptionError(
            format_count(len(per_joint), "tolerance"),
            option="per_joint",
            expected=f"one for each of {format_count(swings.n_joints, 'joint')}",
        )
    return np.array([check_number(f"per_joint[{j}]", value, above=0.0) for j, value in enumerate(per_joint)])


class KeyFitter:
    """Adds keys to the swings of one motion, for one or several tolerances."""

    def __init__(self, motion: Motion, swings: Swings) -> None:
        if motion.skeleton.names != swings.skeleton.names or motion.n_frames != swings.n_frames:
            raise OptionError(f"{motion.name!r} is not the motion that the swings of {swings.name!r} were found in: "
                              f"other joints or frames", code="different_motions")  # fmt: skip
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


def build_track(
    track: Track, swing_indices: Ints, frames: Ints, rotations: Floats, min_frames: int, min_speed: float
) -> Track:
    """Return ``track`` with only the swings ``swing_indices`` (N,) and keys at ``frames`` (K,), ``rotations`` (K, 4).

    From one key to the next the joint rotates at constant speed. If that rotation is along a found swing, at least
    ``min_frames`` long and at least ``min_speed`` radians per frame fast, it becomes a swing, which replaces the two
    keys without changing the playback. Rests are dropped: keys and swings alone are within the tolerance.
    """
    group = np.searchsorted(track.starts[swing_indices], frames).astype(
        np.int32
    )  # group of each key: keys without a swing between them have the same
    rotation_vectors = log(multiply(conjugate(rotations[:-1]), rotations[1:]))
    new_swings = _find_new_swings(track, frames, rotation_vectors, group, min_frames, min_speed)
    starts = np.concatenate((track.starts[swing_indices], frames[new_swings]))
    order = np.argsort(starts)
    starts, ends = starts[order], np.concatenate((track.ends[swing_indices], frames[new_swings + 1]))[order]
    keyed = _keyed_spans(frames, rotations, group, new_swings)
    return replace(
        track.drop_rests(),
        starts=starts,
        ends=ends,
        start_rotations=np.concatenate((track.start_rotations[swing_indices], rotations[new_swings]))[order],
        rotation_vectors=np.concatenate((track.rotation_vectors[swing_indices], rotation_vectors[new_swings]))[order],
        keyed=keyed,
    )


def _find_new_swings(
    track: Track, frames: Ints, rotation_vectors: Floats, group: Ints, min_frames: int, min_speed: float
) -> Ints:
    """Return the first keys of the rotations that become swings; of two that share a key, the one with the larger
    angle."""
    if len(frames) < 2 or not track.n_swings:
        return np.zeros(0, np.int32)
    first, last = frames[:-1], frames[1:]
    nearest = np.maximum(np.searchsorted(track.starts, (first + last) // 2, side="right") - 1, 0)
    overlap = np.minimum(last, track.ends[nearest]) - np.maximum(first, track.starts[nearest])
    angles = np.sqrt(np.einsum("nk,nk->n", rotation_vectors, rotation_vectors))
    fits = (
        (overlap >= MIN_OVERLAP * (last - first))
        & (last - first + 1 >= min_frames)
        & (angles >= min_speed * (last - first))
        & (group[:-1] == group[1:])
    )
    candidates = np.flatnonzero(fits)
    used_keys, chosen = set(), []
    for i in candidates[np.argsort(-angles[candidates], kind="stable")].tolist():
        if i not in used_keys and i + 1 not in used_keys:
            used_keys |= {i, i + 1}
            chosen.append(i)
    return np.array(sorted(chosen), np.int32)


def _keyed_spans(frames: Ints, rotations: Floats, group: Ints, new_swings: Ints) -> tuple[KeyedSpan, ...]:
    """Return spans of the keys that are not ends of swings; keys without a swing between them are in one span."""
    key_indices = np.setdiff1d(np.arange(len(frames)), np.concatenate((new_swings, new_swings + 1)))
    if not len(key_indices):
        return ()
    cuts = np.flatnonzero((np.diff(key_indices) > 1) | (np.diff(group[key_indices]) > 0)) + 1
    edges = [0, *cuts.tolist(), len(key_indices)]
    return tuple(KeyedSpan(frames[key_indices[a:b]], rotations[key_indices[a:b]]) for a, b in pairwise(edges))


def mean_rotation(rotations: Floats) -> Floats:
    """Return the mean (..., 4) of successive rotations (N, ..., 4): the normalised mean of their quaternions.

    The sign of each is the one nearest to the rotation before it, so that the mean of a rotation by more than half a
    turn is its middle.
    """
    total = align_signs(rotations).sum(axis=0)
    # The quaternions of full turns cancel out.
    is_zero = np.linalg.norm(total, axis=-1, keepdims=True) < 1e-9 * len(rotations)
    return normalise(np.where(is_zero, rotations[len(rotations) // 2], total))


def span_mean_rotations(rotations: Floats, joints: Ints, starts: Ints, ends: Ints) -> Floats:
    """Return the means (R, 4) of ``joints`` (R,) of rotations (T, J, 4) from frames ``starts`` to ``ends`` (R,)."""
    if not len(starts):
        return np.zeros((0, 4))
    lengths = ends - starts + 1
    offsets = np.cumsum(lengths) - lengths
    spans = rotations[np.arange(lengths.sum()) + np.repeat(starts - offsets, lengths), np.repeat(joints, lengths)]
    flips = np.zeros(len(spans), int)
    flips[1:] = np.einsum("nk,nk->n", spans[1:], spans[:-1]) < 0
    flips[offsets] = 0  # each span starts with its own sign
    flip_counts = np.cumsum(flips)
    spans[(flip_counts - np.repeat(flip_counts[offsets], lengths)) % 2 == 1] *= -1.0
    return normalise(np.add.reduceat(spans, offsets))
