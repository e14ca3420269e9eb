"""Named arrays of numbers as bytes and back: fast to read, with a checksum."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import freeze

# Layout: magic, number of arrays; for each array the length of its name, dtype, number of dimensions, name, shape; then
# the data, little-endian, each array aligned to 8 bytes; last the CRC-32 of everything before.
MAGIC = b"KPA1"
DTYPES = ("<f8", "<f4", "<f2", "<i4", "<i8", "|i1", "|u1", "|b1")
MAX_ARRAYS = 255
MAX_NAME_BYTES = 255
MAX_DIMENSIONS = 8
_HEADER = struct.Struct("<4sB")
_ARRAY = struct.Struct("<BBB")
_CHECK = struct.Struct("<I")
_ALIGNMENT = 8


class ArrayCodecError(ValueError):
    """Bytes that ``encode_arrays`` did not write, or arrays that it cannot write."""


def encode_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return ``arrays``, of DTYPES only, as bytes; decoding restores every bit."""
    if len(arrays) > MAX_ARRAYS:
        raise ArrayCodecError(f"{len(arrays)} arrays, expected at most {MAX_ARRAYS}")
    header_parts, data_parts = [_HEADER.pack(MAGIC, len(arrays))], []
    for name, array in arrays.items():
        dtype = array.dtype.newbyteorder("<").str
        name_bytes = name.encode()
        if dtype not in DTYPES or len(name_bytes) > MAX_NAME_BYTES or array.ndim > MAX_DIMENSIONS:
            raise ArrayCodecError(
                f"array {name[:40]!r} of {array.dtype} {array.shape}, expected one of {', '.join(DTYPES)}"
            )
        header_parts += [
            _ARRAY.pack(len(name_bytes), DTYPES.index(dtype), array.ndim),
            name_bytes,
            struct.pack(f"<{array.ndim}Q", *array.shape),
        ]
        data = array.astype(dtype, copy=False).tobytes()
        data_parts += [data, bytes(-len(data) % _ALIGNMENT)]
    header = b"".join(header_parts)
    payload = b"".join((header, bytes(-len(header) % _ALIGNMENT), *data_parts))
    return payload + _CHECK.pack(zlib.crc32(payload))


def decode_arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays, read-only views of ``data``; ArrayCodecError if the bytes are damaged."""
    if not isinstance(data, bytes) or len(data) < _HEADER.size + _CHECK.size:
        raise ArrayCodecError("no packed arrays")
    payload = memoryview(data)[: -_CHECK.size]
    magic, count = _HEADER.unpack_from(payload)
    if magic != MAGIC or _CHECK.unpack_from(data, len(payload))[0] != zlib.crc32(payload):
        raise ArrayCodecError("damaged arrays")
    try:
        shapes, offset = _read_header(payload, count)
        offset += -offset % _ALIGNMENT
        return {
            name: _read_array(data, kind, shape, at)
            for name, kind, shape, at in _locate_arrays(shapes, offset, len(payload))
        }
    except (struct.error, IndexError, UnicodeDecodeError):
        raise ArrayCodecError("damaged arrays") from None


def _read_header(payload: memoryview, count: int) -> tuple[list[tuple[str, str, tuple[int, ...]]], int]:
    descriptions, offset = [], _HEADER.size
    for _ in range(count):
        length, dtype, dimensions = _ARRAY.unpack_from(payload, offset)
        offset += _ARRAY.size
        name = bytes(payload[offset : offset + length]).decode()
        shape = struct.unpack_from(f"<{dimensions}Q", payload, offset + length)
        offset += length + 8 * dimensions
        descriptions.append((name, DTYPES[dtype], shape))
    return descriptions, offset


def _locate_arrays(
    shapes: list[tuple[str, str, tuple[int, ...]]], offset: int, end: int
) -> list[tuple[str, str, tuple[int, ...], int]]:
    """Return the offset of each array; the arrays must end exactly at ``end``."""
    located = []
    for name, dtype, shape in shapes:
        located.append((name, dtype, shape, offset))
        size = math.prod(shape) * int(dtype[-1])
        offset += size + -size % _ALIGNMENT
    if offset != end:
        raise ArrayCodecError("damaged arrays")
    return located


def _read_array(data: bytes, dtype: str, shape: tuple[int, ...], offset: int) -> NDArray[Any]:
    flat = np.frombuffer(data, np.dtype(dtype), math.prod(shape), offset)
    return freeze(flat.reshape(shape).astype(flat.dtype.newbyteorder("="), copy=False))
