"""What the decoder knows of a clip before it reads a frame: how each joint's turn is spelled, and in which steps."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from enum import IntEnum
from math import isfinite

import numpy as np

from keypose import _core
from keypose.arrays import Floats
from keypose.model import Skeleton
from keypose.storage.groups import CodingError
from keypose.storage.lossy.bones import bone_frames
from keypose.storage.lossy.grid import MOST_BITS, direction, quaternion

LEVELS = 11  # eight halvings, the last frame of all, the first of a group, frames in their own order
COARSE_BITS = 8  # of the base of a free turn: it need only be near
CENTRE_UNITS = 4096
MOST_STEP = 4096
MOST_CENTRE = 1 << 30
IDENTITY = (0, 0, 0, 0)


class Turn(IntEnum):
    """How a joint turns; the numbers of its tracks are those of ``core/kps_chart.hpp``."""

    FIXED = 0
    HINGE = 1
    PAIR = 2
    FREE = 3
    UPRIGHT = 4

    @property
    def tracks(self) -> int:
        """How many numbers it takes in each frame."""
        return min(int(self), 3)


class _Kind(IntEnum):
    """Kinds of numbers, each learnt apart by their coder."""

    BITS, TURN, PLACE, PLACED, LARGEST, FINE, COARSE, SIGN, UP, STEP, SHIFT_STEP, CENTRE, PRIOR, LEVEL = range(14)


class _Place(IntEnum):
    """Where a joint is from its parent."""

    OFFSET = 0  # always where the skeleton has it
    ELSEWHERE = 1  # always somewhere else
    MOVES = 2


@dataclass(frozen=True)
class JointPlan:
    """One joint: the numbers that stand for its chart, as ``grid`` has them."""

    turn: Turn = Turn.FIXED
    base: tuple[int, ...] = IDENTITY  # of a fixed turn, hinge, pair: fine; of a free turn: coarse
    axes: tuple[tuple[int, ...], ...] = ()  # of a hinge one, of a pair two
    up: int = 2  # which axis of the world is up, for the turn of an upright joint
    moves: bool = False
    place: tuple[float, float, float] | None = None  # where it is if it does not move; None: at its offset

    @property
    def tracks(self) -> int:
        """How many numbers it takes in each frame."""
        return self.turn.tracks + (3 if self.moves else 0)

    def base_turn(self, bits: int) -> Floats:
        """The quaternion wxyz that the chart starts from."""
        return quaternion(self.base, COARSE_BITS if self.turn is Turn.FREE else bits)

    def chart(self, bits: int, bone: Floats) -> Floats:
        """(14,) the kind, the base, three axes, as the kernels take them; ``bone``: see ``bone_frames``."""
        axes = np.zeros((3, 3))
        if self.turn is Turn.HINGE:
            axes[1] = direction(self.axes[0], bits)
        elif self.turn is Turn.PAIR:
            axes[0], axes[1] = direction(self.axes[0], bits), direction(self.axes[1], bits)
        elif self.turn is Turn.FREE:
            axes = bone
        elif self.turn is Turn.UPRIGHT:
            axes = np.roll(np.eye(3), -self.up, axis=0)
        return np.concatenate(([float(self.turn)], self.base_turn(bits), axes.ravel()))


@dataclass(frozen=True, eq=False)
class Plan:
    """All joints, and the steps of their tracks in eighths of a doubling."""

    bits: int  # of fine turns and directions
    joints: tuple[JointPlan, ...]
    steps: tuple[int, ...] = ()
    centres: tuple[int, ...] = ()  # in units of 64 steps
    track_priors: tuple[int, ...] = ()  # how large residuals are, in half doublings
    level_priors: tuple[int, ...] = field(default=(0,) * LEVELS)

    @property
    def n_tracks(self) -> int:
        """How many numbers a frame takes."""
        return sum(joint.tracks for joint in self.joints)

    def kernel(self, skeleton: Skeleton) -> _core.KpsClip:
        """The clip for the kernels."""
        bones = bone_frames(skeleton)
        charts = [joint.chart(self.bits, bone) for joint, bone in zip(self.joints, bones, strict=True)]
        places = [
            o if j.place is None else j.place for j, o in zip(self.joints, skeleton.offsets.tolist(), strict=True)
        ]
        return _core.kps_clip(
            np.ascontiguousarray(skeleton.parents, np.int32),
            np.array(charts),
            np.array([joint.moves for joint in self.joints], np.uint8),
            np.array(places, np.float64),
            np.array(self.steps, np.int32),
            np.array(self.centres, np.int64) * CENTRE_UNITS,
            np.array(self.track_priors, np.int32),
            np.array(self.level_priors, np.int32),
        )

    def to_bytes(self) -> bytes:
        """What ``from_bytes`` reads."""
        out = _core.NumbersOut()
        out.put(_Kind.BITS, self.bits)
        for joint in self.joints:
            _put_joint(out, joint)
        step = {_Kind.STEP: 0, _Kind.SHIFT_STEP: 0}
        for kind, here, centre, prior in zip(self._kinds(), self.steps, self.centres, self.track_priors, strict=True):
            out.put(kind, here - step[kind])
            step[kind] = here
            if kind is _Kind.SHIFT_STEP:
                out.put(_Kind.CENTRE, centre)
            out.put(_Kind.PRIOR, prior)
        for prior in self.level_priors:
            out.put(_Kind.LEVEL, prior)
        return out.finish()

    @staticmethod
    def from_bytes(data: bytes, n_joints: int) -> Plan:
        """The plan that ``to_bytes`` wrote; raises ``CodingError`` on anything else."""
        numbers = _Numbers(data)
        bits = numbers.take(_Kind.BITS, 2, MOST_BITS)
        plan = Plan(bits, tuple(_take_joint(numbers, bits) for _ in range(n_joints)))
        steps, centres, priors = [], [], []
        step = {_Kind.STEP: 0, _Kind.SHIFT_STEP: 0}
        for kind in plan._kinds():
            step[kind] += numbers.take(kind, -2 * MOST_STEP, 2 * MOST_STEP)
            if abs(step[kind]) > MOST_STEP:
                raise CodingError("a step beyond all measure")
            steps.append(step[kind])
            centres.append(numbers.take(_Kind.CENTRE, -MOST_CENTRE, MOST_CENTRE) if kind is _Kind.SHIFT_STEP else 0)
            priors.append(numbers.take(_Kind.PRIOR, -1000, 1000))
        levels = tuple(numbers.take(_Kind.LEVEL, -1000, 1000) for _ in range(LEVELS))
        numbers.finish()
        return Plan(bits, plan.joints, tuple(steps), tuple(centres), tuple(priors), levels)

    def _kinds(self) -> list[_Kind]:
        """For each track, whether it is a shift or a turn."""
        kinds: list[_Kind] = []
        for joint in self.joints:
            kinds += [_Kind.SHIFT_STEP] * (3 if joint.moves else 0) + [_Kind.STEP] * joint.turn.tracks
        return kinds


class _Numbers:
    """Numbers from bytes that nobody vouches for."""

    def __init__(self, data: bytes) -> None:
        self._in = _core.NumbersIn(data)

    def take(self, kind: _Kind, least: int, most: int) -> int:
        try:
            number = self._in.take(kind)
        except ValueError as error:
            raise CodingError(str(error)) from None
        if not least <= number <= most:
            raise CodingError(f"{kind.name.lower()} {number}, expected {least} to {most}")
        return number

    def finish(self) -> None:
        """After the last number: refuses bytes that say more, or less."""
        try:
            self._in.finish()
        except ValueError as error:
            raise CodingError(str(error)) from None


def _put_joint(out: _core.NumbersOut, joint: JointPlan) -> None:
    fixed_turn = joint.turn is Turn.FIXED and joint.base != IDENTITY
    out.put(_Kind.TURN, 5 if fixed_turn else int(joint.turn))
    if fixed_turn or joint.turn in (Turn.HINGE, Turn.PAIR, Turn.FREE):
        _put_grid(out, joint.base, _Kind.COARSE if joint.turn is Turn.FREE else _Kind.FINE, signed=False)
    for axis in joint.axes:
        _put_grid(out, axis, _Kind.FINE, signed=True)
    if joint.turn is Turn.UPRIGHT:
        out.put(_Kind.UP, joint.up)
    place = _Place.MOVES if joint.moves else _Place.OFFSET if joint.place is None else _Place.ELSEWHERE
    out.put(_Kind.PLACE, place)
    if place is _Place.ELSEWHERE and joint.place is not None:
        for coordinate in joint.place:
            out.put(_Kind.PLACED, struct.unpack("<q", struct.pack("<d", coordinate))[0])


def _put_grid(out: _core.NumbersOut, numbers: tuple[int, ...], kind: _Kind, *, signed: bool) -> None:
    out.put(_Kind.LARGEST, numbers[0])
    for number in numbers[1:-1] if signed else numbers[1:]:
        out.put(kind, number)
    if signed:
        out.put(_Kind.SIGN, numbers[-1])


def _take_joint(numbers: _Numbers, bits: int) -> JointPlan:
    code = numbers.take(_Kind.TURN, 0, 5)
    turn = Turn.FIXED if code == 5 else Turn(code)
    base: tuple[int, ...] = IDENTITY
    if code == 5 or turn in (Turn.HINGE, Turn.PAIR, Turn.FREE):
        base = _take_grid(numbers, 3, bits, coarse=turn is Turn.FREE)
    axes = tuple((*_take_grid(numbers, 2, bits), numbers.take(_Kind.SIGN, 0, 1)) for _ in range(turn.tracks % 3))
    up = numbers.take(_Kind.UP, 0, 2) if turn is Turn.UPRIGHT else 2
    where = _Place(numbers.take(_Kind.PLACE, 0, 2))
    place = None
    if where is _Place.ELSEWHERE:
        place = (_take_double(numbers), _take_double(numbers), _take_double(numbers))
    return JointPlan(turn, base, axes, up, where is _Place.MOVES, place)


def _take_double(numbers: _Numbers) -> float:
    bits = numbers.take(_Kind.PLACED, -(1 << 63), (1 << 63) - 1)
    value: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    if not isfinite(value):
        raise CodingError("a joint's place is not a number")
    return value


def _take_grid(numbers: _Numbers, others: int, bits: int, *, coarse: bool = False) -> tuple[int, ...]:
    largest = numbers.take(_Kind.LARGEST, 0, others)
    most = 1 << ((COARSE_BITS if coarse else bits) - 1)
    kind = _Kind.COARSE if coarse else _Kind.FINE
    return (largest, *(numbers.take(kind, -most, most) for _ in range(others)))
