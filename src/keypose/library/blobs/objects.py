"""Bytes as objects of a store that fsspec can reach: S3, Google, Azure, SFTP, memory."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from keypose.errors import FileError, KeyposeError, MissingExtra, OptionError
from keypose.library.blobs.base import LEFTOVER_AFTER_S, checked, hash_of, is_hash, sound

try:
    from fsspec.core import url_to_fs
except ImportError:
    raise MissingExtra("bytes in an object store need: pip install 'keypose[objects]'") from None

# Stores whose objects appear whole or not at all; elsewhere bytes are written under another name and then moved.
WHOLE = frozenset({"memory", "s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss", "r2"})
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class FsspecBlobs:
    """Blobs as objects ``ab/abcdef...`` below a URL; no part of such a name comes from a file's own name.

    Every call asks the store: nothing is answered from a list that may be old.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        scheme = url.partition("://")[0]
        try:
            self._store, self._root = url_to_fs(url, use_listings_cache=False, skip_instance_cache=True)
        except ImportError as error:
            raise MissingExtra(f"{scheme}:// needs another package: {error}") from None
        except ValueError:
            raise OptionError(f"blobs={url!r}: fsspec knows no {scheme}://") from None
        self._whole = scheme in WHOLE

    def put(self, data: bytes) -> str:
        """Keeps ``data`` in the store and gives their hash."""
        digest = hash_of(data)
        place = self._place(digest)
        if self._is_sound(place, digest, len(data)):
            return digest
        with self._ours(place, "written"):
            self._store.makedirs(place.rpartition("/")[0], exist_ok=True)
            if self._whole:
                self._store.pipe_file(place, data)
            else:
                self._write_beside(place, data)
        return digest

    def _write_beside(self, place: str, data: bytes) -> None:
        written = f"{place}.{secrets.token_hex(8)}.tmp"
        try:
            self._store.pipe_file(written, data)
            self._store.mv(written, place)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                self._store.rm_file(written)
            raise

    def read(self, digest: str) -> bytes:
        """The bytes, checked against their hash."""
        place = self._place(digest)
        try:
            with self._ours(place, "read"):
                data: bytes = self._store.cat_file(place)
        except FileNotFoundError:
            raise FileError(f"{self._shown(place)}: no such file, though the library has a clip of it") from None
        return sound(self._shown(place), data, digest)

    def has(self, digest: str) -> bool:
        """Whether there is an object for this hash."""
        place = self._place(digest)
        with self._ours(place, "read"):
            return bool(self._store.isfile(place))

    def written_at(self, digest: str) -> datetime:
        """The time of the object; long ago where the store does not say."""
        place = self._place(digest)
        try:
            with self._ours(place, "read"):
                return _aware(self._store.modified(place))
        except FileNotFoundError:  # removed just now
            return datetime.now(UTC)
        except NotImplementedError:
            return LONG_AGO

    def remove(self, digest: str) -> None:
        """Removes the object, if it is there."""
        self._remove(self._place(digest))

    def hashes(self) -> Iterator[str]:
        """The hashes that there are objects for, in order."""
        return (name.name for name in self._names() if self._is_place(name))

    def leftovers(self) -> Iterator[str]:
        """Objects that are no blobs, and that nobody can still be writing."""
        newest = datetime.now(UTC) - timedelta(seconds=LEFTOVER_AFTER_S)
        for name in self._names():
            if not self._is_place(name) and (name.suffix != ".tmp" or self._time(name) < newest):
                yield str(name)

    def remove_leftover(self, name: str) -> None:
        """Removes an object that ``leftovers`` found."""
        self._remove(f"{self._root}/{name}")

    def stand_in(self, name: str) -> Path:
        """A path in a folder that is never made."""
        return Path("/-") / "-" / name

    def _remove(self, place: str) -> None:
        with contextlib.suppress(FileNotFoundError), self._ours(place, "removed"):
            self._store.rm_file(place)

    def _time(self, name: PurePosixPath) -> datetime:
        place = f"{self._root}/{name}"
        with contextlib.suppress(FileNotFoundError, NotImplementedError), self._ours(place, "read"):
            return _aware(self._store.modified(place))
        return datetime.now(UTC)

    def _place(self, digest: str) -> str:
        return f"{self._root}/{digest[:2]}/{checked(self.url, digest)}"

    @staticmethod
    def _is_place(name: PurePosixPath) -> bool:
        return is_hash(name.name) and str(name) == f"{name.name[:2]}/{name.name}"

    def _names(self) -> list[PurePosixPath]:
        try:
            with self._ours(self._root, "listed"):
                found = self._store.find(self._root)
        except FileNotFoundError:
            return []
        return sorted(PurePosixPath(each).relative_to(self._root) for each in found)

    def _is_sound(self, place: str, digest: str, length: int) -> bool:
        try:
            with self._ours(place, "read"):
                return bool(self._store.size(place) == length and hash_of(self._store.cat_file(place)) == digest)
        except FileNotFoundError:
            return False

    def _shown(self, place: str) -> str:
        return f"{self.url}{place.removeprefix(self._root)}"

    @contextmanager
    def _ours(self, place: str, what: str) -> Iterator[None]:
        """Errors of stores are of many kinds; one that is not there, or cannot say, is the caller's to handle."""
        try:
            yield
        except (FileNotFoundError, NotImplementedError, KeyposeError):
            raise
        except Exception as error:
            says: Any = getattr(error, "strerror", None) or error or type(error).__name__
            raise FileError(f"{self._shown(place)}: cannot be {what} ({says})") from error


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)
