"""The numbers of which a clip's bytes are made, kind by kind: what all groups of the clip share."""

from __future__ import annotations

from enum import IntEnum, auto

from keypose import _core
from keypose.storage.groups import CodingError

ANYTHING = -(1 << 63), (1 << 63) - 1


class Kind(IntEnum):
    """What a number of the clip's bytes is about; numbers of one kind are learnt together."""

    LETTER = 0
    APART = auto()
    MOVING = auto()
    FREE = auto()
    ORDER = auto()
    SPELLING = auto()
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
    GRAIN = auto()
    COEFFICIENT = auto()
    LAGS = auto()
    SHIFT = auto()
    WEIGHT = auto()
    LATER_WEIGHT = auto()
    HELPERS = auto()
    HELPER = auto()
    HELP = auto()
    APART_VALUE = auto()


class NumbersIn:
    """The numbers of a clip's bytes, each within what it may be."""

    def __init__(self, data: bytes) -> None:
        self._stream = _core.NumbersIn(data)

    def take(self, kind: Kind, least: int = 0, greatest: int = 1) -> int:
        """The next number, which is of this kind."""
        try:
            number = self._stream.take(kind)
        except ValueError as error:
            raise CodingError(str(error)) from None
        if not least <= number <= greatest:
            raise CodingError(f"{kind.name.lower().replace('_', ' ')} {number}, expected {least} to {greatest}")
        return number

    def finish(self) -> None:
        """Refuses bytes that have more to say."""
        try:
            self._stream.finish()
        except ValueError as error:
            raise CodingError(str(error)) from None
