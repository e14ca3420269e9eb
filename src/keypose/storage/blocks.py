"""Blocks of a file besides its frames: deflated text of keys, and packed swings."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from keypose.curves.keyed_motion import add_residual
from keypose.errors import FormatError, LimitError
from keypose.limits import Limits
from keypose.model import KeyedMotion, Motion
from keypose.storage.header.notes import pack_notes, unpack_notes
from keypose.swings import Swings
from keypose.swings.codec import pack, unpack

MIN_INFLATED_BYTES, MAX_INFLATE_RATIO = 1 << 20, 100  # limits of the inflated size of keys
EMPTY_DEFLATE_BLOCK = b"\0\0\0\xff\xff"  # a deflate block without content
MAX_ROTATION_DIFFERENCE_RAD = 1e-6  # of equal detail
MAX_SHIFT_DIFFERENCE = 1e-6  # of equal detail, relative to the figure's height


@dataclass(frozen=True, eq=False)
class StoredKeys:
    """Keys as they are stored in a file."""

    keyed: KeyedMotion
    is_detail_in_frames: bool = False  # they have no residual, as it follows from the frames beside them


ParseKeys = Callable[[bytes, str, Limits], StoredKeys]  # (text of keys, file name, limits)


def deflate_text(text: bytes) -> bytes:
    """Deflate text, padded if it compresses so well that ``inflate_text`` would reject it as a decompression bomb."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    data, min_bytes = compressor.compress(text), -(-(len(text) - MIN_INFLATED_BYTES) // MAX_INFLATE_RATIO)
    if min_bytes <= 0:
        return data + compressor.flush()
    data += compressor.flush(zlib.Z_SYNC_FLUSH)
    return (
        data + EMPTY_DEFLATE_BLOCK * -(min(0, len(data) - min_bytes) // len(EMPTY_DEFLATE_BLOCK)) + compressor.flush()
    )


def inflate_text(data: bytes, source_name: str) -> bytes:
    """Return the text of a block; raise ``LimitError`` if it inflates to more than the limit for its size."""
    max_bytes = MIN_INFLATED_BYTES + MAX_INFLATE_RATIO * len(data)
    decompressor = zlib.decompressobj(-15)
    try:
        text = decompressor.decompress(data, max_bytes)
    except zlib.error as error:
        raise FormatError(source_name, f"the keys cannot be inflated ({error})", code="damaged") from None
    if decompressor.unconsumed_tail:
        raise LimitError(source_name, f"the keys unfold to more than {max_bytes >> 20} MB")
    if not decompressor.eof or decompressor.unused_data:
        raise FormatError(source_name, "the keys are cut short or too long", code="truncated")
    return text


def pack_swings(swings: Swings) -> bytes:
    """Return the block of swings; their tolerance is stored with the notes."""
    return pack(replace(swings, notes=pack_notes(swings.notes, swings.tolerance_mm, swings.name)))


def unpack_swings(data: bytes, source_name: str) -> Swings:
    """Return the swings of a block."""
    swings = unpack(data, where=source_name)
    notes, tolerance_mm = unpack_notes(swings.notes)
    return replace(swings, notes=notes, tolerance_mm=tolerance_mm)


def remove_detail(keyed: KeyedMotion, motion: Motion) -> StoredKeys:
    """Return ``keyed`` without its residual, if that follows from its curves and ``motion``."""
    residual = keyed.residual
    if residual is None or residual.frames is not None or len(residual) != motion.n_frames:
        return StoredKeys(keyed)
    frames_residual = add_residual(keyed, motion).residual
    assert frames_residual is not None
    rotation_difference, shift_difference = (
        np.abs(frames_residual.rotations - residual.rotations).max(),
        np.abs(frames_residual.shifts - residual.shifts).max(),
    )
    if rotation_difference > MAX_ROTATION_DIFFERENCE_RAD or shift_difference > MAX_SHIFT_DIFFERENCE * max(
        motion.height, 0.0
    ):
        return StoredKeys(keyed)
    return StoredKeys(replace(keyed, residual=None), is_detail_in_frames=True)
