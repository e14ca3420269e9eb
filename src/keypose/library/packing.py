"""Named arrays as bytes and back: quick to read, checked, and never more than numbers."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import give_away

# Magic, the number of arrays, then of each: length of the name, kind, dimensions, the name, the shape. Then the numbers
# of all, little-endian, each array from a multiple of 8 on; last the CRC-32 of everything before.
MAGIC = b"KPA1"
KINDS = ("<f8", "<f4", "<f2", "<i4", "<i8", "|i1", "|u1", "|b1")
MOST_ARRAYS = 255
LONGEST_NAME = 255  # bytes
MOST_DIMENSIONS = 8
_COUNT = struct.Struct("<4sB")
_ARRAY = struct.Struct("<BBB")
_CHECK = struct.Struct("<I")
_ALIGNED = 8


class PackingError(ValueError):
    """Bytes that ``packed`` did not make, or not these."""


def packed(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The bytes of ``arrays``, whose numbers are of one of KINDS; they come back bit by bit."""
    if len(arrays) > MOST_ARRAYS:
        raise PackingError(f"{len(arrays)} arrays, expected at most {MOST_ARRAYS}")
    head, body = [_COUNT.pack(MAGIC, len(arrays))], []
    for name, array in arrays.items():
        kind = array.dtype.newbyteorder("<").str
        named = name.encode()
        if kind not in KINDS or len(named) > LONGEST_NAME or array.ndim > MOST_DIMENSIONS:
            raise PackingError(
                f"array {name[:40]!r} of {array.dtype} {array.shape}, expected one of {', '.join(KINDS)}"
            )
        head += [
            _ARRAY.pack(len(named), KINDS.index(kind), array.ndim),
            named,
            struct.pack(f"<{array.ndim}Q", *array.shape),
        ]
        data = array.astype(kind, copy=False).tobytes()
        body += [data, bytes(-len(data) % _ALIGNED)]
    start = b"".join(head)
    whole = b"".join((start, bytes(-len(start) % _ALIGNED), *body))
    return whole + _CHECK.pack(zlib.crc32(whole))


def unpacked(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays, read-only, in the memory of ``data``; bytes that are not what was packed are a PackingError."""
    if not isinstance(data, bytes) or len(data) < _COUNT.size + _CHECK.size:
        raise PackingError("no packed arrays")
    whole = memoryview(data)[: -_CHECK.size]
    magic, count = _COUNT.unpack_from(whole)
    if magic != MAGIC or _CHECK.unpack_from(data, len(whole))[0] != zlib.crc32(whole):
        raise PackingError("damaged arrays")
    try:
        shapes, place = _head(whole, count)
        place += -place % _ALIGNED
        return {name: _array(data, kind, shape, at) for name, kind, shape, at in _places(shapes, place, len(whole))}
    except (struct.error, IndexError, UnicodeDecodeError):
        raise PackingError("damaged arrays") from None


def _head(whole: memoryview, count: int) -> tuple[list[tuple[str, str, tuple[int, ...]]], int]:
    found, place = [], _COUNT.size
    for _ in range(count):
        length, kind, dimensions = _ARRAY.unpack_from(whole, place)
        place += _ARRAY.size
        name = bytes(whole[place : place + length]).decode()
        shape = struct.unpack_from(f"<{dimensions}Q", whole, place + length)
        place += length + 8 * dimensions
        found.append((name, KINDS[kind], shape))
    return found, place


def _places(
    shapes: list[tuple[str, str, tuple[int, ...]]], place: int, end: int
) -> list[tuple[str, str, tuple[int, ...], int]]:
    """Where the numbers of each array start; they must reach to the end exactly."""
    found = []
    for name, kind, shape in shapes:
        found.append((name, kind, shape, place))
        size = math.prod(shape) * int(kind[-1])
        place += size + -size % _ALIGNED
    if place != end:
        raise PackingError("damaged arrays")
    return found


def _array(data: bytes, kind: str, shape: tuple[int, ...], place: int) -> NDArray[Any]:
    flat = np.frombuffer(data, np.dtype(kind), math.prod(shape), place)
    return give_away(flat.reshape(shape).astype(flat.dtype.newbyteorder("="), copy=False))
