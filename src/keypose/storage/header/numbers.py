"""Lossless coding of floats, and of joint offsets, which are often mirrored between left and right."""

from __future__ import annotations

import struct
from collections.abc import Hashable, Sequence
from decimal import Decimal
from math import copysign

from keypose.storage.groups import CodingError
from keypose.storage.header.coder import EVEN_START, Coder

MAX_DECIMALS = 15
MAX_SCALED = 1 << 53  # every integer up to this is exact as a float
RAW_COST_BITS = 66  # of a number coded as raw float

Vector = tuple[float, ...]
EQUAL, NEGATED, DIFFERENT = range(3)
NEW_DISTANCE_COST_BITS = 12


def scale_to_integer(value: float, decimals: int) -> int | None:
    """Return the integer that is exactly ``value`` when divided by 10**decimals; None: there is none."""
    shifted = Decimal(repr(value)).scaleb(decimals)
    return int(shifted) if shifted == shifted.to_integral_value() and abs(shifted) < MAX_SCALED else None


def choose_decimals(values: Sequence[float]) -> int:
    """Return the number of decimals that minimises the size of all ``values``."""
    decimals_by_value = {
        value: min(max(-_exponent(value), 0), MAX_DECIMALS) for value in {abs(value) for value in values}
    }
    return min(
        sorted({0, *decimals_by_value.values()}),
        key=lambda decimals: sum(_cost_bits(value, decimals) for value in decimals_by_value),
    )


def _exponent(value: float) -> int:
    return int(Decimal(repr(value)).as_tuple().exponent)


def _cost_bits(value: float, decimals: int) -> int:
    integer = scale_to_integer(value, decimals)
    return RAW_COST_BITS if integer is None else integer.bit_length()


def code_decimals(c: Coder, values: Sequence[float] | None) -> int:
    """Code the number of decimals of a list of numbers."""
    return c.code_symbol("decimals", 4, None if values is None else choose_decimals(values))


def code_number(c: Coder, context: Hashable, value: float | None, decimals: int) -> float:
    """Code one number, including the sign of zero; a number with more than ``decimals`` decimals is coded as a raw
    float."""
    if c.code_flag((context, "zero"), None if value is None else value == 0, EVEN_START):
        return (
            -0.0 if c.code_flag((context, "minus zero"), None if value is None else copysign(1.0, value) < 0) else 0.0
        )
    integer = None if value is None else scale_to_integer(value, decimals)
    if c.code_flag((context, "as bits"), None if value is None else integer is None):
        return code_raw_float(c, context, value)
    size = c.code_natural(context, None if integer is None else abs(integer) - 1, 6) + 1
    is_negative = c.code_flag((context, "minus"), None if integer is None else integer < 0, EVEN_START)
    return (-size if is_negative else size) / int(10**decimals)


def code_raw_float(c: Coder, context: Hashable, value: float | None) -> float:
    """Code a number as raw float: in 32 bits if exact, else in 64."""
    is_single = c.code_flag((context, "short"), None if value is None else _is_single(value), EVEN_START)
    count, struct_format = (32, ">f") if is_single else (64, ">d")
    bits = None if value is None else int.from_bytes(struct.pack(struct_format, value), "big")
    result: float = struct.unpack(struct_format, c.code_plain(count, bits).to_bytes(count // 8, "big"))[0]
    return result


def _is_single(value: float) -> bool:
    try:
        return bool(struct.unpack(">f", struct.pack(">f", value))[0] == value)
    except OverflowError:
        return False


def code_vectors(c: Coder, count: int, values: Sequence[Vector] | None) -> list[Vector]:
    """Code ``count`` vectors without loss; each may refer to a similar earlier one."""
    n_decimals = code_decimals(c, None if values is None else [x for vector in values for x in vector])
    matcher = None if values is None else _SimilarVectors(n_decimals)
    result: list[Vector] = []
    distance, is_like = 0, False
    for i in range(count):
        value = None if values is None else values[i]
        back = None if matcher is None or value is None else matcher.find_distance(i, value, distance)
        is_like = c.code_flag(("like", is_like), None if back is None else back > 0, EVEN_START)
        if is_like:
            if not c.code_flag("as far back", None if back is None else back == distance, EVEN_START):
                distance = c.code_natural("back", None if back is None else back - 1) + 1
            if not 0 < distance <= i:
                raise CodingError(f"vector {i} is like the one {distance} before it")
        result.append(_code_vector(c, value, result[i - distance] if is_like else None, n_decimals))
    return result


def _code_vector(c: Coder, vector: Vector | None, reference: Vector | None, n_decimals: int) -> Vector:
    numbers: list[float] = []
    for axis in range(3):
        value = None if vector is None else vector[axis]
        context = ("vector", axis, numbers[-1] == 0 if numbers else None)
        if reference is None:
            numbers.append(code_number(c, context, value, n_decimals))
            continue
        relation = c.code_symbol(("relation", axis), 2, None if value is None else _relation(value, reference[axis]))
        numbers.append(code_number(c, context, value, n_decimals) if relation >= DIFFERENT else
                       reference[axis] if relation == EQUAL else -reference[axis])  # fmt: skip
    return tuple(numbers)


def _relation(value: float, other: float) -> int:
    if abs(value) != abs(other):
        return DIFFERENT
    return EQUAL if copysign(1.0, value) == copysign(1.0, other) else NEGATED


class _SimilarVectors:
    """Finds the earlier vector that saves the most bits, for the encoder."""

    def __init__(self, n_decimals: int) -> None:
        self._n_decimals = n_decimals
        self._vectors: list[Vector] = []
        self._latest: dict[tuple[int, float], int] = {}  # axis and magnitude -> the latest vector with that number

    def find_distance(self, i: int, vector: Vector, last_distance: int) -> int:
        """Return the distance back to the vector that the ``i``-th refers to; 0: none."""
        keys = [(axis, abs(x)) for axis, x in enumerate(vector) if x != 0]
        candidates = {i - self._latest[key] for key in keys if key in self._latest}
        if 0 < last_distance <= i:
            candidates.add(last_distance)
        best, best_gain = 0, 0
        for back in sorted(candidates):
            gain = self._gain_bits(vector, self._vectors[i - back]) - (
                0 if back == last_distance else NEW_DISTANCE_COST_BITS
            )
            if gain > best_gain:
                best, best_gain = back, gain
        self._vectors.append(vector)
        self._latest.update(dict.fromkeys(keys, i))
        return best

    def _gain_bits(self, vector: Vector, other: Vector) -> int:
        return sum(self._bits(x) for x, y in zip(vector, other, strict=True) if x != 0 and abs(x) == abs(y))

    def _bits(self, value: float) -> int:
        integer = scale_to_integer(value, self._n_decimals)
        return 64 if integer is None else integer.bit_length()
