"""Blobs as objects of a store that fsspec can reach: S3, Google, Azure, SFTP, memory."""

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
from keypose.formats.base import LEFTOVER_AFTER_S
from keypose.library.blobs.base import (
    OWNER_FILE,
    check_content,
    check_hash,
    is_blob_path,
    is_leftover,
    sha256_hex,
)

try:
    from fsspec.core import url_to_fs
except ImportError:
    raise MissingExtra("bytes in an object store need", "pip install 'keypose[objects]'") from None

# Stores with atomic writes; in other stores bytes are written under a temporary name and then moved.
ATOMIC_SCHEMES = frozenset({"memory", "s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oci", "oss", "r2"})
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class FsspecBlobs:
    """Blobs as objects ``ab/abcdef...`` below a URL; no part of such a name is a file name of a user.

    Every call queries the store: listings are never cached.
    """

    def __init__(self, url: str, max_bytes: int = Limits().bytes) -> None:
        self.url = url
        self.max_bytes = max_bytes
        scheme = url.partition("://")[0]
        try:
            self._store, self._root = url_to_fs(url, use_listings_cache=False, skip_instance_cache=True)
        except ImportError as error:
            raise MissingExtra(f"{scheme}:// needs another package: {error}") from None
        except ValueError:
            raise OptionError(f"is of no known kind: fsspec knows no {scheme}://", option="blobs", value=url) from None
        except Exception as error:  # the package of the store may raise anything
            raise FileError(f"cannot be used ({error or type(error).__name__})", path=url) from error
        self._is_atomic = scheme in ATOMIC_SCHEMES

    def __str__(self) -> str:
        return self.url

    def put(self, data: bytes) -> str:
        """Write ``data`` to the store and return its hash."""
        digest = sha256_hex(data)
        path = self._path(digest)
        if self._is_intact(path, digest, len(data)):
            return digest
        with self._translate_errors(path, "written"):
            self._store.makedirs(path.rpartition("/")[0], exist_ok=True)
            if self._is_atomic:
                self._store.pipe_file(path, data)
            else:
                self._write_via_temporary(path, data)
        return digest

    def _write_via_temporary(self, path: str, data: bytes) -> None:
        temporary = f"{path}.{secrets.token_hex(8)}.tmp"
        try:
            self._store.pipe_file(temporary, data)
            self._store.mv(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                self._store.rm_file(temporary)
            raise

    def read(self, digest: str, n_bytes: int = 0) -> bytes:
        """Return the bytes, checked against their hash."""
        path = self._path(digest)
        try:
            data = self._read(path, max(self.max_bytes, n_bytes))
        except FileNotFoundError:
            raise FileError(
                "no such file, though the library has a clip of it", path=self._display_url(path), code="missing_blob"
            ) from None
        return check_content(self._display_url(path), data, digest)

    def _read(self, path: str, max_bytes: int) -> bytes:
        """Return an object; FormatError, without fetching it, if it is too large."""
        with self._translate_errors(path, "read"):
            size = self._store.size(path)
            if size is not None and size > max_bytes:
                problem = f"is damaged: it has {size} bytes, expected at most {max_bytes}"
                raise FormatError(self._display_url(path), problem)
            return bytes(self._store.cat_file(path))

    def has(self, digest: str) -> bool:
        """Return whether there is an object for this hash."""
        path = self._path(digest)
        with self._translate_errors(path, "read"):
            return bool(self._store.isfile(path))

    def modified_at(self, digest: str) -> datetime:
        """Return the modification time of the object; EPOCH if the store has none."""
        path = self._path(digest)
        try:
            with self._translate_errors(path, "read"):
                return _to_utc(self._store.modified(path))
        except FileNotFoundError:  # the object was removed in the meantime
            return datetime.now(UTC)
        except NotImplementedError:
            return EPOCH

    def remove(self, digest: str) -> None:
        """Remove the object, if it exists."""
        self._remove(self._path(digest))

    def hashes(self) -> Iterator[str]:
        """Yield the hashes of all objects, in order."""
        return (name.name for name in self._names() if is_blob_path(str(name)))

    def leftovers(self) -> Iterator[str]:
        """Yield the temporary objects of killed writers."""
        cutoff = datetime.now(UTC) - timedelta(seconds=LEFTOVER_AFTER_S)
        return (str(name) for name in self._names() if is_leftover(str(name)) and self._modified_at(name) < cutoff)

    def remove_leftover(self, name: str) -> None:
        """Remove an object that ``leftovers`` yielded."""
        if is_leftover(name):
            self._remove(f"{self._root}/{name}")

    def foreign_files(self) -> Iterator[str]:
        """Yield all other objects."""
        return (
            name
            for name in map(str, self._names())
            if name != OWNER_FILE and not is_leftover(name) and not is_blob_path(name)
        )

    def top_level_names(self) -> tuple[str, ...] | None:
        """Return the first component of every name."""
        try:
            with self._translate_errors(self._root, "listed"):
                paths = self._store.ls(self._root, detail=False)
        except FileNotFoundError:
            return None
        return tuple(sorted(PurePosixPath(each).name for each in paths))

    def create(self) -> None:
        """Create the folder in stores that have folders; objects need none."""
        with self._translate_errors(self._root, "made"):
            self._store.makedirs(self._root, exist_ok=True)

    def read_owner(self) -> bytes | None:
        """Return the content of the owner object."""
        try:
            return self._read(f"{self._root}/{OWNER_FILE}", self.max_bytes)
        except FileNotFoundError:
            return None

    def write_owner(self, content: bytes) -> None:
        """Write the owner object."""
        with self._translate_errors(f"{self._root}/{OWNER_FILE}", "written"):
            self.create()
            self._store.pipe_file(f"{self._root}/{OWNER_FILE}", content)

    def placeholder_path(self, name: str) -> Path:
        """Return a path in a folder that never exists."""
        return Path("/-") / "-" / name

    def _remove(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError), self._translate_errors(path, "removed"):
            self._store.rm_file(path)

    def _modified_at(self, name: PurePosixPath) -> datetime:
        path = f"{self._root}/{name}"
        with contextlib.suppress(FileNotFoundError, NotImplementedError), self._translate_errors(path, "read"):
            return _to_utc(self._store.modified(path))
        return datetime.now(UTC)

    def _path(self, digest: str) -> str:
        return f"{self._root}/{digest[:2]}/{check_hash(self.url, digest)}"

    def _names(self) -> list[PurePosixPath]:
        try:
            with self._translate_errors(self._root, "listed"):
                paths = self._store.find(self._root)
        except FileNotFoundError:
            return []
        return sorted(PurePosixPath(each).relative_to(self._root) for each in paths)

    def _is_intact(self, path: str, digest: str, length: int) -> bool:
        try:
            with self._translate_errors(path, "read"):
                return bool(self._store.size(path) == length and sha256_hex(self._store.cat_file(path)) == digest)
        except FileNotFoundError:
            return False

    def _display_url(self, path: str) -> str:
        return f"{self.url}{path.removeprefix(self._root)}"

    @contextmanager
    def _translate_errors(self, path: str, action: str) -> Iterator[None]:
        """Convert errors of the store to FileError, except FileNotFoundError and NotImplementedError, which the caller
        handles."""
        try:
            yield
        except (FileNotFoundError, NotImplementedError, KeyposeError):
            raise
        except Exception as error:
            reason: Any = getattr(error, "strerror", None) or error or type(error).__name__
            raise FileError(f"cannot be {action} ({reason})", path=self._display_url(path)) from error


def _to_utc(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)
