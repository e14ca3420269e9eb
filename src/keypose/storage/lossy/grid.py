"""Fixed turns and directions in few whole numbers, and back by products and roots alone: alike on every machine."""

from __future__ import annotations

from math import sqrt

import numpy as np

from keypose.arrays import Floats
from keypose.storage.groups import CodingError

MOST_BITS = 40
ROOT_HALF = 0.7071067811865476  # what all components but the largest stay below, near enough


def to_grid(values: Floats, bits: int) -> tuple[int, ...]:
    """A unit quaternion (4,) or direction (3,): which component is left out, then the others.

    The one left out is the largest. It is taken as positive, which turns nothing for a quaternion; a direction points
    the other way then, so its sign comes last.
    """
    largest = int(np.argmax(np.abs(values)))
    negative = bool(values[largest] < 0)
    others = np.delete(-values if negative else values, largest)
    numbers = np.rint(others / ROOT_HALF * (1 << (bits - 1))).astype(int).tolist()
    return (largest, *numbers, *((int(negative),) if len(values) == 3 else ()))


def quaternion(numbers: tuple[int, ...], bits: int) -> Floats:
    """The unit quaternion wxyz of what ``to_grid`` made of one."""
    return _put_back(numbers[0], numbers[1:], bits)


def direction(numbers: tuple[int, ...], bits: int) -> Floats:
    """The unit vector of what ``to_grid`` made of one."""
    found = _put_back(numbers[0], numbers[1:-1], bits)
    return -found if numbers[-1] else found


def _put_back(largest: int, numbers: tuple[int, ...], bits: int) -> Floats:
    scale = ROOT_HALF / (1 << (bits - 1))
    others = [n * scale for n in numbers]
    rest = 1.0 - _squares(others)
    if not 0 <= largest <= len(others) or rest <= 0.0:
        raise CodingError("a turn that is none")
    others.insert(largest, sqrt(rest))
    return np.array(others)


def _squares(values: list[float]) -> float:
    """Their squares added up, each sum rounded by itself: ``sum`` rounds otherwise from Python 3.12 on."""
    total = 0.0
    for value in values:
        total += value * value
    return total
