"""Unbaked clips for people: one as a block, many as a table."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from rich.console import Group, RenderableType
from rich.text import Text

from keypose.batch.inputs import KEYS_SUFFIXES
from keypose.batch.unbake import Closeness, Unbaked, Unbaking
from keypose.cli import columns
from keypose.cli.clip_view import common_folder, duration, file_size, labelled
from keypose.cli.columns import Column
from keypose.cli.output import printable

FRAMES_SHOWN = 24  # of keys
NEEDLESS = ("written", "mean deg", "max deg", "frames", "slide")  # on a narrow terminal, in this order
SLIDE = "slide: how far standing feet slide, against the capture"
POP_DEG = 90.0  # where there are keys enough, no curve is off by so much
POP = "mostly a pop of the capture, a thumb that flips for a few frames: curves hold over it, the detail keeps it"


def block(job: Unbaking, made: Unbaked, seconds: float) -> Group:
    """One clip: what is left of it, how close that comes, where it is, and what to do next."""
    rows = [("keys", _keys(job, made)), ("at", _key_frames(job, made)), *closeness_rows(made.closeness)]
    for n, text in enumerate(_files(job, made)):
        rows.append(("" if n else "written", text))
    rows.append(("time", f"{seconds:.2f} s"))
    parts: list[RenderableType] = [labelled(str(job.source), rows)]
    return Group(*parts, *(Text(line) for line in _next(job, made)))


def table(written: Sequence[tuple[Unbaking, Unbaked]], width: int) -> Group:
    """Many clips, one row each."""
    sources, targets = (_below_common([str(getattr(job, side)) for job, _ in written]) for side in ("source", "target"))
    made = [clip for _, clip in written]
    close = [clip.closeness for clip in made]
    names = Column("clip", [printable(name) for name in sources[1]])
    others = [
        Column("frames", [str(clip.frames) for clip in made], right=True),
        Column("keys", [str(len(clip.keys)) for clip in made], right=True),
        Column("removed", [f"{_removed(clip):.1f} %" for clip in made], right=True),
        Column("mean mm", _cells(close, "mean_mm", 2), right=True),
        Column("max mm", _cells(close, "max_mm", 1), right=True),
        Column("mean deg", _cells(close, "mean_deg", 2), right=True),
        Column("max deg", _cells(close, "max_deg", 1), right=True),
        Column("slide", [_slide(c) for c in close], right=True),
        Column("written", [printable(name) for name in targets[1]]),
    ]
    shown = columns.without_needless(names, others, width, NEEDLESS)
    parts: list[RenderableType] = [columns.table(names, shown, width)]
    if any(column.heading == "slide" for column in shown):
        parts.append(Text(SLIDE, style="dim"))
    if any(column.heading == "max deg" for column in shown) and any(c.max_deg > POP_DEG for c in close if c):
        parts.append(Text(f"max deg above {POP_DEG:.0f}: {POP}", style="dim"))
    return Group(*parts)


def summary(written: Sequence[tuple[Unbaking, Unbaked]]) -> list[str]:
    """What many clips are together, and where they are."""
    made = [clip for _, clip in written]
    frames, keys = sum(clip.frames for clip in made), sum(len(clip.keys) for clip in made)
    lines = [f"{keys} keys of {frames} frames, {100 * (1 - keys / frames):.1f} % removed"]
    close = [(clip.closeness, job.source) for job, clip in written if clip.closeness is not None]
    if close:
        worst, source = max(close, key=lambda each: each[0].max_mm)
        mean = median(each.mean_mm for each, _ in close)
        lines.append(f"off by {mm(mean)} mm on average in the median clip, by {mm(worst.max_mm)} mm at most: {source}, "
                     f"{worst.worst_joint} in frame {worst.worst_frame} (on a figure of 1.7 m)")  # fmt: skip
    folder = _below_common([str(job.target) for job, _ in written])[0] or "."
    size = file_size(sum(clip.bytes + (clip.keys_file_bytes or 0) for clip in made))
    beside = ", with the lossless NAME.keys.json for rebake beside each" if written[0][0].keys_file is not None else ""
    lines.append(f"written to {folder}: {size}{beside}")
    return lines


def mm(value: float) -> str:
    """Millimetres or degrees with as many digits as one reads."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _keys(job: Unbaking, made: Unbaked) -> str:
    keys = f"{len(made.keys)} of {made.frames} frames, {_removed(made):.1f} % removed"
    if job.tolerance_mm is not None:
        how = f"; the fewest within {job.tolerance_mm:g} mm"
    elif job.keys is not None:
        how = ""
    elif job.auto:
        how = "; where the error curve says to stop"
    else:
        how = "; as many as it takes (--keys or --tolerance-mm: another number)"
    return f"{keys} ({duration(made.frames / made.fps)} at {made.fps:.6g} fps){how}"


def _key_frames(job: Unbaking, made: Unbaked) -> str:
    more = len(made.keys) - FRAMES_SHOWN
    return (
        "frames "
        + " ".join(map(str, made.keys[:FRAMES_SHOWN]))
        + (f" and {more} more; --json has all" if more > 0 else "")
        + ("; Blender counts from 1: frame 0 is its frame 1" if job.target.suffix.lower() == ".blend" else "")
    )


def closeness_rows(close: Closeness | None) -> list[tuple[str, str]]:
    """How close keys and curves come to the capture, by label."""
    if close is None:
        return [("off", "not known in mm: the figure has no height")]
    rows = [
        ("off", f"{mm(close.mean_mm)} mm on average, 95 % within {mm(close.p95_mm)} mm, {mm(close.max_mm)} mm at most: "
                f"{close.worst_joint} in frame {close.worst_frame} (on a figure of 1.7 m)"),
        ("turns", f"{mm(close.mean_deg)} degrees off on average, {mm(close.max_deg)} at most: "
                  f"{close.worst_turn_joint} in frame {close.worst_turn_frame}"),
    ]  # fmt: skip
    if close.max_deg > POP_DEG:
        rows.append(("", POP))
    if close.foot_slide_mm is not None and close.original_foot_slide_mm is not None:
        rows.append(("feet", f"slide {mm(close.foot_slide_mm)} mm where they stand, "
                             f"in the capture {mm(close.original_foot_slide_mm)} mm"))  # fmt: skip
    return rows


def _files(job: Unbaking, made: Unbaked) -> list[str]:
    files = [f"{job.target} ({file_size(made.bytes)}): {_held_by_target(job, made)}"]
    if job.keys_file is not None and made.keys_file_bytes is not None:
        files.append(f"{job.keys_file} ({file_size(made.keys_file_bytes)}): {_holds(made)}")
    return files


def _held_by_target(job: Unbaking, made: Unbaked) -> str:
    name = str(job.target).lower()
    if name.endswith(KEYS_SUFFIXES):
        return _holds(made)
    if not made.keeps_keys:
        return f"all {made.frames} frames, as this format gets no curves"
    if name.endswith(".blend") and made.has_residual:
        return "keys and curves; the armature's property residual shows the captured detail"
    return "keys and curves"


def _holds(made: Unbaked) -> str:
    return "keys, curves, and the captured detail for rebake" if made.has_residual else "keys and curves, no detail"


def _next(job: Unbaking, made: Unbaked) -> list[str]:
    """How the captured detail comes back after an edit."""
    kept = job.keys_file or job.target
    name = str(job.target).lower()
    if made.has_residual and name.endswith(".blend"):  # which brings its own
        return [
            "next: open it in Blender, edit and save it, and put the captured detail back on top:",
            f"  keypose rebake {_quoted(job.target)} FINAL.glb",
        ]
    if not made.has_residual or not str(kept).lower().endswith(KEYS_SUFFIXES):
        return []
    lines = [
        "next: edit the keys, export them, and put the captured detail back on top:",
        f"  keypose rebake EDITED.glb FINAL.glb --from {_quoted(kept)}",
    ]
    if name.endswith((".glb", ".gltf")):
        blend = _quoted(kept.with_name(kept.name.split(".keys.json")[0] + ".blend"))
        lines.append(f"for Blender, whose glTF import drops the slopes of curves, write {blend} instead")
    return lines


def _quoted(path: Path) -> str:
    return shlex.quote(printable(str(path)))


def _removed(made: Unbaked) -> float:
    return 100 * (1 - len(made.keys) / made.frames)


def _cells(close: Sequence[Closeness | None], figure: str, decimals: int) -> list[str]:
    return ["-" if c is None else f"{getattr(c, figure):.{decimals}f}" for c in close]


def _slide(close: Closeness | None) -> str:
    if close is None or close.foot_slide_mm is None or not close.original_foot_slide_mm:
        return "-"
    return f"x {close.foot_slide_mm / close.original_foot_slide_mm:.2f}"


def _below_common(paths: Sequence[str]) -> tuple[str, list[str]]:
    """The folder that all are in or below, if any, and their names from there."""
    folder = common_folder(paths)
    return folder, [os.path.relpath(path, folder) if folder else path for path in paths]
