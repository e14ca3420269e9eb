"""Large arrays in JSON: base64 of zlib of little-endian float64, with shape and checksum."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from typing import Any

import numpy as np

from keypose.arrays import MAX_MAGNITUDE, Floats, freeze
from keypose.formats.json_document import JsonObject


def encode_array(values: Floats) -> dict[str, Any]:
    """Return the JSON object that stores an array exactly."""
    raw = values.astype("<f8").tobytes()
    return {
        "shape": list(values.shape),
        "crc32": zlib.crc32(raw),
        "data": base64.b64encode(zlib.compress(raw, 6)).decode(),
    }


def read_shape(entry: JsonObject, *inner: int) -> tuple[int, ...]:
    """Read the shape (any, *inner) of an encoded array, before its data are decoded."""
    shape = entry.array("shape")
    is_valid = len(shape) == 1 + len(inner) and all(type(n) is int for n in shape)
    if not is_valid or shape[0] < 1 or shape[1:] != list(inner):
        raise entry.member_error("shape", f"[{', '.join(('frames', *map(str, inner)))}]")
    return tuple(shape)


def decode_array(entry: JsonObject, shape: tuple[int, ...]) -> Floats:
    """Decode an array of this shape, whose size the caller has checked; never decompress more than that."""
    size = 8 * math.prod(shape)
    try:
        compressed = base64.b64decode(entry.text("data"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise entry.source.error(f"{entry.member_location('data')}: damaged base64 ({error})") from None
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(compressed, size + 1)
    except zlib.error as error:
        raise entry.source.error(f"{entry.member_location('data')}: damaged zlib data ({error})") from None
    if len(raw) != size or not stream.eof or stream.unused_data:
        more = "more than" if len(raw) > size or stream.unused_data else "not" if stream.eof else "cut short of"
        raise entry.source.error(f"{entry.member_location('data')}: {more} the {size} bytes of its shape")
    if zlib.crc32(raw) != entry.integer("crc32"):
        raise entry.source.error(
            f"{entry.member_location('data')}: the checksum of its bytes is {zlib.crc32(raw)}, not crc32"
        )
    values = np.frombuffer(raw, "<f8").astype(np.float64)
    if not (values.min() >= -MAX_MAGNITUDE and values.max() <= MAX_MAGNITUDE):  # nor NaN
        raise entry.source.error(
            f"{entry.member_location('data')}: not all of its numbers are finite and up to {MAX_MAGNITUDE:g}"
        )
    return freeze(values.reshape(shape))
