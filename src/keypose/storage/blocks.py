"""Blocks of a file beside its frames: keys, which are text and deflated, and swings, which are packed."""

from __future__ import annotations

import zlib
from collections.abc import Callable

from keypose.errors import FormatError, LimitError
from keypose.limits import Limits
from keypose.model import KeyedMotion

KeysReader = Callable[[bytes, str, Limits], KeyedMotion]  # of the text of keys, in the file of that name
_READERS: list[KeysReader] = []
FREE_BYTES, MOST_RATIO = 1 << 20, 100  # what text of keys may unfold to
NOTHING = b"\0\0\0\xff\xff"  # a block of deflate without content


def deflated(text: bytes) -> bytes:
    """Text on its way into a file; what says nearly nothing at great length is made longer, so that it can be read."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    data, least = deflate.compress(text), -(-(len(text) - FREE_BYTES) // MOST_RATIO)
    if least <= 0:
        return data + deflate.flush()
    data += deflate.flush(zlib.Z_SYNC_FLUSH)
    return data + NOTHING * -(min(0, len(data) - least) // len(NOTHING)) + deflate.flush()


def inflated(data: bytes, where: str) -> bytes:
    """The text of a block; never more than its size allows."""
    most = FREE_BYTES + MOST_RATIO * len(data)
    inflate = zlib.decompressobj(-15)
    try:
        text = inflate.decompress(data, most)
    except zlib.error as error:
        raise FormatError(where, f"the keys cannot be inflated ({error})") from None
    if inflate.unconsumed_tail:
        raise LimitError(where, f"the keys unfold to more than {most >> 20} MB")
    if not inflate.eof or inflate.unused_data:
        raise FormatError(where, "the keys are cut short or too long")
    return text


def read_keys_with(reader: KeysReader) -> None:
    """Says who reads the text of keys: a format of its own, and formats are above this room."""
    _READERS[:] = [reader]


def keys_of(text: bytes, where: str, limits: Limits) -> KeyedMotion:
    """The keys that the text of a block states."""
    if not _READERS:
        raise FormatError(where, "nobody here reads its keys: import keypose.formats")
    return _READERS[0](text, where, limits)
