"""The stream of integers that encodes the parameters shared by all groups of a clip."""

from __future__ import annotations

from enum import IntEnum, auto

from keypose import _core
from keypose.storage.groups import CodingError

INT64_RANGE = -(1 << 63), (1 << 63) - 1


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
