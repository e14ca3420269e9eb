"""Integers packed in a given number of bits each, highest bit first, padded to whole bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def pack_bits(numbers: Ints, widths: Ints) -> bytes:
    """Pack ``numbers`` (N,) in ``widths`` (N,) bits, up to 32."""
    return np.packbits((np.repeat(numbers, widths) >> _bit_shifts(widths)) & 1).tobytes()


def _bit_shifts(widths: Ints) -> Ints:
    """Return, for each bit of each number, the number of lower bits."""
    ends = np.repeat(np.cumsum(widths), widths)
    return ends - 1 - np.arange(len(ends))


class BitReader:
    """Sequential reader of packed bytes."""

    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    def read_bytes(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at]

    def skip_bytes(self, count: int) -> None:
        self._at += count

    def read_floats(self, count: int) -> NDArray[np.float64]:
        return np.frombuffer(self.read_bytes(4 * count), np.float32).astype(float)

    def read_ints(self, widths: Ints) -> Ints:
        """Read the next integers of these widths, and skip the padding of their last byte."""
        total = int(widths.sum())
        bits = np.unpackbits(np.frombuffer(self.read_bytes((total + 7) // 8), np.uint8))[:total].astype(np.int64)
        sums = np.concatenate(([0], np.cumsum(bits << _bit_shifts(widths))))
        ends = np.cumsum(widths)
        return sums[ends] - sums[ends - widths]
