"""Compressed clips for people: one as a block, many as a table, and what they are together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group
from rich.text import Text

from keypose.batch.storage_compress import Compressed, Compression
from keypose.cli import columns
from keypose.cli.clip_view import common_folder, duration, file_size, labelled
from keypose.cli.columns import Column
from keypose.cli.output import printable
from keypose.cli.storage_rows import RAW, held
from keypose.storage.error import LargestError

NEEDLESS = ("written", "with", "joints", "before", "length")  # on a narrow terminal, in this order
LEGEND = f"smaller: than the file; raw: than {RAW}; max mm: the largest error, on a figure of 1.7 m"


@dataclass(frozen=True)
class Total:
    """Many clips together."""

    duration_s: float
    source_bytes: int
    raw_bytes: int
    bytes: int
    verified: bool  # all were read back
    worst: tuple[Path, LargestError] | None  # the largest error of all


def total(written: Sequence[tuple[Compression, Compressed]]) -> Total:
    """The sums of many clips, and the worst of them."""
    made = [clip for _, clip in written]
    errors = [(job.source, clip.error) for job, clip in written if clip.error is not None]
    return Total(
        duration_s=sum(clip.duration_s for clip in made),
        source_bytes=sum(clip.source_bytes for clip in made),
        raw_bytes=sum(clip.raw_bytes for clip in made),
        bytes=sum(clip.bytes for clip in made),
        verified=all(clip.verified for clip in made),
        worst=max(errors, key=lambda each: each[1].mm, default=None),
    )


def block(job: Compression, made: Compressed, seconds: float) -> Group:
    """One clip: how small it has become, how near it is, and where."""
    rows = [
        ("motion", f"{made.n_frames} frames, {duration(made.duration_s)} at {made.fps:.6g} fps, "
                   f"{made.n_joints} joints"),
        ("size", f"{file_size(made.source_bytes)} became {file_size(made.bytes)}: {_smaller(made, 'the file')}"),
        ("off", _off(job, made)),
    ]  # fmt: skip
    if with_it := _with(made):
        rows.append(("with", f"{with_it}, which take {file_size(made.beside_bytes)} of it (--no-keys leaves them out)"))
    rows.append(("written", f"{job.target} in {seconds:.2f} s, {_speed(made.duration_s, seconds)}"))
    return labelled(str(job.source), rows)


def table(written: Sequence[tuple[Compression, Compressed]], width: int) -> Group:
    """Many clips, one row each."""
    sources, targets = (_below_common([str(getattr(job, side)) for job, _ in written]) for side in ("source", "target"))
    made = [clip for _, clip in written]
    names = Column("clip", [printable(name) for name in sources])
    others = [
        Column("length", [duration(clip.duration_s) for clip in made], right=True),
        Column("joints", [str(clip.n_joints) for clip in made], right=True),
        Column("before", [file_size(clip.source_bytes) for clip in made], right=True),
        Column("after", [file_size(clip.bytes) for clip in made], right=True),
        Column("smaller", [_cell_times(clip.source_bytes, clip.bytes) for clip in made], right=True),
        Column("raw", [_cell_times(clip.raw_bytes, clip.bytes) for clip in made], right=True),
        Column("max mm", [_cell(clip) for clip in made], right=True),
        Column("with", [_with(clip) or "-" for clip in made]),
        Column("written", [printable(name) for name in targets]),
    ]
    if not any(_with(clip) for clip in made):
        others = [column for column in others if column.heading != "with"]
    shown = columns.without_needless(names, others, width, NEEDLESS)
    return Group(columns.table(names, shown, width), Text(LEGEND, style="dim"))


def summary(written: Sequence[tuple[Compression, Compressed]], seconds: float) -> list[str]:
    """What many clips are together, how far they are off, and where they are."""
    all_ = total(written)
    lines = [
        f"{duration(all_.duration_s)} of motion: {file_size(all_.source_bytes)} became {file_size(all_.bytes)}, "
        f"{_smaller(all_, 'the files')}"
    ]
    if all_.worst is not None:
        source, error = all_.worst
        lines.append(f"off by {_mm(error.mm)} mm at most: {source}, {_where(error)} (on a figure of 1.7 m)")
    before = [clip.source_tolerance_mm for _, clip in written if clip.source_tolerance_mm is not None]
    if before:
        lines.append(f"{len(before)} of them {'was' if len(before) == 1 else 'were'} compressed before, within "
                     f"{max(before):g} mm of the original: errors add up")  # fmt: skip
    lines.append(f"{'all were read back' if all_.verified else 'not read back'}; written to "
                 f"{common_folder([str(job.target) for job, _ in written]) or '.'}, "
                 f"{_speed(all_.duration_s, seconds)}")  # fmt: skip
    return lines


def _off(job: Compression, made: Compressed) -> str:
    read = "read back" if made.verified else "not read back"
    if not made.has_frames:
        return f"nothing: {'keys are kept exactly' if made.keys else 'swings are kept to 32 bits'}; {read}"
    before = made.source_tolerance_mm
    since = "" if before is None else f" of {job.source.name}, which is itself within {before:g} mm of its original"
    if made.lossless:
        return f"nothing: every number{since} is kept; {read}"
    if made.error is None:
        return f"{job.tolerance_mm:g} mm at most{since}, as promised; {read}"
    return (f"{_mm(made.error.mm)} mm at most: {_where(made.error)}, on a figure of 1.7 m; {read}, "
            f"within {job.tolerance_mm:g} mm{since}")  # fmt: skip


def _where(error: LargestError) -> str:
    point = "" if error.what == "joint" else f" ({error.what})"
    return f"{error.joint}{point} in frame {error.frame}"


def _cell(made: Compressed) -> str:
    if made.error is not None:
        return _mm(made.error.mm)
    return "0" if made.lossless or not made.has_frames else "-"


def _with(made: Compressed) -> str:
    return held(made.keys, made.swings)


def _mm(value: float) -> str:
    return f"{value:.3g}"


def _smaller(made: Compressed | Total, file: str) -> str:
    """How many times smaller it is than the file and than plain numbers, or larger."""
    file_way, raw_way = _way(made.source_bytes, made.bytes), _way(made.raw_bytes, made.bytes)
    than_raw = "than" if raw_way == file_way else f"{raw_way} than"
    return (f"{_times(made.source_bytes, made.bytes)} {file_way} than {file}, "
            f"{_times(made.raw_bytes, made.bytes)} {than_raw} {RAW}")  # fmt: skip


def _way(before: int, after: int) -> str:
    return "larger" if after > before else "smaller"


def _cell_times(before: int, after: int) -> str:
    return _times(before, after) + (" larger" if after > before else "")


def _times(before: int, after: int) -> str:
    ratio = max(before, after) / min(before, after) if before else 0.0
    return f"{ratio:.0f} x" if ratio >= 100 else f"{ratio:.3g} x"


def _speed(motion_s: float, seconds: float) -> str:
    return f"{motion_s / max(seconds, 1e-9):.3g} s of motion per second"


def _below_common(paths: Sequence[str]) -> list[str]:
    folder = common_folder(paths)
    return [os.path.relpath(path, folder) if folder else path for path in paths]
