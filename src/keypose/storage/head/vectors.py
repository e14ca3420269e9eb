"""Offsets of joints. Those of the right side are often those of the left, mirrored."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign

from keypose.storage.groups import CodingError
from keypose.storage.head.coder import EVEN, Coder
from keypose.storage.head.numbers import decimals, number, scaled

Vector = tuple[float, ...]
EQUAL, NEGATED, UNLIKE = range(3)
NEW_DISTANCE_COST = 12  # bits
AXES = range(3)


def vectors(c: Coder, count: int, given: Sequence[Vector] | None) -> list[Vector]:
    """So many vectors, without any loss; each may be like one of those before it."""
    places = decimals(c, None if given is None else [x for vector in given for x in vector])
    likeness = None if given is None else _Likeness(places)
    found: list[Vector] = []
    distance, like = 0, False
    for i in range(count):
        wanted = None if given is None else given[i]
        back = None if likeness is None or wanted is None else likeness.distance(i, wanted, distance)
        like = c.flag(("like", like), None if back is None else back > 0, EVEN)
        if like:
            if not c.flag("as far back", None if back is None else back == distance, EVEN):
                distance = c.whole("back", None if back is None else back - 1) + 1
            if not 0 < distance <= i:
                raise CodingError(f"vector {i} is like the one {distance} before it")
        found.append(_vector(c, wanted, found[i - distance] if like else None, places))
    return found


def _vector(c: Coder, wanted: Vector | None, like: Vector | None, places: int) -> Vector:
    numbers: list[float] = []
    for axis in AXES:
        value = None if wanted is None else wanted[axis]
        context = ("vector", axis, numbers[-1] == 0 if numbers else None)
        if like is None:
            numbers.append(number(c, context, value, places))
            continue
        relation = c.choice(("relation", axis), 2, None if value is None else _relation(value, like[axis]))
        numbers.append(number(c, context, value, places) if relation >= UNLIKE else
                       like[axis] if relation == EQUAL else -like[axis])  # fmt: skip
    return tuple(numbers)


def _relation(value: float, other: float) -> int:
    if abs(value) != abs(other):
        return UNLIKE
    return EQUAL if copysign(1.0, value) == copysign(1.0, other) else NEGATED


class _Likeness:
    """Finds, while vectors are written, the earlier one that saves most."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._seen: list[Vector] = []
        self._latest: dict[tuple[int, float], int] = {}  # axis and size of a number -> the latest vector that has it

    def distance(self, i: int, vector: Vector, last: int) -> int:
        """How far back the vector is that the ``i``-th is like; 0: none is."""
        own = [(axis, abs(x)) for axis, x in enumerate(vector) if x != 0]
        candidates = {i - self._latest[key] for key in own if key in self._latest}
        if 0 < last <= i:
            candidates.add(last)
        best, most = 0, 0
        for back in sorted(candidates):
            gain = self._gain(vector, self._seen[i - back]) - (0 if back == last else NEW_DISTANCE_COST)
            if gain > most:
                best, most = back, gain
        self._seen.append(vector)
        self._latest.update(dict.fromkeys(own, i))
        return best

    def _gain(self, vector: Vector, other: Vector) -> int:
        return sum(self._bits(x) for x, y in zip(vector, other, strict=True) if x != 0 and abs(x) == abs(y))

    def _bits(self, value: float) -> int:
        whole = scaled(value, self._places)
        return 64 if whole is None else whole.bit_length()
