"""Bytes as files below a folder."""

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
from keypose.library.blobs.base import LEFTOVER_AFTER_S, OWNER, checked, hash_of, is_left, is_place, sound

_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class FolderBlobs:
    """Blobs as files ``ab/abcdef...`` below a folder; no part of such a path comes from a file's own name.

    Only regular files are ever read: a link, a pipe or a device in the place of a blob is damage.
    """

    def __init__(self, root: Path, most_bytes: int = Limits().bytes) -> None:
        self.root = root
        self.most_bytes = most_bytes

    def __str__(self) -> str:
        return os.fspath(self.root)

    def put(self, data: bytes) -> str:
        """Keeps ``data`` on the disk, its folder too, and gives their hash."""
        digest = hash_of(data)
        place = self._place(digest)
        if self._is_sound(place, digest, len(data)):
            return digest
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.is_symlink() or not _is_regular(place):
                place.unlink(missing_ok=True)  # or else what it points to would be written
            write_atomically(place, data)
            for folder in (place.parent, self.root, self.root.parent):
                _to_disk(folder)
        except OSError as error:
            raise _ours(place, "written", error) from None
        return digest

    def read(self, digest: str, n_bytes: int = 0) -> bytes:
        """The bytes, checked against their hash."""
        place = self._place(digest)
        try:
            return sound(place, _read(place, max(self.most_bytes, n_bytes)), digest)
        except FileNotFoundError:
            raise FileError(f"{place}: no such file, though the library has a clip of it") from None
        except OSError as error:
            raise _ours(place, "read", error) from None

    def has(self, digest: str) -> bool:
        """Whether there is a file for this hash."""
        return _is_regular(self._place(digest))

    def written_at(self, digest: str) -> datetime:
        """The time of the file."""
        try:
            return datetime.fromtimestamp(self._place(digest).lstat().st_mtime, UTC)
        except OSError:  # removed just now
            return datetime.now(UTC)

    def remove(self, digest: str) -> None:
        """Removes the file, if it is there."""
        self._unlink(self._place(digest))

    def hashes(self) -> Iterator[str]:
        """The hashes that there are files for, in order."""
        return (path.name for path, name in self._files() if is_place(name) and _is_regular(path))

    def leftovers(self) -> Iterator[str]:
        """Files of writers that died."""
        newest = time.time() - LEFTOVER_AFTER_S
        for path, name in self._files():
            with contextlib.suppress(OSError):
                if is_left(name) and path.lstat().st_mtime < newest:
                    yield name

    def remove_leftover(self, name: str) -> None:
        """Removes a file that ``leftovers`` found."""
        if is_left(name):
            self._unlink(self.root / name)

    def strangers(self) -> Iterator[str]:
        """All other files, and what is in the place of a blob without being one."""
        for path, name in self._files():
            if name != OWNER and not is_left(name) and not (is_place(name) and _is_regular(path)):
                yield name

    def at_top(self) -> tuple[str, ...] | None:
        """What the folder holds."""
        try:
            return tuple(sorted(path.name for path in self.root.iterdir()))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _ours(self.root, "listed", error) from None

    def make(self) -> None:
        """Makes the folder."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _ours(self.root, "made", error) from None
        if not os.access(self.root, os.W_OK | os.X_OK):
            raise FileError(f"{self.root}: cannot be written to")

    def owner(self) -> bytes | None:
        """What the file at the top says."""
        try:
            return _read(self.root / OWNER, self.most_bytes)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _ours(self.root / OWNER, "read", error) from None

    def set_owner(self, says: bytes) -> None:
        """Writes the file at the top."""
        self.make()
        place = self.root / OWNER
        if not _is_regular(place):
            self._unlink(place)
        write_atomically(place, says)

    def stand_in(self, name: str) -> Path:
        """A path in a folder that is never made."""
        return self.root / "-" / name

    def _place(self, digest: str) -> Path:
        return self.root / digest[:2] / checked(self.root, digest)

    def _files(self) -> Iterator[tuple[Path, str]]:
        """Every file, with its name below the root."""
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
            raise _ours(path, "removed", error) from None

    @staticmethod
    def _is_sound(place: Path, digest: str, length: int) -> bool:
        try:
            return _is_regular(place) and place.stat().st_size == length and hash_of(_read(place, length)) == digest
        except (OSError, FormatError):
            return False


def _is_regular(path: Path) -> bool:
    """Whether a file is there that is no link, pipe or device."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _read(path: Path, most_bytes: int) -> bytes:
    """The bytes of a regular file; of what may have no end, nothing."""
    mode = path.lstat().st_mode
    if stat.S_ISDIR(mode):  # which no writing replaces: there may be somebody's files in it
        raise FormatError(path, "is a folder, expected a file: move it away")
    if not stat.S_ISREG(mode):
        raise FormatError(path, "is a link, a folder or a device, expected a file")
    descriptor = os.open(path, os.O_RDONLY | _WITHOUT_WAITING)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FormatError(path, "is a link, a folder or a device, expected a file")
        if status.st_size > most_bytes:
            raise FormatError(path, f"is damaged: it has {status.st_size} bytes, expected at most {most_bytes}")
        return file.read()


def _ours(place: Path, what: str, error: OSError) -> FileError:
    return error if isinstance(error, FileError) else FileError(
        f"{place}: cannot be {what} ({error.strerror or error})"
    )  # fmt: skip


def _to_disk(folder: Path) -> None:
    """Makes the names in a folder last through a loss of power, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
