"""``keypose rebake``: the captured detail back on top of an edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from keypose.cli.options import Animation, Json, LimitOption, ReadFps, ReferencePose
from keypose.cli.targets import Overwrite, Quiet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from keypose.batch import Outcome
    from keypose.batch.rebake import Rebaked, Rebaking


def rebake(
    *paths: Annotated[
        str,
        Parameter(name="EDITED OUT", help="The edited animation, and the file for the result, in any format."),
    ],
    from_: Annotated[
        str | None,
        Parameter(
            name="--from",
            help="The .keys.json that unbake wrote. Otherwise the one of EDITED's name beside it.",
        ),
    ] = None,
    residual: Annotated[
        float, Parameter(show_default=True, help="How much of the detail: 0 none, 1 all of it, as captured.")
    ] = 0.7,
    timing: Annotated[
        Literal["auto", "keys", "frames"],
        Parameter(
            show_default=True,
            help="Detail goes where its keys were moved (keys), or stays in its frames (frames). By itself it goes "
            "with the keys where the edit has as many as before.",
        ),
    ] = "auto",
    reference_pose: ReferencePose = "auto",
    animation: Animation = None,
    read_fps: ReadFps = None,
    overwrite: Overwrite = False,
    limit: LimitOption = (),
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Put the captured detail back on top of an edited animation.

    After unbake you edit a few keys; what was captured between them waits in
    NAME.keys.json. Rebake adds it to the edit in each joint's own frame, so that
    it follows every change, and writes all frames in the format of OUT.

    For example:
      keypose rebake edited.glb final.glb --from walk.keys.json
      keypose rebake edited.glb final.bvh --from walk.keys.json --residual 1
    """
    from keypose.batch import map_clips
    from keypose.batch.rebake import Rebaking, rebake_clip
    from keypose.cli import output, said
    from keypose.cli.options import reading_from

    source, target, original = _files(paths, from_, overwrite=overwrite)
    reading = reading_from(reference_pose, None, "fill", animation, read_fps, limit)
    job = Rebaking(source, target, original, residual, timing, reading)
    (outcome,) = (said.heard(source, outcome) for outcome in map_clips(rebake_clip, [job], 1))
    if json:
        output.show_json(_document(job, outcome))
    elif not quiet:
        said.say_warnings(source, outcome.warnings)
        if outcome.value is not None:
            said.say_notes([(source, said.own_notes(outcome.value.notes, outcome.warnings))])
            _show(job, outcome.value, outcome.seconds)
    if outcome.failure is None:
        return 0
    at = original if outcome.failure.message.startswith(str(original)) else source
    return said.report_failures([(at, outcome.failure)], quiet=json)


def _files(paths: Sequence[str], told: str | None, *, overwrite: bool) -> tuple[Path, Path, Path]:
    """The edit, the result, and the keys that the edit was made from."""
    import os
    from pathlib import Path

    from keypose.batch.inputs import ClipFile
    from keypose.batch.plan import plan_file
    from keypose.batch.unbake_plan import keys_file_of
    from keypose.cli.exits import UsageError
    from keypose.errors import FileError

    if len(paths) != 2 or not all(paths):
        raise UsageError("expected the edited file, and where to: keypose rebake EDITED OUT --from NAME.keys.json")
    source, target = map(Path, paths)
    original = keys_file_of(source) if told is None else Path(told)
    if original is None or (told is None and not original.is_file()):
        looked = "" if original is None else f" (there is no {original})"
        raise UsageError(f"what was {source} made from? Expected --from NAME.keys.json, which unbake wrote{looked}")
    if os.path.realpath(target) == os.path.realpath(original):
        raise UsageError(f"{target} holds the captured detail: expected another name for the result")
    plan_file(ClipFile(source, Path(source.name)), target, "overwrite")
    if os.path.lexists(target) and not overwrite:
        raise FileError(f"{target}: exists already; --overwrite replaces it")
    return source, target, original


def _show(job: Rebaking, made: Rebaked, seconds: float) -> None:
    from keypose.cli import output
    from keypose.cli.clip_view import duration, file_size, labelled
    from keypose.cli.unbake_view import mm

    edit = "read frame by frame" if made.keys is None else f"{made.keys} keys, before the edit {made.original_keys}"
    told = [
        ("edit", f"{edit}; {made.frames} frames, {duration(made.frames / made.fps)} at {made.fps:.6g} fps"),
        ("detail", f"{100 * job.residual:g} % of that in {job.original}"),
        ("written", f"{job.target} ({file_size(made.bytes)}) in {seconds:.2f} s"),
    ]
    if made.mean_mm is not None and made.max_mm is not None:
        moved = f"moves joints by {mm(made.mean_mm)} mm on average, {mm(made.max_mm)} mm at most"
        told.insert(2, ("", f"{moved} (on a figure of 1.7 m)"))
    output.show(labelled(str(job.source), told))


def _document(job: Rebaking, outcome: Outcome[Rebaked]) -> dict[str, Any]:
    """The one file for JSON, or why there is none."""
    from dataclasses import asdict

    from keypose.cli import said

    files = {"source": str(job.source), "target": str(job.target), "from": str(job.original)}
    if outcome.failure is not None:
        return files | said.failure_document(outcome.failure) | {"warnings": outcome.warnings}
    assert outcome.value is not None
    made = {"residual": job.residual, "timing": job.timing, **asdict(outcome.value)}
    return files | made | {"seconds": outcome.seconds, "warnings": outcome.warnings}
