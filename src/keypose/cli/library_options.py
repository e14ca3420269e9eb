"""Options and helpers shared by the commands of ``keypose library``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

from cyclopts import Group, Parameter
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as RichProgress

from keypose.batch.file_discovery import discover_clips, suggest_file
from keypose.cli import output
from keypose.cli.options import Flags, check_output_file, with_flags
from keypose.cli.output import UsageError, missing_argument_error
from keypose.errors import FileError, FormatError
from keypose.options.library import ClipFilterOptions
from keypose.pictures.report.build import page_path
from keypose.validation import check_regular_file

if TYPE_CHECKING:
    from keypose.library.library import Library
    from keypose.library.records import Clip

LIBRARY_VARIABLE = "KEYPOSE_LIBRARY"
DEFAULT_LIBRARY = "clips.db"
SQLITE_MAGIC = b"SQLite format 3\0"  # first bytes of SQLite files
MAX_NAME_COLUMNS = 30
FILTER_GROUP = Parameter(group=Group("Filters", sort_key=2))
LibraryOption = Annotated[
    str | None,
    Parameter(
        name=("--library", "-l"),
        help=f"The library: a file, or the URL of a PostgreSQL database. Default: the environment variable "
        f"{LIBRARY_VARIABLE}, or {DEFAULT_LIBRARY} in the current folder.",
    ),
]
Blobs = Annotated[
    str | None,
    Parameter(
        help="Where a new library stores the bytes of its clips: a folder, or the URL of an object store. Default: "
        "a folder beside the file. An existing library remembers it."
    ),
]
ClipNames = Annotated[
    str, Parameter(name="CLIPS", help="Clips of the library, by name or by hash (its first 8 digits suffice).")
]


@with_flags(only=("words", "tags", "min_duration_s", "max_duration_s", "action"))
class FilterFlags(Flags, ClipFilterOptions):
    """Which clips are selected."""


@with_flags(only=("tags", "min_duration_s", "max_duration_s", "action"))
class TagFilterFlags(Flags, ClipFilterOptions):
    """Which clips are selected, besides words."""


DEFAULT_FILTERS, DEFAULT_TAG_FILTERS = FilterFlags(), TagFilterFlags()


def resolve_location(library: str | None) -> str:
    """Return the file or URL of the library: the option, the environment variable, or the default."""
    location = library if library is not None else os.environ.get(LIBRARY_VARIABLE) or DEFAULT_LIBRARY
    if not location.strip():
        raise UsageError(
            "is empty", option="library", value="", expected="the file of a library or the URL of a database"
        )
    return location if "://" in location else os.path.expanduser(location)  # noqa: PTH111 - one that has no home stays as it is


@contextmanager
def open_library(library_option: str | None, blobs: str | None = None, *, create: bool = False) -> Iterator[Library]:
    """Open the library; create it if it does not exist and ``create`` is set, else raise FileError."""
    from keypose.errors import FileError
    from keypose.library.library import Library

    location = resolve_location(library_option)
    if "://" not in location:
        _check_location(location)
        if not create and not os.path.lexists(location):
            option = "" if location == DEFAULT_LIBRARY else f" --library {location}"
            raise FileError(
                "no such library",
                path=location,
                hint=f"keypose library add FOLDER{option} makes one, and --library or {LIBRARY_VARIABLE} names another",
            )
    with Library(location, blobs=blobs, create=create) as library:
        yield library


def _check_location(location: str) -> None:
    """Raise an error if the folder does not exist or the file is not an SQLite database."""
    folder = os.path.dirname(location)  # noqa: PTH120 - Path raises for odd names
    if folder and not os.path.isdir(folder):  # noqa: PTH112 - as above
        raise FileError("no such folder", path=folder, expected=f"one for the library {os.path.basename(location)}")  # noqa: PTH119
    if not os.path.isfile(location):  # noqa: PTH113 - as above
        return
    try:
        with open(location, "rb") as file:  # noqa: PTH123 - as above
            start = file.read(len(SQLITE_MAGIC))
    except OSError:  # opening the library reports it
        return
    if start and start != SQLITE_MAGIC and not has_blob_folder(location):  # otherwise it is damaged
        raise FormatError(location, "is no library, expected a file that keypose library add has made")


def check_files_exist(names: Sequence[str]) -> None:
    """Raise FileError if none of the files to add is a regular file, so that no library is created for nothing."""
    inputs = discover_clips(names)
    if any(os.path.isfile(file.path) for file in inputs.files):  # noqa: PTH113 - Path raises for odd names
        return
    if inputs.problems:
        raise inputs.problems[0]
    path = inputs.files[0].path
    if os.path.exists(path):  # noqa: PTH110 - as above
        check_regular_file(Path(path), "a motion file")
    near = suggest_file(path)
    raise FileError(
        "no such file",
        code="no_such_file",
        path=path,
        hint=f"did you mean {near}?" if near else None,
    )


def has_blob_folder(library: str | None) -> bool:
    """Return whether the blob folder of a library exists, even if its database is lost."""
    from keypose.library.blobs.folder import DEFAULT_SUFFIX

    location = resolve_location(library)
    return "://" not in location and Path(location + DEFAULT_SUFFIX).is_dir()


def find_clips(library: Library, names: Sequence[str]) -> list[Clip]:
    """Return the clips with these names, each once; raise OptionError if one does not exist."""
    if not names:
        raise missing_argument_error("no clip named", "at least one, by name or by hash")
    return list({clip.hash: clip for clip in map(library.clip, names)}.values())


def check_page_path(path: Path | None, *, overwrite: bool) -> Path | None:
    """Return the path of the page, checked before any work is done; None if none is requested."""
    if path is None:
        return None
    target = page_path(path)
    return check_output_file(target, "the name of a page", overwrite=overwrite)


class LibraryProgressBar:
    """A progress bar with rate and the name of the last clip."""

    def __init__(self, verb: str, *, quiet: bool) -> None:
        self._bar = RichProgress(
            TextColumn(verb, markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}", markup=False, style="dim"),
            TextColumn("{task.fields[name]}", markup=False, style="cyan"),
            console=output.stderr_console(),
            transient=True,
            disable=quiet or not output.stderr_console().is_terminal,
            speed_estimate_period=0,  # the rate is measured here; rich would store a sample of each clip
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("", total=None, rate="", name="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def update(self, total: int, done: int, rate: str, name: str) -> None:
        """Set the progress."""
        short_name = output.escape_unprintable(name)[:MAX_NAME_COLUMNS]
        self._bar.update(self._task, total=total, completed=done, rate=rate, name=short_name)
