"""What a person says about an edit, checked: frames, vectors, ways to give a turn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import GREATEST_NUMBER, Floats
from keypose.errors import OptionError
from keypose.model import KeyedMotion
from keypose.options import number, one_of, whole
from keypose.rotations import ORDERS, exp, from_euler, log, normalise


def key_at(keyed: KeyedMotion, frame: Any) -> int:
    """The index of the key at ``frame``."""
    return keyed.key_index(whole("frame", frame))


def vector(what: str, values: ArrayLike, length: int = 3) -> Floats:
    """``values`` as (length,) finite numbers."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.zeros(0)
    if array.shape != (length,) or not (np.abs(array) <= GREATEST_NUMBER).all():
        raise OptionError(f"{what}={values!r}, expected {length} numbers")
    return array


def turn_of(
    euler_degrees: ArrayLike | None,
    order: str,
    axis: ArrayLike | None,
    degrees: float | None,
    quaternion: ArrayLike | None,
) -> Floats:
    """The exponential map (3,) of a turn that is said in one of three ways; at most half a turn long."""
    said = (euler_degrees is not None, axis is not None or degrees is not None, quaternion is not None)
    if sum(said) != 1:
        raise OptionError("say the turn in one way: euler_degrees=, axis= with degrees=, or quaternion=")
    if euler_degrees is not None:
        angles = np.deg2rad(vector("euler_degrees", euler_degrees))
        return log(from_euler(angles, one_of("order", order, ORDERS)))
    if quaternion is not None:
        given = vector("quaternion", quaternion, 4)
        if abs(given @ given - 1) > 2e-3:
            raise OptionError(f"quaternion={quaternion!r}, expected a unit quaternion (wxyz)")
        return log(normalise(given))
    if axis is None or degrees is None:
        raise OptionError("a turn about an axis needs both axis= and degrees=")
    along = vector("axis", axis)
    length = float(np.linalg.norm(along))
    if length < 1e-12:
        raise OptionError(f"axis={axis!r}, expected a direction")
    return log(exp(along / length * np.deg2rad(number("degrees", degrees))))
