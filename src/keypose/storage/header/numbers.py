"""Lossless coding of floats: those with few decimals take few bits."""

from __future__ import annotations

import struct
from collections.abc import Hashable, Sequence
from decimal import Decimal
from math import copysign

from keypose.storage.header.coder import EVEN_START, Coder

MAX_DECIMALS = 15
MAX_SCALED = 1 << 53  # up to here every integer is a float
RAW_COST_BITS = 66  # of a number coded as raw float


def scale_to_integer(value: float, decimals: int) -> int | None:
    """Return the integer that, divided by 10**decimals, is exactly ``value``; None: there is none."""
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
    """Code one number, including the sign of zero; a number with more ``decimals`` is coded as raw float."""
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
