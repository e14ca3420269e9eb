"""Blobs as files in a folder."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from keypose.errors import FileError, FormatError
from keypose.formats import Limits
from keypose.formats.files import write_atomically
from keypose.library.blobs.base import (
    LEFTOVER_AFTER_S,
    OWNER_FILE,
    check_content,
    check_hash,
    is_blob_path,
    is_leftover,
    sha256_hex,
)

_OPEN_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class FolderBlobs:
    """Blobs as files ``ab/abcdef...`` below a folder; no part of such a path comes from a user's file name.

    Only regular files are read: a link, a pipe or a device in place of a blob is damage.
    """

    def __init__(self, root: Path, max_bytes: int = Limits().bytes) -> None:
        self.root = root
        self.max_bytes = max_bytes

    def __str__(self) -> str:
        return os.fspath(self.root)

    def put(self, data: bytes) -> str:
        """Write ``data`` and its folder entry to disk and return its hash."""
        digest = sha256_hex(data)
        path = self._path(digest)
        if self._is_intact(path, digest, len(data)):
            return digest
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink() or not _is_regular(path):
                path.unlink(missing_ok=True)  # or else its target would be written
            write_atomically(path, data)
            for folder in (path.parent, self.root, self.root.parent):
                _sync_folder(folder)
        except OSError as error:
            raise _file_error(path, "written", error) from None
        return digest

    def read(self, digest: str, n_bytes: int = 0) -> bytes:
        """Return the bytes, checked against their hash."""
        path = self._path(digest)
        try:
            return check_content(path, _read(path, max(self.max_bytes, n_bytes)), digest)
        except FileNotFoundError:
            raise FileError(f"{path}: no such file, though the library has a clip of it") from None
        except OSError as error:
            raise _file_error(path, "read", error) from None

    def has(self, digest: str) -> bool:
        """Return whether there is a file for this hash."""
        return _is_regular(self._path(digest))

    def modified_at(self, digest: str) -> datetime:
        """Return the modification time of the file."""
        try:
            return datetime.fromtimestamp(self._path(digest).lstat().st_mtime, UTC)
        except OSError:  # removed in the meantime
            return datetime.now(UTC)

    def remove(self, digest: str) -> None:
        """Remove the file, if it exists."""
        self._unlink(self._path(digest))

    def hashes(self) -> Iterator[str]:
        """Yield the hashes of all files, in order."""
        return (path.name for path, name in self._files() if is_blob_path(name) and _is_regular(path))

    def leftovers(self) -> Iterator[str]:
        """Yield the temporary files of killed writers."""
        cutoff = time.time() - LEFTOVER_AFTER_S
        for path, name in self._files():
            with contextlib.suppress(OSError):
                if is_leftover(name) and path.lstat().st_mtime < cutoff:
                    yield name

    def remove_leftover(self, name: str) -> None:
        """Remove a file that ``leftovers`` yielded."""
        if is_leftover(name):
            self._unlink(self.root / name)

    def foreign_files(self) -> Iterator[str]:
        """Yield all other files, and anything in place of a blob that is no regular file."""
        for path, name in self._files():
            if name != OWNER_FILE and not is_leftover(name) and not (is_blob_path(name) and _is_regular(path)):
                yield name

    def top_level_names(self) -> tuple[str, ...] | None:
        """Return the names of the entries of the folder."""
        try:
            return tuple(sorted(path.name for path in self.root.iterdir()))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _file_error(self.root, "listed", error) from None

    def create(self) -> None:
        """Create the folder."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _file_error(self.root, "made", error) from None
        if not os.access(self.root, os.W_OK | os.X_OK):
            raise FileError(f"{self.root}: cannot be written to")

    def read_owner(self) -> bytes | None:
        """Return the content of the owner file."""
        try:
            return _read(self.root / OWNER_FILE, self.max_bytes)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _file_error(self.root / OWNER_FILE, "read", error) from None

    def write_owner(self, content: bytes) -> None:
        """Write the owner file."""
        self.create()
        path = self.root / OWNER_FILE
        if not _is_regular(path):
            self._unlink(path)
        write_atomically(path, content)

    def placeholder_path(self, name: str) -> Path:
        """Return a path in a folder that never exists."""
        return self.root / "-" / name

    def _path(self, digest: str) -> Path:
        return self.root / digest[:2] / check_hash(self.root, digest)

    def _files(self) -> Iterator[tuple[Path, str]]:
        """Yield every file with its name relative to the root."""
        for folder, folders, names in os.walk(self.root):
            folders.sort()
            for name in sorted(names):
                path = Path(folder, name)
                yield path, path.relative_to(self.root).as_posix()

    @staticmethod
    def _unlink(path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise _file_error(path, "removed", error) from None

    @staticmethod
    def _is_intact(path: Path, digest: str, length: int) -> bool:
        try:
            return _is_regular(path) and path.stat().st_size == length and sha256_hex(_read(path, length)) == digest
        except (OSError, FormatError):
            return False


def _is_regular(path: Path) -> bool:
    """Return whether the path is a file and no link, pipe or device."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _read(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a regular file; FormatError for anything else."""
    mode = path.lstat().st_mode
    if stat.S_ISDIR(mode):  # never replaced, as it may contain files of the user
        raise FormatError(path, "is a folder, expected a file: move it away")
    if not stat.S_ISREG(mode):
        raise FormatError(path, "is a link, a folder or a device, expected a file")
    descriptor = os.open(path, os.O_RDONLY | _OPEN_FLAGS)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FormatError(path, "is a link, a folder or a device, expected a file")
        if status.st_size > max_bytes:
            raise FormatError(path, f"is damaged: it has {status.st_size} bytes, expected at most {max_bytes}")
        return file.read()


def _file_error(path: Path, action: str, error: OSError) -> FileError:
    return error if isinstance(error, FileError) else FileError(
        f"{path}: cannot be {action} ({error.strerror or error})"
    )  # fmt: skip


def _sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk, where the system supports it."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
