"""The run of ``keypose compare``: progress, failures, results for people and programs, and files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from keypose.batch.compare import ComparedClip, Comparing, compare_clip
from keypose.cli import compare_view, output, said, typed
from keypose.cli.clip_view import file_size
from keypose.cli.compare_options import Targets
from keypose.cli.exits import FAILED, INTERRUPTED
from keypose.cli.running import Run, run_all
from keypose.errors import FileError
from keypose.formats.files import write_atomically
from keypose.pictures.comparison import comparison_page
from keypose.verbs.comparing import Comparison, Settings, tables

Ran = Run[Comparing, ComparedClip]


def run(
    work: Sequence[Comparing],
    problems: Sequence[FileError],
    settings: Settings,
    targets: Targets,
    jobs: int,
    *,
    json: bool,
    quiet: bool,
) -> int:
    """Compares all clips, writes and shows what was found; the exit code."""
    ran = run_all(
        "Comparing", compare_clip, work, (), jobs, said.heard, json=json, quiet=quiet, in_parts=compare_clip
    )  # fmt: skip
    rows = tuple(row for _, clip in ran.written for row in clip.rows)
    comparison = None if not rows or ran.interrupted else Comparison(rows, settings)
    if comparison is not None:
        _write_or_keep(ran, comparison, targets, _left_out(ran, problems))
        if not problems and len(ran.written) == len(work):
            _tidy(ran)
    if json:
        output.show_json(_document(ran, comparison, settings, targets, problems))
    elif not quiet:
        _say(ran, comparison, targets)
    if not json:
        for problem in problems:
            output.error(str(problem))
    failures = [(work[o.index].source, o.failure) for o in ran.outcomes if o.failure]
    code = said.report_failures(failures, quiet=json) or (FAILED if problems else 0)
    if not ran.interrupted:
        return code
    if not json:
        left = len(work) - len(ran.outcomes)
        how = "the same command goes on from here" if targets.main else "nothing was written"
        output.note(f"interrupted with {left} {'clip' if left == 1 else 'clips'} to go; {how}")
    return INTERRUPTED


def _left_out(ran: Ran, problems: Sequence[FileError]) -> list[tuple[str, str]]:
    """What could not be compared, and why not."""
    failures = [(str(ran.work[o.index].source), o.failure) for o in ran.outcomes if o.failure]
    told = [(file, f"{why.kind}: {why.message}" if why.is_bug else why.message) for file, why in failures]
    return told + [(str(problem), str(problem)) for problem in problems]


def _write_or_keep(ran: Ran, comparison: Comparison, targets: Targets, failed: Sequence[tuple[str, str]]) -> None:
    """Writes the results; where that fails, all that was measured is kept, also what another run has tidied away."""
    try:
        for file in targets.files:
            if os.path.lexists(file) and not targets.overwrite:
                raise FileError(f"{file}: was written by another run meanwhile; --overwrite replaces it")
        _write(comparison, targets, failed)
    except FileError as error:
        try:
            for job, clip in ran.written:
                if job.kept is not None:
                    job.kept.keep(clip.key, clip.rows)
        except FileError:
            raise error from None
        raise FileError(f"{error}; what was measured is kept, the same command need not measure it again") from None


def _write(comparison: Comparison, targets: Targets, failed: Sequence[tuple[str, str]]) -> None:
    """The tables first: who sees a page finds them beside it."""
    overwrite = targets.overwrite
    if targets.csv is not None:
        tables.write_csv(comparison.rows, targets.csv, overwrite=overwrite)
    if targets.parquet is not None:
        tables.write_parquet(comparison.rows, targets.parquet, overwrite=overwrite)
    if targets.report is not None:
        page = comparison_page(comparison, command=typed.line(), failed=failed)
        write_atomically(targets.report, page.encode(), overwrite=overwrite)


def _tidy(ran: Ran) -> None:
    """Of finished clips only those of this run are worth keeping."""
    kept = ran.work[0].kept
    if kept is not None:
        kept.forget_all_but({clip.key for _, clip in ran.written})


def _say(ran: Ran, comparison: Comparison | None, targets: Targets) -> None:
    ran.say_notes(lambda clip: clip.notes)
    if comparison is None:
        return
    output.show(compare_view.view(comparison, output.console().width))
    parts = ran.counted("compared") if len(ran.work) > 1 else [f"in {ran.seconds:.2f} s"]
    kept = sum(clip.was_kept for _, clip in ran.written)
    parts += [f"{kept} of them by an earlier run"] if kept and len(ran.work) > 1 else []
    parts += ["measured by an earlier run"] if kept and len(ran.work) == 1 else []
    output.line(", ".join(parts))
    for file in targets.files:
        output.line(f"{file}: {file_size(file.stat().st_size)}")


def _document(
    ran: Ran,
    comparison: Comparison | None,
    settings: Settings,
    targets: Targets,
    problems: Sequence[FileError],
) -> dict[str, Any]:
    """The run for JSON."""
    told = ran.document("clips", lambda job, clip: {"was_kept": clip.was_kept, "notes": clip.notes})
    for clip in (*told["clips"], *told["failed"]):
        clip.pop("target")
    told.pop("skipped")
    return {
        "settings": asdict(settings),
        **told,
        "problems": [said.problem_document(problem) for problem in problems],
        "medians": [] if comparison is None else [asdict(each) for each in comparison.middles()],
        "rows": [] if comparison is None else [asdict(row) for row in comparison],
        "written": [] if comparison is None else [str(file) for file in targets.files],
    }
