"""``keypose compress``: compress motion files within a given error."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from keypose.batch.compress import CompressJob
from keypose.batch.file_discovery import KEYS_SUFFIXES, SWINGS_SUFFIXES, discover_clips
from keypose.batch.pool import CLIPS_PER_WORKER
from keypose.batch.stored_file import find_companion
from keypose.cli import storage_run
from keypose.cli.options import DEFAULT_LOAD, Flags, LoadFlags, resolve_jobs, with_flags
from keypose.cli.output import UsageError, conflict_error
from keypose.cli.runner import DEFAULT_WRITE, WriteFlags, split_paths
from keypose.cli.storage_run import plan_compressed, select_uncompressed
from keypose.errors import format_count
from keypose.options import MAX_TOLERANCE_MM, MIN_TOLERANCE_MM, OutputOptions

DEFAULT_TOLERANCE_MM = 1.0


@with_flags(only=("tolerance_mm", "lossless"))
class AccuracyFlags(Flags, OutputOptions):
    """How exactly motion is stored."""


DEFAULT_ACCURACY = AccuracyFlags()


def compress(
    *paths: Annotated[
        str,
        Parameter(
            name="IN OUT",
            help="Input (files, folders, patterns in quotes), and last the output: NAME.kps for one file, "
            "a folder for more.",
        ),
    ],
    accuracy: AccuracyFlags = DEFAULT_ACCURACY,
    keyed: Annotated[
        Path | None,
        Parameter(
            help="Keys to store in the file: a .keys.json, or a folder with one for each clip. Default: those "
            "beside the clip."
        ),
    ] = None,
    swings: Annotated[
        Path | None,
        Parameter(
            help="Swings to store in the file: a .swings.json, or a folder with one for each clip. Default: those "
            "beside the clip."
        ),
    ] = None,
    no_keys: Annotated[
        bool, Parameter(negative="", help="Do not store the keys and swings found beside a clip.")
    ] = False,
    verify: Annotated[
        bool,
        Parameter(
            negative="--no-verify",
            help="Read each file back and compare it before it replaces the output. Default.",
        ),
    ] = True,
    load: LoadFlags = DEFAULT_LOAD,
    write: WriteFlags = DEFAULT_WRITE,
) -> int:
    """Compress motion files within a given error.

    The error of joints, end sites and points 3 cm from a joint is at most
    --tolerance-mm in every frame. Names, rate, axes, channels and end sites are
    stored, so that keypose restore writes a file of the same structure, and so
    are keys and swings found beside a clip. Each file is read back and compared
    before it replaces the output. Sub-folders are preserved; failures are listed
    at the end, and the exit code is 1.

    For example:
      keypose compress walk.bvh walk.kps
      keypose compress walk.bvh fine.kps --tolerance-mm 0.1
      keypose compress walk.bvh exact.kps --lossless
      keypose compress takes/ archive/
      keypose compress takes/ archive/ --skip-existing --jobs 4
    """
    names, out = split_paths(paths, "compress")
    existing_policy = write.existing_policy()
    if no_keys and (keyed or swings):
        raise conflict_error("no_keys", "--keyed" if keyed else "--swings")
    tolerance = resolve_tolerance(accuracy.tolerance_mm, lossless=accuracy.lossless)
    load_options = load.load_options()
    inputs = select_uncompressed(discover_clips(names), names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = plan_compressed(inputs, names, out, existing_policy)
    files = {file.path: file for file in inputs.files}
    if len(files) > 1:
        for option, option_path in (("--keyed", keyed), ("--swings", swings)):
            if option_path is not None and not option_path.is_dir():
                raise UsageError(
                    f"is one file for {format_count(len(files), 'clip')}",
                    option=option,
                    value=option_path,
                    expected="a folder with one for each",
                )
    work = [
        CompressJob(
            t.source,
            t.target,
            load_options,
            tolerance,
            None if no_keys else find_companion(files[t.source], keyed, KEYS_SUFFIXES),
            None if no_keys else find_companion(files[t.source], swings, SWINGS_SUFFIXES),
            verify,
        )
        for t in plan.targets
    ]
    # starting a worker takes less time than one clip
    workers = resolve_jobs(write.jobs, CLIPS_PER_WORKER * len(work))
    return storage_run.compress(work, plan.skipped, tolerance, workers, json=write.json, quiet=write.quiet)


def resolve_tolerance(tolerance_mm: float | None, *, lossless: bool) -> float | None:
    """Return the tolerance in mm, checked; None: lossless."""
    if lossless and tolerance_mm is not None:
        raise conflict_error("lossless", "--tolerance-mm")
    if tolerance_mm is not None and not MIN_TOLERANCE_MM <= tolerance_mm <= MAX_TOLERANCE_MM:
        possible = f"{MIN_TOLERANCE_MM:g} to {MAX_TOLERANCE_MM:g}"
        raise UsageError(
            option="tolerance_mm", value=tolerance_mm, expected=possible, hint="--lossless keeps every number"
        )
    return None if lossless else DEFAULT_TOLERANCE_MM if tolerance_mm is None else tolerance_mm
