"""The result of an edit, checks of its arguments, the curves of single joints, and the residual after an edit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import MAX_MAGNITUDE, Floats, Ints, freeze
from keypose.errors import OptionError
from keypose.model import Curves, KeyedMotion, Residual
from keypose.rotations import ORDERS, conjugate, exp, from_euler, log, multiply, normalise, rotate
from keypose.validation import check_choice, check_int, check_number


@dataclass(frozen=True, eq=False)
class Change:
    """A keyed motion after an operation. Samples outside of ``first`` to ``last`` are equal to those before, bit for
    bit.

    Both are frames of the motion after the operation. If later frames were moved as a whole
    (``move_key(ripple=True)``), all frames after the moved key are included.
    """

    keyed: KeyedMotion
    first: int  # the first and the last frame that may differ
    last: int
    missed: float = 0.0  # remaining distance of a hand or foot from its target, file units
    note: str = ""  # further remarks of the operation

    @property
    def range(self) -> tuple[int, int]:
        """The first and the last frame that may differ."""
        return self.first, self.last

    def __repr__(self) -> str:
        missed = f", missed by {self.missed:g}" if self.missed else ""
        note = f", {self.note}" if self.note else ""
        return f"Change(frames {self.first} to {self.last}{missed}{note})"


def affected_frames(keyed: KeyedMotion, first_key: int, last_key: int) -> tuple[int, int]:
    """Return the first and the last frame whose samples depend on keys ``first_key`` to ``last_key``."""
    first = int(keyed.keys[first_key - 1]) + 1 if first_key > 0 else 0
    last = int(keyed.keys[last_key + 1]) - 1 if last_key + 1 < keyed.n_keys else keyed.n_frames - 1
    return first, last


def find_key(keyed: KeyedMotion, frame: Any) -> int:
    """Return the index of the key at ``frame``."""
    return keyed.key_index(check_int("frame", frame))


def check_vector(option: str, values: ArrayLike, length: int = 3) -> Floats:
    """Return ``values`` as (length,) finite numbers."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.zeros(0)
    if array.shape != (length,) or not (np.abs(array) <= MAX_MAGNITUDE).all():
        raise OptionError(option=option, value=values, expected=f"{length} numbers")
    return array


def parse_rotation(
    euler_degrees: ArrayLike | None,
    order: str,
    axis: ArrayLike | None,
    degrees: float | None,
    quaternion: ArrayLike | None,
) -> Floats:
    """Return the rotation vector (3,) of a rotation given in one of three forms; at most half a turn long."""
    forms = (euler_degrees is not None, axis is not None or degrees is not None, quaternion is not None)
    if sum(forms) != 1:
        raise OptionError(expected="one of euler_degrees=, axis= with degrees=, and quaternion=")
    if euler_degrees is not None:
        angles = np.deg2rad(check_vector("euler_degrees", euler_degrees))
        return log(from_euler(angles, check_choice("order", order, ORDERS)))
    if quaternion is not None:
        unit_quaternion = check_vector("quaternion", quaternion, 4)
        if abs(unit_quaternion @ unit_quaternion - 1) > 2e-3:
            raise OptionError(option="quaternion", value=quaternion, expected="a unit quaternion (wxyz)")
        return log(normalise(unit_quaternion))
    if axis is None or degrees is None:
        raise OptionError(expected="both axis= and degrees=")
    direction = check_vector("axis", axis)
    length = float(np.linalg.norm(direction))
    if length < 1e-12:
        raise OptionError(option="axis", value=axis, expected="a direction")
    return log(exp(direction / length * np.deg2rad(check_number("degrees", degrees))))


def compensate_residual(new: KeyedMotion, old: KeyedMotion, first: int, last: int) -> KeyedMotion:
    """Return ``new`` with a residual that compensates the difference of its curves from ``old`` in frames first to
    last.

    With its full residual ``new`` then equals ``old``; the residual of other frames does not change. Both must have the
    same frames. A retimed residual is first expanded to one row per frame.
    """
    if old.residual is None or last < first:
        return new
    frames = np.arange(first, last + 1, dtype=np.float64)
    target, sampled = old.sample(1.0, frames=frames), new.sample(frames=frames)
    inverse = conjugate(sampled.rotations)
    dense = expand_residual(old.residual, old.n_frames)
    rotation_vectors, shifts = dense.rotations.copy(), dense.shifts.copy()
    rotation_vectors[first : last + 1] = log(multiply(inverse, target.rotations))
    shifts[first : last + 1] = rotate(inverse, target.translations - sampled.translations)
    return replace(new, residual=Residual(freeze(rotation_vectors), freeze(shifts)))


def retime_residual(residual: Residual, before: Floats, after: Floats, n_frames: int) -> Residual:
    """Return the residual of a motion of ``n_frames`` in which frames ``before`` (A,) became ``after`` (A,).

    Both are increasing. The source of every frame is stored, so that the detail between marks that were not moved does
    not change.
    """
    frames = np.arange(n_frames, dtype=np.float64)
    sources = residual.source_frames(np.interp(frames, after, before))
    return replace(residual, frames=freeze(frames), sources=freeze(sources))


def expand_residual(residual: Residual, n_frames: int) -> Residual:
    """Return the same residual with one row for each frame of the motion."""
    if residual.frames is None and len(residual) == n_frames:
        return residual
    source = residual.source_frames(np.arange(n_frames, dtype=np.float64))
    before = np.floor(source).astype(np.intp)
    after, fraction = np.minimum(before + 1, len(residual) - 1), (source - before)[:, None, None]
    rotation_vectors = residual.rotations[before] + fraction * (residual.rotations[after] - residual.rotations[before])
    shifts = residual.shifts[before] + fraction * (residual.shifts[after] - residual.shifts[before])
    return Residual(freeze(rotation_vectors), freeze(shifts))


@dataclass(frozen=True)
class JointCurve:
    """The curve of one joint's rotation or translation, with its own keys."""

    frames: Ints  # (K,) increasing
    curves: Curves  # (K, 1, C)

    def neighbours(self, frame: int, n_frames: int) -> tuple[int, int]:
        """Return the first and the last frame that depend on the key at ``frame``, or that one there would change."""
        before, after = self.frames[self.frames < frame], self.frames[self.frames > frame]
        return (int(before[-1]) + 1 if len(before) else 0), (int(after[0]) - 1 if len(after) else n_frames - 1)


@dataclass(frozen=True)
class JointCurves:
    """The rotations and the translations of all joints (J,), with their own keys."""

    rotations: Sequence[JointCurve]
    translations: Sequence[JointCurve]

    @staticmethod
    def of(keyed: KeyedMotion) -> JointCurves:
        """Return the curves of a keyed motion."""
        return JointCurves(*(_split(curves, keyed.keys) for curves in (keyed.rotations, keyed.translations)))

    def map(
        self, change: Callable[[JointCurve], JointCurve], rotations: Iterable[int], translations: Iterable[int]
    ) -> JointCurves:
        """Return the curves with those of some joints changed."""
        changed = [list(self.rotations), list(self.translations)]
        for curves, joints in zip(changed, (rotations, translations), strict=True):
            for joint in joints:
                curves[joint] = change(curves[joint])
        return JointCurves(*changed)

    def build(self, keyed: KeyedMotion, extremes: Iterable[int]) -> KeyedMotion:
        """Return ``keyed`` with these curves; ``extremes`` are the frames of keys that are extremes."""
        keys = np.unique(np.concatenate([curve.frames for curve in (*self.rotations, *self.translations)]))
        return replace(
            keyed,
            keys=keys,
            rotations=_join(self.rotations, keys),
            translations=_join(self.translations, keys),
            extremes=np.isin(keys, list(extremes)),
        )


def _split(curves: Curves, keys: Ints) -> list[JointCurve]:
    flags = curves.key_flags()
    result = []
    for j in range(flags.shape[1]):
        rows = np.flatnonzero(flags[:, j])
        sides = (curves.values, curves.in_tangents, curves.out_tangents)
        own = Curves(*(None if side is None else freeze(side[rows, j : j + 1].copy()) for side in sides))  # type: ignore[arg-type]
        result.append(JointCurve(keys[rows], own))
    return result


def _join(joint_curves: Sequence[JointCurve], keys: Ints) -> Curves:
    first = joint_curves[0].curves
    arrays = np.zeros((3 if first.is_cubic else 1, len(keys), len(joint_curves), first.n_channels))
    is_key = np.zeros((len(keys), len(joint_curves)), bool)
    for j, (joint_curve, sides) in enumerate(
        (each, (each.curves.values, each.curves.in_tangents, each.curves.out_tangents)) for each in joint_curves
    ):
        rows = np.searchsorted(keys, joint_curve.frames)
        is_key[rows, j] = True
        for array, side in zip(arrays, sides, strict=False):
            assert side is not None  # all curves have tangents, or none
            array[rows, j] = side[:, 0]
    values, *tangents = (freeze(array) for array in arrays)
    return Curves(values, *(tangents or (None, None)), is_key=freeze(is_key))


def retime_joints(keyed: KeyedMotion, before: JointCurves, after: JointCurves, n_frames: int) -> Residual | None:
    """Return the residual for curves whose keys have moved from ``before`` to ``after``, in a motion of ``n_frames``.

    The detail of each joint moves with its own keys, linear in time between them.
    """
    if keyed.residual is None:
        return None
    detail = expand_residual(keyed.residual, keyed.n_frames)
    sides = []
    for values, old_curves, new_curves in (
        (detail.rotations, before.rotations, after.rotations),
        (detail.shifts, before.translations, after.translations),
    ):
        moved = np.empty((n_frames, *values.shape[1:]))
        for j, (old, new) in enumerate(zip(old_curves, new_curves, strict=True)):
            moved[:, j] = _sample_rows(values[:, j], _source_frames(old.frames, new.frames, keyed.n_frames, n_frames))
        sides.append(freeze(moved))
    return Residual(*sides)


def _source_frames(before: Ints, after: Ints, n_before: int, n_after: int) -> Floats:
    """Return for each new frame (n_after,) the old one; the ends of the motion move if they are no keys."""
    old, new = before.astype(np.float64), after.astype(np.float64)
    if old[0] > 0 and new[0] > 0:
        old, new = np.insert(old, 0, 0.0), np.insert(new, 0, 0.0)
    if old[-1] < n_before - 1 and new[-1] < n_after - 1:
        old, new = np.append(old, n_before - 1.0), np.append(new, n_after - 1.0)
    return np.asarray(np.interp(np.arange(n_after, dtype=np.float64), new, old))


def _sample_rows(values: Floats, frames: Floats) -> Floats:
    """Return ``values`` (R, 3) at fractional ``frames`` (N,), linear in between."""
    before = np.floor(frames).astype(np.intp)
    after, fraction = np.minimum(before + 1, len(values) - 1), (frames - before)[:, None]
    return np.asarray(values[before] + fraction * (values[after] - values[before]))
