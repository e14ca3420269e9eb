"""The bits of each track in each segment: as few as the error on the figure's points allows."""

from __future__ import annotations

import numpy as np
from benchmarks.storage.acl_tracks import ANIMATED, RAW_RATE, Array, Ints, Ranges, Segments, rotations
from benchmarks.storage.figure import SHELL_MM, Figure, by_joint, carried, matrices, point_errors_mm

import keypose as kp

HALVINGS = 6  # of the octaves -8 to 8 around the first guess
OCTAVES = 8.0


class Search:
    """First every step in proportion to how far its track reaches, then bits are taken away one by one.

    All segments go at once, since they have nothing to do with one another. Of a joint that changes, only what it
    carries is looked at again, in the segments that are tried.
    """

    def __init__(self, motion: kp.Motion, values: Array, kinds: Ints, segments: Segments, tolerance_mm: float):
        self.figure, self.values, self.mm = Figure.of(motion), values, motion.mm_per_unit
        self.segments, self.tolerance_mm = segments, tolerance_mm
        self.n_joints = motion.n_joints
        self.raw = [*by_joint(motion.rotations), *values[self.n_joints :]]  # what plain numbers are of
        self.n_segments = len(segments.starts)
        self.of_frame = segments.of_frame
        self.tracks = np.flatnonzero(kinds == ANIMATED).tolist()
        self.ranges = [Ranges.of(values[k], segments) for k in self.tracks]
        self.below = _below(self.figure.parents)
        self.reach_mm = np.array([self._reach(k) for k in self.tracks])

    def rates(self) -> Ints:
        """(tracks, S) bits of each of a track's three numbers; ``RAW_RATE``: plain 32-bit numbers.

        A bit more for what carries everything may spare several elsewhere: it is tried, and stays where it does.
        """
        rates = self._first()
        self._take_away(rates)
        roots = [i for i, k in enumerate(self.tracks) if self.figure.parents[k % self.n_joints] < 0]
        other = rates.copy()
        other[roots] = np.minimum(other[roots] + 1, RAW_RATE)
        self._decode(other)
        self._take_away(other)
        better = (self._decode(other) <= self.tolerance_mm) & (other.sum(axis=0) < rates.sum(axis=0))
        return np.where(better, other, rates)

    def _take_away(self, rates: Ints) -> None:
        """Bit by bit from each track in turn, in place, as long as the bound holds."""
        is_open = rates > 0
        while is_open.any():
            for i in range(len(self.tracks)):
                tried = np.flatnonzero(is_open[i])
                if len(tried):
                    kept = self._try(i, tried, rates[i, tried] - 1)
                    rates[i, tried[kept]] -= 1
                    is_open[i, tried[~kept]] = False  # others only get coarser: it would not do later either
            is_open &= rates > 0

    def _reach(self, k: int) -> float:
        """How far points go at most, in mm, when a track goes by 1: half the sine of an angle, or a length."""
        if k >= self.n_joints:
            return self.mm
        off = self.figure.places[self.below[k]] - self.figure.places[k]
        return 2.0 * max(SHELL_MM, float(np.linalg.norm(off, axis=-1).max()))

    def _first(self) -> Ints:
        """The coarsest rates, of those in proportion, that stay within the tolerance."""
        low, high = np.full(self.n_segments, -OCTAVES), np.full(self.n_segments, OCTAVES)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            good = self._decode(self._in_proportion(middle)) <= self.tolerance_mm
            low, high = np.where(good, low, middle), np.where(good, middle, high)
        rates = self._in_proportion(high)
        rates[:, self._decode(rates) > self.tolerance_mm] = RAW_RATE
        self._decode(rates)
        return rates

    def _in_proportion(self, octaves: Array) -> Ints:
        """Rates at which one step of any track moves points by about the tolerance; finer by ``octaves`` (S,)."""
        every = np.arange(self.n_segments)
        widths = np.array([ranges.width(every).max(axis=1) for ranges in self.ranges]).reshape(-1, self.n_segments)
        steps = widths * self.reach_mm[:, None] / self.tolerance_mm * 2.0**octaves
        return np.clip(np.ceil(np.log2(steps + 1)), 0, RAW_RATE).astype(np.int64)

    def _decode(self, rates: Ints) -> Array:
        """Everything at these rates, which from now on is what there is; the largest error of each segment."""
        values = self.values.copy()
        for i, k in enumerate(self.tracks):
            values[k] = self.ranges[i].coded(values[k], self.of_frame, rates[i, self.of_frame])
        turns = rotations(values[: self.n_joints])
        for i, k in enumerate(self.tracks):
            plain = rates[i, self.of_frame] == RAW_RATE
            if k < self.n_joints and plain.any():
                turns[k, plain] = np.float32(self.raw[k][plain])
        self.own_turns = matrices(turns)
        self.own_places = self.mm * values[self.n_joints :]
        self.places, self.turns = np.empty(self.own_places.shape), np.empty(self.own_turns.shape)
        worst = np.zeros(len(self.of_frame))
        for j, parent in enumerate(self.figure.parents):
            own = self.own_places[j], self.own_turns[j]
            self.places[j], self.turns[j] = (
                own if parent < 0 else carried(self.places[parent], self.turns[parent], *own)
            )
            worst = np.maximum(worst, self._errors(j, slice(None), self.places[j], self.turns[j]))
        return self.segments.largest(worst)

    def _try(self, i: int, tried: Ints, rates: Ints) -> np.ndarray:
        """Other rates of one track in the segments ``tried``; which of them hold the bound. These stay."""
        k = self.tracks[i]
        joint = k % self.n_joints
        rate_of = np.full(self.n_segments, -1)
        rate_of[tried] = rates
        frames = np.flatnonzero(rate_of[self.of_frame] >= 0)
        segment = self.of_frame[frames]
        values = self.ranges[i].coded(self.values[k, frames], segment, rate_of[segment])
        is_turn = k < self.n_joints
        own = {
            joint: (
                self.own_places[joint, frames] if is_turn else self.mm * values,
                matrices(rotations(values)) if is_turn else self.own_turns[joint, frames],
            )
        }
        there, worst = self._carried_by(joint, own, frames)
        edges = np.flatnonzero(np.diff(segment, prepend=-1))
        kept = np.maximum.reduceat(worst, edges) <= self.tolerance_mm
        stays = np.repeat(kept, self.segments.lengths[tried])
        at = frames[stays]
        self.own_places[joint, at], self.own_turns[joint, at] = own[joint][0][stays], own[joint][1][stays]
        for j, (places, turns) in there.items():
            self.places[j, at], self.turns[j, at] = places[stays], turns[stays]
        return kept

    def _carried_by(
        self, joint: int, own: dict[int, tuple[Array, Array]], frames: Ints
    ) -> tuple[dict[int, tuple[Array, Array]], Array]:
        """A joint whose own place and turn are new, and all below it, in the world; and the largest errors (N,)."""
        there: dict[int, tuple[Array, Array]] = {}
        worst = np.zeros(len(frames))
        for j in self.below[joint]:
            local = own.get(j) or (self.own_places[j, frames], self.own_turns[j, frames])
            parent = self.figure.parents[j]
            if parent >= 0:
                above = there.get(parent) or (self.places[parent, frames], self.turns[parent, frames])
                local = carried(*above, *local)
            there[j] = local
            worst = np.maximum(worst, self._errors(j, frames, *local))
        return there, worst

    def _errors(self, j: int, frames: Ints | slice, places: Array, turns: Array) -> Array:
        figure = self.figure
        return point_errors_mm(places - figure.places[j, frames], turns - figure.turns[j, frames], figure.ends[j])


def _below(parents: tuple[int, ...]) -> list[list[int]]:
    """Each joint and all that it carries, parents first."""
    below: list[list[int]] = [[] for _ in parents]
    for j in range(len(parents)):
        up = j
        while up >= 0:
            below[up].append(j)
            up = parents[up]
    return below
