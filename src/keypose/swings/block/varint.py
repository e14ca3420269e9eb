"""Variable-length integers: seven bits per byte, the lowest first; bit 7 is set in all bytes but the last."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

MAX_BYTES = 5  # per number in arrays, which count frames
_SHIFTS = 7 * np.arange(MAX_BYTES)


def encode(values: ArrayLike) -> bytes:
    """Return the bytes of numbers (N,) from 0 to 2**31 - 1."""
    digits = np.asarray(values, np.int64)[:, None] >> _SHIFTS
    last = np.maximum((digits > 0).sum(axis=1) - 1, 0)[:, None]
    byte_index = np.arange(MAX_BYTES)
    digits = (digits & 0x7F) | np.where(byte_index < last, 0x80, 0)
    return bytes(digits[byte_index <= last].astype(np.uint8))


def decode(data: NDArray[np.uint8], count: int) -> tuple[NDArray[np.int64], int]:
    """Return ``count`` numbers from the start of ``data``, and the number of bytes read.

    If the data end early or a number is too long, only the numbers before it.
    """
    window = data[: MAX_BYTES * count]
    lasts = np.flatnonzero(window < 0x80)[:count]
    firsts = np.concatenate((np.zeros(min(1, len(lasts)), lasts.dtype), lasts[:-1] + 1))
    lengths = lasts - firsts + 1
    if (lengths > MAX_BYTES).any():
        first_long = int(np.argmax(lengths > MAX_BYTES))
        firsts, lasts, lengths = firsts[:first_long], lasts[:first_long], lengths[:first_long]
    values = np.zeros(len(lasts), np.int64)
    for k in range(MAX_BYTES):
        longer = np.flatnonzero(lengths > k)
        values[longer] |= (window[firsts[longer] + k].astype(np.int64) & 0x7F) << 7 * k
    return values, int(lasts[-1]) + 1 if len(lasts) else 0


def encode_one(value: int) -> bytes:
    """Return the bytes of one number of any size."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_sign(value: int) -> int:
    """Return a signed number as an unsigned one (zigzag): 0, -1, 1, -2, ... become 0, 1, 2, 3, ..."""
    return 2 * value if value >= 0 else -2 * value - 1


def decode_sign(value: int) -> int:
    """Return the signed number of a zigzag-coded one."""
    return value // 2 if value % 2 == 0 else -(value // 2) - 1
