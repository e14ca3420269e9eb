"""Files that take their place only when all is done, and notes of what has its place elsewhere."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from keypose.batch.inputs import stem
from keypose.errors import FileError, FormatError

KEPT_APART = re.compile(r"(frame 0|the first frame) is a reference pose \(T-pose\), kept apart from the movement")


def without_pose_note(notes: Iterable[str]) -> tuple[str, ...]:
    """What readers noticed, but for a pose that is kept apart: it is in the file, and comes back from there."""
    return tuple(note for note in notes if not KEPT_APART.fullmatch(note))


@contextmanager
def in_place_when_done(target: Path) -> Iterator[Path]:
    """A hidden file beside ``target`` that takes its place at the end, unless something fails.

    A target that is a link stays a link; an existing file's permissions are kept. What is there and no file (a pipe, a
    device, a folder, a link to itself) is never replaced. Errors speak of the target.
    """
    final = Path(os.path.realpath(target))
    _check_replaceable(target, final)
    ending = final.name[len(stem(final.name)) :]  # by which its format is told
    waiting = final.with_name(f".{secrets.token_hex(6)}{ending}")
    try:
        yield waiting
        if final.exists():
            waiting.chmod(stat.S_IMODE(final.stat().st_mode))
        waiting.replace(final)
    except FormatError as error:
        if error.path != str(waiting):
            raise
        raise FormatError(target, error.problem, line=error.line, byte=error.byte) from None
    except FileError as error:
        raise FileError(str(error).replace(str(waiting), str(target))) from None
    except OSError as error:
        raise FileError(f"{target}: cannot be written ({error.strerror})") from None
    finally:
        with suppress(OSError):
            waiting.unlink(missing_ok=True)


def _check_replaceable(target: Path, final: Path) -> None:
    try:
        mode = final.lstat().st_mode
    except (OSError, ValueError):  # nothing is there, or whoever writes will say what is wrong
        return
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a link to itself" if stat.S_ISLNK(mode) else "not a regular file"
        raise FileError(f"{target}: is {what}, and is not replaced")
