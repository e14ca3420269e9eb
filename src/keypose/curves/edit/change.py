"""The result of an edit, checks of its arguments, and the residual after it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import MAX_MAGNITUDE, Floats, freeze
from keypose.errors import OptionError
from keypose.model import KeyedMotion, Residual
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
