"""``keypose library verify``, ``rebuild`` and ``export``: check, repair and export a library."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from keypose.cli import library_edit, output
from keypose.cli.library_options import (
    DEFAULT_FILTERS,
    FILTER_GROUP,
    Blobs,
    FilterFlags,
    LibraryOption,
    LibraryProgressBar,
    find_clips,
    has_blob_folder,
    open_library,
    resolve_location,
)
from keypose.cli.messages import MessageSummary
from keypose.cli.options import Jobs, Json
from keypose.cli.output import UsageError, format_duration, missing_argument_error
from keypose.cli.runner import Quiet

if TYPE_CHECKING:
    from keypose.library.library import Library
    from keypose.library.records import Fault, RebuildProgress


def verify(
    *,
    fix: Annotated[
        bool,
        Parameter(negative="", help="Remove leftovers of killed processes, and rebuild wrong or missing indexes."),
    ] = False,
    drop_orphans: Annotated[
        bool,
        Parameter(
            negative="", help="Remove bytes that belong to no clip. keypose library rebuild turns them into clips."
        ),
    ] = False,
    library: LibraryOption = None,
    json: Json = False,
) -> int:
    """Verify that a library is complete and undamaged.

    Every row and every byte is read and compared with its hash. Faults are listed
    with the command that repairs them, and the exit code is 1; with --fix only if
    some could not be repaired.

    For example:
      keypose library verify
      keypose library verify --fix
      keypose library verify --library archive.db --json > verified.json
    """
    with open_library(library) as opened_library:
        faults = opened_library.verify(fix=fix, drop_orphans=drop_orphans)
        return library_edit.report_faults(opened_library, faults, "sound", json=json)


def rebuild(
    *, jobs: Jobs = None, library: LibraryOption = None, blobs: Blobs = None, json: Json = False, quiet: Quiet = False
) -> int:
    """Rebuild everything that is computed from the bytes of the clips.

    Key poses, swings, descriptors and the text index. Bytes that belong to no clip
    become clips again, named by their hashes, which restores a lost database.
    Adding their files again restores their names. Bytes that cannot be read are
    listed, and then the exit code is 1.

    For example:
      keypose library rebuild
      keypose library rebuild --library archive.db --jobs 4
    """
    if jobs is not None and jobs < 1:
        raise UsageError(option="jobs", value=jobs, expected="at least 1")
    lost = _repair_file(resolve_location(library), blobs)
    with open_library(library, blobs, create=blobs is not None or has_blob_folder(library)) as opened_library:
        return run(opened_library, jobs, json=json, quiet=quiet, lost=lost)


def export(
    folder: Annotated[str, Parameter(name="FOLDER", help="The output folder. It is created if it does not exist.")],
    /,
    *clips: Annotated[
        str, Parameter(name="CLIPS", help="Only these clips, by name or by hash. Default: all that match the options.")
    ],
    filters: Annotated[FilterFlags, FILTER_GROUP] = DEFAULT_FILTERS,
    library: LibraryOption = None,
    json: Json = False,
) -> int:
    """Export clips of a library as files with their original bytes.

    Clips stored as .kps (AMC, and those added with --tolerance-mm) are written as
    .kps; keypose convert converts them. Files are named after the clips. An
    existing file with the same bytes is kept; one with other bytes is an error.

    For example:
      keypose library export out/
      keypose library export out/ 02_01 02_02
      keypose library export walks/ --tag walk --words slow
    """
    if not folder:
        raise missing_argument_error("an empty name", "a folder", ". is the current one")
    if clips and filters.typed_options():
        raise UsageError("clips are named, and --words, --tag, --action or a duration chooses some", expected="one")
    filters.check()
    with open_library(library) as opened_library:
        selected_clips = find_clips(opened_library, clips) if clips else opened_library.clips(**filters.options())
        if not selected_clips and not json:
            library_edit.print_unknown_filters(opened_library, filters.words, filters.tags)
        return library_edit.export_clips(opened_library, folder, selected_clips, json=json)


def _repair_file(location: str, blobs: str | None) -> tuple[Fault, ...]:
    """Replace a file that is too damaged to be opened; return what was lost."""
    from keypose.library.library import Library

    if "://" in location or not os.path.lexists(location):
        return ()
    return Library.repair_file(location, blobs=blobs)


def run(library: Library, jobs: int | None, *, json: bool, quiet: bool, lost: tuple[Fault, ...] = ()) -> int:
    """Rebuild the library and print faults, and what was ``lost`` before; return the exit code."""
    summary = MessageSummary()
    warnings: list[str] | None = [] if json else None
    with LibraryProgressBar("Reading", quiet=quiet or json) as bar:

        def on_progress(progress: RebuildProgress) -> None:
            texts = [summary.add_warning(progress.name, warning) for warning in progress.warnings]
            if warnings is not None:
                warnings.extend(texts)
            bar.update(progress.total, progress.done, f"{format_duration(progress.remaining_s)} left", progress.name)

        faults = (*lost, *library.rebuild(jobs=jobs, on_progress=on_progress))
    if not quiet and not json:
        summary.print(output.print_warning)
    return library_edit.report_faults(library, faults, "rebuilt", json=json, quiet=quiet, warnings=warnings)
