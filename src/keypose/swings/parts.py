"""What a joint can do: a swing, a rest, or a span that is kept by keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from keypose.arrays import Floats, Frozen, Ints, frozen_floats, frozen_ints, give_away
from keypose.errors import ModelError
from keypose.options import whole
from keypose.rotations import exp, multiply, normalise

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
        self._put("start_rotation", unit_rows(self.start_rotation, (4,), "start rotation of a swing"))
        self._put("axis", unit_rows(self.axis, (3,), "axis of a swing"))
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
        self._put("rotation", unit_rows(self.rotation, (4,), "rotation of a rest"))
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
        self._put("rotations", unit_rows(self.rotations, (len(frames), 4), "rotations of keys"))

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


def several(values: Iterable[Kind], kind: type[Kind], what: str) -> tuple[Kind, ...]:
    """``values``, all of one kind."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ModelError(f"{what} is {type(values).__name__}, expected several {kind.__name__}")
    given = tuple(values)
    for each in given:
        if not isinstance(each, kind):
            raise ModelError(f"{what}: {type(each).__name__} among them, expected {kind.__name__}")
    return given


def unit_rows(values: Floats, shape: tuple[int | None, ...], what: str) -> Floats:
    """Rows of length 1, read-only; those that are nearly so are scaled."""
    array = frozen_floats(values, shape, what)
    lengths = np.linalg.norm(array, axis=-1, keepdims=True)
    off = np.abs(lengths - 1).max(initial=0.0)
    if off > UNIT_TOLERANCE:
        raise ModelError(f"{what}: a length of {lengths.flat[np.abs(lengths - 1).argmax()]:g}, expected 1")
    return array if off < 1e-12 else give_away(array / lengths)
