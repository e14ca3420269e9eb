"""Bytes as files below a folder."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from keypose.errors import FileError
from keypose.formats.files import write_atomically
from keypose.library.blobs.base import LEFTOVER_AFTER_S, checked, hash_of, is_hash, sound


class FolderBlobs:
    """Blobs as files ``ab/abcdef...`` below a folder; no part of such a path comes from a file's own name."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, data: bytes) -> str:
        """Keeps ``data`` on the disk, its folder too, and gives their hash."""
        digest = hash_of(data)
        place = self._place(digest)
        if self._is_sound(place, digest, len(data)):
            return digest
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(place, data)
            for folder in (place.parent, self.root, self.root.parent):
                _to_disk(folder)
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{place}: cannot be written ({error.strerror or error})") from None
        return digest

    def read(self, digest: str) -> bytes:
        """The bytes, checked against their hash."""
        place = self._place(digest)
        try:
            data = place.read_bytes()
        except FileNotFoundError:
            raise FileError(f"{place}: no such file, though the library has a clip of it") from None
        except OSError as error:
            raise FileError(f"{place}: cannot be read ({error.strerror or error})") from None
        return sound(place, data, digest)

    def has(self, digest: str) -> bool:
        """Whether there is a file for this hash."""
        return self._place(digest).is_file()

    def written_at(self, digest: str) -> datetime:
        """The time of the file."""
        try:
            return datetime.fromtimestamp(self._place(digest).stat().st_mtime, UTC)
        except FileNotFoundError:  # removed just now
            return datetime.now(UTC)

    def remove(self, digest: str) -> None:
        """Removes the file, if it is there."""
        try:
            self._place(digest).unlink(missing_ok=True)
        except OSError as error:
            raise FileError(f"{self._place(digest)}: cannot be removed ({error.strerror or error})") from None

    def hashes(self) -> Iterator[str]:
        """The hashes that there are files for, in order."""
        return (path.name for path in self._files() if self._is_place(path))

    def leftovers(self) -> Iterator[str]:
        """Files that are no blobs, and that nobody can still be writing."""
        newest = time.time() - LEFTOVER_AFTER_S
        for path in self._files():
            with contextlib.suppress(FileNotFoundError):
                if not self._is_place(path) and (not path.name.endswith(".tmp") or path.lstat().st_mtime < newest):
                    yield str(path.relative_to(self.root))

    def remove_leftover(self, name: str) -> None:
        """Removes a file that ``leftovers`` found."""
        (self.root / name).unlink(missing_ok=True)

    def stand_in(self, name: str) -> Path:
        """A path in a folder that is never made."""
        return self.root / "-" / name

    def _place(self, digest: str) -> Path:
        return self.root / digest[:2] / checked(self.root, digest)

    def _is_place(self, path: Path) -> bool:
        return is_hash(path.name) and path == self._place(path.name)

    def _files(self) -> Iterator[Path]:
        for folder, folders, names in os.walk(self.root):
            folders.sort()
            yield from (Path(folder, name) for name in sorted(names))

    @staticmethod
    def _is_sound(place: Path, digest: str, length: int) -> bool:
        try:
            return place.stat().st_size == length and hash_of(place.read_bytes()) == digest
        except OSError:
            return False


def _to_disk(folder: Path) -> None:
    """Makes the names in a folder last through a loss of power, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
