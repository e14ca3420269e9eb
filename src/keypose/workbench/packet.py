"""Arrays on their way to a page: a header in JSON, then numbers that a browser takes as they are."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.errors import ModelError

MEDIA_TYPE = "application/vnd.keypose.arrays"
ALIGNED = 8  # bytes: where the header ends and where each array begins
KINDS = {"float32": np.dtype("<f4"), "int32": np.dtype("<i4")}


def packet(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """``header`` and ``arrays`` (float32 or int32, others are rounded to float32) as one block of bytes.

    uint32 LE: the length of the header; the header, JSON in UTF-8 with ``arrays: {name: {dtype, shape, offset}}``
    beside its own, padded with spaces so that 4 + its length is a multiple of 8; then the arrays, little-endian, each
    padded to 8 bytes. Offsets count from the end of the padded header.
    """
    if "arrays" in header:
        raise ModelError("packet: a header with 'arrays' of its own, expected any other names")
    placed: dict[str, dict[str, Any]] = {}
    parts: list[bytes] = []
    offset = 0
    for name, array in arrays.items():
        kind = "int32" if array.dtype.kind in "iub" else "float32"
        data = np.ascontiguousarray(array, KINDS[kind]).tobytes()
        placed[name] = {"dtype": kind, "shape": list(array.shape), "offset": offset}
        padding = -len(data) % ALIGNED
        parts += [data, bytes(padding)]
        offset += len(data) + padding
    said = json.dumps({**header, "arrays": placed}, allow_nan=False, separators=(",", ":")).encode()
    said += b" " * (-(4 + len(said)) % ALIGNED)
    return b"".join((struct.pack("<I", len(said)), said, *parts))
