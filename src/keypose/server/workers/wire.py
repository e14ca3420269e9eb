"""Messages between the server and its workers: lengths, a JSON header, and a body of bytes."""

from __future__ import annotations

import asyncio
import json
import struct
from typing import Any, BinaryIO

_LENGTHS = struct.Struct("<IQ")
MAX_HEADER_BYTES = 64 << 20
MAX_BODY_BYTES = 4 << 30

Header = dict[str, Any]


class WireError(Exception):
    """Invalid message."""


def pack_header(header: Header, body: bytes = b"") -> bytes:
    """Return lengths and header of a message; the body follows."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return _LENGTHS.pack(len(text), len(body)) + text


def write(stream: BinaryIO, header: Header, body: bytes = b"") -> None:
    """Send a message and flush."""
    stream.write(pack_header(header, body))
    stream.write(body)
    stream.flush()


def read(stream: BinaryIO) -> tuple[Header, bytes]:
    """Return the next message; EOFError at the end of the stream."""
    text, body = _parse_lengths(_read_exactly(stream, _LENGTHS.size))
    return _parse_header(_read_exactly(stream, text)), _read_exactly(stream, body)


async def read_async(stream: asyncio.StreamReader) -> tuple[Header, bytes]:
    """Return the next message without blocking the event loop."""
    text, body = _parse_lengths(await stream.readexactly(_LENGTHS.size))
    return _parse_header(await stream.readexactly(text)), await stream.readexactly(body)


def _read_exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data


def _parse_lengths(lengths: bytes) -> tuple[int, int]:
    text, body = _LENGTHS.unpack(lengths)
    if text > MAX_HEADER_BYTES or body > MAX_BODY_BYTES:
        raise WireError(f"a message of {text} and {body} bytes")
    return text, body


def _parse_header(text: bytes) -> Header:
    try:
        header = json.loads(text)
    except ValueError:
        raise WireError("a message whose head is no JSON") from None
    if not isinstance(header, dict):
        raise WireError("a message whose head is no object")
    return header
