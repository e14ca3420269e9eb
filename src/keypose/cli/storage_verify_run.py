"""The run of ``keypose verify``: progress, failures, and what is sound, for people or programs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.text import Text

from keypose.batch import Outcome, map_clips
from keypose.batch.storage_verify import Verified, Verifying, verify_clip
from keypose.cli import columns, output, said
from keypose.cli.clip_view import duration, file_size, labelled
from keypose.cli.columns import Column
from keypose.cli.exits import FAILED
from keypose.cli.output import printable
from keypose.cli.progress import Progress
from keypose.cli.storage_rows import RAW, nearness, some_of, stored_rows
from keypose.errors import FileError

NEEDLESS = ("with", "groups", "length")  # on a narrow terminal, in this order


def run(
    work: Sequence[Verifying],
    missing: Sequence[Path],
    problems: Sequence[FileError],
    jobs: int,
    *,
    json: bool,
    one: bool,
) -> int:
    """Reads all, and says what is sound; the exit code. ``missing``: originals without a compressed file."""
    outcomes: list[Outcome[Verified]] = []
    progress = Progress("Verifying", [job.path for job in work], quiet=json)
    results = map_clips(verify_clip, work, jobs, on_start=progress.begin)
    with progress, closing(results):
        for outcome in results:
            outcomes.append(said.heard(work[outcome.index].path, outcome))
            progress.done(outcome)
    outcomes.sort(key=lambda outcome: outcome.index)
    found = [o.value for o in outcomes if o.value is not None]
    if json:
        told = [_document(work[o.index], o) for o in outcomes]
        told += [{"path": None, "against": str(path), "problem": "has no .kps"} for path in missing]
        told += [said.problem_document(p) for p in problems]
        output.show_json(told[0] if one else told)
    else:
        _say(work, outcomes, found, problems, one=one)
        if missing:
            output.warning(f"{len(missing)} of the originals {'has' if len(missing) == 1 else 'have'} no .kps: "
                           f"{some_of(missing)}")  # fmt: skip
    code = said.report_failures([(work[o.index].path, o.failure) for o in outcomes if o.failure], quiet=json)
    return code or (FAILED if problems or any(clip.problem for clip in found) else 0)


def _say(
    work: Sequence[Verifying],
    outcomes: Sequence[Outcome[Verified]],
    found: Sequence[Verified],
    problems: Sequence[FileError],
    *,
    one: bool,
) -> None:
    for outcome in outcomes:
        said.say_warnings(work[outcome.index].path, outcome.warnings)
    if one and found:
        output.show(block(work[outcomes[0].index], found[0]))
    elif found:
        output.show(table(found, output.console().width))
        sound = sum(not clip.problem for clip in found)
        output.line(f"{sound} of {len(work)} files sound, {duration(sum(clip.duration_s for clip in found))} of motion")
    for clip in found:
        if clip.problem:
            output.error(f"{clip.path}: {clip.problem}")
    for problem in problems:
        output.error(str(problem))


def block(job: Verifying, clip: Verified) -> Group:
    """One file: what is in it, and whether it is sound."""
    rows = [
        ("motion", f"{clip.n_frames} frames, {duration(clip.duration_s)} at {clip.fps:.6g} fps, "
                   f"{clip.n_joints} joints"),
        ("size", file_size(clip.bytes)),
        *stored_rows(clip.stored),
    ]  # fmt: skip
    if clip.error is not None:
        rows.append(("off", f"{clip.error}, on a figure of 1.7 m"))
    if clip.same:
        rows.append(("off", f"nothing: same as {job.against}, every number"))
    if not clip.problem:
        rows.append(("sound", "every group was read"))
    return labelled(clip.path, rows)


def table(found: Sequence[Verified], width: int) -> Group:
    """Many files, one row each."""
    names = Column("file", [printable(clip.path) for clip in found])
    others = [
        Column("length", [duration(clip.duration_s) for clip in found], right=True),
        Column("size", [file_size(clip.bytes) for clip in found], right=True),
        Column("raw", [_ratio(clip.stored.ratio) for clip in found], right=True),
        Column("kept", [nearness(clip.stored) for clip in found]),
        Column("groups", [str(clip.stored.n_groups) for clip in found], right=True),
        Column("max mm", [_off(clip) for clip in found], right=True),
        Column("state", [_state(clip) for clip in found]),
    ]
    if not any(clip.error or clip.same for clip in found):
        others = [column for column in others if column.heading != "max mm"]
    shown = columns.without_needless(names, others, width, NEEDLESS)
    return Group(columns.table(names, shown, width), Text(f"raw: than {RAW}", style="dim"))


def _ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.3g} x"


def _off(clip: Verified) -> str:
    return "0" if clip.same else "-" if clip.error is None else f"{clip.error.mm:.3g}"


def _state(clip: Verified) -> str:
    if clip.stored.damage:
        return f"{len(clip.stored.damage)} damaged"
    return "wrong" if clip.problem else "sound"


def _document(job: Verifying, outcome: Outcome[Verified]) -> dict[str, Any]:
    """One file for JSON, or why there is none."""
    if outcome.failure is not None:
        return {"path": str(job.path), **said.failure_document(outcome.failure), "warnings": outcome.warnings}
    clip = outcome.value
    assert clip is not None
    told = asdict(clip)
    return {
        **{name: told[name] for name in ("path", "name", "bytes", "n_frames", "fps")},
        "duration_s": clip.duration_s,
        "n_joints": clip.n_joints,
        **told["stored"],
        "against": None if job.against is None else str(job.against),
        "largest_error": told["error"],
        "same": clip.same,
        "sound": not clip.problem,
        "problem": clip.problem or None,
        "notes": clip.notes,
        "warnings": outcome.warnings,
    }
