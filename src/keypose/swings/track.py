"""What one joint does: swings, rests between them, and keys where neither describes it.

A swing turns at constant speed about one axis, fixed in the joint's own frame, from its first to its last frame. Rests
say where a joint hardly turns. Frames outside swings and keys are bridged: the joint turns evenly from where it is left
to where it is taken up again, the shorter way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from keypose.arrays import Floats, Frozen, Ints, frozen_floats, frozen_ints
from keypose.errors import ModelError
from keypose.rotations import conjugate, exp, log, multiply, normalise
from keypose.swings.parts import GREATEST_ANGLE, KeyedSpan, Rest, Swing, several, unit_rows


def _no_frames() -> Ints:
    return np.zeros(0, np.int32)


def _no_rotations() -> Floats:
    return np.zeros((0, 4))


def _no_turns() -> Floats:
    return np.zeros((0, 3))


@dataclass(frozen=True, eq=False)
class Track(Frozen):
    """All that one joint does, sorted, nothing overlapping. Many swings are kept as few arrays; ``swings`` has each."""

    joint: str
    mean_rotation: Floats  # (4,) local, unit wxyz: what a joint without any swing or key holds
    starts: Ints = field(default_factory=_no_frames)  # (N,) of swings
    ends: Ints = field(default_factory=_no_frames)  # (N,) last frames
    start_rotations: Floats = field(default_factory=_no_rotations)  # (N, 4) local, unit wxyz
    turns: Floats = field(default_factory=_no_turns)  # (N, 3) axis times angle in radians, in the joint's own frame
    rest_starts: Ints = field(default_factory=_no_frames)  # (R,)
    rest_ends: Ints = field(default_factory=_no_frames)  # (R,) last frames
    rest_rotations: Floats = field(default_factory=_no_rotations)  # (R, 4) means
    keyed: tuple[KeyedSpan, ...] = ()

    def __post_init__(self) -> None:
        self._put("mean_rotation", unit_rows(self.mean_rotation, (4,), "mean rotation"))
        self._put("starts", frozen_ints(self.starts, (None,), "starts of swings"))
        n = len(self.starts)
        self._put("ends", frozen_ints(self.ends, (n,), "ends of swings"))
        self._put("start_rotations", unit_rows(self.start_rotations, (n, 4), "start rotations of swings"))
        self._put("turns", frozen_floats(self.turns, (n, 3), "turns of swings"))
        self._put("rest_starts", frozen_ints(self.rest_starts, (None,), "starts of rests"))
        r = len(self.rest_starts)
        self._put("rest_ends", frozen_ints(self.rest_ends, (r,), "ends of rests"))
        self._put("rest_rotations", unit_rows(self.rest_rotations, (r, 4), "rotations of rests"))
        self._put("keyed", several(self.keyed, KeyedSpan, f"{self.joint}: keyed"))
        if (self.ends <= self.starts).any() or (self.rest_ends < self.rest_starts).any():
            raise ModelError(f"{self.joint}: a swing or rest that ends before it starts")
        if n and np.abs(self.turns).max() > GREATEST_ANGLE:
            raise ModelError(f"{self.joint}: a swing by more than {GREATEST_ANGLE:g} radians")
        self._check_order()

    def _check_order(self) -> None:
        firsts = np.concatenate((self.starts, self.rest_starts, [span.start for span in self.keyed])).astype(int)
        lasts = np.concatenate((self.ends, self.rest_ends, [span.end for span in self.keyed])).astype(int)
        keyed = np.array([span.start for span in self.keyed])
        if any((np.diff(each) <= 0).any() for each in (self.starts, self.rest_starts, keyed)):
            raise ModelError(f"{self.joint}: swings, rests or keys out of order")
        order = np.argsort(firsts)
        clash = np.flatnonzero(firsts[order][1:] <= lasts[order][:-1])
        if len(clash):
            one, other = order[clash[0]], order[clash[0] + 1]
            raise ModelError(f"{self.joint}: frames {firsts[one]} to {lasts[one]} and {firsts[other]} to "
                             f"{lasts[other]} overlap")  # fmt: skip
        if len(firsts) and firsts.min() < 0:
            raise ModelError(f"{self.joint}: something before frame 0")

    @classmethod
    def of(
        cls,
        joint: str,
        mean_rotation: Floats,
        swings: Iterable[Swing] = (),
        keyed: Iterable[KeyedSpan] = (),
        rests: Iterable[Rest] = (),
    ) -> Track:
        """A track of swings and rests one by one, in any order."""
        swings = sorted(several(swings, Swing, f"{joint}: swings"), key=lambda swing: swing.start)
        rests = sorted(several(rests, Rest, f"{joint}: rests"), key=lambda rest: rest.start)
        return cls(
            joint,
            mean_rotation,
            np.array([swing.start for swing in swings], np.int32),
            np.array([swing.end for swing in swings], np.int32),
            np.array([swing.start_rotation for swing in swings]).reshape(-1, 4),
            np.array([swing.turn for swing in swings]).reshape(-1, 3),
            np.array([rest.start for rest in rests], np.int32),
            np.array([rest.end for rest in rests], np.int32),
            np.array([rest.rotation for rest in rests]).reshape(-1, 4),
            several(keyed, KeyedSpan, f"{joint}: keyed"),
        )

    # What it is

    @property
    def n_swings(self) -> int:
        """How many swings there are."""
        return len(self.starts)

    @cached_property
    def swings(self) -> tuple[Swing, ...]:
        """Each swing."""
        parts = zip(self.starts.tolist(), self.ends.tolist(), self.start_rotations, self.turns, strict=True)
        return tuple(Swing.turning(self.joint, *part) for part in parts)

    @cached_property
    def rests(self) -> tuple[Rest, ...]:
        """Each rest."""
        parts = zip(self.rest_starts.tolist(), self.rest_ends.tolist(), self.rest_rotations, strict=True)
        return tuple(Rest(self.joint, *part) for part in parts)

    @property
    def angles(self) -> Floats:
        """Their angles (N,) in radians."""
        return np.asarray(np.linalg.norm(self.turns, axis=1))

    @property
    def n_keys(self) -> int:
        """How many keys there are in all keyed spans."""
        return sum(len(span.frames) for span in self.keyed)

    @property
    def last_frame(self) -> int:
        """The last frame that anything of it covers; -1 without any."""
        ends = [*self.ends[-1:].tolist(), *self.rest_ends[-1:].tolist(), *(span.end for span in self.keyed[-1:])]
        return int(max(ends, default=-1))

    def is_raw(self, n_frames: int) -> bool:
        """Whether every frame is a key: nothing is left out."""
        return self.n_keys == n_frames

    def __repr__(self) -> str:
        return f"Track({self.joint!r}, {self.n_swings} swings, {len(self.rest_starts)} rests, {self.n_keys} keys)"

    def without(self, dropped: Iterable[int]) -> Track:
        """The same without some swings, by their index."""
        kept = np.setdiff1d(np.arange(self.n_swings), np.fromiter(dropped, int))
        return replace(
            self,
            starts=self.starts[kept],
            ends=self.ends[kept],
            start_rotations=self.start_rotations[kept],
            turns=self.turns[kept],
        )

    # Sampling

    @cached_property
    def _legs(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Where each even turn begins (M,), how long it lasts (M,), from which rotation (M, 4) by which turn (M, 3)."""
        begins = [self.starts, *(span.frames for span in self.keyed)]
        rotations = [self.start_rotations, *(span.rotations for span in self.keyed)]
        turns = [self.turns, *(_turns_between(span.rotations) for span in self.keyed)]
        lasts = [self.ends - self.starts, *(np.append(np.diff(span.frames), 0) for span in self.keyed)]
        # the parts themselves, in order of time, and the bridges from where each ends to where the next starts
        ends = normalise(multiply(self.start_rotations, exp(self.turns)))
        finals = np.concatenate((ends, *(span.rotations[-1:] for span in self.keyed)))
        firsts = np.concatenate((self.start_rotations, *(span.rotations[:1] for span in self.keyed)))
        first_frames = np.array([*self.starts.tolist(), *(span.start for span in self.keyed)])
        last_frames = np.array([*self.ends.tolist(), *(span.end for span in self.keyed)])
        order = np.argsort(first_frames)
        bridges = log(multiply(conjugate(finals[order][:-1]), firsts[order][1:]))
        begins.append(last_frames[order])
        rotations.append(finals[order])
        turns.append(np.concatenate((bridges, np.zeros((1, 3)))))
        lasts.append(np.append(first_frames[order][1:] - last_frames[order][:-1], 0))
        begin = np.concatenate(begins).astype(np.float64)
        by_time = np.argsort(begin, kind="stable")  # at one frame a bridge comes last: there it is that holds
        return (
            begin[by_time],
            np.concatenate(lasts).astype(np.float64)[by_time],
            np.concatenate(rotations)[by_time],
            np.concatenate(turns)[by_time],
        )

    def sample(self, frames: Floats) -> Floats:
        """Local rotations (N, 4) at ``frames`` (N,), whole or not; before and after all parts the nearest one holds."""
        if not self.n_swings and not self.keyed:
            return np.tile(self.mean_rotation, (len(frames), 1))
        begin, lasts, rotations, turns = self._legs
        leg = np.maximum(np.searchsorted(begin, frames, side="right") - 1, 0)
        part = np.clip((frames - begin[leg]) / np.maximum(lasts[leg], 1.0), 0.0, 1.0)
        sampled: Floats = rotations[leg]
        moving = np.flatnonzero(part > 0)
        sampled[moving] = normalise(multiply(sampled[moving], exp(part[moving, None] * turns[leg[moving]])))
        return sampled


def _turns_between(rotations: Floats) -> Floats:
    """(K, 3) from each of rotations (K, 4) to the next; from the last one none."""
    return np.concatenate((log(multiply(conjugate(rotations[:-1]), rotations[1:])), np.zeros((1, 3))))
