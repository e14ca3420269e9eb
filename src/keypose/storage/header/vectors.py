"""Coding of joint offsets. Those of the right side often mirror those of the left."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign

from keypose.storage.groups import CodingError
from keypose.storage.header.coder import EVEN_START, Coder
from keypose.storage.header.numbers import code_decimals, code_number, scale_to_integer

Vector = tuple[float, ...]
EQUAL, NEGATED, DIFFERENT = range(3)
NEW_DISTANCE_COST_BITS = 12


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
