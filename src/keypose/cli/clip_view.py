"""Text blocks and tables that describe clips."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from rich.console import Group
from rich.table import Table
from rich.text import Text

from keypose.batch.info import ClipInfo, JointInfo
from keypose.batch.stored_file import RAW_BYTES, StorageInfo
from keypose.cli import output
from keypose.cli.output import Column, escape_unprintable, format_bytes, format_duration, labelled_rows, title_text
from keypose.curves.capture_faults import describe_faults
from keypose.errors import format_count
from keypose.metrics import Score
from keypose.model.motion import HeightSource

UNITS = {1.0: "m", 0.1: "dm", 0.01: "cm", 0.001: "mm", 0.0254: "in", 0.3048: "ft"}
HEIGHT_SOURCE_TEXTS: dict[HeightSource, str] = {
    "reference_pose": "of the reference pose",
    "rest_pose": "of the rest pose",
    "bones": "by the lengths of the bones",
    "frames": "of the highest frames",
}
MAX_NAMES = 8  # unrecognised joints that are listed
MAX_ROWS = 2_000  # joints and end sites; more take minutes to lay out
MAX_INDENT = 20  # joint depth beyond which rows are not indented further
RAW_SIZE_TEXT = f"{RAW_BYTES} bytes for each joint and frame"
MAX_DAMAGE = 4  # damaged groups listed
MAX_BLOCK_NAMES = 4


def build_block(clip: ClipInfo, notes: Sequence[str]) -> Group:
    """Return the description of one clip, a line per property."""
    rows = [
        ("format", clip.format),
        ("size", format_bytes(clip.bytes)),
        *([] if clip.stored is None else stored_rows(clip.stored)),
        ("frames", f"{clip.frames} at {clip.fps:.6g} fps{_first_frame_note(clip)}"),
        ("duration", format_duration(clip.duration_s)),
        ("joints", f"{clip.joints}, and {clip.end_sites} end sites" if clip.end_sites else str(clip.joints)),
        ("channels", _channels(clip)),
        ("up", clip.up),
        ("unit", _unit(clip)),
        ("height", _height(clip)),
        ("recognised", _format_recognised(clip)),
        *([("faults", describe_faults(clip.faults))] if clip.faults else []),
        *(("note", text) for text in notes),
    ]
    return labelled_rows(clip.path, rows)


def build_table(clips: Sequence[ClipInfo], width: int) -> Group:
    """Return a table of clips, one row each, with totals."""
    folder = common_folder([clip.path for clip in clips])
    formats = {clip.format for clip in clips}
    one_format = f"{formats.pop()} " if len(formats) == 1 else ""
    title = f"{len(clips)} {one_format}clips" + (f" in {folder}" if folder else "")
    paths = [os.path.relpath(clip.path, folder) if folder else clip.path for clip in clips]
    names = Column("file", [escape_unprintable(path) for path in paths])
    others = [
        Column("format", [escape_unprintable(clip.format) for clip in clips]),
        Column("frames", [str(clip.frames) for clip in clips], right_aligned=True),
        Column("fps", [f"{clip.fps:.4g}" for clip in clips], right_aligned=True),
        Column("length", [format_duration(clip.duration_s) for clip in clips], right_aligned=True),
        Column("joints", [_joints(clip) for clip in clips], right_aligned=True),
        Column("up", [clip.up for clip in clips]),
        Column("height", [_short_height(clip) for clip in clips], right_aligned=True),
        Column("known", [_recognised_share(clip) for clip in clips], right_aligned=True),
    ]
    visible_columns = output.drop_optional_columns(
        names, others[1:] if one_format else others, width, ("known", "up", "height")
    )
    legend = "joints + end sites"
    if any(column.heading == "known" for column in visible_columns):
        legend += "; known: joints recognised as body parts"
    total = f"{format_count(len(clips), 'clip')}, {format_count(sum(clip.frames for clip in clips), 'frame')}, "
    total += format_duration(sum(clip.duration_s for clip in clips))
    return Group(
        title_text(title), output.build_table(names, visible_columns, width), Text(legend, style="dim"), Text(total)
    )


def joint_table(clip: ClipInfo, width: int) -> Table | Group:
    """Return the indented joint tree with body parts, channels and offsets, at most MAX_ROWS rows."""
    names, body_parts, moves, rotations = [], [], [], []
    offsets: list[tuple[float, ...]] = []
    styles: list[str | None] = []
    for joint in clip.tree:
        indent = " " * min(joint.depth, MAX_INDENT)
        ends = len(joint.end_sites)
        names += [indent + escape_unprintable(joint.name), *[f"{indent} (end)"] * ends]
        body_parts += [escape_unprintable(joint.body_part or "-"), *[""] * ends]
        moves += [_axes(joint, "position"), *[""] * ends]
        rotations += [_rotation_order(joint), *[""] * ends]
        offsets += [joint.offset, *joint.end_sites]
        styles += [None, *["dim"] * ends]
        if len(names) >= MAX_ROWS:
            break
    n_hidden = len(clip.tree) + clip.end_sites - len(names[:MAX_ROWS])
    names, body_parts, moves, rotations = (cells[:MAX_ROWS] for cells in (names, body_parts, moves, rotations))
    offsets, styles = offsets[:MAX_ROWS], styles[:MAX_ROWS]
    first = Column("joint", names)
    required = [Column("part", body_parts), Column("moves", moves), Column("order", rotations)]
    for offset_columns in _offset_columns(offsets):
        if output.name_width([*required, *offset_columns], width) >= first.width:
            break
    grid = output.build_table(first, [*required, *offset_columns], width, styles)
    return Group(grid, Text(f"and {format_count(n_hidden, 'more row')}; --json has all")) if n_hidden else grid


def _offset_columns(offsets: Sequence[tuple[float, ...]]) -> Iterator[list[Column]]:
    """Yield columns of offsets from the parent, from widest to narrowest: full, short, length only, none."""
    for number in (_format_number, _format_short):
        yield [Column(axis, [number(o[k]) for o in offsets], right_aligned=True) for k, axis in enumerate("xyz")]
    yield [Column("length", [_format_short(math.hypot(*offset)) for offset in offsets], right_aligned=True)]
    yield []


def _channels(clip: ClipInfo) -> str:
    if not clip.channels:
        return "none"
    *groups, (last_n, last_joints) = sorted(clip.joints_by_channels.items(), reverse=True)
    texts = [*(f"{n} on {joints}" for n, joints in groups), f"{last_n} on {format_count(last_joints, 'joint')}"]
    return f"{clip.channels}: {', '.join(texts)}; rotation order {', '.join(clip.rotation_orders)}"


def _first_frame_note(clip: ClipInfo) -> str:
    """Return a note if the source does not count frames from 0, else an empty string."""
    return f"; the first is number {clip.first_frame} in the source" if clip.first_frame else ""


def _joints(clip: ClipInfo) -> str:
    return f"{clip.joints}+{clip.end_sites}" if clip.end_sites else str(clip.joints)


def _height(clip: ClipInfo) -> str:
    if not clip.height:
        return "none: its bones have no length"
    metres = "" if clip.height_m is None else f" = {clip.height_m:.2f} m"
    return f"{_format_length(clip.height)} units{metres}, {HEIGHT_SOURCE_TEXTS[clip.height_source]}"


def _short_height(clip: ClipInfo) -> str:
    if not clip.height:
        return "-"
    return _format_length(clip.height) if clip.height_m is None else f"{_format_length(clip.height_m)} m"


def _recognised_share(clip: ClipInfo) -> str:
    return "all" if clip.recognised == clip.joints else f"{clip.recognised}/{clip.joints}"


def _axes(joint: JointInfo, kind: str) -> str:
    return "".join(channel[0] for channel in joint.channels if channel.endswith(kind)) or "-"


def _rotation_order(joint: JointInfo) -> str:
    """Return the axes of the rotation channels, and the full order if the axes do not determine it."""
    axes = _axes(joint, "rotation")
    return axes if axes in ("-", joint.rotation_order) else f"{axes} ({joint.rotation_order})"


def _unit(clip: ClipInfo) -> str:
    if clip.metres_per_unit is None:
        return "not stated"
    return UNITS.get(clip.metres_per_unit, f"{clip.metres_per_unit:g} m")


def _format_recognised(clip: ClipInfo) -> str:
    names = clip.unrecognised
    if not names:
        return "its one joint" if clip.joints == 1 else f"all {clip.joints} joints"
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"{clip.recognised} of {format_count(clip.joints, 'joint')}; not {', '.join(names[:MAX_NAMES])}{more}"


def _format_length(value: float) -> str:
    return f"{value:.0f}" if 100 <= value < 1e9 else f"{value:.3g}"


def _format_number(value: float) -> str:
    return f"{value + 0.0:.3g}"  # -0.0 + 0.0 is 0.0


def _format_short(value: float) -> str:
    text = f"{value:.0f}" if 10 <= abs(value) < 1e9 else f"{value:.2g}"
    return "0" if text == "-0" else text


def common_folder(paths: Sequence[str]) -> str:
    """Return the folder that contains all paths; empty if it is the current folder or there is none."""
    try:
        return os.path.commonpath([os.path.dirname(path) for path in paths])  # noqa: PTH120 - text, not a file
    except ValueError:  # some absolute, some not, or on several drives
        return ""


class StoredAccuracy(Protocol):
    """How accurate stored frames are."""

    @property
    def lossless(self) -> bool:
        """Return whether all numbers are exact."""

    @property
    def tolerance_mm(self) -> float | None:
        """Return the maximum error; None: lossless, or no frames."""

    @property
    def source_tolerance_mm(self) -> float | None:
        """Return the maximum error of the compressed source; None if the source was not compressed."""


def format_accuracy(stored: StoredAccuracy) -> str:
    """Return the accuracy as text; errors of files compressed twice add up."""
    before = stored.source_tolerance_mm
    if stored.lossless:
        return "every number unchanged" if before is None else f"every number, of a file within {before:g} mm"
    if stored.tolerance_mm is None:
        return "as its keys or swings play"
    return f"within {stored.tolerance_mm + (before or 0.0):g} mm"


def _source_suffix(stored: StoredAccuracy) -> str:
    """Return the two errors of a file compressed twice as text; empty otherwise."""
    before, own = stored.source_tolerance_mm, stored.tolerance_mm
    if before is None or own is None:
        return ""
    return f" of the original: {own:g} mm, of a file that was within {before:g} mm"


def format_paths(paths: Sequence[Path]) -> str:
    """Return the first paths and the number of others as text."""
    more = len(paths) - MAX_BLOCK_NAMES
    return ", ".join(map(str, paths[:MAX_BLOCK_NAMES])) + (f" and {more} more" if more > 0 else "")


def format_contents(keys: int | None, swings: int | None) -> str:
    """Return the keys and swings in a file as text; empty if none."""
    return " and ".join(f"{n} {kind}" for kind, n in (("keys", keys), ("swings", swings)) if n is not None)


def stored_rows(stored: StorageInfo) -> list[tuple[str, str]]:
    """Return rows for accuracy, ratio, groups, contents and damage."""
    rows = [
        ("accuracy", format_accuracy(stored) + _source_suffix(stored)),
        ("groups", f"{stored.n_groups} of about {stored.group_s:.3g} s, each readable alone"),
    ]
    if stored.ratio is not None:
        rows.insert(1, ("ratio", f"{stored.ratio:.3g} times smaller than {RAW_SIZE_TEXT}"))
    if contents := format_contents(stored.keys, stored.swings):
        rows.append(("with", contents))
    rows += [("damaged", str(each)) for each in stored.damage[:MAX_DAMAGE]]
    if len(stored.damage) > MAX_DAMAGE:
        rows.append(("", f"and {len(stored.damage) - MAX_DAMAGE} more groups; --json has all"))
    return rows


def score_document(score: Score | None) -> dict[str, Any] | None:
    """Return the figures of a score as JSON fields, None if not computed; not ``bytes``, the size in memory."""
    if score is None:
        return None
    return {name: value for name, value in score.figures().items() if name != "bytes"}
