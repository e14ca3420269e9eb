"""What the commands of ``keypose library`` share: which library, which clips, and how they are opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from keypose.cli.exits import UsageError

if TYPE_CHECKING:
    from keypose.library.library import Library
    from keypose.library.nouns import Clip

VARIABLE = "KEYPOSE_LIBRARY"
USUAL = "clips.db"
SQLITE = b"SQLite format 3\0"  # how such files begin
WHICH = Parameter(group=Group("Which clips", sort_key=2))
Where = Annotated[
    str | None,
    Parameter(
        name=("--library", "-l"),
        help=f"The library: a file, or the URL of a PostgreSQL database. Otherwise what the environment variable "
        f"{VARIABLE} says, or {USUAL} in the current folder.",
    ),
]
Blobs = Annotated[
    str | None,
    Parameter(
        help="Where a new library keeps the bytes of its clips: a folder, or the URL of an object store. Otherwise in "
        "a folder beside the file. Later it knows."
    ),
]
Tags = Annotated[
    tuple[str, ...],
    Parameter(name="--tag", negative="", help="Only clips with all these tags: a,b. May be given several times."),
    WHICH,
]
Words = Annotated[
    str | None,
    Parameter(help="Only clips with all these words, or beginnings of words, in their names or tags."),
    WHICH,
]
LeastDuration = Annotated[float | None, Parameter(help="Only clips that last at least so many seconds."), WHICH]
MostDuration = Annotated[float | None, Parameter(help="Only clips that last at most so many seconds."), WHICH]
ClipNames = Annotated[
    str, Parameter(name="CLIPS", help="Clips of the library, by name or by hash, of which 8 digits are enough.")
]


def location(where: str | None) -> str:
    """Which library is meant."""
    told = where if where is not None else os.environ.get(VARIABLE) or USUAL
    if not told.strip():
        raise UsageError("--library is empty, expected the file of a library or the URL of a database")
    return told if "://" in told else os.path.expanduser(told)  # noqa: PTH111 - one that has no home stays as it is


@contextmanager
def opened(where: str | None, blobs: str | None = None, *, create: bool = False) -> Iterator[Library]:
    """The library that is meant; one that is not there is made if it may be, or else the error says how."""
    from keypose.errors import FileError
    from keypose.library.library import Library

    told = location(where)
    if "://" not in told:
        _check_place(told)
        if not create and not os.path.lexists(told):
            named = "" if told == USUAL else f" --library {told}"
            raise FileError(f"{told}: no such library; keypose library add FOLDER{named} makes one, and --library or "
                            f"{VARIABLE} names another")  # fmt: skip
    with Library(told, blobs=blobs, create=create) as library:
        yield library


def _check_place(told: str) -> None:
    """An error where no library can be: in a folder that is not there, or where something else is."""
    from keypose.errors import FileError, FormatError

    folder = os.path.dirname(told)  # noqa: PTH120 - Path raises for odd names
    if folder and not os.path.isdir(folder):  # noqa: PTH112 - as above
        raise FileError(f"{folder}: no such folder, expected one for the library {os.path.basename(told)}")  # noqa: PTH119
    if not os.path.isfile(told):  # noqa: PTH113 - as above
        return
    try:
        with open(told, "rb") as file:  # noqa: PTH123 - as above
            start = file.read(len(SQLITE))
    except OSError:  # who opens it says why
        return
    if start and start != SQLITE:
        raise FormatError(told, "is no library, expected a file that keypose library add has made")


def check_there(names: Sequence[str]) -> None:
    """An error where nothing is there of all that is to be added: no library is made for that."""
    from keypose.batch.inputs import expand
    from keypose.batch.nearest import nearest_file
    from keypose.errors import FileError

    inputs = expand(names)
    if any(os.path.lexists(file.path) for file in inputs.files):
        return
    if inputs.problems:
        raise inputs.problems[0]
    near = nearest_file(inputs.files[0].path)
    raise FileError(f"{inputs.files[0].path}: no such file{f'; did you mean {near}?' if near else ''}")


def bytes_are_there(where: str | None) -> bool:
    """Whether the folder is there in which a library keeps bytes, be its database lost or not."""
    from keypose.library.blobs.place import BESIDE_SUFFIX

    told = location(where)
    return "://" not in told and Path(told + BESIDE_SUFFIX).is_dir()


def named_clips(library: Library, names: Sequence[str]) -> list[Clip]:
    """The clips of these names, each once; one that is not there is an error, before anything is done."""
    if not names:
        raise UsageError("no clip named, expected at least one, by name or by hash")
    return list({clip.hash: clip for clip in map(library.clip, names)}.values())


def seconds_from(option: str, seconds: float | None) -> float | None:
    """A duration that can be one."""
    if seconds is not None and not 0 <= seconds < float("inf"):
        raise UsageError(f"{option} {seconds:g}: expected a number of at least 0")
    return seconds


def count_from(option: str, count: int | None, least: int = 1) -> int | None:
    """How many."""
    if count is not None and count < least:
        raise UsageError(f"{option} {count}: expected at least {least}")
    return count


def page_from(path: Path | None, *, overwrite: bool) -> Path | None:
    """Where a page goes, checked before any work is done."""
    from keypose.errors import FileError
    from keypose.pictures.report.verb import page_path

    if path is None:
        return None
    target = page_path(path)
    if target.is_dir():
        raise FileError(f"{target}: is a folder, expected the name of a page")
    if not target.parent.is_dir():
        raise FileError(f"{target.parent}: no such folder")
    if os.path.lexists(target) and not overwrite:
        raise FileError(f"{target}: exists already; --overwrite replaces it")
    return target
