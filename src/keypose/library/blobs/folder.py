"""Blobs as files in a folder, and the location of the blobs of a library."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from keypose.errors import FileError, FormatError, Hint, OptionError, format_count
from keypose.formats import Limits
from keypose.formats.base import LEFTOVER_AFTER_S, write_atomically
from keypose.library.blobs.base import (
    OWNER_FILE,
    Blobs,
    check_content,
    check_hash,
    is_blob_path,
    is_leftover,
    is_library_name,
    sha256_hex,
)

if TYPE_CHECKING:
    from keypose.library.db import Dialect


_OPEN_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

DEFAULT_LOCATION = ""  # recorded in the database; the location beside it
DEFAULT_SUFFIX = ".blobs"
MAX_LOCATION_CHARS = 4000
# Databases cannot store these; file names that are not UTF-8 contain them.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_URL = re.compile(r"([a-z][a-z0-9+.-]+)://[^\x00-\x20]*")

_TEMPLATE = "The bytes here belong to the Keypose library {identity}.\n"
_PATTERN = re.compile(_TEMPLATE.format(identity="([0-9a-f]{32})").encode())


class FolderBlobs:
    """Blobs as files ``ab/abcdef...`` below a folder; no part of such a path is a file name of a user.

    Only regular files are read; a link, a pipe or a device in place of a blob is reported as damage.
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
                path.unlink(missing_ok=True)  # otherwise the target of the link would be written
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
            raise FileError(
                "no such file, though the library has a clip of it", path=path, code="missing_blob"
            ) from None
        except OSError as error:
            raise _file_error(path, "read", error) from None

    def has(self, digest: str) -> bool:
        """Return whether there is a file for this hash."""
        return _is_regular(self._path(digest))

    def modified_at(self, digest: str) -> datetime:
        """Return the modification time of the file."""
        try:
            return datetime.fromtimestamp(self._path(digest).lstat().st_mtime, UTC)
        except OSError:  # the file was removed in the meantime
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
            raise FileError("cannot be written to", path=self.root, code="read_only")

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
    if stat.S_ISDIR(mode):  # a folder is never replaced, as it may contain files of the user
        raise FormatError(path, "is a folder", expected="a file: move it away")
    if not stat.S_ISREG(mode):
        raise FormatError(path, "is a link, a folder or a device", expected="a file")
    descriptor = os.open(path, os.O_RDONLY | _OPEN_FLAGS)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FormatError(path, "is a link, a folder or a device", expected="a file")
        if status.st_size > max_bytes:
            raise FormatError(
                path,
                f"is damaged: it has {format_count(status.st_size, 'byte')}",
                expected=f"at most {max_bytes}",
                code="damaged",
            )
        return file.read()


def _file_error(path: Path, action: str, error: OSError) -> FileError:
    return (
        error
        if isinstance(error, FileError)
        else FileError(f"cannot be {action} ({error.strerror or error})", path=path)
    )


def _sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk, where the system supports it."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def choose_location(requested: str | PathLike[str] | None, recorded: str | None, dialect: Dialect) -> str:
    """Return the location to record for a new library (``recorded`` None), else the recorded one.

    A ``requested`` location that differs from the recorded one is an OptionError.
    """
    location = None if requested is None else normalise_location(requested)
    if recorded is None:
        if location is None and dialect.path is None:
            raise OptionError(
                "is not enough for a new library in a server",
                option="blobs",
                value=None,
                expected="a folder or a URL for the bytes of its clips, that all who use it can reach",
            )
        return DEFAULT_LOCATION if location is None or location == _default_path(dialect.path) else location
    if location is not None and location not in (
        recorded,
        _default_path(dialect.path) if recorded == DEFAULT_LOCATION else recorded,
    ):
        raise OptionError(
            option="blobs",
            value=location,
            expected=f"{recorded or _default_path(dialect.path)!r}, where the bytes of this library are, or nothing",
        )
    return recorded


def normalise_location(location: str | PathLike[str]) -> str:
    """Return a path or URL as it is recorded: paths are absolute, URLs have no credentials."""
    text = os.fspath(location) if isinstance(location, str | PathLike) else ""
    if not isinstance(text, str) or not text or _UNSTORABLE.search(text) or len(text) > MAX_LOCATION_CHARS:
        raise OptionError(option="blobs", value=location, expected="a folder or a URL like s3://bucket/clips")
    if "://" not in text:
        return os.path.abspath(text)  # noqa: PTH100  # links stay as they are
    if "::" in text or not _URL.fullmatch(text):
        raise OptionError("a URL that cannot be read", option="blobs", expected="one like s3://bucket/clips")
    url_parts = urlsplit(text)
    if url_parts.password or "@" in url_parts.netloc or url_parts.query:
        raise OptionError(
            "a URL with a user, a password or options",
            option="blobs",
            expected="them in the environment or in the settings of the store: the URL is kept in the database",
        )
    if url_parts.scheme in ("file", "local"):
        return os.path.abspath(unquote(url_parts.path))  # noqa: PTH100
    return text.rstrip("/") if url_parts.netloc or url_parts.path.strip("/") else text


def open_blobs(location: str, dialect: Dialect, max_bytes: int = Limits().bytes) -> Blobs:
    """Return the blobs at a recorded location."""
    if location == DEFAULT_LOCATION:
        if dialect.path is None:
            raise FormatError(dialect.location, "does not say where the bytes of its clips are", code="library_damaged")
        return FolderBlobs(Path(_default_path(dialect.path)), max_bytes)
    if "://" not in location:
        if not Path(location).is_absolute():
            raise FormatError(
                dialect.location,
                f"its bytes are in {location[:80]!r}",
                expected="a full path or a URL",
                code="library_damaged",
            )
        return FolderBlobs(Path(location), max_bytes)
    from keypose.library.blobs.object_store import FsspecBlobs

    return FsspecBlobs(normalise_location(location), max_bytes)


def _default_path(path: Path | None) -> str:
    """Return the path beside the database file, with links resolved; "" without a file."""
    return "" if path is None else os.path.realpath(path) + DEFAULT_SUFFIX


def is_identity(value: object) -> bool:
    """Return whether ``value`` has the form of a library identity."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None


def load_owner(blobs: Blobs) -> str | None:
    """Return the identity of the library that owns the blobs; None if the owner file is missing or unreadable."""
    try:
        content = blobs.read_owner()
    except FormatError:  # not a regular file
        return None
    match = None if content is None else _PATTERN.fullmatch(content)
    return None if match is None else match[1].decode()


def choose_identity(blobs: Blobs, *, is_default_location: bool) -> str:
    """Return the identity of a new library with its blobs at a location; OptionError if the location is taken.

    The folder beside a database belongs to the database of that name, so a new database gets its identity.
    """
    owner = load_owner(blobs)
    if owner is not None:
        if is_default_location:
            return owner
        first_step = f"if the database of that one is lost, remove the file {OWNER_FILE} there first, and"
        raise OptionError(
            "are those of another library",
            option="blobs",
            value=str(blobs),
            expected="a place of its own",
            hint=Hint(
                python=f"{first_step} rebuild() takes its clips in",
                command=f"{first_step} keypose library rebuild takes its clips in",
            ),
            code="other_library",
        )
    foreign_names = [name for name in blobs.top_level_names() or () if not is_library_name(name) or name == OWNER_FILE]
    if foreign_names:
        raise OptionError(
            f"holds other things ({foreign_names[0][:80]!r})",
            option="blobs",
            value=str(blobs),
            expected="a place that is empty or not there",
        )
    blobs.create()
    return secrets.token_hex(16)


def write_identity(blobs: Blobs, identity: str) -> None:
    """Record the owner at the location of the blobs."""
    blobs.write_owner(_TEMPLATE.format(identity=identity).encode())


def has_owner(blobs: Blobs, identity: str, location: str) -> bool:
    """Return whether the owner file is that of the library; FormatError if it is that of another one."""
    owner = load_owner(blobs)
    if owner not in (None, identity):
        raise FormatError(location, f"the bytes at {blobs} are those of another library ({OWNER_FILE} there says so)",
                          expected="its own", code="other_library")  # fmt: skip
    return owner is not None
