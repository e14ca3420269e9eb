"""Bytes as objects of a store that fsspec can reach: S3, Google, Azure, SFTP, memory."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from keypose.errors import FileError, FormatError, KeyposeError, MissingExtra, OptionError
from keypose.formats import Limits
from keypose.library.blobs.base import LEFTOVER_AFTER_S, OWNER, checked, hash_of, is_left, is_place, sound

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

    def __init__(self, url: str, most_bytes: int = Limits().bytes) -> None:
        self.url = url
        self.most_bytes = most_bytes
        scheme = url.partition("://")[0]
        try:
            self._store, self._root = url_to_fs(url, use_listings_cache=False, skip_instance_cache=True)
        except ImportError as error:
            raise MissingExtra(f"{scheme}:// needs another package: {error}") from None
        except ValueError:
            raise OptionError(f"blobs={url!r}: fsspec knows no {scheme}://") from None
        except Exception as error:  # of whatever package the store has
            raise FileError(f"{url}: cannot be used ({error or type(error).__name__})") from error
        self._whole = scheme in WHOLE

    def __str__(self) -> str:
        return self.url

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

    def read(self, digest: str, n_bytes: int = 0) -> bytes:
        """The bytes, checked against their hash."""
        place = self._place(digest)
        try:
            data = self._read(place, max(self.most_bytes, n_bytes))
        except FileNotFoundError:
            raise FileError(f"{self._shown(place)}: no such file, though the library has a clip of it") from None
        return sound(self._shown(place), data, digest)

    def _read(self, place: str, most_bytes: int) -> bytes:
        """An object; one that is far too large is not fetched."""
        with self._ours(place, "read"):
            size = self._store.size(place)
            if size is not None and size > most_bytes:
                says = f"is damaged: it has {size} bytes, expected at most {most_bytes}"
                raise FormatError(self._shown(place), says)
            return bytes(self._store.cat_file(place))

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
        return (name.name for name in self._names() if is_place(str(name)))

    def leftovers(self) -> Iterator[str]:
        """Objects of writers that died."""
        newest = datetime.now(UTC) - timedelta(seconds=LEFTOVER_AFTER_S)
        return (str(name) for name in self._names() if is_left(str(name)) and self._time(name) < newest)

    def remove_leftover(self, name: str) -> None:
        """Removes an object that ``leftovers`` found."""
        if is_left(name):
            self._remove(f"{self._root}/{name}")

    def strangers(self) -> Iterator[str]:
        """All other objects."""
        return (name for name in map(str, self._names()) if name != OWNER and not is_left(name) and not is_place(name))

    def at_top(self) -> tuple[str, ...] | None:
        """The first part of every name."""
        try:
            with self._ours(self._root, "listed"):
                found = self._store.ls(self._root, detail=False)
        except FileNotFoundError:
            return None
        return tuple(sorted(PurePosixPath(each).name for each in found))

    def make(self) -> None:
        """Nothing but folders of stores that have such: objects need none."""
        with self._ours(self._root, "made"):
            self._store.makedirs(self._root, exist_ok=True)

    def owner(self) -> bytes | None:
        """What the object at the top says."""
        try:
            return self._read(f"{self._root}/{OWNER}", self.most_bytes)
        except FileNotFoundError:
            return None

    def set_owner(self, says: bytes) -> None:
        """Writes the object at the top."""
        with self._ours(f"{self._root}/{OWNER}", "written"):
            self.make()
            self._store.pipe_file(f"{self._root}/{OWNER}", says)

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
