"""Whole numbers in as many bits as each is given, the first bit highest, filled up to whole bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def packed(numbers: Ints, widths: Ints) -> bytes:
    """``numbers`` (N,) in ``widths`` (N,) bits, up to 32."""
    return np.packbits((np.repeat(numbers, widths) >> _places(widths)) & 1).tobytes()


def _places(widths: Ints) -> Ints:
    """For each bit of each number, how many of its bits are behind it."""
    ends = np.repeat(np.cumsum(widths), widths)
    return ends - 1 - np.arange(len(ends))


class Bits:
    """Reads what was packed, part after part."""

    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    def take(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at]

    def skip(self, count: int) -> None:
        self._at += count

    def floats(self, count: int) -> NDArray[np.float64]:
        return np.frombuffer(self.take(4 * count), np.float32).astype(float)

    def numbers(self, widths: Ints) -> Ints:
        """The next whole numbers of these widths, and what fills up their last byte."""
        total = int(widths.sum())
        bits = np.unpackbits(np.frombuffer(self.take((total + 7) // 8), np.uint8))[:total].astype(np.int64)
        sums = np.concatenate(([0], np.cumsum(bits << _places(widths))))
        ends = np.cumsum(widths)
        return sums[ends] - sums[ends - widths]
