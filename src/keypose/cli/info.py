"""``keypose info``: show what is in motion files."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from keypose.batch import map_clips
from keypose.batch.file_discovery import discover_clips
from keypose.batch.info import InfoJob, describe_clip
from keypose.batch.worker import list_other_notes
from keypose.cli import clip_view, messages, output
from keypose.cli.error_text import render_error
from keypose.cli.options import DEFAULT_LOAD, Files, Jobs, Json, LoadFlags, resolve_jobs
from keypose.cli.output import FAILED, missing_argument_error
from keypose.cli.runner import ProgressBar

if TYPE_CHECKING:
    from keypose.batch import Outcome
    from keypose.batch.info import ClipInfo
    from keypose.errors import FormatWarning


def info(
    *files: Files,
    joints: Annotated[
        bool, Parameter(negative="", help="Show every joint: body part, channels, offset from its parent.")
    ] = False,
    load: LoadFlags = DEFAULT_LOAD,
    jobs: Jobs = None,
    json: Json = False,
) -> int:
    """Show what is in motion files: frames, rate, joints, axes, height.

    One file is shown as a block, several as a table. Folders are searched
    recursively for motion files. A file that cannot be read is reported in one
    line; the others are still shown.

    For example:
      keypose info walk.bvh
      keypose info walk.bvh --joints
      keypose info takes/ "more/**/*.c3d"
      keypose info takes/ --json > takes.json
      keypose info huge.glb --limit joints=20000
    """
    if not files:
        raise missing_argument_error("no file named", "at least one file, folder or pattern")
    load_options = load.load_options()
    inputs = discover_clips(files)
    info_jobs = [InfoJob(file.path, load_options, joints) for file in inputs.files]
    outcomes: list[Outcome[ClipInfo]] = []
    progress = ProgressBar("Reading", [q.path for q in info_jobs], quiet=json)
    results = map_clips(describe_clip, info_jobs, resolve_jobs(jobs, len(info_jobs)), on_start=progress.start_clip)
    with progress, closing(results):
        for outcome in results:
            outcomes.append(messages.render_outcome(outcome))
            progress.finish_clip(outcome)
    outcomes.sort(key=lambda outcome: outcome.index)

    paths = [question.path for question in info_jobs]
    if json:
        documents = [messages.info_document(paths[o.index], o) for o in outcomes]
        output.print_json(documents + [messages.error_document(problem) for problem in inputs.problems])
    else:
        for outcome in outcomes:
            messages.print_warnings(paths[outcome.index], outcome.warnings)
        _print_clips([o.value for o in outcomes if o.value is not None], outcomes, joints=joints)
        for problem in inputs.problems:
            output.print_error(render_error(problem))
    code = messages.report_failures([(paths[o.index], o.failure) for o in outcomes if o.failure], quiet=json)
    return code or (FAILED if inputs.problems else 0)


def _print_clips(clips: list[ClipInfo], outcomes: list[Outcome[ClipInfo]], *, joints: bool) -> None:
    if len(outcomes) == 1 or joints:
        for n, clip in enumerate(clips):
            if n:
                output.print_line("")
            notes = list_other_notes(clip.notes, _warnings_of(outcomes, clip))
            output.print_renderable(clip_view.build_block(clip, messages.truncate_texts(notes)))
            if joints:
                output.print_line("")
                output.print_renderable(clip_view.joint_table(clip, output.stdout_console().width))
    elif clips:
        output.print_renderable(clip_view.build_table(clips, output.stdout_console().width))
        messages.print_notes(
            (Path(o.value.path), list_other_notes(o.value.notes, o.warnings)) for o in outcomes if o.value
        )


def _warnings_of(outcomes: list[Outcome[ClipInfo]], clip: ClipInfo) -> tuple[FormatWarning, ...]:
    return next(outcome.warnings for outcome in outcomes if outcome.value is clip)
