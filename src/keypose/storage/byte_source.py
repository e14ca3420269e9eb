"""Byte sources of a stored motion: a path, an open file, bytes, or a function that returns byte ranges."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO
from weakref import finalize

from keypose.errors import FileError, OptionError
from keypose.validation import check_regular_file


class ByteReader:
    """Reads byte ranges of a source, which has a name and, if known, a size."""

    def __init__(self, name: str, size: int | None, fetch: Callable[[int, int], bytes]) -> None:
        self.name = name
        self.size = size
        self._fetch = fetch
        self._close: Callable[[], object] = lambda: None
        self._first_bytes = b""  # cached from the first read: the header and, of a short clip, the complete file

    def read(self, start: int, stop: int) -> bytes:
        """Return the bytes from ``start`` up to ``stop``; fewer at the end of the source."""
        if self.size is not None:
            stop = min(stop, self.size)
        cached = self._first_bytes[start:stop] if start < stop else b""
        data = cached + self._fetch_checked(start + len(cached), stop)
        if start == 0 and not self._first_bytes:
            self._first_bytes = data
        return data

    def _fetch_checked(self, start: int, stop: int) -> bytes:
        if stop <= start:
            return b""
        try:
            data = self._fetch(start, stop)
        except FileError:
            raise
        except (OSError, ValueError) as error:  # ValueError: a closed file
            raise FileError(f"cannot be read ({_describe_error(error)})", code="read_failed", path=self.name) from None
        if not isinstance(data, bytes | bytearray | memoryview):
            raise OptionError(
                f"bytes {start} to {stop} came as {type(data).__name__}", subject=self.name, expected="bytes"
            )
        return bytes(data[: stop - start])

    def own_file(self, file: BinaryIO) -> None:
        """Take ownership of ``file``: it is closed by ``close`` or when this object is garbage collected."""
        self._close = finalize(self, file.close)

    def close(self) -> None:
        """Close the owned file; a file opened by the caller is not closed."""
        self._close()


ByteSource = str | PathLike[str] | BinaryIO | bytes | ByteReader | Callable[[int, int], bytes]


def open_source(source: ByteSource) -> ByteReader:
    """Return a reader of ``source``: a path, a binary file object, bytes, or a function (start, stop) -> bytes.

    An ``OSError`` (or a ``ValueError``, raised by a closed file) during reading becomes a ``FileError``. Other
    exceptions of the file object or function are not caught.
    """
    if isinstance(source, ByteReader):
        return source
    if isinstance(source, bytes | bytearray):
        data = bytes(source)
        return ByteReader("<bytes>", len(data), lambda start, stop: data[start:stop])
    if isinstance(source, str | PathLike):
        return _open_path(Path(source))
    if hasattr(source, "read") and hasattr(source, "seek"):
        return _wrap_file(source, _file_name(source))
    if callable(source):
        return ByteReader(getattr(source, "__name__", "<bytes>"), None, source)
    raise OptionError(type(source).__name__, expected="a path, a binary file or a function (start, stop) -> bytes")


def _open_path(path: Path) -> ByteReader:
    try:
        check_regular_file(path, "a .kps file")
        file = path.open("rb")
    except FileNotFoundError:
        raise FileError("no such file", code="no_such_file", path=path) from None
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot be read ({_describe_error(error)})", code="read_failed", path=path) from None
    reader = _wrap_file(file, str(path))
    reader.own_file(file)
    return reader


def _wrap_file(file: Any, name: str) -> ByteReader:
    if isinstance(file, io.TextIOBase):
        raise OptionError("a text file", subject=name, expected="one opened as binary: open(path, 'rb')")
    lock = Lock()

    def fetch(start: int, stop: int) -> bytes:
        with lock:
            file.seek(start)
            data: bytes = file.read(stop - start)
            while data and len(data) < stop - start and (more := file.read(stop - start - len(data))):
                data += more  # a raw file or a socket may return fewer bytes
        return data

    try:
        size = file.seek(0, os.SEEK_END)
        size = file.tell() if size is None else size
    except (OSError, ValueError) as error:
        raise FileError(f"cannot be read ({_describe_error(error)})", code="read_failed", path=name) from None
    return ByteReader(name, int(size), fetch)


def _describe_error(error: Exception) -> str:
    """Return a short description of an error, which may have no message."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _file_name(file: object) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "<file>"
