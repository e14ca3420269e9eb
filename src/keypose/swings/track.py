"""The track of one joint: swings, rests between them, and keys where neither is accurate.

A swing rotates at constant speed about one axis, fixed in the joint's own frame, from its first to its last frame.
Rests are spans in which a joint hardly rotates; it has their mean rotation in their middle frame. Frames between are
bridged: the joint rotates at constant speed from the end of one item to the start of the next, the shorter way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from keypose.arrays import Floats, Frozen, Ints, freeze_floats, freeze_ints, freeze_items
from keypose.errors import ModelError, format_count
from keypose.rotations import conjugate, exp, log, multiply, normalise
from keypose.swings.swing import MAX_ANGLE, KeyedSpan, Rest, Swing, check_unit_rows


def _no_frames() -> Ints:
    return np.zeros(0, np.int32)


def _no_rotations() -> Floats:
    return np.zeros((0, 4))


def _no_vectors() -> Floats:
    return np.zeros((0, 3))


@dataclass(frozen=True, eq=False)
class Track(Frozen):
    """Swings, rests and keys of one joint, sorted, without overlaps. They are stored as arrays; ``swings`` returns
    objects."""

    joint: str
    mean_rotation: Floats  # (4,) local, unit wxyz: the rotation of a joint without any item
    starts: Ints = field(default_factory=_no_frames)  # (N,) of swings
    ends: Ints = field(default_factory=_no_frames)  # (N,) last frames
    start_rotations: Floats = field(default_factory=_no_rotations)  # (N, 4) local, unit wxyz
    rotation_vectors: Floats = field(
        default_factory=_no_vectors
    )  # (N, 3) axis times angle in radians, in the joint's own frame
    rest_starts: Ints = field(default_factory=_no_frames)  # (R,)
    rest_ends: Ints = field(default_factory=_no_frames)  # (R,) last frames
    rest_rotations: Floats = field(default_factory=_no_rotations)  # (R, 4) means
    keyed: tuple[KeyedSpan, ...] = ()

    def __post_init__(self) -> None:
        self._set_field("mean_rotation", check_unit_rows(self.mean_rotation, (4,), "mean rotation"))
        self._set_field("starts", freeze_ints(self.starts, (None,), "starts of swings"))
        n = len(self.starts)
        self._set_field("ends", freeze_ints(self.ends, (n,), "ends of swings"))
        self._set_field("start_rotations", check_unit_rows(self.start_rotations, (n, 4), "start rotations of swings"))
        self._set_field("rotation_vectors", freeze_floats(self.rotation_vectors, (n, 3), "rotation vectors of swings"))
        self._set_field("rest_starts", freeze_ints(self.rest_starts, (None,), "starts of rests"))
        r = len(self.rest_starts)
        self._set_field("rest_ends", freeze_ints(self.rest_ends, (r,), "ends of rests"))
        self._set_field("rest_rotations", check_unit_rows(self.rest_rotations, (r, 4), "rotations of rests"))
        self._set_field("keyed", freeze_items(self.keyed, KeyedSpan, f"{self.joint}: keyed"))
        if (self.ends <= self.starts).any() or (self.rest_ends < self.rest_starts).any():
            raise ModelError("a swing or rest that ends before it starts", subject=self.joint)
        if n and np.abs(self.rotation_vectors).max() > MAX_ANGLE:
            raise ModelError(f"a swing by more than {MAX_ANGLE:g} radians", subject=self.joint)
        self._check_order()

    def _check_order(self) -> None:
        firsts = np.concatenate((self.starts, self.rest_starts, [span.start for span in self.keyed])).astype(int)
        lasts = np.concatenate((self.ends, self.rest_ends, [span.end for span in self.keyed])).astype(int)
        keyed_starts = np.array([span.start for span in self.keyed])
        if any((np.diff(each) <= 0).any() for each in (self.starts, self.rest_starts, keyed_starts)):
            raise ModelError("swings, rests or keys out of order", subject=self.joint)
        order = np.argsort(firsts)
        overlaps = np.flatnonzero(firsts[order][1:] <= lasts[order][:-1])
        if len(overlaps):
            first, second = order[overlaps[0]], order[overlaps[0] + 1]
            raise ModelError(
                f"frames {firsts[first]} to {lasts[first]} and {firsts[second]} to {lasts[second]} overlap",
                subject=self.joint,
            )
        if len(firsts) and firsts.min() < 0:
            raise ModelError("something before frame 0", subject=self.joint)

    @classmethod
    def build(
        cls,
        joint: str,
        mean_rotation: Floats,
        swings: Iterable[Swing] = (),
        keyed: Iterable[KeyedSpan] = (),
        rests: Iterable[Rest] = (),
    ) -> Track:
        """Return a track of single swings and rests, in any order."""
        swings = sorted(freeze_items(swings, Swing, f"{joint}: swings"), key=lambda swing: swing.start)
        rests = sorted(freeze_items(rests, Rest, f"{joint}: rests"), key=lambda rest: rest.start)
        return cls(
            joint,
            mean_rotation,
            np.array([swing.start for swing in swings], np.int32),
            np.array([swing.end for swing in swings], np.int32),
            np.array([swing.start_rotation for swing in swings]).reshape(-1, 4),
            np.array([swing.rotation_vector for swing in swings]).reshape(-1, 3),
            np.array([rest.start for rest in rests], np.int32),
            np.array([rest.end for rest in rests], np.int32),
            np.array([rest.rotation for rest in rests]).reshape(-1, 4),
            freeze_items(keyed, KeyedSpan, f"{joint}: keyed"),
        )

    # Properties

    @property
    def n_swings(self) -> int:
        """The number of swings."""
        return len(self.starts)

    @cached_property
    def swings(self) -> tuple[Swing, ...]:
        """All swings."""
        rows = zip(self.starts.tolist(), self.ends.tolist(), self.start_rotations, self.rotation_vectors, strict=True)
        return tuple(Swing.from_rotation_vector(self.joint, *row) for row in rows)

    @cached_property
    def rests(self) -> tuple[Rest, ...]:
        """All rests."""
        rows = zip(self.rest_starts.tolist(), self.rest_ends.tolist(), self.rest_rotations, strict=True)
        return tuple(Rest(self.joint, *row) for row in rows)

    @property
    def angles(self) -> Floats:
        """The angles (N,) of the swings in radians."""
        return np.asarray(np.linalg.norm(self.rotation_vectors, axis=1))

    @property
    def rest_middles(self) -> Ints:
        """The middle frames (R,) of the rests, at which they are played."""
        return (self.rest_starts + self.rest_ends) // 2

    @property
    def n_keys(self) -> int:
        """The number of keys in all keyed spans."""
        return sum(len(span.frames) for span in self.keyed)

    @property
    def last_frame(self) -> int:
        """The last frame of any item; -1 without any."""
        ends = [*self.ends[-1:].tolist(), *self.rest_ends[-1:].tolist(), *(span.end for span in self.keyed[-1:])]
        return int(max(ends, default=-1))

    def is_raw(self, n_frames: int) -> bool:
        """Return whether every one of ``n_frames`` frames has a key."""
        return self.n_keys == n_frames

    def __repr__(self) -> str:
        return (
            f"Track({self.joint!r}, {format_count(self.n_swings, 'swing')}, "
            f"{format_count(len(self.rest_starts), 'rest')}, "
            f"{format_count(self.n_keys, 'key')})"
        )

    def drop_swings(self, indices: Iterable[int]) -> Track:
        """Return the track without some swings, by index."""
        remaining = np.setdiff1d(np.arange(self.n_swings), np.fromiter(indices, int))
        return replace(
            self,
            starts=self.starts[remaining],
            ends=self.ends[remaining],
            start_rotations=self.start_rotations[remaining],
            rotation_vectors=self.rotation_vectors[remaining],
        )

    def drop_rests(self) -> Track:
        """Return the track without rests; it is interpolated over their frames."""
        if not len(self.rest_starts):
            return self
        return replace(self, rest_starts=_no_frames(), rest_ends=_no_frames(), rest_rotations=_no_rotations())

    # Sampling

    @cached_property
    def _segments(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Start frames (M,), lengths (M,), start rotations (M, 4) and rotation vectors (M, 3) of all segments."""
        starts = [self.starts, *(span.frames for span in self.keyed)]
        rotations = [self.start_rotations, *(span.rotations for span in self.keyed)]
        rotation_vectors = [self.rotation_vectors, *(_vectors_between(span.rotations) for span in self.keyed)]
        lengths = [self.ends - self.starts, *(np.append(np.diff(span.frames), 0) for span in self.keyed)]
        # the items in order of time, and the bridges from the end of each to the start of the next
        ends = normalise(multiply(self.start_rotations, exp(self.rotation_vectors)))
        rests, middles = self.rest_rotations, self.rest_middles
        end_rotations = np.concatenate((ends, rests, *(span.rotations[-1:] for span in self.keyed)))
        start_rotations = np.concatenate((self.start_rotations, rests, *(span.rotations[:1] for span in self.keyed)))
        first_frames = np.concatenate((self.starts, middles, [span.start for span in self.keyed])).astype(int)
        last_frames = np.concatenate((self.ends, middles, [span.end for span in self.keyed])).astype(int)
        order = np.argsort(first_frames)
        bridges = log(multiply(conjugate(end_rotations[order][:-1]), start_rotations[order][1:]))
        starts.append(last_frames[order])
        rotations.append(end_rotations[order])
        rotation_vectors.append(np.concatenate((bridges, np.zeros((1, 3)))))
        lengths.append(np.append(first_frames[order][1:] - last_frames[order][:-1], 0))
        start_frames = np.concatenate(starts).astype(np.float64)
        # Of segments with the same start frame the bridge is the last one, which is used.
        by_time = np.argsort(start_frames, kind="stable")
        return (
            start_frames[by_time],
            np.concatenate(lengths).astype(np.float64)[by_time],
            np.concatenate(rotations)[by_time],
            np.concatenate(rotation_vectors)[by_time],
        )

    def sample(self, frames: Floats) -> Floats:
        """Return local rotations (N, 4) at ``frames`` (N,), which may be fractional; before the first and after the
        last item they are constant."""
        if not self.n_swings and not self.keyed and not len(self.rest_starts):
            return np.tile(self.mean_rotation, (len(frames), 1))
        starts, lengths, rotations, rotation_vectors = self._segments
        segment = np.maximum(np.searchsorted(starts, frames, side="right") - 1, 0)
        fraction = np.clip((frames - starts[segment]) / np.maximum(lengths[segment], 1.0), 0.0, 1.0)
        sampled: Floats = rotations[segment]
        is_moving = np.flatnonzero(fraction > 0)
        sampled[is_moving] = normalise(
            multiply(sampled[is_moving], exp(fraction[is_moving, None] * rotation_vectors[segment[is_moving]]))
        )
        return sampled


def _vectors_between(rotations: Floats) -> Floats:
    """Return rotation vectors (K, 3) from each of rotations (K, 4) to the next; zero for the last one."""
    return np.concatenate((log(multiply(conjugate(rotations[:-1]), rotations[1:])), np.zeros((1, 3))))
