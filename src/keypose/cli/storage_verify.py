"""``keypose verify``: stored files read to their last byte, and held against their originals."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, ReadFps, ReferencePose


def verify(
    *files: Annotated[str, Parameter(help="Files that compress wrote, folders of them, or patterns in quotes.")],
    against: Annotated[
        Path | None,
        Parameter(help="The original to compare with: a file, or a folder with one for each at the same place."),
    ] = None,
    reference_pose: ReferencePose = "auto",
    asf: Asf = None,
    gaps: Gaps = "fill",
    animation: Animation = None,
    read_fps: ReadFps = None,
    limit: LimitOption = (),
    jobs: Jobs = None,
    json: Json = False,
) -> int:
    """Read compressed motion to its last byte and say whether it is sound.

    Every group is decoded and its checksum compared. Damaged ones are named,
    with what to type for the rest, and the exit code is 1. With --against every
    frame is compared with the original, and what is farther off than the file
    promises is named too; so are originals in a folder of which there is no
    compressed file.

    For example:
      keypose verify walk.kps
      keypose verify archive/ --jobs 4
      keypose verify walk.kps --against walk.bvh
      keypose verify archive/ --against takes/ --json > verified.json
    """
    from keypose.batch.inputs import expand
    from keypose.batch.nearest import nearest_file
    from keypose.batch.storage_verify import Verifying
    from keypose.cli import storage_verify_run
    from keypose.cli.exits import UsageError
    from keypose.cli.options import jobs_from, reading_from
    from keypose.cli.storage_targets import only_stored, originals_of, without_compressed
    from keypose.errors import FileError

    if not files:
        raise UsageError("no file named, expected at least one .kps file, folder or pattern")
    reading = reading_from(reference_pose, asf, gaps, animation, read_fps, limit)
    inputs = only_stored(expand(files), files)
    if against is not None and not os.path.lexists(against):
        near = nearest_file(against)
        raise FileError(f"--against {against}: no such file or folder{f'; did you mean {near}?' if near else ''}")
    if against is not None and not against.is_dir() and len(inputs.files) > 1:
        raise UsageError(f"--against {against}: one file for {len(inputs.files)}, expected a folder of originals")
    paths = [file.path for file in inputs.files]
    originals = [None] * len(paths) if against is None else originals_of(inputs.files, against)
    work = [Verifying(path, original, reading) for path, original in zip(paths, originals, strict=True)]
    folders = against is not None and against.is_dir() and any(Path(name).is_dir() for name in files)
    missing = without_compressed(inputs.files, against) if against is not None and folders else []
    one = len(files) == 1 and [str(job.path) for job in work] == [str(Path(files[0]))]
    return storage_verify_run.run(work, missing, inputs.problems, jobs_from(jobs, len(work)), json=json, one=one)
