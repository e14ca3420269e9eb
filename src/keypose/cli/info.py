"""``keypose info``: what is in motion files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, ReadFps, ReferencePose

if TYPE_CHECKING:
    from keypose.batch import Outcome
    from keypose.batch.describe import ClipInfo


def info(
    *files: Annotated[str, Parameter(help="Motion files, folders of them, or patterns in quotes.")],
    joints: Annotated[
        bool, Parameter(negative="", help="Show every joint: body part, channels, offset from its parent.")
    ] = False,
    reference_pose: ReferencePose = "auto",
    asf: Asf = None,
    gaps: Gaps = "fill",
    animation: Animation = None,
    read_fps: ReadFps = None,
    limit: LimitOption = (),
    jobs: Jobs = None,
    json: Json = False,
) -> int:
    """Show what is in motion files: frames, rate, joints, axes, height.

    One file is shown as a block, several as a table. Folders are searched, with
    all that is below them, for motion files. Whatever is wrong with a file is
    said in one line; the others are shown all the same.

    For example:
      keypose info walk.bvh
      keypose info walk.bvh --joints
      keypose info takes/ "more/**/*.c3d"
      keypose info takes/ --json > takes.json
      keypose info huge.glb --limit joints=20000
    """
    from contextlib import closing

    from keypose.batch import map_clips
    from keypose.batch.describe import Question, describe_clip
    from keypose.batch.inputs import expand
    from keypose.cli import output, said
    from keypose.cli.exits import FAILED, UsageError
    from keypose.cli.options import jobs_from, reading_from
    from keypose.cli.progress import Progress

    if not files:
        raise UsageError("no file named, expected at least one file, folder or pattern")
    reading = reading_from(reference_pose, asf, gaps, animation, read_fps, limit)
    inputs = expand(files)
    questions = [Question(file.path, reading, joints) for file in inputs.files]
    outcomes: list[Outcome[ClipInfo]] = []
    progress = Progress("Reading", [q.path for q in questions], quiet=json)
    results = map_clips(describe_clip, questions, jobs_from(jobs, len(questions)), on_start=progress.begin)
    with progress, closing(results):
        for outcome in results:
            outcomes.append(said.heard(questions[outcome.index].path, outcome))
            progress.done(outcome)
    outcomes.sort(key=lambda outcome: outcome.index)

    paths = [question.path for question in questions]
    if json:
        documents = [said.document(paths[o.index], o) for o in outcomes]
        output.show_json(documents + [said.problem_document(problem) for problem in inputs.problems])
    else:
        for outcome in outcomes:
            said.say_warnings(paths[outcome.index], outcome.warnings)
        _show([o.value for o in outcomes if o.value is not None], outcomes, joints=joints)
        for problem in inputs.problems:
            output.error(str(problem))
    code = said.report_failures([(paths[o.index], o.failure) for o in outcomes if o.failure], quiet=json)
    return code or (FAILED if inputs.problems else 0)


def _show(clips: list[ClipInfo], outcomes: list[Outcome[ClipInfo]], *, joints: bool) -> None:
    from keypose.cli import clip_view, output, said

    if len(outcomes) == 1 or joints:
        for n, clip in enumerate(clips):
            if n:
                output.line("")
            notes = said.own_notes(clip.notes, _warned(outcomes, clip))
            output.show(clip_view.block(clip, said.in_part(notes)))
            if joints:
                output.line("")
                output.show(clip_view.joint_table(clip, output.console().width))
    elif clips:
        output.show(clip_view.table(clips, output.console().width))
        said.say_notes((Path(o.value.path), said.own_notes(o.value.notes, o.warnings)) for o in outcomes if o.value)


def _warned(outcomes: list[Outcome[ClipInfo]], clip: ClipInfo) -> tuple[str, ...]:
    return next(outcome.warnings for outcome in outcomes if outcome.value is clip)
