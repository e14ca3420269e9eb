"""``keypose library add``: add files and folders to a library, in parallel, each content once."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Group, Parameter

from keypose.cli.exit_codes import UsageError
from keypose.cli.library_options import Blobs, LibraryOption
from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, ReadFps, ReferencePose
from keypose.cli.output_options import Quiet

METADATA_GROUP, INGEST_GROUP, READ_GROUP = (
    Parameter(group=Group(title, sort_key=order))
    for order, title in ((1, "Metadata of the clips"), (2, "Adding"), (3, "Reading files"))
)


def add(
    *files: Annotated[str, Parameter(help="Motion files, folders of them, or patterns in quotes.")],
    tag: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Add these tags to all clips: a,b. May be given several times."),
        METADATA_GROUP,
    ] = (),
    tag_folders: Annotated[
        bool,
        Parameter(negative="", help="Add the names of each clip's folders, below the given one, as tags."),
        METADATA_GROUP,
    ] = False,
    source: Annotated[
        str | None, Parameter(help="The source of the clips. Default: each file's path."), METADATA_GROUP
    ] = None,
    licence: Annotated[str, Parameter(help="The licence of the clips."), METADATA_GROUP] = "",
    note: Annotated[str, Parameter(help="Any other note on the clips."), METADATA_GROUP] = "",
    tolerance_mm: Annotated[
        float | None,
        Parameter(
            help="Store compressed .kps files within this error on a figure of 1.7 m instead of the original bytes. "
            "Default: store every byte; for files that need others beside them (AMC, some glTF), every number, as "
            ".kps."
        ),
        INGEST_GROUP,
    ] = None,
    jobs: Annotated[Jobs, INGEST_GROUP] = None,
    engine: Annotated[
        str | None,
        Parameter(help="Run on a Dask cluster: dask://host:8786. Default: processes on this machine."),
        INGEST_GROUP,
    ] = None,
    library: LibraryOption = None,
    blobs: Blobs = None,
    json: Json = False,
    quiet: Quiet = False,
    reference_pose: Annotated[ReferencePose, READ_GROUP] = "auto",
    asf: Annotated[Asf, READ_GROUP] = None,
    gaps: Annotated[Gaps, READ_GROUP] = "fill",
    animation: Annotated[Animation, READ_GROUP] = None,
    read_fps: Annotated[ReadFps, READ_GROUP] = None,
) -> int:
    """Add motion files to a library, which is created if it does not exist.

    Folders are searched recursively. Content that is already in the library, under
    any name, stays one clip: the new name and tags are added to it. A file that
    cannot be read is reported and skipped; then the exit code is 1. A clip is
    added completely or not at all, and after an interruption the same command
    continues. Of a file with several animations the first is added; --animation
    adds another one as a separate clip.

    For example:
      keypose library add takes/
      keypose library add takes/ more/walk.bvh --tag walk --licence CC-BY-4.0
      keypose library add "cmu/**/*.amc" --library archive.db --jobs 4
      keypose library add walks/ --asf skeletons/07.asf --read-fps 60
      keypose library add takes/ --engine dask://render01:8786
    """
    from keypose.cli import library_add_run as run
    from keypose.cli.library_options import check_files_exist, open_library
    from keypose.cli.option_parsers import parse_names
    from keypose.cli.options import parse_load_options

    if not files:
        raise UsageError("no file named, expected at least one file, folder or pattern")
    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs {jobs}: expected at least 1")
    if jobs is not None and engine is not None:
        raise UsageError("--jobs is about this machine, and --engine about others: expected one")
    if tolerance_mm is not None and not 0 < tolerance_mm < float("inf"):
        raise UsageError(f"--tolerance-mm {tolerance_mm:g}: expected a number above 0")
    check_files_exist(files)
    load_options = parse_load_options(reference_pose, asf, gaps, animation, read_fps, ())
    options = {
        "tags": parse_names("--tag", tag),
        "tag_folders": tag_folders,
        "source": source,
        "licence": licence,
        "note": note,
        "tolerance_mm": tolerance_mm,
        "jobs": jobs,
        "engine": engine,
        "reference_pose": load_options.reference_pose,
        "asf": load_options.asf,
        "gaps": load_options.gaps,
        "animation": load_options.animation,
        "fps": load_options.fps,
    }
    with open_library(library, blobs, create=True) as opened_library:
        return run.run(opened_library, files, options, json=json, quiet=quiet)
