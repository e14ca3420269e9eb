"""``keypose library add``: files and folders into a library, in parallel, each content once."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Group, Parameter

from keypose.cli.exits import UsageError
from keypose.cli.library_options import Blobs, Where
from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, ReadFps, ReferencePose
from keypose.cli.targets import Quiet

SAID, WORK, READING = (
    Parameter(group=Group(title, sort_key=place))
    for place, title in ((1, "What is said about the clips"), (2, "How they are added"), (3, "How files are read"))
)


def add(
    *files: Annotated[str, Parameter(help="Motion files, folders of them, or patterns in quotes.")],
    tag: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Give all of them these tags: a,b. May be given several times."),
        SAID,
    ] = (),
    tag_folders: Annotated[
        bool,
        Parameter(negative="", help="Give each the names of the folders that it is in, below the named one, as tags."),
        SAID,
    ] = False,
    source: Annotated[str | None, Parameter(help="Where they come from. Otherwise each file's own path."), SAID] = None,
    licence: Annotated[str, Parameter(help="What may be done with them."), SAID] = "",
    note: Annotated[str, Parameter(help="Anything else worth knowing."), SAID] = "",
    within_mm: Annotated[
        float | None,
        Parameter(
            help="Keep small .kps files within this error on a figure of 1.7 m in place of the bytes that came. "
            "Otherwise every byte is kept; of files that need others beside them (AMC, some glTF), every number, as "
            ".kps."
        ),
        WORK,
    ] = None,
    jobs: Annotated[Jobs, WORK] = None,
    engine: Annotated[
        str | None,
        Parameter(help="Let a Dask cluster do the work: dask://host:8786. Otherwise processes of this machine."),
        WORK,
    ] = None,
    library: Where = None,
    blobs: Blobs = None,
    json: Json = False,
    quiet: Quiet = False,
    reference_pose: Annotated[ReferencePose, READING] = "auto",
    asf: Annotated[Asf, READING] = None,
    gaps: Annotated[Gaps, READING] = "fill",
    animation: Annotated[Animation, READING] = None,
    read_fps: Annotated[ReadFps, READING] = None,
) -> int:
    """Add motion files to a library, which is made if it is not there.

    Folders are searched, with all that is below them. Content that is there
    already, under whatever name, is one clip: the new name and tags are added to
    it. A file that cannot be read is named and left out; then the exit code is 1.
    Whatever happens, a clip is there whole or not at all, and the same command
    goes on where an earlier one was interrupted. Of a file with several
    animations the first is added; --animation adds another, as a clip of its own.

    For example:
      keypose library add takes/
      keypose library add takes/ more/walk.bvh --tag walk --licence CC-BY-4.0
      keypose library add "cmu/**/*.amc" --library archive.db --jobs 4
      keypose library add walks/ --asf skeletons/07.asf --read-fps 60
      keypose library add takes/ --engine dask://render01:8786
    """
    from keypose.cli import library_add_run as run
    from keypose.cli.keys_options import names_from
    from keypose.cli.library_options import check_there, opened
    from keypose.cli.options import reading_from

    if not files:
        raise UsageError("no file named, expected at least one file, folder or pattern")
    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs {jobs}: expected at least 1")
    if jobs is not None and engine is not None:
        raise UsageError("--jobs is about this machine, and --engine about others: expected one")
    if within_mm is not None and not 0 < within_mm < float("inf"):
        raise UsageError(f"--within-mm {within_mm:g}: expected a number above 0")
    check_there(files)
    reading = reading_from(reference_pose, asf, gaps, animation, read_fps, ())
    options = {
        "tags": names_from("--tag", tag), "tag_folders": tag_folders, "source": source, "licence": licence,
        "note": note, "within_mm": within_mm, "jobs": jobs, "engine": engine, "reference_pose": reading.reference_pose,
        "asf": reading.asf, "gaps": reading.gaps, "animation": reading.animation, "fps": reading.fps,
    }  # fmt: skip
    with opened(library, blobs, create=True) as here:
        return run.run(here, files, options, json=json, quiet=quiet)
