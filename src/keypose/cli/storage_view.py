"""Compressed clips as text: one as a block, many as a table with totals."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group
from rich.text import Text

from keypose.batch.compress import CompressJob, CompressResult
from keypose.cli import output
from keypose.cli.clip_view import RAW_SIZE_TEXT, common_folder, format_contents
from keypose.cli.output import Column, escape_unprintable, format_bytes, format_duration, labelled_rows
from keypose.errors import format_count
from keypose.storage.error import LargestError

OPTIONAL_HEADINGS = ("written", "with", "joints", "before", "length")  # dropped in this order on a narrow terminal
LEGEND = (
    f"smaller: times smaller than the file; raw: times smaller than {RAW_SIZE_TEXT}; "
    "max mm: the largest error, on a figure of 1.7 m"
)


@dataclass(frozen=True)
class Total:
    """Totals of many clips."""

    duration_s: float
    source_bytes: int
    raw_bytes: int
    bytes: int
    verified: bool  # all files were read back
    worst: tuple[Path, LargestError] | None  # source and its largest error


def compute_total(results: Sequence[tuple[CompressJob, CompressResult]]) -> Total:
    """Return the totals of many clips."""
    clips = [clip for _, clip in results]
    errors = [(job.source, clip.error) for job, clip in results if clip.error is not None]
    return Total(
        duration_s=sum(clip.duration_s for clip in clips),
        source_bytes=sum(clip.source_bytes for clip in clips),
        raw_bytes=sum(clip.raw_bytes for clip in clips),
        bytes=sum(clip.bytes for clip in clips),
        verified=all(clip.verified for clip in clips),
        worst=max(errors, key=lambda each: each[1].mm, default=None),
    )


def build_block(job: CompressJob, result: CompressResult, seconds: float) -> Group:
    """Return the result of one clip as text."""
    rows = [
        (
            "motion",
            f"{format_count(result.n_frames, 'frame')}, {format_duration(result.duration_s)} at {result.fps:.6g} fps, "
            f"{format_count(result.n_joints, 'joint')}",
        ),
        (
            "size",
            f"{format_bytes(result.source_bytes)} became {format_bytes(result.bytes)}: "
            f"{_size_comparison(result, 'the file')}",
        ),
        ("error", _error_text(job, result)),
    ]
    if contents := _contents(result):
        rows.append(
            ("with", f"{contents}, which take {format_bytes(result.companion_bytes)} of it (--no-keys leaves them out)")
        )
    rows.append(("written", f"{job.target} in {seconds:.2f} s, {_format_speed(result.duration_s, seconds)}"))
    return labelled_rows(str(job.source), rows)


def build_table(results: Sequence[tuple[CompressJob, CompressResult]], width: int) -> Group:
    """Return a table of clips, one row each."""
    sources, targets = (
        _relative_paths([str(getattr(job, side)) for job, _ in results]) for side in ("source", "target")
    )
    clips = [clip for _, clip in results]
    names = Column("clip", [escape_unprintable(name) for name in sources])
    others = [
        Column("length", [format_duration(clip.duration_s) for clip in clips], right_aligned=True),
        Column("joints", [str(clip.n_joints) for clip in clips], right_aligned=True),
        Column("before", [format_bytes(clip.source_bytes) for clip in clips], right_aligned=True),
        Column("after", [format_bytes(clip.bytes) for clip in clips], right_aligned=True),
        Column("smaller", [_ratio_cell(clip.source_bytes, clip.bytes) for clip in clips], right_aligned=True),
        Column("raw", [_ratio_cell(clip.raw_bytes, clip.bytes) for clip in clips], right_aligned=True),
        Column("max mm", [_error_cell(clip) for clip in clips], right_aligned=True),
        Column("with", [_contents(clip) or "-" for clip in clips]),
        Column("written", [escape_unprintable(name) for name in targets]),
    ]
    if not any(_contents(clip) for clip in clips):
        others = [column for column in others if column.heading != "with"]
    visible_columns = output.drop_optional_columns(names, others, width, OPTIONAL_HEADINGS)
    return Group(output.build_table(names, visible_columns, width), Text(LEGEND, style="dim"))


def summary_lines(results: Sequence[tuple[CompressJob, CompressResult]], seconds: float) -> list[str]:
    """Return lines with the totals, the largest error and the output folder."""
    total = compute_total(results)
    lines = [
        f"{format_duration(total.duration_s)} of motion: {format_bytes(total.source_bytes)} became "
        f"{format_bytes(total.bytes)}, "
        f"{_size_comparison(total, 'the files')}"
    ]
    if total.worst is not None:
        source, error = total.worst
        lines.append(
            f"off by {_format_mm(error.mm)} mm at most: {source}, {_error_location(error)} (on a figure of 1.7 m)"
        )
    source_tolerances = [clip.source_tolerance_mm for _, clip in results if clip.source_tolerance_mm is not None]
    if source_tolerances:
        lines.append(
            f"{len(source_tolerances)} of them {'was' if len(source_tolerances) == 1 else 'were'} compressed before, "
            f"within {max(source_tolerances):g} mm of the original: errors add up"
        )
    lines.append(
        f"{'all were read back' if total.verified else 'not read back'}; written to "
        f"{common_folder([str(job.target) for job, _ in results]) or '.'}, "
        f"{_format_speed(total.duration_s, seconds)}"
    )
    return lines


def _error_text(job: CompressJob, result: CompressResult) -> str:
    verification = "read back" if result.verified else "not read back"
    if not result.has_frames:
        return (
            f"nothing: {'keys are stored exactly' if result.keys else 'swings are stored with 32 bits'}; {verification}"
        )
    before = result.source_tolerance_mm
    source_suffix = (
        "" if before is None else f" of {job.source.name}, which is itself within {before:g} mm of its original"
    )
    if result.lossless:
        return f"nothing: every number{source_suffix} is stored; {verification}"
    if result.error is None:
        return f"{job.tolerance_mm:g} mm at most{source_suffix}, guaranteed; {verification}"
    return (
        f"{_format_mm(result.error.mm)} mm at most: {_error_location(result.error)}, on a figure of 1.7 m; "
        f"{verification}, "
        f"within {job.tolerance_mm:g} mm{source_suffix}"
    )


def _error_location(error: LargestError) -> str:
    point = "" if error.point == "joint" else f" ({error.point})"
    return f"{error.joint}{point} in frame {error.frame}"


def _error_cell(result: CompressResult) -> str:
    if result.error is not None:
        return _format_mm(result.error.mm)
    return "0" if result.lossless or not result.has_frames else "-"


def _contents(result: CompressResult) -> str:
    return format_contents(result.keys, result.swings)


def _format_mm(value: float) -> str:
    return f"{value:.3g}"


def _size_comparison(result: CompressResult | Total, file: str) -> str:
    """Return the compression ratios against the file and against raw numbers as text."""
    file_direction, raw_direction = (
        _direction(result.source_bytes, result.bytes),
        _direction(result.raw_bytes, result.bytes),
    )
    than_raw = "than" if raw_direction == file_direction else f"{raw_direction} than"
    return (
        f"{_format_ratio(result.source_bytes, result.bytes)} {file_direction} than {file}, "
        f"{_format_ratio(result.raw_bytes, result.bytes)} {than_raw} {RAW_SIZE_TEXT}"
    )


def _direction(before: int, after: int) -> str:
    return "larger" if after > before else "smaller"


def _ratio_cell(before: int, after: int) -> str:
    return _format_ratio(before, after) + (" larger" if after > before else "")


def _format_ratio(before: int, after: int) -> str:
    ratio = max(before, after) / min(before, after) if before else 0.0
    return f"{ratio:.0f} x" if ratio >= 100 else f"{ratio:.3g} x"


def _format_speed(motion_s: float, seconds: float) -> str:
    return f"{motion_s / max(seconds, 1e-9):.3g} s of motion per second"


def _relative_paths(paths: Sequence[str]) -> list[str]:
    folder = common_folder(paths)
    return [os.path.relpath(path, folder) if folder else path for path in paths]
