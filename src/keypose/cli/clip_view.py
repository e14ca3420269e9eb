"""Clips as blocks and tables, for people."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from keypose.batch.describe import ClipInfo, JointInfo
from keypose.cli.output import printable

UNITS = {1.0: "m", 0.1: "dm", 0.01: "cm", 0.001: "mm", 0.0254: "in", 0.3048: "ft"}
NAMES_SHOWN = 8  # of joints that were not recognised
DEEPEST_INDENT = 20  # joints below this level are not indented further


def block(clip: ClipInfo, notes: Sequence[str]) -> Group:
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
        ("height", f"{_length(clip.height)} units" + ("" if clip.height_m is None else f" = {clip.height_m:.2f} m")),
        ("recognised", _recognised(clip)),
        *(("note", text) for text in notes),
    ]
    grid = Table(box=None, show_header=False)
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, value in rows:
        grid.add_row(label, Text(printable(value)))
    return Group(_title(clip.path), grid)


def table(clips: Sequence[ClipInfo]) -> Group:
    """Many clips, one row each."""
    folder = _common_folder([clip.path for clip in clips])
    formats = {clip.format for clip in clips}
    one_format = f"{formats.pop()} " if len(formats) == 1 else ""
    title = f"{len(clips)} {one_format}clips" + (f" in {folder}" if folder else "")
    grid = _plain_table()
    grid.add_column("file", overflow="fold", style="cyan")
    if not one_format:
        grid.add_column("format", no_wrap=True)
    for heading in ("frames", "fps", "length", "joints", "up", "height", "known"):
        grid.add_column(heading, no_wrap=True, justify="left" if heading == "up" else "right")
    for clip in clips:
        grid.add_row(
            Text(printable(os.path.relpath(clip.path, folder) if folder else clip.path)),
            *(() if one_format else (printable(clip.format),)),
            str(clip.frames),
            f"{clip.fps:.4g}",
            duration(clip.duration_s),
            f"{clip.joints}+{clip.end_sites}" if clip.end_sites else str(clip.joints),
            clip.up,
            _length(clip.height) if clip.height_m is None else f"{_length(clip.height_m)} m",
            "all" if clip.recognised == clip.joints else f"{clip.recognised}/{clip.joints}",
        )
    legend = Text("joints + end sites; known: joints recognised as body parts", style="dim")
    return Group(_title(title), grid, legend)


def joint_table(clip: ClipInfo) -> Table:
    """The joint tree, indented, with body parts, channels and offsets."""
    grid = _plain_table()
    grid.add_column("joint", overflow="fold", style="cyan")
    grid.add_column("part", overflow="fold")
    grid.add_column("moves")
    grid.add_column("turns", no_wrap=True)
    for axis in "xyz":
        grid.add_column(axis, justify="right", no_wrap=True)
    for joint in clip.tree:
        indent = " " * min(joint.depth, DEEPEST_INDENT)
        grid.add_row(
            Text(indent + printable(joint.name)),
            Text(printable(joint.part or "-")),
            _axes(joint, "position"),
            _turns(joint),
            *(f"{value:.3g}" for value in joint.offset),
        )
        for end in joint.end_sites:
            grid.add_row(Text(f"{indent} (end)"), "", "", "", *(f"{value:.3g}" for value in end), style="dim")
    return grid


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


def _plain_table() -> Table:
    return Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def _title(text: str) -> Text:
    return Text(printable(text), style="bold", overflow="fold")


def _channels(clip: ClipInfo) -> str:
    if not clip.channels:
        return "none"
    groups = [f"{n} on {joints}" for n, joints in sorted(clip.joints_by_channels.items(), reverse=True)]
    plural = "s" if clip.joints > 1 else ""
    return f"{clip.channels}: {', '.join(groups)} joint{plural}; turns {', '.join(clip.rotation_orders)}"


def _axes(joint: JointInfo, kind: str) -> str:
    return "".join(channel[0] for channel in joint.channels if channel.endswith(kind)) or "-"


def _turns(joint: JointInfo) -> str:
    """The axes of the turning channels; also the whole order where they do not tell it."""
    turns = _axes(joint, "rotation")
    return turns if turns in ("-", joint.rotation_order) else f"{turns} ({joint.rotation_order})"


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


def _length(value: float) -> str:
    return f"{value:.0f}" if 100 <= value < 1e9 else f"{value:.3g}"


def _common_folder(paths: Sequence[str]) -> str:
    """The folder that all the paths are in or below; empty where it is the current one or there is none."""
    try:
        return os.path.commonpath([os.path.dirname(path) for path in paths])  # noqa: PTH120 - text, not a file
    except ValueError:  # some absolute, some not, or on several drives
        return ""
