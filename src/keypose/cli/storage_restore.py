"""``keypose restore``: stored files back into any format, whole or in part, one or many."""

from __future__ import annotations

import math
from typing import Annotated

from cyclopts import Parameter

from keypose.cli.exits import UsageError
from keypose.cli.options import Jobs, Json, LimitOption
from keypose.cli.targets import Overwrite, Quiet, SkipExisting, To


def restore(
    *paths: Annotated[
        str,
        Parameter(
            name="IN OUT",
            help="Which .kps files to restore (files, folders, patterns in quotes), and last where to: a file for one, "
            "a folder for more.",
        ),
    ],
    to: To = None,
    from_s: Annotated[
        float | None, Parameter(help="Only from this second on. Of the file only what is needed is read.")
    ] = None,
    to_s: Annotated[float | None, Parameter(help="Only up to this second, which is not included.")] = None,
    no_keys: Annotated[
        bool, Parameter(negative="", help="Do not write the keys and swings in the file beside the result.")
    ] = False,
    write_reference_pose: Annotated[
        bool,
        Parameter(
            negative="--no-write-reference-pose",
            help="The T-pose that was kept apart is frame 0 again in formats with no other place for it. So it is by "
            "itself.",
        ),
    ] = True,
    overwrite: Overwrite = False,
    skip_existing: SkipExisting = False,
    limit: LimitOption = (),
    jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Restore compressed motion into any format.

    A restored BVH has the structure of the original: joints, channels, end
    sites, orders and frame time; of a lossless file also its very numbers.
    Keys and swings that the file holds are written beside, where the format
    has no place for them. Of a damaged file the groups that cannot be read are
    named, with what to type for the rest.

    For example:
      keypose restore walk.kps walk.bvh
      keypose restore walk.kps part.glb --from-s 10 --to-s 12.5
      keypose restore archive/ takes/ --to bvh
    """
    from keypose.batch.inputs import SWINGS_SUFFIXES, expand
    from keypose.batch.storage_restore import Restoring
    from keypose.cli import storage_run
    from keypose.cli.options import jobs_from, limits_from
    from keypose.cli.storage_targets import is_stored, only_stored
    from keypose.cli.targets import existing_from, names_and_out, plan_from

    names, out = names_and_out(paths, "restore")
    existing = existing_from(overwrite=overwrite, skip_existing=skip_existing)
    check_span(from_s, to_s)
    limits = limits_from(limit)
    inputs = only_stored(expand(names), names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = plan_from(inputs, names, out, to, existing, "restore", SWINGS_SUFFIXES)
    for t in (*plan.targets, *plan.skipped):
        if is_stored(t.target):
            raise UsageError(f"{t.target}: is to be compressed again? Expected another format, or keypose compress, "
                             f"which says how near it is kept")  # fmt: skip
    work = [
        Restoring(t.source, t.target, from_s, to_s, not no_keys, write_reference_pose, overwrite, limits)
        for t in plan.targets
    ]
    return storage_run.restore(work, plan.skipped, jobs_from(jobs, len(work)), json=json, quiet=quiet)


def check_span(from_s: float | None, to_s: float | None) -> None:
    """That two times can be the ends of a part."""
    for option, value in (("--from-s", from_s), ("--to-s", to_s)):
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise UsageError(f"{option} {value:g}: expected seconds from the clip's start, 0 or more")
    if to_s is not None and to_s <= (from_s or 0.0):
        raise UsageError(f"--to-s {to_s:g}: expected a later time than {from_s or 0.0:g} s, where the part begins")
