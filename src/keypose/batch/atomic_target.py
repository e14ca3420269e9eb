"""Atomic replacement of target files, and removal of notes about reference poses."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from keypose.batch.file_discovery import stem
from keypose.errors import FileError, FormatError

POSE_NOTE = re.compile(r"(frame 0|the first frame) is a reference pose \(T-pose\), kept apart from the movement")


def drop_pose_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes without those about a separate reference pose: the stored file holds that pose too."""
    return tuple(note for note in notes if not POSE_NOTE.fullmatch(note))


@contextmanager
def atomic_target(target: Path) -> Iterator[Path]:
    """Yield a hidden temporary file beside ``target`` that replaces it at the end, unless an exception is raised.

    A symbolic link stays a link; an existing file keeps its permissions. An existing target that is not a regular file
    (a pipe, a device, a folder, a link to itself) is never replaced. Errors name the target.
    """
    real_target = Path(os.path.realpath(target))
    _check_replaceable(target, real_target)
    suffix = real_target.name[len(stem(real_target.name)) :]  # it decides the format
    temp_file = real_target.with_name(f".{secrets.token_hex(6)}{suffix}")
    try:
        yield temp_file
        if real_target.exists():
            temp_file.chmod(stat.S_IMODE(real_target.stat().st_mode))
        temp_file.replace(real_target)
    except FormatError as error:
        if error.path != str(temp_file):
            raise
        raise FormatError(target, error.problem, line=error.line, byte=error.byte) from None
    except FileError as error:
        raise FileError(str(error).replace(str(temp_file), str(target))) from None
    except OSError as error:
        raise FileError(f"{target}: cannot be written ({error.strerror})") from None
    finally:
        with suppress(OSError):
            temp_file.unlink(missing_ok=True)


def _check_replaceable(target: Path, real_target: Path) -> None:
    try:
        mode = real_target.lstat().st_mode
    except (OSError, ValueError):  # no such file, or writing it will raise the error
        return
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a link to itself" if stat.S_ISLNK(mode) else "not a regular file"
        raise FileError(f"{target}: is {kind}, and is not replaced")
