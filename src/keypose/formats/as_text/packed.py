"""Large arrays in JSON: base64 of zlib of little-endian float64, with shape and checksum."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from typing import Any

import numpy as np

from keypose.arrays import GREATEST_NUMBER, Floats, give_away
from keypose.formats.document import Part


def packed(values: Floats) -> dict[str, Any]:
    """The JSON object that holds an array bit by bit."""
    raw = values.astype("<f8").tobytes()
    return {
        "shape": list(values.shape),
        "crc32": zlib.crc32(raw),
        "data": base64.b64encode(zlib.compress(raw, 6)).decode(),
    }


def shape_of(part: Part, *inner: int) -> tuple[int, ...]:
    """The shape (any, *inner) that an object states, before anything of it is unpacked."""
    shape = part.array("shape")
    whole = len(shape) == 1 + len(inner) and all(type(n) is int for n in shape)
    if not whole or shape[0] < 1 or shape[1:] != list(inner):
        raise part.wrong("shape", f"[{', '.join(('frames', *map(str, inner)))}]")
    return tuple(shape)


def unpacked(part: Part, shape: tuple[int, ...]) -> Floats:
    """The array of this shape, whose size the caller has allowed; never more than that is unfolded."""
    size = 8 * math.prod(shape)
    try:
        compressed = base64.b64decode(part.text("data"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise part.source.error(f"{part.place('data')}: damaged base64 ({error})") from None
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(compressed, size + 1)
    except zlib.error as error:
        raise part.source.error(f"{part.place('data')}: damaged zlib data ({error})") from None
    if len(raw) != size or not stream.eof or stream.unused_data:
        more = "more than" if len(raw) > size or stream.unused_data else "not" if stream.eof else "cut short of"
        raise part.source.error(f"{part.place('data')}: {more} the {size} bytes of its shape")
    if zlib.crc32(raw) != part.whole("crc32"):
        raise part.source.error(f"{part.place('data')}: the checksum of its bytes is {zlib.crc32(raw)}, not crc32")
    values = np.frombuffer(raw, "<f8").astype(np.float64)
    if not (values.min() >= -GREATEST_NUMBER and values.max() <= GREATEST_NUMBER):  # nor NaN
        raise part.source.error(
            f"{part.place('data')}: not all of its numbers are finite and up to {GREATEST_NUMBER:g}"
        )
    return give_away(values.reshape(shape))
