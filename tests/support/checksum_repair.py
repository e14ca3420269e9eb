"""Recompute the checksums of damaged files, so that the decoders behind them are tested, too."""

from __future__ import annotations

import zlib

from keypose.errors import KeyposeError
from keypose.limits import Limits
from keypose.storage.byte_source import open_source
from keypose.storage.container import CHECKSUM_BYTES, HEADER_CHECKSUM_BYTES, MAGIC, compute_checksum, read_contents


def update_checksums(data: bytes) -> bytes:
    """Return ``data`` with updated checksums, as far as its header can be read."""
    header_start = length = 0
    for k, byte in enumerate(data[len(MAGIC) + 1 : len(MAGIC) + 5]):
        length |= (byte & 0x7F) << 7 * k
        if byte < 0x80:
            header_start = len(MAGIC) + 2 + k
            break
    end = header_start + length
    if not header_start or end + HEADER_CHECKSUM_BYTES > len(data):
        return data
    data = _update_header_checksum(data, end)
    try:
        contents = read_contents(open_source(data), Limits())
    except KeyposeError:
        return data
    clip = contents.header
    ranges = [contents.group_range(g) for g in range(clip.n_groups)]
    ranges += [contents.keys_range()[:2]] if clip.keys_bytes is not None else []
    ranges += [contents.swings_range()[:2]] if clip.swings_bytes is not None else []
    old = b"".join(contents.checksums)
    checksums_at = data[header_start:end].rfind(old) if old else -1
    if checksums_at < 0:
        return data
    new = b"".join(compute_checksum(data[start:stop]) for start, stop in ranges)
    assert len(new) == CHECKSUM_BYTES * len(ranges) == len(old)
    return _update_header_checksum(
        data[: header_start + checksums_at] + new + data[header_start + checksums_at + len(old) :], end
    )


def _update_header_checksum(data: bytes, end: int) -> bytes:
    return (
        data[:end]
        + zlib.crc32(data[:end]).to_bytes(HEADER_CHECKSUM_BYTES, "little")
        + data[end + HEADER_CHECKSUM_BYTES :]
    )
