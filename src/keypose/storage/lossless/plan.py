"""The number format and predictor of each column, and their coding."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, auto

import numpy as np

from keypose import _core
from keypose.storage.groups import CodingError
from keypose.storage.lossless.layout import DECIMAL, DOUBLE, MAX_DECIMALS, SCALED, Integers, NumberFormat

MIDDLE_BITS = 3  # precision of a column's middle, relative to its extent
MAX_DEGREE = 5
MAX_LAGS = 8
MAX_HELPERS = 4
MAX_COEFFICIENT = 1 << 34
MAX_WEIGHT = 1 << 20
MAX_SCALE_BITS = 0x7FEFFFFFFFFFFFFF  # of the largest double
INT64_RANGE = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True)
class Predictor:
    """The predictor of one column; docs/kps-lossless.md describes each field.

    References to other columns are distances back among the coded columns.
    """

    first_size: int = 0
    size: int = 0
    extent: int = 0
    coarse_middle: int = 0
    wraps: bool = False
    digits: int = 0
    inputs: tuple[int, ...] = ()
    degree: int = 0
    coefficient_shift: int = 0
    coefficients: tuple[int, ...] = ()  # in units of 2^coefficient_shift / 16
    lags: int = 0
    shift: int = 0
    weights: tuple[int, ...] = ()
    helpers: tuple[tuple[int, int], ...] = ()  # distance back to the column, weight

    @property
    def middle(self) -> int:
        """Return the centre of the column's numbers."""
        return self.coarse_middle << max(0, self.extent - MIDDLE_BITS)

    def kernel_plan(self, number_format: NumberFormat) -> list[int]:
        """Return the numbers for the C++ coder."""
        return [self.first_size, self.size, self.middle, self.extent, full_turn(number_format) if self.wraps else 0,
                self.digits, len(self.inputs), *((self.degree,) if self.inputs else ()), *self.inputs,
                *(coefficient << self.coefficient_shift for coefficient in self.coefficients),
                self.lags, self.shift, *self.weights, len(self.helpers),
                *(number for helper in self.helpers for number in helper)]  # fmt: skip

    def write(self, out: _core.IntegerWriter) -> None:
        """Write the predictor to the clip's parameters."""
        out.write(NumberKind.FIRST_SIZE, self.first_size)
        out.write(NumberKind.SIZE, self.size)
        out.write(NumberKind.EXTENT, self.extent)
        out.write(NumberKind.MIDDLE, self.coarse_middle)
        out.write(NumberKind.WRAPS, self.wraps)
        out.write(NumberKind.DIGITS, self.digits)
        out.write(NumberKind.INPUTS, len(self.inputs))
        if self.inputs:
            out.write(NumberKind.DEGREE, self.degree)
        for back in self.inputs:
            out.write(NumberKind.INPUT, back)
        if self.inputs:
            out.write(NumberKind.COEFFICIENT_SHIFT, self.coefficient_shift)
        for coefficient in self.coefficients:
            out.write(NumberKind.COEFFICIENT, coefficient)
        out.write(NumberKind.LAGS, self.lags)
        for k, weight in enumerate(self.weights):
            out.write(NumberKind.LATER_WEIGHT if k else NumberKind.WEIGHT, weight)
        out.write(NumberKind.HELPERS, len(self.helpers))
        for back, weight in self.helpers:
            out.write(NumberKind.HELPER, back)
            out.write(NumberKind.HELPER_WEIGHT, weight)
        if self.weights or self.helpers:
            out.write(NumberKind.SHIFT, self.shift)

    @classmethod
    def read(cls, reader: IntegerReader, n_previous: int) -> Predictor:
        """Read a predictor; ``n_previous`` coded columns precede its own."""
        first_size, size = reader.read(NumberKind.FIRST_SIZE, 0, 255), reader.read(NumberKind.SIZE, 0, 239)
        extent = reader.read(NumberKind.EXTENT, 0, 62)
        limit = ((1 << 63) - 1) >> max(0, extent - MIDDLE_BITS)
        middle = reader.read(NumberKind.MIDDLE, -limit, limit)
        wraps, digits = bool(reader.read(NumberKind.WRAPS)), reader.read(NumberKind.DIGITS, 0, 15)
        n_inputs, degree, coefficient_shift = reader.read(NumberKind.INPUTS, 0, 2), 0, 0
        coefficients: tuple[int, ...] = ()
        if n_inputs:
            degree = reader.read(NumberKind.DEGREE, 1, MAX_DEGREE)
        inputs = tuple(reader.read(NumberKind.INPUT, 1, n_previous) for _ in range(n_inputs))
        if n_inputs:
            coefficient_shift = reader.read(NumberKind.COEFFICIENT_SHIFT, 0, 34)
            limit = MAX_COEFFICIENT >> coefficient_shift
            coefficients = tuple(
                reader.read(NumberKind.COEFFICIENT, -limit, limit) for _ in range(n_coefficients(n_inputs, degree))
            )
        lags = reader.read(NumberKind.LAGS, 0, MAX_LAGS)
        kinds = [NumberKind.WEIGHT, *[NumberKind.LATER_WEIGHT] * MAX_LAGS][: max(0, lags - 1)]
        weights = tuple(reader.read(kind, -MAX_WEIGHT, MAX_WEIGHT) for kind in kinds)
        helpers = tuple(
            (
                reader.read(NumberKind.HELPER, 1, n_previous),
                reader.read(NumberKind.HELPER_WEIGHT, -MAX_WEIGHT, MAX_WEIGHT),
            )
            for _ in range(reader.read(NumberKind.HELPERS, 0, MAX_HELPERS))
        )
        shift = reader.read(NumberKind.SHIFT, 0, 15) if weights or helpers else 0
        return cls(first_size, size, extent, middle, wraps, digits, inputs, degree, coefficient_shift, coefficients,
                   lags, shift, weights, helpers)  # fmt: skip


def n_coefficients(inputs: int, degree: int) -> int:
    """Return the number of coefficients: those of a constant and of all powers and products up to ``degree``."""
    return degree + 1 if inputs == 1 else (degree + 1) * (degree + 2) // 2


def full_turn(number_format: NumberFormat) -> int:
    """Return 360 degrees in the integers of a column."""
    return 360 * int(10**number_format.decimals)


def write_number_format(number_format: NumberFormat, out: _core.IntegerWriter) -> None:
    """Write a number format to the clip's parameters."""
    out.write(NumberKind.NUMBER_FORMAT, number_format.kind)
    if number_format.kind == DECIMAL:
        out.write(NumberKind.DECIMALS, number_format.decimals)
    if number_format.kind == SCALED:
        out.write(NumberKind.SCALE, int(NumberFormat(DOUBLE).to_integers(np.array([number_format.scale]))[0]))
    if number_format.kind in (DECIMAL, SCALED):
        out.write(NumberKind.ZEROS, number_format.signed_zeros)


def read_number_format(reader: IntegerReader) -> NumberFormat:
    """Read a number format."""
    kind = reader.read(NumberKind.NUMBER_FORMAT, DECIMAL, SCALED)
    decimals = reader.read(NumberKind.DECIMALS, 0, MAX_DECIMALS) if kind == DECIMAL else 0
    bits = reader.read(NumberKind.SCALE, 0, MAX_SCALE_BITS) if kind == SCALED else 0
    scale = float(NumberFormat(DOUBLE).to_floats(np.array([bits]))[0])
    signed_zeros = bool(reader.read(NumberKind.ZEROS)) if kind in (DECIMAL, SCALED) else False
    return NumberFormat(kind, decimals, scale if kind == SCALED else 1.0, signed_zeros)


@dataclass(frozen=True)
class Column:
    """One column: its number format, and its constant value or its predictor."""

    number_format: NumberFormat
    constant: int | None = None  # its integer in all frames, if it never changes
    predictor: Predictor = field(default_factory=Predictor)
    reference_values: tuple[int, ...] = ()  # its integers in the reference pose

    def write(self, out: _core.IntegerWriter) -> None:
        """Write the column to the clip's parameters."""
        write_number_format(self.number_format, out)
        out.write(NumberKind.CONSTANT, self.constant is not None)
        if self.constant is not None:
            out.write(NumberKind.VALUE, self.constant)
        else:
            self.predictor.write(out)
        for number in self.reference_values:
            out.write(NumberKind.REFERENCE_VALUE, number)

    @classmethod
    def read(cls, reader: IntegerReader, n_previous: int, n_reference_rows: int) -> Column:
        """Read a column; ``n_previous`` coded columns precede it."""
        number_format = read_number_format(reader)
        constant, predictor = None, Predictor()
        if reader.read(NumberKind.CONSTANT):
            constant = reader.read(NumberKind.VALUE, *INT64_RANGE)
        else:
            predictor = Predictor.read(reader, n_previous)
            if predictor.wraps and (
                number_format.kind != DECIMAL or full_turn(number_format) > 1 << 52 or predictor.digits
            ):
                raise CodingError("a column of angles that are none")
        reference_values = tuple(reader.read(NumberKind.REFERENCE_VALUE, *INT64_RANGE) for _ in range(n_reference_rows))
        return cls(number_format, constant, predictor, reference_values)


def kernel_plan(columns: list[Column]) -> Integers:
    """Return the plan of the coded columns for the C++ coder."""
    coded_columns = [c for c in columns if c.constant is None]
    return np.array([number for c in coded_columns for number in c.predictor.kernel_plan(c.number_format)], np.int64)


class NumberKind(IntEnum):
    """The kind of a number in the stream; each kind has its own adaptive model."""

    LETTER = 0
    REFERENCE_ROWS = auto()
    MOVING = auto()
    FREE = auto()
    ORDER = auto()
    NUMBER_FORMAT = auto()
    DECIMALS = auto()
    SCALE = auto()
    ZEROS = auto()
    CONSTANT = auto()
    VALUE = auto()
    FIRST_SIZE = auto()
    SIZE = auto()
    EXTENT = auto()
    MIDDLE = auto()
    WRAPS = auto()
    DIGITS = auto()
    INPUTS = auto()
    DEGREE = auto()
    INPUT = auto()
    COEFFICIENT_SHIFT = auto()
    COEFFICIENT = auto()
    LAGS = auto()
    SHIFT = auto()
    WEIGHT = auto()
    LATER_WEIGHT = auto()
    HELPERS = auto()
    HELPER = auto()
    HELPER_WEIGHT = auto()
    REFERENCE_VALUE = auto()


class IntegerReader:
    """Reads the stream and checks the range of each number."""

    def __init__(self, data: bytes) -> None:
        self._stream = _core.IntegerReader(data)

    def read(self, kind: NumberKind, min_value: int = 0, max_value: int = 1) -> int:
        """Return the next number, of this kind; raise ``CodingError`` if it is out of range."""
        try:
            number = self._stream.read(kind)
        except ValueError as error:
            raise CodingError(str(error)) from None
        if not min_value <= number <= max_value:
            raise CodingError(f"{kind.name.lower().replace('_', ' ')} {number}, expected {min_value} to {max_value}")
        return number

    def finish(self) -> None:
        """Raise ``CodingError`` if there are more numbers."""
        try:
            self._stream.finish()
        except ValueError as error:
            raise CodingError(str(error)) from None
