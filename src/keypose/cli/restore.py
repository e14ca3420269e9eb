"""``keypose restore``: restore compressed files to any format, completely or in part."""

from __future__ import annotations

import math
from typing import Annotated

from cyclopts import Parameter

from keypose.batch.file_discovery import SWINGS_SUFFIXES, discover_clips
from keypose.batch.restore import RestoreJob
from keypose.cli import storage_run
from keypose.cli.options import DEFAULT_LIMITS, LimitFlags, resolve_jobs
from keypose.cli.output import UsageError
from keypose.cli.runner import DEFAULT_WRITE, TargetFormat, WriteFlags, build_plan, split_paths
from keypose.cli.storage_run import is_kps, select_compressed


def restore(
    *paths: Annotated[
        str,
        Parameter(
            name="IN OUT",
            help="The .kps files (files, folders, patterns in quotes), and last the output: a file for one, "
            "a folder for more.",
        ),
    ],
    to: TargetFormat = None,
    from_s: Annotated[
        float | None, Parameter(help="Start, in seconds. Only the needed part of the file is read.")
    ] = None,
    to_s: Annotated[float | None, Parameter(help="End, in seconds, not included.")] = None,
    no_keys: Annotated[
        bool, Parameter(negative="", help="Do not write the keys and swings in the file beside the result.")
    ] = False,
    write_reference_pose: Annotated[
        bool,
        Parameter(
            negative="--no-write-reference-pose",
            help="Write the separated T-pose as frame 0 in formats that cannot store it separately. Default.",
        ),
    ] = True,
    limits: LimitFlags = DEFAULT_LIMITS,
    write: WriteFlags = DEFAULT_WRITE,
) -> int:
    """Restore compressed motion into any format.

    A restored BVH has the structure of the original: joints, channels, end
    sites, orders and frame time; from a lossless file also its exact numbers.
    Keys and swings in the file are written beside the output if its format
    cannot store them. For a damaged file the unreadable groups are listed, with
    the command that restores the rest.

    For example:
      keypose restore walk.kps restored.bvh
      keypose restore walk.kps part.glb --from-s 10 --to-s 12.5
      keypose restore archive/ restored/ --to bvh
    """
    names, out = split_paths(paths, "restore")
    existing_policy = write.existing_policy()
    check_span(from_s, to_s)
    inputs = select_compressed(discover_clips(names), names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = build_plan(inputs, names, out, to, existing_policy, "restore", SWINGS_SUFFIXES)
    for t in (*plan.targets, *plan.skipped):
        if is_kps(t.target):
            raise UsageError(
                f"{t.target} would be compressed again",
                expected="another format; to change the tolerance, use keypose compress",
            )
    work = [
        RestoreJob(t.source, t.target, from_s, to_s, not no_keys, write_reference_pose, write.overwrite, limits.limits)
        for t in plan.targets
    ]
    workers = resolve_jobs(write.jobs, len(work))
    return storage_run.restore(work, plan.skipped, workers, json=write.json, quiet=write.quiet)


def check_span(from_s: float | None, to_s: float | None) -> None:
    """Raise UsageError if the two times do not form a span."""
    for option, value in (("--from-s", from_s), ("--to-s", to_s)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise UsageError(option=option, value=value, expected="seconds from the clip's start, 0 or more")
    if to_s is not None and to_s <= (from_s or 0.0):
        raise UsageError(
            option="to_s", value=to_s, expected=f"a later time than {from_s or 0.0:g} s, where the part begins"
        )
