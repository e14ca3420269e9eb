"""How each column is spelt and foretold, and how the clip's bytes say so."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from keypose import _core
from keypose.storage.groups import CodingError
from keypose.storage.lossless.spelling import DECIMAL, DOUBLE, MOST_DECIMALS, SCALED, Spelling, Wholes
from keypose.storage.lossless.stream import ANYTHING, Kind, NumbersIn

ROUGH_BITS = 3  # of a column's middle are kept, of those by which its numbers differ
GREATEST_DEGREE = 5
MOST_LAGS = 8
MOST_HELPERS = 4
MOST_COEFFICIENT = 1 << 34
MOST_WEIGHT = 1 << 20
GREATEST_SCALE = 0x7FEFFFFFFFFFFFFF  # the bits of the greatest double


@dataclass(frozen=True)
class Predictor:
    """How the numbers of one column are foretold; docs/kps-lossless.md says what each number does.

    Other columns are named by how many columns back they are, among those that are coded.
    """

    first_size: int = 0
    size: int = 0
    extent: int = 0
    rough_middle: int = 0
    wraps: bool = False
    digits: int = 0
    inputs: tuple[int, ...] = ()
    degree: int = 0
    grain: int = 0
    chart: tuple[int, ...] = ()  # in parts of 2^grain / 16
    lags: int = 0
    shift: int = 0
    weights: tuple[int, ...] = ()
    helpers: tuple[tuple[int, int], ...] = ()  # which column, its weight

    @property
    def middle(self) -> int:
        """The number about which the column's numbers lie."""
        return self.rough_middle << max(0, self.extent - ROUGH_BITS)

    def plan(self, spelling: Spelling) -> list[int]:
        """The numbers that the coder in C++ wants."""
        return [self.first_size, self.size, self.middle, self.extent, full_turn(spelling) if self.wraps else 0,
                self.digits, len(self.inputs), *((self.degree,) if self.inputs else ()), *self.inputs,
                *(coefficient << self.grain for coefficient in self.chart),
                self.lags, self.shift, *self.weights, len(self.helpers),
                *(number for helper in self.helpers for number in helper)]  # fmt: skip

    def write(self, out: _core.NumbersOut) -> None:
        """Puts the numbers into the clip's bytes."""
        out.put(Kind.FIRST_SIZE, self.first_size)
        out.put(Kind.SIZE, self.size)
        out.put(Kind.EXTENT, self.extent)
        out.put(Kind.MIDDLE, self.rough_middle)
        out.put(Kind.WRAPS, self.wraps)
        out.put(Kind.DIGITS, self.digits)
        out.put(Kind.INPUTS, len(self.inputs))
        if self.inputs:
            out.put(Kind.DEGREE, self.degree)
        for back in self.inputs:
            out.put(Kind.INPUT, back)
        if self.inputs:
            out.put(Kind.GRAIN, self.grain)
        for coefficient in self.chart:
            out.put(Kind.COEFFICIENT, coefficient)
        out.put(Kind.LAGS, self.lags)
        for k, weight in enumerate(self.weights):
            out.put(Kind.LATER_WEIGHT if k else Kind.WEIGHT, weight)
        out.put(Kind.HELPERS, len(self.helpers))
        for back, weight in self.helpers:
            out.put(Kind.HELPER, back)
            out.put(Kind.HELP, weight)
        if self.weights or self.helpers:
            out.put(Kind.SHIFT, self.shift)

    @classmethod
    def read(cls, numbers: NumbersIn, before: int) -> Predictor:
        """A predictor from the clip's bytes; ``before`` columns come before its own."""
        first_size, size = numbers.take(Kind.FIRST_SIZE, 0, 255), numbers.take(Kind.SIZE, 0, 239)
        extent = numbers.take(Kind.EXTENT, 0, 62)
        most = ((1 << 63) - 1) >> max(0, extent - ROUGH_BITS)
        middle = numbers.take(Kind.MIDDLE, -most, most)
        wraps, digits = bool(numbers.take(Kind.WRAPS)), numbers.take(Kind.DIGITS, 0, 15)
        inputs, degree, grain = numbers.take(Kind.INPUTS, 0, 2), 0, 0
        chart: tuple[int, ...] = ()
        if inputs:
            degree = numbers.take(Kind.DEGREE, 1, GREATEST_DEGREE)
        backs = tuple(numbers.take(Kind.INPUT, 1, before) for _ in range(inputs))
        if inputs:
            grain = numbers.take(Kind.GRAIN, 0, 34)
            most = MOST_COEFFICIENT >> grain
            chart = tuple(numbers.take(Kind.COEFFICIENT, -most, most) for _ in range(terms(inputs, degree)))
        lags = numbers.take(Kind.LAGS, 0, MOST_LAGS)
        kinds = [Kind.WEIGHT, *[Kind.LATER_WEIGHT] * MOST_LAGS][: max(0, lags - 1)]
        weights = tuple(numbers.take(kind, -MOST_WEIGHT, MOST_WEIGHT) for kind in kinds)
        helpers = tuple(
            (numbers.take(Kind.HELPER, 1, before), numbers.take(Kind.HELP, -MOST_WEIGHT, MOST_WEIGHT))
            for _ in range(numbers.take(Kind.HELPERS, 0, MOST_HELPERS))
        )
        shift = numbers.take(Kind.SHIFT, 0, 15) if weights or helpers else 0
        return cls(first_size, size, extent, middle, wraps, digits, backs, degree, grain, chart, lags, shift,
                   weights, helpers)  # fmt: skip


def terms(inputs: int, degree: int) -> int:
    """How many coefficients a chart has: a constant and all powers and products up to ``degree``."""
    return degree + 1 if inputs == 1 else (degree + 1) * (degree + 2) // 2


def full_turn(spelling: Spelling) -> int:
    """360 degrees in the whole numbers of a column."""
    return 360 * int(10**spelling.decimals)


def write_spelling(spelling: Spelling, out: _core.NumbersOut) -> None:
    """Puts a spelling into the clip's bytes."""
    out.put(Kind.SPELLING, spelling.kind)
    if spelling.kind == DECIMAL:
        out.put(Kind.DECIMALS, spelling.decimals)
    if spelling.kind == SCALED:
        out.put(Kind.SCALE, int(Spelling(DOUBLE).wholes(np.array([spelling.scale]))[0]))
    if spelling.kind in (DECIMAL, SCALED):
        out.put(Kind.ZEROS, spelling.signed_zeros)


def read_spelling(numbers: NumbersIn) -> Spelling:
    """A spelling from the clip's bytes."""
    kind = numbers.take(Kind.SPELLING, DECIMAL, SCALED)
    decimals = numbers.take(Kind.DECIMALS, 0, MOST_DECIMALS) if kind == DECIMAL else 0
    bits = numbers.take(Kind.SCALE, 0, GREATEST_SCALE) if kind == SCALED else 0
    scale = float(Spelling(DOUBLE).values(np.array([bits]))[0])
    zeros = bool(numbers.take(Kind.ZEROS)) if kind in (DECIMAL, SCALED) else False
    return Spelling(kind, decimals, scale if kind == SCALED else 1.0, zeros)


@dataclass(frozen=True)
class Column:
    """One column: how its numbers are spelt, and what they are or how they are foretold."""

    spelling: Spelling
    constant: int | None = None  # its number in all frames, if it never changes
    predictor: Predictor = field(default_factory=Predictor)
    apart: tuple[int, ...] = ()  # its numbers in the rows kept apart

    def write(self, out: _core.NumbersOut) -> None:
        """Puts the column into the clip's bytes."""
        write_spelling(self.spelling, out)
        out.put(Kind.CONSTANT, self.constant is not None)
        if self.constant is not None:
            out.put(Kind.VALUE, self.constant)
        else:
            self.predictor.write(out)
        for number in self.apart:
            out.put(Kind.APART_VALUE, number)

    @classmethod
    def read(cls, numbers: NumbersIn, before: int, apart: int) -> Column:
        """A column from the clip's bytes; ``before`` coded columns come before it, ``apart`` rows are kept apart."""
        spelling = read_spelling(numbers)
        constant, predictor = None, Predictor()
        if numbers.take(Kind.CONSTANT):
            constant = numbers.take(Kind.VALUE, *ANYTHING)
        else:
            predictor = Predictor.read(numbers, before)
            if predictor.wraps and (spelling.kind != DECIMAL or full_turn(spelling) > 1 << 52 or predictor.digits):
                raise CodingError("a column of angles that are none")
        values = tuple(numbers.take(Kind.APART_VALUE, *ANYTHING) for _ in range(apart))
        return cls(spelling, constant, predictor, values)


def plan_of(columns: list[Column]) -> Wholes:
    """The plan of the columns that are coded, as the coder in C++ wants it."""
    coded = [c for c in columns if c.constant is None]
    return np.array([number for c in coded for number in c.predictor.plan(c.spelling)], np.int64)
