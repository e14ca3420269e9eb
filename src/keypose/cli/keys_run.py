"""The run of ``keypose keys``: progress, failures, and the keys for people or programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from keypose.batch import Outcome
from keypose.batch.keys import ClipKeys, KeysWanted, keys_of_clip
from keypose.cli import keys_view, output, said
from keypose.cli.looking import finish, found, look
from keypose.errors import FileError


def run(
    work: Sequence[KeysWanted], problems: Sequence[FileError], jobs: int, *, json: bool, plot: bool, one_file: bool
) -> int:
    """Chooses the keys of all clips and shows them; the exit code."""
    outcomes = look("Choosing", keys_of_clip, work, jobs, json=json)
    return finish(
        work,
        outcomes,
        problems,
        lambda: [_document(work[o.index], o) for o in outcomes],
        lambda: _show(found(work, outcomes), plot=plot),
        json=json,
        one_file=one_file,
    )


def _show(clips: Sequence[tuple[KeysWanted, ClipKeys]], *, plot: bool) -> None:
    out = output.console()
    for n, (job, clip) in enumerate(clips):
        if n:
            output.line("")
        plain, is_last = not out.encoding.startswith("utf"), n == len(clips) - 1
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
