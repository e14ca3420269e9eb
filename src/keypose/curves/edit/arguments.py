"""Checks of the arguments of edits: frames, vectors, rotations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import MAX_MAGNITUDE, Floats
from keypose.errors import OptionError
from keypose.model import KeyedMotion
from keypose.rotations import ORDERS, exp, from_euler, log, normalise
from keypose.validation import check_choice, check_int, check_number


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
        raise OptionError(f"{option}={values!r}, expected {length} numbers")
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
        raise OptionError("say the turn in one way: euler_degrees=, axis= with degrees=, or quaternion=")
    if euler_degrees is not None:
        angles = np.deg2rad(check_vector("euler_degrees", euler_degrees))
        return log(from_euler(angles, check_choice("order", order, ORDERS)))
    if quaternion is not None:
        unit_quaternion = check_vector("quaternion", quaternion, 4)
        if abs(unit_quaternion @ unit_quaternion - 1) > 2e-3:
            raise OptionError(f"quaternion={quaternion!r}, expected a unit quaternion (wxyz)")
        return log(normalise(unit_quaternion))
    if axis is None or degrees is None:
        raise OptionError("a turn about an axis needs both axis= and degrees=")
    direction = check_vector("axis", axis)
    length = float(np.linalg.norm(direction))
    if length < 1e-12:
        raise OptionError(f"axis={axis!r}, expected a direction")
    return log(exp(direction / length * np.deg2rad(check_number("degrees", degrees))))
