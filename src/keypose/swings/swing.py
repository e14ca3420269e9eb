"""The items of a track: swings, rests and keyed spans; and the path of a joint that moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints, freeze, freeze_floats, freeze_ints
from keypose.curves.cubic_fit import fit_cubics
from keypose.errors import ModelError, format_count
from keypose.model import Curves
from keypose.model.keyed_motion import SpanPosition
from keypose.rotations import exp, multiply, normalise, twist_angle
from keypose.validation import check_int

UNIT_TOLERANCE = 1e-3  # of the length of unit quaternions and axes
MAX_ANGLE = 1e6  # radians
MIN_ANGLE = 1e-100  # the axis of smaller rotations cannot be determined

MAX_SPAN_FRAMES = 512  # between keys, to limit the time for long clips


@dataclass(frozen=True, eq=False)
class Swing(Frozen):
    """A rotation of one joint about one axis: ``start_rotation`` times a rotation about ``axis`` from 0 to
    ``angle``."""

    joint: str
    start: int  # frame
    end: int  # the last frame, at which the full angle is reached
    start_rotation: Floats  # (4,) local, unit wxyz
    axis: Floats  # (3,) unit, in the joint's own frame
    angle: float  # radians, not negative

    def __post_init__(self) -> None:
        self._set_field("start", check_int("start", self.start))
        self._set_field("end", check_int("end", self.end))
        self._set_field("start_rotation", check_unit_rows(self.start_rotation, (4,), "start rotation of a swing"))
        self._set_field("axis", check_unit_rows(self.axis, (3,), "axis of a swing"))
        angle = float(freeze_floats([self.angle], (1,), "angle of a swing")[0])
        if self.end <= self.start or not 0 <= angle <= MAX_ANGLE:
            raise ModelError(
                f"swing of {self.joint!r}: frames {self.start} to {self.end}, {angle:g} radians",
                hint="expected an end after the start and an angle that is not negative",
            )
        self._set_field("angle", angle)

    @property
    def n_frames(self) -> int:
        """The number of frames, first and last included."""
        return self.end - self.start + 1

    @property
    def angle_deg(self) -> float:
        """The angle in degrees."""
        return float(np.rad2deg(self.angle))

    @property
    def start_angle_deg(self) -> float:
        """The angle about the axis at the first frame, in degrees from -180 to 180; 0: as without any rotation."""
        return float(np.rad2deg(twist_angle(self.start_rotation, self.axis)))

    @property
    def end_angle_deg(self) -> float:
        """The angle about the axis at the last frame, in degrees: the start angle plus the angle of the swing."""
        return self.start_angle_deg + self.angle_deg

    @property
    def rotation_vector(self) -> Floats:
        """The rotation (3,) as axis times angle."""
        return np.asarray(self.axis * self.angle)

    @property
    def end_rotation(self) -> Floats:
        """The local rotation (4,) at the last frame."""
        return normalise(multiply(self.start_rotation, exp(self.rotation_vector)))

    def __repr__(self) -> str:
        return f"Swing({self.joint!r}, frames {self.start} to {self.end}, {self.angle_deg:.1f} degrees)"

    @classmethod
    def from_rotation_vector(
        cls, joint: str, start: int, end: int, start_rotation: Floats, rotation_vector: Floats
    ) -> Swing:
        """Return a swing by ``rotation_vector`` (3,), axis times angle."""
        rotation_vector = freeze_floats(rotation_vector, (3,), "rotation vector of a swing")
        angle = float(np.linalg.norm(rotation_vector))
        axis = rotation_vector / angle if angle > MIN_ANGLE else np.array((1.0, 0.0, 0.0))
        return cls(joint, start, end, start_rotation, axis, angle)


@dataclass(frozen=True, eq=False)
class Rest(Frozen):
    """A span in which a joint hardly rotates, and its mean rotation."""

    joint: str
    start: int  # frame
    end: int  # the last frame
    rotation: Floats  # (4,) local, unit wxyz

    def __post_init__(self) -> None:
        self._set_field("start", check_int("start", self.start))
        self._set_field("end", check_int("end", self.end))
        self._set_field("rotation", check_unit_rows(self.rotation, (4,), "rotation of a rest"))
        if self.end < self.start:
            raise ModelError(f"rest of {self.joint!r}: frames {self.start} to {self.end}", expected="them in order")

    def __repr__(self) -> str:
        return f"Rest({self.joint!r}, frames {self.start} to {self.end})"


@dataclass(frozen=True, eq=False)
class KeyedSpan(Frozen):
    """A span with keys: rotations at some frames, interpolated at constant speed, the shorter way."""

    frames: Ints  # (K,) increasing
    rotations: Floats  # (K, 4) local, unit wxyz

    def __post_init__(self) -> None:
        frames = freeze_ints(self.frames, (None,), "key frames")
        if not len(frames) or (np.diff(frames) <= 0).any():
            raise ModelError(subject="keyed span", expected="at least one frame, and increasing ones")
        self._set_field("frames", frames)
        self._set_field("rotations", check_unit_rows(self.rotations, (len(frames), 4), "rotations of keys"))

    @property
    def start(self) -> int:
        """The first frame."""
        return int(self.frames[0])

    @property
    def end(self) -> int:
        """The last frame."""
        return int(self.frames[-1])

    def __repr__(self) -> str:
        return f"KeyedSpan({format_count(len(self.frames), 'key')}, frames {self.start} to {self.end})"


def check_unit_rows(values: Floats, shape: tuple[int | None, ...], label: str) -> Floats:
    """Return read-only rows of length 1; rows that are nearly so are normalised."""
    array = freeze_floats(values, shape, label)
    lengths = np.linalg.norm(array, axis=-1, keepdims=True)
    error = np.abs(lengths - 1).max(initial=0.0)
    if error > UNIT_TOLERANCE:
        raise ModelError(f"a length of {lengths.flat[np.abs(lengths - 1).argmax()]:g}", subject=label, expected="1")
    return array if error < 1e-12 else freeze(array / lengths)


@dataclass(frozen=True, eq=False)
class Path(Frozen):
    """The local translations of one joint: keys with cubic or linear curves between them."""

    joint: str
    keys: Ints  # (K,) increasing frames
    curves: Curves  # (K, 1, 3) file units

    def __post_init__(self) -> None:
        keys = freeze_ints(self.keys, (None,), "keys of a path")
        if not len(keys) or keys[0] < 0 or (np.diff(keys) <= 0).any():
            raise ModelError("keys of a path", subject=self.joint, expected="increasing frames")
        if not isinstance(self.curves, Curves):
            raise ModelError(f"a path of {type(self.curves).__name__}", subject=self.joint, expected="Curves")
        if self.curves.values.shape != (len(keys), 1, 3):
            raise ModelError(f"path {self.curves.values.shape}", subject=self.joint, expected=f"{(len(keys), 1, 3)}")
        self._set_field("keys", keys)

    def __repr__(self) -> str:
        return f"Path({self.joint!r}, {format_count(len(self.keys), 'key')})"

    def sample(self, frames: Floats) -> Floats:
        """Return translations (N, 3) at ``frames`` (N,), which may be fractional."""
        return self.curves.at(SpanPosition.locate(self.keys, frames))[:, 0]


def fit_path(joint: str, translations: Floats, tolerance: float) -> Path:
    """Fit a path to ``translations`` (T, 3) with errors of at most ``tolerance``; 0: a key on every frame.

    Spans are divided until all are within the tolerance; the error of a cubic grows with the fourth power of its
    length.
    """
    if tolerance <= 0 or len(translations) < 3:
        return Path(joint, np.arange(len(translations), dtype=np.int32), Curves(translations[:, None]))
    last = len(translations) - 1
    keys = np.union1d(np.arange(0, last, MAX_SPAN_FRAMES), [0, last]).astype(np.int32)
    while True:
        path = Path(joint, keys, fit_cubics(translations[:, None], keys))
        errors = np.linalg.norm(path.sample(np.arange(len(translations), dtype=np.float64)) - translations, axis=1)
        span_errors = np.maximum.reduceat(errors, keys)[:-1]
        lengths = np.diff(keys)
        bad_spans = np.flatnonzero((span_errors > tolerance) & (lengths > 1))
        if not len(bad_spans):
            return path
        with np.errstate(over="ignore"):  # of a tolerance near 0: a key on every frame
            ratios = span_errors[bad_spans] / tolerance
        n_parts = np.clip(np.ceil(ratios**0.25), 2, lengths[bad_spans]).astype(int)
        ends = zip(keys[bad_spans].tolist(), keys[bad_spans + 1].tolist(), n_parts.tolist(), strict=True)
        new_keys = [np.linspace(start, end, n + 1).round() for start, end, n in ends]
        keys = np.union1d(keys, np.concatenate(new_keys)).astype(np.int32)
