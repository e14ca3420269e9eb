"""The run of ``keypose swings``: progress, failures, and swings for people or programs."""

from __future__ import annotations

from collections.abc import Sequence

from keypose.batch.plan import Target
from keypose.batch.swings import ClipSwings, SwingsWanted, swings_of_clip
from keypose.batch.swings_edit import Played, Playing, play_clip
from keypose.cli import output, said, swings_document, swings_view
from keypose.cli.clip_view import common_folder, file_size
from keypose.cli.looking import finish, found, look
from keypose.cli.running import Run, run_all
from keypose.errors import FileError


def show(work: Sequence[SwingsWanted], problems: Sequence[FileError], jobs: int, *, json: bool, one_file: bool) -> int:
    """Finds the swings of all clips and shows them; the exit code."""
    outcomes = look("Finding", swings_of_clip, work, jobs, json=json)
    return finish(
        work,
        outcomes,
        problems,
        lambda: [swings_document.of_clip(work[o.index], o) for o in outcomes],
        lambda: _show(found(work, outcomes), one_file=one_file),
        lambda: swings_document.of_mean([o.value for o in outcomes if o.value is not None]),
        json=json,
        one_file=one_file,
    )


def _show(clips: Sequence[tuple[SwingsWanted, ClipSwings]], *, one_file: bool) -> None:
    out = output.console()
    if clips and not one_file and not any(clip.listed is not None for _, clip in clips):
        many = swings_view.sweeps if clips[0][1].sweep is not None else swings_view.table
        output.show(many([clip for _, clip in clips], out.width))
        return
    for n, (job, clip) in enumerate(clips):
        if n:
            output.line("")
        output.show(swings_view.view(clip, job, out.width, plain=not out.encoding.startswith("utf")))


def write(work: Sequence[Playing], skipped: Sequence[Target], jobs: int, *, json: bool, quiet: bool) -> int:
    """Plays or edits all clips and writes them; the exit code."""
    ran = run_all("Playing", play_clip, work, skipped, jobs, said.heard, json=json, quiet=quiet)
    if json:
        output.show_json(ran.document("written", swings_document.of_written))
    elif not quiet:
        ran.say_notes(lambda made: made.notes)
        _say(ran)
    return ran.code(json=json)


def _say(ran: Run[Playing, Played]) -> None:
    written = ran.written
    if len(ran.work) == 1 and written:
        output.show(swings_view.written_block(*written[0], ran.seconds))
        return
    if written:
        output.show(swings_view.written_table(written, output.console().width))
    parts = ran.counted("written")
    if written:
        folder = common_folder([str(job.target) for job, _ in written]) or "."
        parts.append(f"to {folder}: {file_size(sum(made.bytes for _, made in written))}")
    if parts and ran.is_about_many:
        output.line(", ".join(parts))
