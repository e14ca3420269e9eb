"""Clips as blocks and tables, for people."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from keypose.batch.describe import ClipInfo, JointInfo
from keypose.cli import columns
from keypose.cli.columns import Column
from keypose.cli.output import printable
from keypose.cli.storage_rows import stored_rows

UNITS = {1.0: "m", 0.1: "dm", 0.01: "cm", 0.001: "mm", 0.0254: "in", 0.3048: "ft"}
NAMES_SHOWN = 8  # of joints that were not recognised
LONGEST_S = 1e9  # that is told in hours
ROWS_SHOWN = 2_000  # of joints and end sites: more take minutes to lay out, and nobody reads them
DEEPEST_INDENT = 20  # joints below this level are not indented further


def block(clip: ClipInfo, notes: Sequence[str]) -> Group:
    """One clip, a line for each thing worth knowing."""
    rows = [
        ("format", clip.format),
        ("size", file_size(clip.bytes)),
        *([] if clip.stored is None else stored_rows(clip.stored)),
        ("frames", f"{clip.frames} at {clip.fps:.6g} fps{_numbering(clip)}"),
        ("duration", duration(clip.duration_s)),
        ("joints", f"{clip.joints}, and {clip.end_sites} end sites" if clip.end_sites else str(clip.joints)),
        ("channels", _channels(clip)),
        ("up", clip.up),
        ("unit", _unit(clip)),
        ("height", f"{_length(clip.height)} units" + ("" if clip.height_m is None else f" = {clip.height_m:.2f} m")),
        ("recognised", _recognised(clip)),
        *(("note", text) for text in notes),
    ]
    return labelled(clip.path, rows)


def labelled(title: str, rows: Sequence[tuple[str, str]]) -> Group:
    """A title, and below it a line for each label and what is said of it."""
    grid = Table(box=None, show_header=False)
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, value in rows:
        grid.add_row(label, Text(printable(value)))
    return Group(_title(title), grid)


def table(clips: Sequence[ClipInfo], width: int) -> Group:
    """Many clips, one row each, and what they are together."""
    folder = common_folder([clip.path for clip in clips])
    formats = {clip.format for clip in clips}
    one_format = f"{formats.pop()} " if len(formats) == 1 else ""
    title = f"{len(clips)} {one_format}clips" + (f" in {folder}" if folder else "")
    paths = [os.path.relpath(clip.path, folder) if folder else clip.path for clip in clips]
    names = Column("file", [printable(path) for path in paths])
    others = [
        Column("format", [printable(clip.format) for clip in clips]),
        Column("frames", [str(clip.frames) for clip in clips], right=True),
        Column("fps", [f"{clip.fps:.4g}" for clip in clips], right=True),
        Column("length", [duration(clip.duration_s) for clip in clips], right=True),
        Column("joints", [_joints(clip) for clip in clips], right=True),
        Column("up", [clip.up for clip in clips]),
        Column("height", [_short_height(clip) for clip in clips], right=True),
        Column("known", [_known(clip) for clip in clips], right=True),
    ]
    shown = columns.without_needless(names, others[1:] if one_format else others, width, ("known", "up", "height"))
    legend = "joints + end sites"
    if any(column.heading == "known" for column in shown):
        legend += "; known: joints recognised as body parts"
    total = f"{len(clips)} clips, {sum(clip.frames for clip in clips)} frames, "
    total += duration(sum(clip.duration_s for clip in clips))
    return Group(_title(title), columns.table(names, shown, width), Text(legend, style="dim"), Text(total))


def joint_table(clip: ClipInfo, width: int) -> Table | Group:
    """The joint tree, indented, with body parts, channels and offsets; as many rows as a person may read."""
    names, parts, moves, turns = [], [], [], []
    offsets: list[tuple[float, ...]] = []
    styles: list[str | None] = []
    for joint in clip.tree:
        indent = " " * min(joint.depth, DEEPEST_INDENT)
        ends = len(joint.end_sites)
        names += [indent + printable(joint.name), *[f"{indent} (end)"] * ends]
        parts += [printable(joint.part or "-"), *[""] * ends]
        moves += [_axes(joint, "position"), *[""] * ends]
        turns += [_turns(joint), *[""] * ends]
        offsets += [joint.offset, *joint.end_sites]
        styles += [None, *["dim"] * ends]
        if len(names) >= ROWS_SHOWN:
            break
    left_out = len(clip.tree) + clip.end_sites - len(names[:ROWS_SHOWN])
    names, parts, moves, turns = (cells[:ROWS_SHOWN] for cells in (names, parts, moves, turns))
    offsets, styles = offsets[:ROWS_SHOWN], styles[:ROWS_SHOWN]
    first = Column("joint", names)
    always = [Column("part", parts), Column("moves", moves), Column("turns", turns)]
    for places in _offset_columns(offsets):
        if columns.room_for_names([*always, *places], width) >= first.width:
            break
    grid = columns.table(first, [*always, *places], width, styles)
    return Group(grid, Text(f"and {left_out} more rows; --json has all")) if left_out else grid


def _offset_columns(offsets: Sequence[tuple[float, ...]]) -> Iterator[list[Column]]:
    """Offsets from the parent in less and less room: in full, in brief, their length alone, not at all."""
    for number in (_number, _brief):
        yield [Column(axis, [number(o[k]) for o in offsets], right=True) for k, axis in enumerate("xyz")]
    yield [Column("length", [_brief(math.hypot(*offset)) for offset in offsets], right=True)]
    yield []


def duration(seconds: float) -> str:
    """A time that a person reads."""
    if seconds < 100:
        return f"{seconds:.2f} s"
    if not seconds < LONGEST_S:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 100:
        return f"{minutes // 60}:{minutes % 60:02d} h"
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


def _title(text: str) -> Text:
    return Text(printable(text), style="bold", overflow="fold")


def _channels(clip: ClipInfo) -> str:
    if not clip.channels:
        return "none"
    groups = [f"{n} on {joints}" for n, joints in sorted(clip.joints_by_channels.items(), reverse=True)]
    plural = "s" if clip.joints > 1 else ""
    return f"{clip.channels}: {', '.join(groups)} joint{plural}; turns {', '.join(clip.rotation_orders)}"


def _numbering(clip: ClipInfo) -> str:
    """Said where the source does not count from 0."""
    return f"; the first is number {clip.first_frame} in the source" if clip.first_frame else ""


def _joints(clip: ClipInfo) -> str:
    return f"{clip.joints}+{clip.end_sites}" if clip.end_sites else str(clip.joints)


def _short_height(clip: ClipInfo) -> str:
    return _length(clip.height) if clip.height_m is None else f"{_length(clip.height_m)} m"


def _known(clip: ClipInfo) -> str:
    return "all" if clip.recognised == clip.joints else f"{clip.recognised}/{clip.joints}"


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


def _number(value: float) -> str:
    return f"{value + 0.0:.3g}"  # -0.0 + 0.0 is 0.0


def _brief(value: float) -> str:
    text = f"{value:.0f}" if 10 <= abs(value) < 1e9 else f"{value:.2g}"
    return "0" if text == "-0" else text


def common_folder(paths: Sequence[str]) -> str:
    """The folder that all the paths are in or below; empty where it is the current one or there is none."""
    try:
        return os.path.commonpath([os.path.dirname(path) for path in paths])  # noqa: PTH120 - text, not a file
    except ValueError:  # some absolute, some not, or on several drives
        return ""
