"""Numbers without any loss: those that a person or a program wrote with few decimals take few bits."""

from __future__ import annotations

import struct
from collections.abc import Hashable, Sequence
from decimal import Decimal
from math import copysign

from keypose.storage.head.coder import EVEN, Coder

MOST_DECIMALS = 15
GREATEST_SCALED = 1 << 53  # up to here every whole number is a float
AS_BITS_COST = 66  # bits of a number that is written as it stands in memory


def scaled(value: float, decimals: int) -> int | None:
    """The whole number that, divided by the power of ten, is ``value`` to the last bit; None: there is none."""
    moved = Decimal(repr(value)).scaleb(decimals)
    return int(moved) if moved == moved.to_integral_value() and abs(moved) < GREATEST_SCALED else None


def best_decimals(values: Sequence[float]) -> int:
    """The number of decimals with which all of ``values`` together take least."""
    own = {value: min(max(-_exponent(value), 0), MOST_DECIMALS) for value in {abs(value) for value in values}}
    return min(sorted({0, *own.values()}), key=lambda decimals: sum(_cost(value, decimals) for value in own))


def _exponent(value: float) -> int:
    return int(Decimal(repr(value)).as_tuple().exponent)


def _cost(value: float, decimals: int) -> int:
    whole = scaled(value, decimals)
    return AS_BITS_COST if whole is None else whole.bit_length()


def decimals(c: Coder, values: Sequence[float] | None) -> int:
    """How many decimals a row of numbers has."""
    return c.choice("decimals", 4, None if values is None else best_decimals(values))


def number(c: Coder, context: Hashable, value: float | None, decimals: int) -> float:
    """One number, its sign included if it is 0; what has more ``decimals`` is written as its 32 or 64 bits."""
    if c.flag((context, "zero"), None if value is None else value == 0, EVEN):
        return -0.0 if c.flag((context, "minus zero"), None if value is None else copysign(1.0, value) < 0) else 0.0
    whole = None if value is None else scaled(value, decimals)
    if c.flag((context, "as bits"), None if value is None else whole is None):
        return as_bits(c, context, value)
    size = c.whole(context, None if whole is None else abs(whole) - 1, 6) + 1
    minus = c.flag((context, "minus"), None if whole is None else whole < 0, EVEN)
    return (-size if minus else size) / int(10**decimals)


def as_bits(c: Coder, context: Hashable, value: float | None) -> float:
    """A number as it stands in memory: in 32 bits if they hold it, else in 64."""
    short = c.flag((context, "short"), None if value is None else _is_short(value), EVEN)
    count, form = (32, ">f") if short else (64, ">d")
    bits = None if value is None else int.from_bytes(struct.pack(form, value), "big")
    found: float = struct.unpack(form, c.plain(count, bits).to_bytes(count // 8, "big"))[0]
    return found


def _is_short(value: float) -> bool:
    try:
        return bool(struct.unpack(">f", struct.pack(">f", value))[0] == value)
    except OverflowError:
        return False
