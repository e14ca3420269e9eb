"""``keypose compress``: motion files as small ones within a promised error, one or many."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from keypose.cli.exits import UsageError
from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, ReadFps, ReferencePose
from keypose.cli.targets import Overwrite, Quiet, SkipExisting

USUAL_MM = 1.0


def compress(
    *paths: Annotated[
        str,
        Parameter(
            name="IN OUT",
            help="What to compress (files, folders, patterns in quotes), and last where to: NAME.kps for one file, "
            "a folder for more.",
        ),
    ],
    tolerance_mm: Annotated[
        float | None,
        Parameter(help="How far any point may be off at most, in mm on a figure of 1.7 m. Otherwise 1."),
    ] = None,
    lossless: Annotated[bool, Parameter(negative="", help="Keep the very numbers of the file.")] = False,
    keyed: Annotated[
        Path | None,
        Parameter(
            help="Keys to keep in the file too: a .keys.json, or a folder with one for each clip. Otherwise those "
            "beside the clip."
        ),
    ] = None,
    swings: Annotated[
        Path | None,
        Parameter(
            help="Swings to keep in the file too: a .swings.json, or a folder with one for each clip. Otherwise those "
            "beside the clip."
        ),
    ] = None,
    no_keys: Annotated[
        bool, Parameter(negative="", help="Do not take along the keys and swings that stand beside a clip.")
    ] = False,
    verify: Annotated[
        bool,
        Parameter(
            negative="--no-verify",
            help="Read each file back from the disk and compare it before it takes its place. So it is by itself.",
        ),
    ] = True,
    reference_pose: ReferencePose = "auto",
    asf: Asf = None,
    gaps: Gaps = "fill",
    animation: Animation = None,
    read_fps: ReadFps = None,
    overwrite: Overwrite = False,
    skip_existing: SkipExisting = False,
    limit: LimitOption = (),
    jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Compress motion files within a promised error.

    No joint, no end site and no point 3 cm off a joint is farther off than
    --tolerance-mm in any frame. Names, rate, axes, channels and end sites are
    kept, so that keypose restore gives back a file of the same structure; keys
    and swings beside a clip go along. Each file is read back and compared
    before it takes its place. Sub-folders are kept; what fails is listed at
    the end, and the exit code is 1.

    For example:
      keypose compress walk.bvh walk.kps
      keypose compress walk.bvh walk.kps --tolerance-mm 0.1
      keypose compress walk.bvh walk.kps --lossless
      keypose compress takes/ archive/
      keypose compress takes/ archive/ --skip-existing --jobs 4
    """
    from keypose.batch.inputs import KEYS_SUFFIXES, SWINGS_SUFFIXES, expand
    from keypose.batch.pool import CLIPS_PER_WORKER
    from keypose.batch.storage_along import beside
    from keypose.batch.storage_compress import Compression
    from keypose.cli import storage_run
    from keypose.cli.options import jobs_from, reading_from
    from keypose.cli.storage_targets import plan_stored, without_stored
    from keypose.cli.targets import existing_from, names_and_out

    names, out = names_and_out(paths, "compress")
    existing = existing_from(overwrite=overwrite, skip_existing=skip_existing)
    if no_keys and (keyed or swings):
        raise UsageError(f"--no-keys and {'--keyed' if keyed else '--swings'} cannot both be meant")
    tolerance = tolerance_from(tolerance_mm, lossless=lossless)
    reading = reading_from(reference_pose, asf, gaps, animation, read_fps, limit)
    inputs = without_stored(expand(names), names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = plan_stored(inputs, names, out, existing)
    files = {file.path: file for file in inputs.files}
    if len(files) > 1:
        for option, given in (("--keyed", keyed), ("--swings", swings)):
            if given is not None and not given.is_dir():
                raise UsageError(f"{option} {given}: one file for {len(files)} clips, expected a folder with one for "
                                 f"each")  # fmt: skip
    work = [
        Compression(
            t.source,
            t.target,
            reading,
            tolerance,
            None if no_keys else beside(files[t.source], keyed, KEYS_SUFFIXES),
            None if no_keys else beside(files[t.source], swings, SWINGS_SUFFIXES),
            verify,
        )
        for t in plan.targets
    ]
    workers = jobs_from(jobs, CLIPS_PER_WORKER * len(work))  # a worker starts sooner than a clip is compressed
    return storage_run.compress(work, plan.skipped, tolerance, workers, json=json, quiet=quiet)


def tolerance_from(tolerance_mm: float | None, *, lossless: bool) -> float | None:
    """What was asked for in mm; None: lossless."""
    if lossless and tolerance_mm is not None:
        raise UsageError("--lossless and --tolerance-mm cannot both be meant")
    if tolerance_mm is not None:
        from keypose.storage.writing import GREATEST_TOLERANCE_MM, LEAST_TOLERANCE_MM

        if not LEAST_TOLERANCE_MM <= tolerance_mm <= GREATEST_TOLERANCE_MM:
            possible = f"{LEAST_TOLERANCE_MM:g} to {GREATEST_TOLERANCE_MM:g}"
            raise UsageError(f"--tolerance-mm {tolerance_mm:g}: expected {possible}; --lossless keeps every number")
    return None if lossless else USUAL_MM if tolerance_mm is None else tolerance_mm
