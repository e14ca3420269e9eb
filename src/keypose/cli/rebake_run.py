"""The run of ``keypose rebake``: progress, failures, and what was put back, for people or programs."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.text import Text

from keypose.batch import Outcome
from keypose.batch.plan import Target
from keypose.batch.rebake import Rebaked, Rebaking, rebake_clip
from keypose.cli import columns, output, said
from keypose.cli.clip_view import common_folder, duration, file_size, labelled
from keypose.cli.columns import Column
from keypose.cli.output import printable
from keypose.cli.running import Run, run_all
from keypose.cli.unbake_view import mm

NEEDLESS = ("written", "frames", "before", "mean mm")  # on a narrow terminal, in this order
ON_TIMING = re.compile(r"rebake: (?:(\d+) keys? w(?:as|ere) moved in time|the edit brings its own detail)")
MOVED = "mm: how far the detail moves joints, on a figure of 1.7 m"


def run(work: Sequence[Rebaking], skipped: Sequence[Target], jobs: int, *, one: bool, json: bool, quiet: bool) -> int:
    """Rebakes all, and says what became of it; the exit code. ``one`` is a file to a file."""
    ran = run_all("Rebaking", rebake_clip, work, skipped, jobs, said.heard, json=json, quiet=quiet)
    if json:
        output.show_json(_of_one(ran) if one else ran.document("rebaked", _document))
    elif not quiet:
        _say(ran)
    if not one or ran.interrupted or not ran.outcomes or ran.outcomes[0].failure is None:
        return ran.code(json=json)
    (job,), failure = ran.work, ran.outcomes[0].failure
    return said.report_failures([(_at_fault(job, failure.message), failure)], quiet=json)


def _at_fault(job: Rebaking, message: str) -> Path:
    """The file that a message is about, which it then begins with."""
    files = (job.original.told, job.original.beside)
    return next((path for path in files if path is not None and message.startswith(str(path))), job.source)


def _say(ran: Run[Rebaking, Rebaked]) -> None:
    ran.say_notes(_other_notes)
    written = ran.written
    if len(ran.work) == 1 and written:
        output.show(block(*written[0], ran.seconds))
        return
    if written:
        output.show(table(written, output.console().width))
    parts = ran.counted("rebaked")
    if parts and ran.is_about_many:
        output.line(", ".join(parts))
    if written:
        output.line(f"{_percent(written[0][0])} of the detail put back{_from_where(written)}; "
                    f"written to {common_folder([str(job.target) for job, _ in written]) or '.'}: "
                    f"{file_size(sum(made.bytes for _, made in written))}")  # fmt: skip


def _other_notes(made: Rebaked) -> list[str]:
    """Without the one that says what the detail went by: that is shown in its own place."""
    return [note for note in made.notes if not ON_TIMING.match(note)]


def block(job: Rebaking, made: Rebaked, seconds: float) -> Group:
    """One edit: what it is, whose detail it got, and where it is."""
    before = "" if made.original_keys is None else f", before the edit {made.original_keys}"
    edit = "read frame by frame" if made.keys is None else f"{made.keys} keys{before}"
    if made.original == str(job.source):
        detail = f"{_percent(job)} of that which {job.source} itself brings along"
    else:
        detail = f"{_percent(job)} of that in {made.original}"
    rows = [
        ("edit", f"{edit}; {made.frames} frames, {duration(made.frames / made.fps)} at {made.fps:.6g} fps"),
        ("detail", detail),
    ]
    if made.mean_mm is not None and made.max_mm is not None:
        moved = f"moves joints by {mm(made.mean_mm)} mm on average, {mm(made.max_mm)} mm at most"
        rows.append(("", f"{moved} (on a figure of 1.7 m)"))
    rows.append(("timing", _timing(job, made)))
    rows.append(("written", f"{job.target} ({file_size(made.bytes)}) in {seconds:.2f} s"))
    return labelled(str(job.source), rows)


def _timing(job: Rebaking, made: Rebaked) -> str:
    """What the detail went by, and why."""
    if job.timing != "auto":
        return f"by {made.timing}, as asked"
    if made.timing == "own":
        return "as the edit itself keeps it: moved with its keys"
    if made.timing == "keys":
        moved = next((found[1] for note in made.notes if (found := ON_TIMING.match(note))), "some")
        return f"by keys: {moved} {'was' if moved == '1' else 'were'} moved, and detail went along"
    if made.keys is None:
        return "by frames: the edit has no keys of its own that could have been moved"
    if made.original_keys in (None, made.keys):
        return "by frames: no key was moved"
    return f"by frames: {made.keys} keys now, {made.original_keys} before, and none of these is seen to be moved"


def table(written: Sequence[tuple[Rebaking, Rebaked]], width: int) -> Group:
    """Many edits, one row each."""
    made = [clip for _, clip in written]
    sources, targets = (_below_common([str(getattr(job, side)) for job, _ in written]) for side in ("source", "target"))
    names = Column("clip", [printable(name) for name in sources])
    others = [
        Column("frames", [str(clip.frames) for clip in made], right=True),
        Column("keys", [_count(clip.keys) for clip in made], right=True),
        Column("before", [_count(clip.original_keys) for clip in made], right=True),
        Column("timing", [clip.timing for clip in made]),
        Column("mean mm", [_figure(clip.mean_mm) for clip in made], right=True),
        Column("max mm", [_figure(clip.max_mm) for clip in made], right=True),
        Column("written", [printable(name) for name in targets]),
    ]
    shown = columns.without_needless(names, others, width, NEEDLESS)
    return Group(columns.table(names, shown, width), Text(MOVED, style="dim"))


def _below_common(paths: Sequence[str]) -> list[str]:
    folder = common_folder(paths)
    return [os.path.relpath(path, folder) if folder else path for path in paths]


def _count(keys: int | None) -> str:
    return "-" if keys is None else str(keys)


def _figure(value: float | None) -> str:
    return "-" if value is None else mm(value)


def _percent(job: Rebaking) -> str:
    return f"{100 * job.residual:g} %"


def _from_where(written: Sequence[tuple[Rebaking, Rebaked]]) -> str:
    """The one file or folder whose detail it is; nothing where edits bring their own."""
    if any(made.original == str(job.source) for job, made in written):
        return ""
    files = sorted({made.original for _, made in written})
    return f", from {files[0]}" if len(files) == 1 else f", from {common_folder(files) or '.'}"


def _of_one(ran: Run[Rebaking, Rebaked]) -> dict[str, Any]:
    """The one file for JSON, or why there is none."""
    if ran.skipped:
        return {"source": str(ran.skipped[0].source), "target": str(ran.skipped[0].target), "skipped": True}
    if not ran.outcomes:
        return {"error": "interrupted", "error_kind": "KeyboardInterrupt"}
    job, outcome = ran.work[0], ran.outcomes[0]
    files = {"source": str(job.source), "target": str(job.target)}
    return files | _told(job, outcome) | {"warnings": outcome.warnings}


def _told(job: Rebaking, outcome: Outcome[Rebaked]) -> dict[str, Any]:
    if outcome.failure is not None:
        file = job.original.told or job.original.beside
        return {"from": None if file is None else str(file)} | said.failure_document(outcome.failure)
    assert outcome.value is not None
    return _document(job, outcome.value) | {"seconds": outcome.seconds}


def _document(job: Rebaking, made: Rebaked) -> dict[str, Any]:
    """One edit for JSON."""
    told = asdict(made)
    return {"from": told.pop("original"), "residual": job.residual, "timing_asked": job.timing, **told}
