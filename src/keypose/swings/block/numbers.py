"""Whole numbers in as few bytes as they need: seven bits in each, the lowest first; all but the last have bit 7 set."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST_BYTES = 5  # of one of many numbers, which are counts of frames
_SHIFTS = 7 * np.arange(MOST_BYTES)


def written(values: ArrayLike) -> bytes:
    """The bytes of numbers (N,) from 0 to 2**31 - 1."""
    digits = np.asarray(values, np.int64)[:, None] >> _SHIFTS
    last = np.maximum((digits > 0).sum(axis=1) - 1, 0)[:, None]
    place = np.arange(MOST_BYTES)
    digits = (digits & 0x7F) | np.where(place < last, 0x80, 0)
    return bytes(digits[place <= last].astype(np.uint8))


def read(data: NDArray[np.uint8], count: int) -> tuple[NDArray[np.int64], int]:
    """``count`` numbers from the start of ``data``, and how many bytes they took.

    Where the data end early or a number is too long, only those before it.
    """
    window = data[: MOST_BYTES * count]
    lasts = np.flatnonzero(window < 0x80)[:count]
    firsts = np.concatenate((np.zeros(min(1, len(lasts)), lasts.dtype), lasts[:-1] + 1))
    lengths = lasts - firsts + 1
    if (lengths > MOST_BYTES).any():
        whole = int(np.argmax(lengths > MOST_BYTES))
        firsts, lasts, lengths = firsts[:whole], lasts[:whole], lengths[:whole]
    values = np.zeros(len(lasts), np.int64)
    for k in range(MOST_BYTES):
        longer = np.flatnonzero(lengths > k)
        values[longer] |= (window[firsts[longer] + k].astype(np.int64) & 0x7F) << 7 * k
    return values, int(lasts[-1]) + 1 if len(lasts) else 0


def written_one(value: int) -> bytes:
    """The bytes of one number of any size."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def folded_sign(value: int) -> int:
    """A number with a sign as one without: 0, -1, 1, -2, ... become 0, 1, 2, 3, ..."""
    return 2 * value if value >= 0 else -2 * value - 1


def unfolded_sign(value: int) -> int:
    """The number back."""
    return value // 2 if value % 2 == 0 else -(value // 2) - 1
