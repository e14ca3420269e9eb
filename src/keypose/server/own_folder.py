"""Folders of a server among temporary files: uploads on their way in, what workers work on, the library of a demo.

Each is locked for as long as the server runs, which systemd's cleaner of temporary files respects. One whose lock is
free was left by a server that was killed: it goes when the next one starts.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

_HELD: list[OwnFolder] = []


class OwnFolder:
    """A new folder that nobody else can look into."""

    def __init__(self, prefix: str) -> None:
        _remove_left(prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self._lock = _locked(self.path)
        _HELD.append(self)

    def there(self) -> Path:
        """Its path; made again where somebody removed it."""
        make_private(self.path)
        if self._lock is not None and not os.path.samestat(os.fstat(self._lock), self.path.stat()):
            os.close(self._lock)
            self._lock = None
        if self._lock is None:
            self._lock = _locked(self.path)
        return self.path

    def remove(self) -> None:
        """Removes it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self in _HELD:
            _HELD.remove(self)
            if self._lock is not None:
                os.close(self._lock)


@contextlib.contextmanager
def own_folder(prefix: str) -> Iterator[OwnFolder]:
    """A folder for a while."""
    folder = OwnFolder(prefix)
    try:
        yield folder
    finally:
        folder.remove()


def remove_all() -> None:
    """Removes all folders of this process, which is about to be left."""
    for folder in tuple(_HELD):
        folder.remove()


def make_private(path: Path) -> None:
    """Makes a folder, and those above it, where they are missing; one of somebody else is not taken for it."""
    try:
        path.mkdir(0o700)
    except FileNotFoundError:
        make_private(path.parent)
        path.mkdir(0o700)
    except FileExistsError:
        if not _is_ours(path):
            raise


def _remove_left(prefix: str) -> None:
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        lock = _locked(path) if _is_ours(path) else None
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def _is_ours(path: Path) -> bool:
    """Whether it is a folder of this user, and no link to one."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())


def _locked(path: Path) -> int | None:
    """An open folder that nobody else has locked; None where somebody has, or where there are no locks: Windows."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened
