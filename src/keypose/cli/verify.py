"""``keypose verify``: verify compressed files, and compare them with their originals."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Group
from rich.text import Text

from keypose.batch import Outcome, map_clips
from keypose.batch.file_discovery import discover_clips, suggest_file
from keypose.batch.verify import VerifyJob, VerifyResult, verify_clip
from keypose.cli import messages, output
from keypose.cli.clip_view import RAW_SIZE_TEXT, format_accuracy, format_paths, stored_rows
from keypose.cli.error_text import render_error
from keypose.cli.options import DEFAULT_LOAD, Jobs, Json, LoadFlags, resolve_jobs
from keypose.cli.output import (
    FAILED,
    Column,
    UsageError,
    escape_unprintable,
    format_bytes,
    format_duration,
    labelled_rows,
    missing_argument_error,
)
from keypose.cli.runner import ProgressBar
from keypose.cli.storage_run import find_originals, find_uncompressed, select_compressed
from keypose.errors import FileError, format_count

OPTIONAL_HEADINGS = ("with", "groups", "length")  # dropped in this order on a narrow terminal


def verify(
    *files: Annotated[str, Parameter(help="Compressed files, folders of them, or patterns in quotes.")],
    against: Annotated[
        Path | None,
        Parameter(help="The original to compare with: a file, or a folder with one of the same name for each."),
    ] = None,
    load: LoadFlags = DEFAULT_LOAD,
    jobs: Jobs = None,
    json: Json = False,
) -> int:
    """Verify that compressed files are undamaged.

    Every group is decoded and its checksum compared. Damaged groups are listed,
    with the command that restores the rest, and the exit code is 1. With --against
    every frame is compared with the original, and errors above the tolerance of
    the file are listed too, as are originals without a compressed file.

    For example:
      keypose verify walk.kps
      keypose verify archive/ --jobs 4
      keypose verify walk.kps --against walk.bvh
      keypose verify archive/ --against takes/ --json > verified.json
    """
    if not files:
        raise missing_argument_error("no file named", "at least one .kps file, folder or pattern")
    load_options = load.load_options()
    inputs = select_compressed(discover_clips(files), files)
    if against is not None and not os.path.lexists(against):
        near = suggest_file(against)
        hint = f"did you mean {near}?" if near else None
        raise FileError("no such file or folder", code="no_such_file", path=against, hint=hint)
    if against is not None and not against.is_dir() and len(inputs.files) > 1:
        raise UsageError(
            f"is one file for {len(inputs.files)}", option="against", value=against, expected="a folder of originals"
        )
    paths = [file.path for file in inputs.files]
    originals = [None] * len(paths) if against is None else find_originals(inputs.files, against)
    work = [VerifyJob(path, original, load_options) for path, original in zip(paths, originals, strict=True)]
    compares_folders = against is not None and against.is_dir() and any(Path(name).is_dir() for name in files)
    missing = find_uncompressed(inputs.files, against) if against is not None and compares_folders else []
    is_single_file = len(files) == 1 and [str(job.path) for job in work] == [str(Path(files[0]))]
    return run(work, missing, inputs.problems, resolve_jobs(jobs, len(work)), json=json, is_single_file=is_single_file)


def run(
    work: Sequence[VerifyJob],
    missing: Sequence[Path],
    problems: Sequence[FileError],
    n_workers: int,
    *,
    json: bool,
    is_single_file: bool,
) -> int:
    """Verify all files and print results; return the exit code. ``missing``: originals without a compressed file."""
    outcomes: list[Outcome[VerifyResult]] = []
    progress = ProgressBar("Verifying", [job.path for job in work], quiet=json)
    results = map_clips(verify_clip, work, n_workers, on_start=progress.start_clip)
    with progress, closing(results):
        for outcome in results:
            outcomes.append(messages.render_outcome(outcome))
            progress.finish_clip(outcome)
    outcomes.sort(key=lambda outcome: outcome.index)
    clips = [o.value for o in outcomes if o.value is not None]
    if json:
        documents = [_document(work[o.index], o) for o in outcomes]
        documents += [{"path": None, "against": str(path), "problem": "has no .kps"} for path in missing]
        documents += [messages.error_document(p) for p in problems]
        output.print_json(documents[0] if is_single_file else documents)
    else:
        _print_results(work, outcomes, clips, problems, is_single_file=is_single_file)
        if missing:
            output.print_warning(
                f"{len(missing)} of the originals {'has' if len(missing) == 1 else 'have'} no .kps: "
                f"{format_paths(missing)}"
            )
    code = messages.report_failures([(work[o.index].path, o.failure) for o in outcomes if o.failure], quiet=json)
    return code or (FAILED if problems or any(clip.problem for clip in clips) else 0)


def _print_results(
    work: Sequence[VerifyJob],
    outcomes: Sequence[Outcome[VerifyResult]],
    clips: Sequence[VerifyResult],
    problems: Sequence[FileError],
    *,
    is_single_file: bool,
) -> None:
    for outcome in outcomes:
        messages.print_warnings(work[outcome.index].path, outcome.warnings)
    if is_single_file and clips:
        output.print_renderable(build_block(work[outcomes[0].index], clips[0]))
    elif clips:
        output.print_renderable(build_table(clips, output.stdout_console().width))
        sound = sum(not clip.problem for clip in clips)
        output.print_line(
            f"{sound} of {format_count(len(work), 'file')} sound, "
            f"{format_duration(sum(clip.duration_s for clip in clips))} of motion"
        )
    for clip in clips:
        if clip.problem:
            output.print_error(f"{clip.path}: {clip.problem}")
    for problem in problems:
        output.print_error(render_error(problem))


def build_block(job: VerifyJob, clip: VerifyResult) -> Group:
    """Return the result of one file as text."""
    rows = [
        (
            "motion",
            f"{format_count(clip.n_frames, 'frame')}, {format_duration(clip.duration_s)} at "
            f"{clip.fps:.6g} fps, {format_count(clip.n_joints, 'joint')}",
        ),
        ("size", format_bytes(clip.bytes)),
        *stored_rows(clip.storage),
    ]
    if clip.error is not None:
        rows.append(("error", f"{clip.error}, on a figure of 1.7 m"))
    if clip.is_identical:
        rows.append(("error", f"nothing: same as {job.original}, every number"))
    if not clip.problem:
        rows.append(("state", "sound: every group was read"))
    return labelled_rows(clip.path, rows)


def build_table(results: Sequence[VerifyResult], width: int) -> Group:
    """Return a table of files, one row each."""
    names = Column("file", [escape_unprintable(clip.path) for clip in results])
    others = [
        Column("length", [format_duration(clip.duration_s) for clip in results], right_aligned=True),
        Column("size", [format_bytes(clip.bytes) for clip in results], right_aligned=True),
        Column("raw", [_format_ratio(clip.storage.ratio) for clip in results], right_aligned=True),
        Column("accuracy", [format_accuracy(clip.storage) for clip in results]),
        Column("groups", [str(clip.storage.n_groups) for clip in results], right_aligned=True),
        Column("max mm", [_format_error(clip) for clip in results], right_aligned=True),
        Column("state", [_state(clip) for clip in results]),
    ]
    if not any(clip.error or clip.is_identical for clip in results):
        others = [column for column in others if column.heading != "max mm"]
    visible_columns = output.drop_optional_columns(names, others, width, OPTIONAL_HEADINGS)
    legend = Text(f"raw: times smaller than {RAW_SIZE_TEXT}", style="dim")
    return Group(output.build_table(names, visible_columns, width), legend)


def _format_ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.3g} x"


def _format_error(clip: VerifyResult) -> str:
    return "0" if clip.is_identical else "-" if clip.error is None else f"{clip.error.mm:.3g}"


def _state(clip: VerifyResult) -> str:
    if clip.storage.damage:
        return f"{len(clip.storage.damage)} damaged"
    return "wrong" if clip.problem else "sound"


def _document(job: VerifyJob, outcome: Outcome[VerifyResult]) -> dict[str, Any]:
    """Return one file, or its failure, as a JSON document."""
    if outcome.failure is not None:
        return {
            "path": str(job.path),
            **messages.failure_document(outcome.failure),
            "warnings": messages.render_warnings(outcome.warnings),
        }
    clip = outcome.value
    assert clip is not None
    fields = asdict(clip)
    return {
        **{name: fields[name] for name in ("path", "name", "bytes", "n_frames", "fps")},
        "duration_s": clip.duration_s,
        "n_joints": clip.n_joints,
        **fields["storage"],
        "against": None if job.original is None else str(job.original),
        "largest_error": fields["error"],
        "same": clip.is_identical,
        "sound": not clip.problem,
        "problem": clip.problem or None,
        "notes": clip.notes,
        "warnings": messages.render_warnings(outcome.warnings),
    }
