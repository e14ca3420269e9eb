"""Clips and their failures as blocks, tables, lines and JSON."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from keypose.batch import Failure, Outcome
from keypose.batch.describe import ClipInfo, JointInfo
from keypose.cli import output
from keypose.cli.exits import FAILED
from keypose.cli.output import printable

UNITS = {1.0: "m", 0.1: "dm", 0.01: "cm", 0.001: "mm", 0.0254: "in", 0.3048: "ft"}
NAMES_SHOWN = 8  # of joints that were not recognised
DEEPEST_INDENT = 20  # joints below this level are not indented further


def block(clip: ClipInfo, notes: Sequence[str]) -> Table:
    """One clip, a line for each thing worth knowing."""
    rows = [
        ("format", clip.format),
        ("size", file_size(clip.bytes)),
        ("frames", f"{clip.frames} at {clip.fps:.6g} fps"),
        ("duration", duration(clip.duration_s)),
        ("joints", f"{clip.joints}, and {clip.end_sites} end sites" if clip.end_sites else str(clip.joints)),
        ("channels", _channels(clip)),
        ("up", clip.up),
        ("unit", _unit(clip)),
        (
            "height",
            f"{clip.height:.4g} units" + (f" = {clip.height_m:.2f} m" if clip.height_m is not None else ""),
        ),
        ("recognised", _recognised(clip)),
        *(("note", text) for text in notes),
    ]
    grid = Table(
        title=Text(printable(clip.path), style="bold"), title_justify="left", box=None, show_header=False
    )
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, value in rows:
        grid.add_row(label, Text(printable(value)))
    return grid


def table(clips: Sequence[ClipInfo]) -> Table:
    """Many clips, one row each."""
    folder = _common_folder([clip.path for clip in clips])
    title = Text(f"{len(clips)} clips" + (f" in {printable(folder)}" if folder else ""), style="bold")
    grid = _plain_table(title)
    grid.add_column("file", overflow="fold", style="cyan")
    for heading in ("format", "frames", "fps", "length", "joints", "ends", "up", "unit", "height", "known"):
        grid.add_column(
            heading, no_wrap=True, justify="left" if heading in ("format", "up", "unit") else "right"
        )
    for clip in clips:
        grid.add_row(
            Text(printable(os.path.relpath(clip.path, folder) if folder else clip.path)),
            printable(clip.format),
            str(clip.frames),
            f"{clip.fps:.4g}",
            duration(clip.duration_s),
            str(clip.joints),
            str(clip.end_sites),
            clip.up,
            UNITS.get(clip.metres_per_unit or 0.0, "-" if clip.metres_per_unit is None else "other"),
            f"{clip.height:.3g}",
            f"{clip.recognised}/{clip.joints}",
        )
    return grid


def joint_table(clip: ClipInfo) -> Table:
    """The joint tree, indented, with body parts, channels and offsets."""
    grid = _plain_table(None)
    grid.add_column("joint", overflow="fold", style="cyan")
    for heading in ("part", "order", "channels", "offset"):
        grid.add_column(heading, overflow="fold")
    for joint in clip.tree:
        indent = "  " * min(joint.depth, DEEPEST_INDENT)
        grid.add_row(
            Text(indent + printable(joint.name)),
            Text(printable(joint.part or "-")),
            joint.rotation_order,
            _joint_channels(joint),
            _vector(joint.offset),
        )
        for end in joint.end_sites:
            grid.add_row(Text(f"{indent}  (end)", style="dim"), "", "", "", Text(_vector(end), style="dim"))
    return grid


def document(path: Path, outcome: Outcome[ClipInfo]) -> dict[str, Any]:
    """One clip, or why there is none, for JSON."""
    if outcome.failure is not None:
        return {"path": str(path), **failure_document(outcome.failure), "warnings": list(outcome.warnings)}
    assert outcome.value is not None
    found = asdict(outcome.value)
    tree = found.pop("tree")
    return found | {"warnings": list(outcome.warnings)} | ({"tree": tree} if tree else {})


def failure_document(failure: Failure) -> dict[str, str]:
    """A failure, for JSON."""
    return {"error": failure.message, "error_kind": failure.kind}


def report_failures(failures: Sequence[tuple[Path, Failure]], *, quiet: bool = False) -> int:
    """Says what failed, a line each; the exit code for it. Faults of the program are said even when quiet."""
    from keypose.cli.app import report_bug

    code = 0
    for path, failure in failures:
        if failure.is_bug:
            code = report_bug(failure.kind, f"{failure.message} (at {path})", failure.traceback)
        elif not quiet:
            named = failure.message.startswith(str(path))
            output.error(failure.message if named else f"{path}: {failure.message}")
    return code or (FAILED if failures else 0)


def own_notes(notes: Iterable[str], warnings: Sequence[str]) -> list[str]:
    """The notes that were not said as warnings already."""
    return [note for note in dict.fromkeys(notes) if not any(text.endswith(note) for text in warnings)]


def say_notes(clips: Iterable[tuple[Path, Sequence[str]]]) -> None:
    """``note:`` lines; what is true of many clips is said once."""
    paths_by_note: dict[str, list[Path]] = {}
    for path, notes in clips:
        for note in notes:
            paths_by_note.setdefault(note, []).append(path)
    for note, paths in paths_by_note.items():
        output.note(f"{paths[0]}: {note}" if len(paths) == 1 else f"{len(paths)} clips: {note}")


def duration(seconds: float) -> str:
    """A time that a person reads."""
    if seconds < 100:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min"


def file_size(size: int) -> str:
    """Bytes as a person reads them."""
    if size < 1000:
        return f"{size} bytes"
    for unit in ("kB", "MB"):
        size_in_unit = size / (1000 if unit == "kB" else 1_000_000)
        if size_in_unit < 999.5:
            return f"{size_in_unit:.3g} {unit}"
    return f"{size / 1e9:.3g} GB"


def _plain_table(title: Text | None) -> Table:
    return Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def _channels(clip: ClipInfo) -> str:
    groups = [
        f"{count} x {joints}" for count, joints in sorted(clip.joints_by_channels.items(), reverse=True)
    ]
    orders = ", ".join(clip.rotation_orders)
    return f"{clip.channels} ({', '.join(groups)} joints), turns {orders}" if clip.channels else "none"


def _joint_channels(joint: JointInfo) -> str:
    moves = "".join(c[0] for c in joint.channels if c.endswith("position"))
    turns = "".join(c[0] for c in joint.channels if c.endswith("rotation"))
    return " ".join(filter(None, (moves and f"move {moves}", turns and f"turn {turns}"))) or "-"


def _unit(clip: ClipInfo) -> str:
    if clip.metres_per_unit is None:
        return "not stated"
    return UNITS.get(clip.metres_per_unit, f"{clip.metres_per_unit:g} m")


def _recognised(clip: ClipInfo) -> str:
    names = clip.unrecognised
    if not names:
        return f"all {clip.joints} joints"
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"{clip.recognised} of {clip.joints} joints; not {', '.join(names[:NAMES_SHOWN])}{more}"


def _vector(values: Iterable[float]) -> str:
    return " ".join(f"{value:.4g}" for value in values)


def _common_folder(paths: Sequence[str]) -> str:
    """The folder that all the paths are in or below; empty where it is the current one or there is none."""
    try:
        return os.path.commonpath([os.path.dirname(path) for path in paths])  # noqa: PTH120 - text, not a file
    except ValueError:  # some absolute, some not, or on several drives
        return ""
