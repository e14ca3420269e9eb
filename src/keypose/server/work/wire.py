"""Messages between the server and its workers: a head in JSON and a body of bytes, each after its length."""

from __future__ import annotations

import asyncio
import json
import struct
from typing import Any, BinaryIO

_LENGTHS = struct.Struct("<IQ")
LONGEST_HEAD = 64 << 20
LONGEST_BODY = 4 << 30

Head = dict[str, Any]


class WireError(Exception):
    """What came is no message."""


def packed(head: Head, body: bytes = b"") -> bytes:
    """A message as bytes, but for its body, which follows."""
    text = json.dumps(head, separators=(",", ":")).encode()
    return _LENGTHS.pack(len(text), len(body)) + text


def write(stream: BinaryIO, head: Head, body: bytes = b"") -> None:
    """Sends a message, and waits until it is on its way."""
    stream.write(packed(head, body))
    stream.write(body)
    stream.flush()


def read(stream: BinaryIO) -> tuple[Head, bytes]:
    """The next message; EOFError where there is none any more."""
    text, body = _checked(_exactly(stream, _LENGTHS.size))
    return _head(_exactly(stream, text)), _exactly(stream, body)


async def read_later(stream: asyncio.StreamReader) -> tuple[Head, bytes]:
    """The next message, waited for without holding up others."""
    text, body = _checked(await stream.readexactly(_LENGTHS.size))
    return _head(await stream.readexactly(text)), await stream.readexactly(body)


def _exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data


def _checked(lengths: bytes) -> tuple[int, int]:
    text, body = _LENGTHS.unpack(lengths)
    if text > LONGEST_HEAD or body > LONGEST_BODY:
        raise WireError(f"a message of {text} and {body} bytes")
    return text, body


def _head(text: bytes) -> Head:
    try:
        head = json.loads(text)
    except ValueError:
        raise WireError("a message whose head is no JSON") from None
    if not isinstance(head, dict):
        raise WireError("a message whose head is no object")
    return head
