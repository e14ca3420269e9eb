"""Where the bytes of a stored motion come from: a path, a file that is open, or anybody who gives ranges of bytes."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO
from weakref import finalize

from keypose.errors import FileError, OptionError


class Ranges:
    """Ranges of bytes of something that has a name and, where that is known, a size."""

    def __init__(self, name: str, size: int | None, fetch: Callable[[int, int], bytes]) -> None:
        self.name = name
        self.size = size
        self._fetch = fetch
        self._close: Callable[[], object] = lambda: None
        self._first = b""  # the first bytes, once they were read: the header and, of a short clip, all

    def read(self, start: int, stop: int) -> bytes:
        """The bytes from ``start`` up to ``stop``; fewer where there are no more."""
        if self.size is not None:
            stop = min(stop, self.size)
        known = self._first[start:stop] if start < stop else b""
        found = known + self._read(start + len(known), stop)
        if start == 0 and not self._first:
            self._first = found
        return found

    def _read(self, start: int, stop: int) -> bytes:
        if stop <= start:
            return b""
        try:
            data = self._fetch(start, stop)
        except FileError:
            raise
        except (OSError, ValueError) as error:  # ValueError: a file that was closed
            raise FileError(f"{self.name}: cannot be read ({_told(error)})") from None
        if not isinstance(data, bytes | bytearray | memoryview):
            raise OptionError(f"{self.name}: bytes {start} to {stop} came as {type(data).__name__}, expected bytes")
        return bytes(data[: stop - start])

    def closes(self, file: BinaryIO) -> None:
        """Says that ``file`` was opened here: it is closed on demand, or when nobody can ask for bytes any more."""
        self._close = finalize(self, file.close)

    def close(self) -> None:
        """Closes what was opened here; a file that somebody else opened stays open."""
        self._close()


ByteSource = str | PathLike[str] | BinaryIO | bytes | Ranges | Callable[[int, int], bytes]


def ranges_of(source: ByteSource) -> Ranges:
    """The bytes of ``source``: a path, a binary file object, bytes, or a function of start and stop.

    An ``OSError`` (or ``ValueError``, as of a closed file) while reading becomes a ``FileError``. Any other exception
    of somebody's own file object or function is theirs and passes as it is.
    """
    if isinstance(source, Ranges):
        return source
    if isinstance(source, bytes | bytearray):
        data = bytes(source)
        return Ranges("<bytes>", len(data), lambda start, stop: data[start:stop])
    if isinstance(source, str | PathLike):
        return _of_path(Path(source))
    if hasattr(source, "read") and hasattr(source, "seek"):
        return _of_file(source, _name_of(source))
    if callable(source):
        return Ranges(getattr(source, "__name__", "<bytes>"), None, source)
    raise OptionError(f"{type(source).__name__}, expected a path, a binary file or a function (start, stop) -> bytes")


def _of_path(path: Path) -> Ranges:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileError(f"{path}: is a folder, expected a .kps file")
        if not stat.S_ISREG(status.st_mode):
            raise FileError(f"{path}: is not a regular file")
        file = path.open("rb")
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path}: cannot be read ({_told(error)})") from None
    ranges = _of_file(file, str(path))
    ranges.closes(file)
    return ranges


def _of_file(file: Any, name: str) -> Ranges:
    if isinstance(file, io.TextIOBase):
        raise OptionError(f"{name}: a text file, expected one opened as binary: open(path, 'rb')")
    lock = Lock()

    def fetch(start: int, stop: int) -> bytes:
        with lock:
            file.seek(start)
            data: bytes = file.read(stop - start)
            while data and len(data) < stop - start and (more := file.read(stop - start - len(data))):
                data += more  # a raw file or a socket may give less at once
        return data

    try:
        size = file.seek(0, os.SEEK_END)
        size = file.tell() if size is None else size
    except (OSError, ValueError) as error:
        raise FileError(f"{name}: cannot be read ({_told(error)})") from None
    return Ranges(name, int(size), fetch)


def _told(error: Exception) -> str:
    """What went wrong, in a few words; many errors come without any."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _name_of(file: object) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "<file>"
