"""The run of ``keypose keys``: progress, failures, and the keys for people or programs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Any

from keypose.batch import Outcome, map_clips
from keypose.batch.keys import ClipKeys, KeysWanted, keys_of_clip
from keypose.cli import keys_view, output, said
from keypose.cli.exits import FAILED
from keypose.cli.progress import Progress
from keypose.errors import FileError


def run(
    work: Sequence[KeysWanted], problems: Sequence[FileError], jobs: int, *, json: bool, plot: bool, one_file: bool
) -> int:
    """Chooses the keys of all clips and shows them; the exit code."""
    outcomes: list[Outcome[ClipKeys]] = []
    progress = Progress("Choosing", [job.path for job in work], quiet=json)
    results = map_clips(keys_of_clip, work, jobs, on_start=progress.begin)
    with progress, closing(results):
        for outcome in results:
            outcomes.append(said.heard(work[outcome.index].path, outcome))
            progress.done(outcome)
    outcomes.sort(key=lambda outcome: outcome.index)
    if json:
        documents = [_document(work[o.index], o) for o in outcomes]
        documents += [said.problem_document(problem) for problem in problems]
        output.show_json(documents[0] if one_file else documents)
    else:
        _show(work, outcomes, plot=plot)
        for problem in problems:
            output.error(str(problem))
    code = said.report_failures([(work[o.index].path, o.failure) for o in outcomes if o.failure], quiet=json)
    return code or (FAILED if problems else 0)


def _show(work: Sequence[KeysWanted], outcomes: Sequence[Outcome[ClipKeys]], *, plot: bool) -> None:
    for outcome in outcomes:
        said.say_warnings(work[outcome.index].path, outcome.warnings)
    found = [(work[o.index], o, o.value) for o in outcomes if o.value is not None]
    said.say_notes((job.path, said.own_notes(clip.notes, outcome.warnings)) for job, outcome, clip in found)
    out = output.console()
    for n, (job, _, clip) in enumerate(found):
        if n:
            output.line("")
        plain, is_last = not out.encoding.startswith("utf"), n == len(found) - 1
        output.show(keys_view.view(clip, job, out.width, legend=is_last, plot=plot, plain=plain))


def _document(job: KeysWanted, outcome: Outcome[ClipKeys]) -> dict[str, Any]:
    """The keys of one clip, or why there are none."""
    clip = outcome.value
    if clip is None:
        assert outcome.failure is not None
        return {"file": str(job.path), **said.failure_document(outcome.failure), "warnings": list(outcome.warnings)}
    budget = {"keys": job.keys, "tolerance_mm": job.tolerance_mm, "auto": job.auto or None}
    return {
        "file": clip.path,
        "method": clip.method,
        "options": {name: value for name, value in budget.items() if value is not None} | dict(job.options),
        "chosen_by": clip.by,
        "n_frames": clip.n_frames,
        "fps": clip.fps,
        "first_frame": clip.first_frame,
        "range": [clip.start, clip.stop],
        "frames": list(clip.frames),
        "times_s": [frame / clip.fps for frame in clip.frames],
        "order": None if clip.order is None else list(clip.order),
        "cost": clip.cost,
        "curve": [{"keys": keys, "cost": cost} for keys, cost in zip(clip.counts, clip.costs, strict=True)],
        "cliffs": list(clip.cliffs),
        "error": None if clip.error is None else asdict(clip.error),
        "span_cost": clip.span_cost,
        "span_mm": clip.span_mm,
        "without_mm": clip.without_mm,
        "notes": list(clip.notes),
        "warnings": list(outcome.warnings),
    }
