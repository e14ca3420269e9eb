"""What one joint does: swings, rests between them, and keys where neither describes it.

A swing turns at constant speed about one axis, fixed in the joint's own frame, from its first to its last frame. Rests
say where a joint hardly turns. Frames outside swings and keys are bridged: the joint turns evenly from where it is left
to where it is taken up again, the shorter way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from keypose.arrays import Floats, Frozen, Ints, frozen_floats, frozen_ints, give_away
from keypose.errors import ModelError
from keypose.options import whole
from keypose.rotations import conjugate, exp, log, multiply, normalise, sign_continuous

UNIT_TOLERANCE = 1e-3  # of lengths: so far off, numbers are no unit quaternion or axis
GREATEST_ANGLE = 1e6  # radians
LEAST_ANGLE = 1e-100  # below, numbers are too small to tell an axis

Kind = TypeVar("Kind")


@dataclass(frozen=True, eq=False)
class Swing(Frozen):
    """One joint turning about one axis: ``start_rotation`` times a turn about ``axis`` that grows to ``angle``."""

    joint: str
    start: int  # frame
    end: int  # the last frame, at which the whole angle is reached
    start_rotation: Floats  # (4,) local, unit wxyz
    axis: Floats  # (3,) unit, in the joint's own frame
    angle: float  # radians, not negative

    def __post_init__(self) -> None:
        self._put("start", whole("start", self.start))
        self._put("end", whole("end", self.end))
        self._put("start_rotation", _unit(self.start_rotation, (4,), "start rotation of a swing"))
        self._put("axis", _unit(self.axis, (3,), "axis of a swing"))
        angle = float(frozen_floats([self.angle], (1,), "angle of a swing")[0])
        if self.end <= self.start or not 0 <= angle <= GREATEST_ANGLE:
            raise ModelError(f"swing of {self.joint!r}: frames {self.start} to {self.end}, {angle:g} radians; expected "
                             f"an end after the start and an angle that is not negative")  # fmt: skip
        self._put("angle", angle)

    @property
    def n_frames(self) -> int:
        """How many frames it lasts, first and last included."""
        return self.end - self.start + 1

    @property
    def angle_deg(self) -> float:
        """The angle in degrees."""
        return float(np.rad2deg(self.angle))

    @property
    def turn(self) -> Floats:
        """The whole turn (3,) as axis times angle."""
        return np.asarray(self.axis * self.angle)

    @property
    def end_rotation(self) -> Floats:
        """The local rotation (4,) at the last frame."""
        return normalise(multiply(self.start_rotation, exp(self.turn)))

    def __repr__(self) -> str:
        return f"Swing({self.joint!r}, frames {self.start} to {self.end}, {self.angle_deg:.1f} degrees)"

    @classmethod
    def turning(cls, joint: str, start: int, end: int, start_rotation: Floats, turn: Floats) -> Swing:
        """A swing by ``turn`` (3,), axis times angle."""
        turn = frozen_floats(turn, (3,), "turn of a swing")
        angle = float(np.linalg.norm(turn))
        axis = turn / angle if angle > LEAST_ANGLE else np.array((1.0, 0.0, 0.0))
        return cls(joint, start, end, start_rotation, axis, angle)


@dataclass(frozen=True, eq=False)
class Rest(Frozen):
    """A joint that hardly turns, and its mean rotation meanwhile."""

    joint: str
    start: int  # frame
    end: int  # the last frame
    rotation: Floats  # (4,) local, unit wxyz

    def __post_init__(self) -> None:
        self._put("start", whole("start", self.start))
        self._put("end", whole("end", self.end))
        self._put("rotation", _unit(self.rotation, (4,), "rotation of a rest"))
        if self.end < self.start:
            raise ModelError(f"rest of {self.joint!r}: frames {self.start} to {self.end}, expected them in order")

    def __repr__(self) -> str:
        return f"Rest({self.joint!r}, frames {self.start} to {self.end})"


@dataclass(frozen=True, eq=False)
class KeyedSpan(Frozen):
    """A span that is kept by keys: rotations at some frames, turning evenly from one to the next, the shorter way."""

    frames: Ints  # (K,) increasing
    rotations: Floats  # (K, 4) local, unit wxyz

    def __post_init__(self) -> None:
        frames = frozen_ints(self.frames, (None,), "key frames")
        if not len(frames) or (np.diff(frames) <= 0).any():
            raise ModelError("keyed span: expected at least one frame, and increasing ones")
        self._put("frames", frames)
        self._put("rotations", _unit(self.rotations, (len(frames), 4), "rotations of keys"))

    @property
    def start(self) -> int:
        """The first frame."""
        return int(self.frames[0])

    @property
    def end(self) -> int:
        """The last frame."""
        return int(self.frames[-1])

    def __repr__(self) -> str:
        return f"KeyedSpan({len(self.frames)} keys, frames {self.start} to {self.end})"


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
        self._put("mean_rotation", _unit(self.mean_rotation, (4,), "mean rotation"))
        self._put("starts", frozen_ints(self.starts, (None,), "starts of swings"))
        n = len(self.starts)
        self._put("ends", frozen_ints(self.ends, (n,), "ends of swings"))
        self._put("start_rotations", _unit(self.start_rotations, (n, 4), "start rotations of swings"))
        self._put("turns", frozen_floats(self.turns, (n, 3), "turns of swings"))
        self._put("rest_starts", frozen_ints(self.rest_starts, (None,), "starts of rests"))
        r = len(self.rest_starts)
        self._put("rest_ends", frozen_ints(self.rest_ends, (r,), "ends of rests"))
        self._put("rest_rotations", _unit(self.rest_rotations, (r, 4), "rotations of rests"))
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


def several(values: Iterable[Kind], kind: type[Kind], what: str) -> tuple[Kind, ...]:
    """``values``, all of one kind."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ModelError(f"{what} is {type(values).__name__}, expected several {kind.__name__}")
    given = tuple(values)
    for each in given:
        if not isinstance(each, kind):
            raise ModelError(f"{what}: {type(each).__name__} among them, expected {kind.__name__}")
    return given


def mean_of(rotations: Floats) -> Floats:
    """The mean (..., 4) of rotations (N, ..., 4) in a row: that of their quaternions, of length 1.

    Each counts on the side of the one before it, so that of a turn by more than half a circle it is the middle.
    """
    total = sign_continuous(rotations).sum(axis=0)
    none = np.linalg.norm(total, axis=-1, keepdims=True) < 1e-9 * len(rotations)  # whole turns: they cancel out
    return normalise(np.where(none, rotations[len(rotations) // 2], total))


def means_of(rotations: Floats, joints: Ints, starts: Ints, ends: Ints) -> Floats:
    """The same (R, 4) of some ``joints`` (R,) of rotations (T, J, 4) from frames ``starts`` to ``ends`` (R,)."""
    if not len(starts):
        return np.zeros((0, 4))
    lasts = ends - starts + 1
    before = np.cumsum(lasts) - lasts
    some = rotations[np.arange(lasts.sum()) + np.repeat(starts - before, lasts), np.repeat(joints, lasts)]
    flips = np.zeros(len(some), int)
    flips[1:] = np.einsum("nk,nk->n", some[1:], some[:-1]) < 0
    flips[before] = 0  # each span begins on its own side
    turned = np.cumsum(flips)
    some[(turned - np.repeat(turned[before], lasts)) % 2 == 1] *= -1.0
    return normalise(np.add.reduceat(some, before))


def _turns_between(rotations: Floats) -> Floats:
    """(K, 3) from each of rotations (K, 4) to the next; from the last one none."""
    return np.concatenate((log(multiply(conjugate(rotations[:-1]), rotations[1:])), np.zeros((1, 3))))


def _unit(values: Floats, shape: tuple[int | None, ...], what: str) -> Floats:
    """Rows of length 1, read-only; those that are nearly so are scaled."""
    array = frozen_floats(values, shape, what)
    lengths = np.linalg.norm(array, axis=-1, keepdims=True)
    off = np.abs(lengths - 1).max(initial=0.0)
    if off > UNIT_TOLERANCE:
        raise ModelError(f"{what}: a length of {lengths.flat[np.abs(lengths - 1).argmax()]:g}, expected 1")
    return array if off < 1e-12 else give_away(array / lengths)
