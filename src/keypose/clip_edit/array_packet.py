"""Binary encoding of arrays for the browser: a JSON header, then typed arrays."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.errors import ModelError

MEDIA_TYPE = "application/vnd.keypose.arrays"
ALIGNMENT_BYTES = 8  # of the end of the header and the start of each array
DTYPES = {"float32": np.dtype("<f4"), "int32": np.dtype("<i4")}


def pack_arrays(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return ``header`` and ``arrays`` (float32 or int32; others are rounded to float32) as one block of bytes.

    uint32 LE: the length of the header; the header, JSON in UTF-8 with ``arrays: {name: {dtype, shape, offset}}``
    besides its own fields, padded with spaces so that 4 + its length is a multiple of 8; then the arrays,
    little-endian, each padded to 8 bytes. Offsets count from the end of the padded header.
    """
    if "arrays" in header:
        raise ModelError("packet: a header with 'arrays' of its own, expected any other names")
    array_index: dict[str, dict[str, Any]] = {}
    chunks: list[bytes] = []
    offset = 0
    for name, array in arrays.items():
        dtype = "int32" if array.dtype.kind in "iub" else "float32"
        data = np.ascontiguousarray(array, DTYPES[dtype]).tobytes()
        array_index[name] = {"dtype": dtype, "shape": list(array.shape), "offset": offset}
        padding = -len(data) % ALIGNMENT_BYTES
        chunks += [data, bytes(padding)]
        offset += len(data) + padding
    header_json = json.dumps({**header, "arrays": array_index}, allow_nan=False, separators=(",", ":")).encode()
    header_json += b" " * (-(4 + len(header_json)) % ALIGNMENT_BYTES)
    return b"".join((struct.pack("<I", len(header_json)), header_json, *chunks))
