"""Quantized rotations and directions; dequantized with products and roots only: identical on every machine."""

from __future__ import annotations

from math import sqrt

import numpy as np

from keypose.arrays import Floats
from keypose.storage.groups import CodingError

MAX_BITS = 40
ROOT_HALF = 0.7071067811865476  # upper bound of all components but the largest, rounded


def quantize(values: Floats, bits: int) -> tuple[int, ...]:
    """Quantize a unit quaternion (4,) or direction (3,): the index of the omitted component, then the others.

    The largest component is omitted. It is made positive, which does not change the rotation of a quaternion; a
    direction has its sign as the last number.
    """
    largest = int(np.argmax(np.abs(values)))
    negative = bool(values[largest] < 0)
    others = np.delete(-values if negative else values, largest)
    numbers = np.rint(others / ROOT_HALF * (1 << (bits - 1))).astype(int).tolist()
    return (largest, *numbers, *((int(negative),) if len(values) == 3 else ()))


def dequantize_quaternion(numbers: tuple[int, ...], bits: int) -> Floats:
    """Return the unit quaternion wxyz of its quantized numbers."""
    return _restore_unit_vector(numbers[0], numbers[1:], bits)


def dequantize_direction(numbers: tuple[int, ...], bits: int) -> Floats:
    """Return the unit vector of its quantized numbers."""
    vector = _restore_unit_vector(numbers[0], numbers[1:-1], bits)
    return -vector if numbers[-1] else vector


def _restore_unit_vector(largest: int, numbers: tuple[int, ...], bits: int) -> Floats:
    scale = ROOT_HALF / (1 << (bits - 1))
    others = [n * scale for n in numbers]
    rest = 1.0 - _sum_of_squares(others)
    if not 0 <= largest <= len(others) or rest <= 0.0:
        raise CodingError("a turn that is none")
    others.insert(largest, sqrt(rest))
    return np.array(others)


def _sum_of_squares(values: list[float]) -> float:
    """Return the sum of squares, rounded after each addition: ``sum`` rounds differently from Python 3.12 on."""
    total = 0.0
    for value in values:
        total += value * value
    return total
