"""Read and write files: size limits, gzip, atomic writes."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import secrets
import stat
import zlib
from pathlib import Path

from keypose.errors import FileError, FormatError, LimitError
from keypose.formats.base import Limits

GZIP_MAGIC = b"\x1f\x8b"
GZIP_RATIO = 200  # motion as text shrinks to a tenth; a clip that stands still, to a hundredth
GZIP_FREE_BYTES = 64 << 20
_CHUNK = 1 << 20


def read_bytes(path: Path, limits: Limits, *, unzip: bool = True) -> bytes:
    """Return the content of a regular file, decompressed if it is gzip; at most ``limits.bytes``.

    ``unzip=False`` is for raw data, which may start like gzip by chance.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileError(f"{path}: is a folder, expected a motion file")
        if not stat.S_ISREG(status.st_mode):
            raise FileError(f"{path}: is not a regular file")
        if status.st_size > limits.bytes:
            raise _size_error(path, limits)
        data = path.read_bytes()
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, FileError | FormatError):
            raise
        raise FileError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    return gunzip(path, data, limits) if unzip and data.startswith(GZIP_MAGIC) else data


def gunzip(path: Path, data: bytes, limits: Limits) -> bytes:
    """Decompress gzip ``data`` within the limits; ``path`` is for messages."""
    chunks: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            while chunk := stream.read(_CHUNK):
                chunks.append(chunk)
                size += len(chunk)
                if size > limits.bytes:
                    raise _size_error(path, limits)
                if size > GZIP_FREE_BYTES + GZIP_RATIO * len(data):
                    raise LimitError(path, f"unfolds to more than {GZIP_RATIO} times its size: not motion, but a bomb")
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(path, f"damaged gzip data after {size} bytes ({error})") from None
    return b"".join(chunks)


def _size_error(path: Path, limits: Limits) -> LimitError:
    return LimitError(path, f"larger than the limit of {limits.bytes} bytes; to allow it: limits=Limits(bytes=...)")


def write_atomically(path: Path, data: bytes, *, overwrite: bool = True) -> None:
    """Write all of ``data`` or nothing: readers of ``path`` see the old file or the complete new one.

    The data are written to a hidden file in the same folder, synced to disk, and renamed to ``path``. A link stays a
    link, and the permissions of an existing file stay. With ``overwrite=False`` an existing file stays and FileError
    is raised, also if the file appears during the write.
    """
    try:
        path = Path(os.path.realpath(path))
        temporary = path.with_name(f".{path.name[:20]}.{secrets.token_hex(6)}.tmp")
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                temporary.chmod(mode)
            if overwrite:
                temporary.replace(path)
            else:
                _move_if_free(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL or a lone surrogate
        raise FileError(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})") from None


def _move_if_free(temporary: Path, path: Path) -> None:
    """Rename ``temporary`` to ``path``; raise FileExistsError if that exists."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: reserve the name, then replace
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        temporary.replace(path)
    else:
        temporary.unlink()
