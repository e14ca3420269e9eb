"""The run of ``keypose unbake``: progress, failures, and a summary for people or programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from keypose.batch.plan import Target
from keypose.batch.unbake import Unbaked, Unbaking, unbake_clip
from keypose.cli import output, said, unbake_view
from keypose.cli.running import Run, run_all


def run(work: Sequence[Unbaking], skipped: Sequence[Target], jobs: int, *, json: bool, quiet: bool) -> int:
    """Unbakes all, and says what became of it; the exit code."""
    ran = run_all("Unbaking", unbake_clip, work, skipped, jobs, said.heard, json=json, quiet=quiet)
    if json:
        output.show_json(ran.document("unbaked", _document))
    elif not quiet:
        _say(ran)
    return ran.code(json=json)


def _say(ran: Run[Unbaking, Unbaked]) -> None:
    ran.say_notes(lambda made: made.notes)
    written = ran.written
    if len(ran.work) == 1 and written:
        output.show(unbake_view.block(*written[0], ran.seconds))
        return
    if written:
        output.show(unbake_view.table(written, output.console().width))
    parts = ran.counted("unbaked")
    if parts and ran.is_about_many:
        output.line(", ".join(parts))
    if written:
        for line in unbake_view.summary(written):
            output.line(line)


def _document(job: Unbaking, made: Unbaked) -> dict[str, Any]:
    """One clip for JSON."""
    budget = {"keys": job.keys, "tolerance_mm": job.tolerance_mm, "auto": job.auto or None}
    told = budget | dict(job.choosing) | dict(job.fitting)
    return {
        "keys_file": None if job.keys_file is None else str(job.keys_file),
        "method": job.method,
        "options": {name: value for name, value in told.items() if value is not None},
        "n_frames": made.frames,
        "fps": made.fps,
        "frames": made.keys,
        "times_s": [frame / made.fps for frame in made.keys],
        "extremes": made.extremes,
        "removed_percent": 100 * (1 - len(made.keys) / made.frames),
        "score": None if made.closeness is None else asdict(made.closeness),
        "keeps_keys": made.keeps_keys,
        "has_residual": made.has_residual,
        "bytes": made.bytes,
        "keys_file_bytes": made.keys_file_bytes,
        "notes": made.notes,
    }
