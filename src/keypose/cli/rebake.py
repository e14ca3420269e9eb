"""``keypose rebake``: put the captured detail back on top of edited animations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from keypose.cli.exit_codes import UsageError
from keypose.cli.options import Animation, Jobs, Json, LimitOption, ReadFps, ReferencePose
from keypose.cli.output_options import Overwrite, Quiet, SkipExisting, TargetFormat

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from keypose.batch.rebake_plan import DetailSources

MAX_RESIDUAL = 10.0  # a larger number is probably meant in percent


def rebake(
    *paths: Annotated[
        str,
        Parameter(
            name="EDITED OUT",
            help="The edited animation (or several, folders, patterns in quotes), and last the output: a file for one, "
            "a folder for more.",
        ),
    ],
    to: TargetFormat = None,
    from_: Annotated[
        str | None,
        Parameter(
            name="--from",
            help="The .keys.json that unbake wrote, or a folder of them. Default: the detail stored in EDITED "
            "(.blend), or the .keys.json of the same name beside it.",
        ),
    ] = None,
    residual: Annotated[
        str,
        Parameter(show_default=True, help="Amount of detail: 0 none, 1 or 100% all of it, as captured."),
    ] = "0.7",
    timing: Annotated[
        Literal["auto", "keys", "frames"],
        Parameter(
            show_default=True,
            help="Detail moves with the n-th key (keys), or stays in its frames (frames). auto: keys if keys were "
            "moved in time.",
        ),
    ] = "auto",
    reference_pose: ReferencePose = "auto",
    animation: Animation = None,
    read_fps: ReadFps = None,
    overwrite: Overwrite = False,
    skip_existing: SkipExisting = False,
    limit: LimitOption = (),
    jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Put the captured detail back on top of edited animations.

    After unbake you edit a few keys; the captured detail between them is stored in
    NAME.keys.json. Rebake adds it to the edit in each joint's local frame, so that
    it follows every change, and writes all frames in the format of OUT. Folders
    and several files go into one folder, in the format given by --to.

    For example:
      keypose rebake edited.glb final.glb --from walk.keys.json
      keypose rebake edited.glb final.bvh --from walk.keys.json --residual 1
      keypose rebake walk_v2.blend final.glb
      keypose rebake edits/ final/ --to glb --from unbaked/
    """
    from pathlib import Path

    from keypose.batch.file_discovery import discover_clips
    from keypose.batch.rebake import RebakeJob
    from keypose.batch.rebake_plan import find_detail_conflict, find_detail_sources
    from keypose.cli import rebake_run
    from keypose.cli.options import parse_load_options, resolve_jobs
    from keypose.cli.output_options import build_plan, parse_existing_policy

    if len(paths) < 2 or not all(paths):
        raise UsageError("expected the edited file, and where to: keypose rebake EDITED OUT --from NAME.keys.json")
    *names, out = paths
    existing_policy = parse_existing_policy(overwrite=overwrite, skip_existing=skip_existing)
    residual_share = parse_residual(residual)
    load_options = parse_load_options(reference_pose, None, "fill", animation, read_fps, limit)
    inputs = discover_clips(names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = build_plan(inputs, names, out, to, existing_policy, "rebake")
    from_path = None if from_ is None else Path(from_)
    sources = {file.path: find_detail_sources(file, from_path) for file in inputs.files}
    if plan.targets:
        _check_sources([(t.source, sources[t.source]) for t in (*plan.targets, *plan.skipped)])
    overwritten = find_detail_conflict([(t.source, t.target, sources[t.source]) for t in plan.targets])
    if overwritten is not None:
        raise UsageError(f"{overwritten} holds the captured detail: expected another name for the result")
    work = [
        RebakeJob(t.source, t.target, sources[t.source], residual_share, timing, load_options) for t in plan.targets
    ]
    is_single_file = [t.target for t in (*plan.targets, *plan.skipped)] == [Path(out)]
    return rebake_run.run(
        work, plan.skipped, resolve_jobs(jobs, len(work)), is_single_file=is_single_file, json=json, quiet=quiet
    )


def parse_residual(text: str) -> float:
    """Parse ``0.7`` or ``70%`` into a fraction."""
    percent = text.strip().endswith("%")
    try:
        share = float(text.strip().removesuffix("%")) / (100 if percent else 1)
    except ValueError:
        share = math.nan
    if not math.isfinite(share):
        raise UsageError(f"--residual {text}: expected a number, such as 0.7 or 70%")
    if share > MAX_RESIDUAL:
        suggestion = "" if percent else f"; did you mean {text.strip()}%?"
        raise UsageError(
            f"--residual {text}: {share:g} times the detail, expected at most {MAX_RESIDUAL:g}; "
            f"1 is all of it{suggestion}"
        )
    return share


def _check_sources(edits: Sequence[tuple[Path, DetailSources]]) -> None:
    """Raise UsageError if no edit has detail; if only some lack it, those fail individually."""
    from keypose.batch.rebake_plan import may_have_detail

    if any(s.explicit or s.companion or may_have_detail(source) for source, s in edits):
        return
    source, sources = edits[0]
    if len(edits) == 1:
        raise UsageError(
            f"what was {source} made from? Expected --from NAME.keys.json, which unbake wrote "
            f"(there is no {sources.expected})"
        )
    raise UsageError(
        f"what were these {len(edits)} files made from? Expected --from FOLDER with the NAME.keys.json of "
        f"each, which unbake wrote (there is no {sources.expected}, nor any other)"
    )
