"""``keypose verify``: verify compressed files, and compare them with their originals."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, ReadFps, ReferencePose


def verify(
    *files: Annotated[str, Parameter(help="Compressed files, folders of them, or patterns in quotes.")],
    against: Annotated[
        Path | None,
        Parameter(help="The original to compare with: a file, or a folder with one of the same name for each."),
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
    """Verify that compressed files are undamaged.

    Every group is decoded and its checksum compared. Damaged groups are listed,
    with the command that restores the rest, and the exit code is 1. With --against
    every frame is compared with the original, and errors above the tolerance of
    the file are listed too, as are originals without a compressed file.

    For example:
      keypose verify walk.kps
      keypose verify archive/ --jobs 4
      keypose verify walk.kps --against walk.bvh
      keypose verify archive/ --against takes/ --json > verified.json
    """
    from keypose.batch.file_discovery import discover_clips
    from keypose.batch.suggestions import suggest_file
    from keypose.batch.verify import VerifyJob
    from keypose.cli import storage_verify_run
    from keypose.cli.exit_codes import UsageError
    from keypose.cli.options import parse_load_options, resolve_jobs
    from keypose.cli.storage_plan import find_originals, find_uncompressed, select_compressed
    from keypose.errors import FileError

    if not files:
        raise UsageError("no file named, expected at least one .kps file, folder or pattern")
    load_options = parse_load_options(reference_pose, asf, gaps, animation, read_fps, limit)
    inputs = select_compressed(discover_clips(files), files)
    if against is not None and not os.path.lexists(against):
        near = suggest_file(against)
        raise FileError(f"--against {against}: no such file or folder{f'; did you mean {near}?' if near else ''}")
    if against is not None and not against.is_dir() and len(inputs.files) > 1:
        raise UsageError(f"--against {against}: one file for {len(inputs.files)}, expected a folder of originals")
    paths = [file.path for file in inputs.files]
    originals = [None] * len(paths) if against is None else find_originals(inputs.files, against)
    work = [VerifyJob(path, original, load_options) for path, original in zip(paths, originals, strict=True)]
    compares_folders = against is not None and against.is_dir() and any(Path(name).is_dir() for name in files)
    missing = find_uncompressed(inputs.files, against) if against is not None and compares_folders else []
    is_single_file = len(files) == 1 and [str(job.path) for job in work] == [str(Path(files[0]))]
    return storage_verify_run.run(
        work, missing, inputs.problems, resolve_jobs(jobs, len(work)), json=json, is_single_file=is_single_file
    )
