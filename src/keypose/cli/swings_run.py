"""The run of ``keypose swings``: progress, failures, and swings for people or programs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from keypose.batch import Outcome, map_clips
from keypose.batch.plan import Target
from keypose.batch.swings import ClipSwings, SwingsWanted, swings_of_clip
from keypose.batch.swings_edit import Played, Playing, play_clip
from keypose.cli import output, said, swings_document, swings_view
from keypose.cli.clip_view import common_folder, file_size
from keypose.cli.exits import FAILED
from keypose.cli.progress import Progress
from keypose.cli.running import Run, run_all
from keypose.errors import FileError


def show(work: Sequence[SwingsWanted], problems: Sequence[FileError], jobs: int, *, json: bool, one_file: bool) -> int:
    """Finds the swings of all clips and shows them; the exit code."""
    outcomes: list[Outcome[ClipSwings]] = []
    progress = Progress("Finding", [job.path for job in work], quiet=json)
    results = map_clips(swings_of_clip, work, jobs, on_start=progress.begin)
    with progress, closing(results):
        for outcome in results:
            outcomes.append(said.heard(work[outcome.index].path, outcome))
            progress.done(outcome)
    outcomes.sort(key=lambda outcome: outcome.index)
    if json:
        documents = [swings_document.of_clip(work[o.index], o) for o in outcomes]
        documents += [said.problem_document(problem) for problem in problems]
        documents += swings_document.of_mean([o.value for o in outcomes if o.value is not None])
        output.show_json(documents[0] if one_file else documents)
    else:
        _show(work, outcomes, one_file=one_file)
        for problem in problems:
            output.error(str(problem))
    code = said.report_failures([(work[o.index].path, o.failure) for o in outcomes if o.failure], quiet=json)
    return code or (FAILED if problems else 0)


def _show(work: Sequence[SwingsWanted], outcomes: Sequence[Outcome[ClipSwings]], *, one_file: bool) -> None:
    for outcome in outcomes:
        said.say_warnings(work[outcome.index].path, outcome.warnings)
    found = [(work[o.index], o, o.value) for o in outcomes if o.value is not None]
    said.say_notes((job.path, said.own_notes(clip.notes, outcome.warnings)) for job, outcome, clip in found)
    out = output.console()
    if found and not one_file and not any(clip.listed is not None for _, _, clip in found):
        clips = [clip for _, _, clip in found]
        many = swings_view.sweeps if clips[0].sweep is not None else swings_view.table
        output.show(many(clips, out.width))
        return
    for n, (job, _, clip) in enumerate(found):
        if n:
            output.line("")
        output.show(swings_view.view(clip, job, out.width, plain=not out.encoding.startswith("utf")))


def write(work: Sequence[Playing], skipped: Sequence[Target], jobs: int, *, json: bool, quiet: bool) -> int:
    """Plays or edits all clips and writes them; the exit code."""
    ran = run_all("Playing", play_clip, work, skipped, jobs, said.heard, json=json, quiet=quiet)
    if json:
        output.show_json(ran.document("written", swings_document.of_written))
    elif not quiet:
        _say(ran)
    return ran.code(json=json)


def _say(ran: Run[Playing, Played]) -> None:
    said.say_notes(
        (ran.work[o.index].source, said.own_notes(o.value.notes, o.warnings))
        for o in ran.outcomes
        if o.value is not None
    )
    written = ran.written
    if len(ran.work) == 1 and written:
        output.show(swings_view.written_block(*written[0], ran.seconds))
        return
    if written:
        output.show(swings_view.written_table(written, output.console().width))
    parts = [f"{len(written)} of {len(ran.work)} clips written in {ran.seconds:.2f} s"] if ran.work else []
    if ran.skipped:
        parts.append(f"{len(ran.skipped)} that exist left out")
    if written:
        folder = common_folder([str(job.target) for job, _ in written]) or "."
        parts.append(f"to {folder}: {file_size(sum(made.bytes for _, made in written))}")
    if parts and (len(ran.work) > 1 or ran.skipped):
        output.line(", ".join(parts))
