"""``keypose rebake``: the captured detail back on top of edits, one or many."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from keypose.cli.exits import UsageError
from keypose.cli.options import Animation, Jobs, Json, LimitOption, ReadFps, ReferencePose
from keypose.cli.targets import Overwrite, Quiet, SkipExisting, To

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from keypose.batch.rebake_plan import Sources

MOST_SHARE = 10.0  # of the detail; who says more means percent


def rebake(
    *paths: Annotated[
        str,
        Parameter(
            name="EDITED OUT",
            help="The edited animation (or several, folders, patterns in quotes), and last where to: a file for one, "
            "a folder for more.",
        ),
    ],
    to: To = None,
    from_: Annotated[
        str | None,
        Parameter(
            name="--from",
            help="The .keys.json that unbake wrote, or a folder of them. Otherwise the detail that EDITED brings along "
            "(.blend), or the .keys.json of its name beside it.",
        ),
    ] = None,
    residual: Annotated[
        str,
        Parameter(show_default=True, help="How much of the detail: 0 none, 1 or 100% all of it, as captured."),
    ] = "0.7",
    timing: Annotated[
        Literal["auto", "keys", "frames"],
        Parameter(
            show_default=True,
            help="The n-th key takes the detail of the n-th before (keys), or detail stays in its frames (frames). By "
            "itself it goes along with keys that are seen to be moved.",
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

    After unbake you edit a few keys; what was captured between them waits in
    NAME.keys.json. Rebake adds it to the edit in each joint's own frame, so that
    it follows every change, and writes all frames in the format of OUT. Folders
    and several files go into one folder, in the format that --to says.

    For example:
      keypose rebake edited.glb final.glb --from walk.keys.json
      keypose rebake edited.glb final.bvh --from walk.keys.json --residual 1
      keypose rebake walk_v2.blend final.glb
      keypose rebake edits/ final/ --to glb --from unbaked/
    """
    from pathlib import Path

    from keypose.batch.inputs import expand
    from keypose.batch.rebake import Rebaking
    from keypose.batch.rebake_plan import sources_of, would_replace_detail
    from keypose.cli import rebake_run
    from keypose.cli.options import jobs_from, reading_from
    from keypose.cli.targets import existing_from, plan_from

    if len(paths) < 2 or not all(paths):
        raise UsageError("expected the edited file, and where to: keypose rebake EDITED OUT --from NAME.keys.json")
    *names, out = paths
    existing = existing_from(overwrite=overwrite, skip_existing=skip_existing)
    share = share_from(residual)
    reading = reading_from(reference_pose, None, "fill", animation, read_fps, limit)
    inputs = expand(names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = plan_from(inputs, names, out, to, existing, "rebake")
    told = None if from_ is None else Path(from_)
    sources = {file.path: sources_of(file, told) for file in inputs.files}
    if plan.targets:
        _check_found([(t.source, sources[t.source]) for t in (*plan.targets, *plan.skipped)])
    taken = would_replace_detail([(t.source, t.target, sources[t.source]) for t in plan.targets])
    if taken is not None:
        raise UsageError(f"{taken} holds the captured detail: expected another name for the result")
    work = [Rebaking(t.source, t.target, sources[t.source], share, timing, reading) for t in plan.targets]
    one = [t.target for t in (*plan.targets, *plan.skipped)] == [Path(out)]
    return rebake_run.run(work, plan.skipped, jobs_from(jobs, len(work)), one=one, json=json, quiet=quiet)


def share_from(text: str) -> float:
    """``0.7`` or ``70%`` as a share."""
    percent = text.strip().endswith("%")
    try:
        share = float(text.strip().removesuffix("%")) / (100 if percent else 1)
    except ValueError:
        share = math.nan
    if not math.isfinite(share):
        raise UsageError(f"--residual {text}: expected a number, such as 0.7 or 70%")
    if share > MOST_SHARE:
        meant = "" if percent else f"; did you mean {text.strip()}%?"
        raise UsageError(
            f"--residual {text}: {share:g} times the detail, expected at most {MOST_SHARE:g}; 1 is all of it{meant}"
        )
    return share


def _check_found(edits: Sequence[tuple[Path, Sources]]) -> None:
    """That there is detail for at least one edit; where others lack it, they fail alone."""
    from keypose.batch.rebake_plan import may_bring_detail

    if any(s.told or s.beside or may_bring_detail(source) for source, s in edits):
        return
    source, sources = edits[0]
    if len(edits) == 1:
        raise UsageError(f"what was {source} made from? Expected --from NAME.keys.json, which unbake wrote "
                         f"(there is no {sources.looked})")  # fmt: skip
    raise UsageError(f"what were these {len(edits)} files made from? Expected --from FOLDER with the NAME.keys.json of "
                     f"each, which unbake wrote (there is no {sources.looked}, nor any other)")  # fmt: skip
