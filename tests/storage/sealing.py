"""Damaged files with checksums that fit again, so that what stands behind these is tried, too."""

from __future__ import annotations

import zlib

from keypose.errors import KeyposeError
from keypose.limits import Limits
from keypose.storage.container import CHECK_BYTES, HEAD_CHECK_BYTES, MAGIC, check, contents_of
from keypose.storage.sources import ranges_of


def sealed(data: bytes) -> bytes:
    """``data`` with the checksums of what it holds now, as far as its header can be read."""
    at = length = 0
    for k, byte in enumerate(data[len(MAGIC) + 1 : len(MAGIC) + 5]):
        length |= (byte & 0x7F) << 7 * k
        if byte < 0x80:
            at = len(MAGIC) + 2 + k
            break
    end = at + length
    if not at or end + HEAD_CHECK_BYTES > len(data):
        return data
    data = _with_head(data, end)
    try:
        contents = contents_of(ranges_of(data), Limits())
    except KeyposeError:
        return data
    clip = contents.clip
    ranges = [contents.group(g) for g in range(clip.n_groups)]
    ranges += [contents.keys()[:2]] if clip.keys_bytes is not None else []
    ranges += [contents.swings()[:2]] if clip.swings_bytes is not None else []
    old = b"".join(contents.checks)
    where = data[at:end].rfind(old) if old else -1
    if where < 0:
        return data
    new = b"".join(check(data[start:stop]) for start, stop in ranges)
    assert len(new) == CHECK_BYTES * len(ranges) == len(old)
    return _with_head(data[: at + where] + new + data[at + where + len(old) :], end)


def _with_head(data: bytes, end: int) -> bytes:
    return data[:end] + zlib.crc32(data[:end]).to_bytes(HEAD_CHECK_BYTES, "little") + data[end + HEAD_CHECK_BYTES :]
