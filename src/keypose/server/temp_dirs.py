"""Temporary folders of a server: uploads, temporary files of workers, the library of a demo.

Each is locked while the server runs, which systemd-tmpfiles respects. One without a lock was left by a server that was
killed: the next server removes it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

_OPEN_DIRS: list[TempDir] = []


class TempDir:
    """A new private folder, locked."""

    def __init__(self, prefix: str) -> None:
        _remove_stale(prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self._lock = _lock_dir(self.path)
        _OPEN_DIRS.append(self)

    def ensure_path(self) -> Path:
        """Return its path; the folder is created again if it was removed."""
        make_private_dir(self.path)
        if self._lock is not None and not os.path.samestat(os.fstat(self._lock), self.path.stat()):
            os.close(self._lock)
            self._lock = None
        if self._lock is None:
            self._lock = _lock_dir(self.path)
        return self.path

    def remove(self) -> None:
        """Remove the folder and its content."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self in _OPEN_DIRS:
            _OPEN_DIRS.remove(self)
            if self._lock is not None:
                os.close(self._lock)


@contextlib.contextmanager
def temp_dir(prefix: str) -> Iterator[TempDir]:
    """Open a temporary folder that is removed at the end."""
    directory = TempDir(prefix)
    try:
        yield directory
    finally:
        directory.remove()


def remove_all() -> None:
    """Remove all open folders of this process before it exits."""
    for directory in tuple(_OPEN_DIRS):
        directory.remove()


def make_private_dir(path: Path) -> None:
    """Create a folder and its parents if missing; FileExistsError if it exists and belongs to another user."""
    try:
        path.mkdir(0o700)
    except FileNotFoundError:
        make_private_dir(path.parent)
        path.mkdir(0o700)
    except FileExistsError:
        if not _is_own_dir(path):
            raise


def _remove_stale(prefix: str) -> None:
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        lock = _lock_dir(path) if _is_own_dir(path) else None
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def _is_own_dir(path: Path) -> bool:
    """Return whether ``path`` is a folder of this user and not a link."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid())


def _lock_dir(path: Path) -> int | None:
    """Lock a folder and return its descriptor; None if another process holds the lock, or on Windows."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
