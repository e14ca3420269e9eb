"""The swings of clips for people: one as a table of its joints with their timeline, many as a row each."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from keypose.batch.swings import ClipSwings, Distance, SwingsWanted
from keypose.batch.swings_edit import Edited, Played, Playing
from keypose.cli import columns, swings_table
from keypose.cli.clip_view import common_folder, duration, file_size, labelled
from keypose.cli.columns import Column
from keypose.cli.output import printable
from keypose.cli.unbake_view import mm
from keypose.swings.size import Size
from keypose.verbs.swinging import MeanRow, SweepRow, mean_sweep

ALL = ("all",)
NEEDLESS_OF_WRITTEN = ("written", "frames", "mean mm")
JOINTS_NAMED = 6  # of those that an edit changed
LEAST_HELD_MM = 0.05
NEEDLESS_OF_CLIPS = ("fps", "per angle", "frames", "max mm")


def view(clip: ClipSwings, wanted: SwingsWanted, width: int, *, plain: bool) -> Group:
    """Everything that is said of one clip."""
    if clip.sweep is not None:
        title = Text(printable(clip.path), style="bold", overflow="fold")
        return Group(title, sweep_table(clip.sweep.rows, clip.size.raw_bytes, width))
    parts: list[RenderableType] = [labelled(clip.path, summary(clip, wanted))]
    if clip.listed is not None:
        return Group(*parts, swings_table.listed(clip, width))
    named = wanted.joints != ALL
    return Group(*parts, *swings_table.joints(clip, width, every=named, plain=plain))


def summary(clip: ClipSwings, wanted: SwingsWanted) -> list[tuple[str, str]]:
    """What a clip is as swings, by label."""
    turning = [joint for joint in clip.joints if joint.n_swings]
    of = f" of {counted(len(turning), 'joint')}" if wanted.joints == ALL else ""
    keys = f", and {counted(clip.n_keys, 'key')}" if clip.n_keys else ""
    return [
        ("frames", f"{clip.n_frames} at {clip.fps:.6g} fps, {duration(clip.n_frames / clip.fps)}"),
        ("swings", f"{clip.n_swings}{of}{keys}; {_how(clip, wanted)}"),
        *error_rows(clip.error_deg, clip.error_per_angle_deg, clip.score),
        ("stored", size_line(clip.size)),
    ]


def error_rows(
    error_deg: float | None, per_angle_deg: float | None, distance: Distance | None
) -> list[tuple[str, str]]:
    """How far the played motion is off the capture, by label."""
    if error_deg is None or per_angle_deg is None:
        return []
    rows = [("off", f"{mm(error_deg)} degrees, all angles of a frame together; {mm(per_angle_deg)} per angle")]
    if distance is None:
        return [*rows, ("", "not known in mm: the figure has no height")]
    rows.append(("", f"{mm(distance.mean_mm)} mm on average, 95 % within {mm(distance.p95_mm)} mm, "
                     f"{mm(distance.max_mm)} mm at most: {distance.worst_joint} in frame {distance.worst_frame} "
                     f"(on a figure of 1.7 m)"))  # fmt: skip
    return rows


def size_line(size: Size) -> str:
    """The stored size against that of all frames, and what takes it."""
    sizes = {name: getattr(size, name) for name in ("swings", "rests", "keys", "left_out", "translation", "header")}
    parts = ", ".join(f"{name.replace('_', ' ')} {file_size(count)}" for name, count in sizes.items() if count)
    return f"{file_size(size.total)}, {100 * size.ratio:.0f} % of all frames ({file_size(size.raw_bytes)}): {parts}"


def table(clips: Sequence[ClipSwings], width: int) -> Group:
    """Many clips, one row each."""
    first = Column("clip", _below_common([clip.path for clip in clips]))
    others = [
        Column("frames", [str(clip.n_frames) for clip in clips], right=True),
        Column("fps", [f"{clip.fps:.4g}" for clip in clips], right=True),
        Column("swings", [str(clip.n_swings) for clip in clips], right=True),
        Column("off deg", [_figure(clip.error_deg) for clip in clips], right=True),
        Column("per angle", [_figure(clip.error_per_angle_deg) for clip in clips], right=True),
        Column("mean mm", [_figure(getattr(clip.score, "mean_mm", None)) for clip in clips], right=True),
        Column("max mm", [_figure(getattr(clip.score, "max_mm", None)) for clip in clips], right=True),
        Column("stored", [file_size(clip.size.total) for clip in clips], right=True),
        Column("of raw", [f"{100 * clip.size.ratio:.0f} %" for clip in clips], right=True),
    ]
    shown = columns.without_needless(first, others, width, NEEDLESS_OF_CLIPS)
    stored, raw = sum(clip.size.total for clip in clips), sum(clip.size.raw_bytes for clip in clips)
    total = f"{len(clips)} clips, {sum(clip.n_swings for clip in clips)} swings, {file_size(stored)} stored, " \
            f"{100 * stored / raw:.0f} % of all frames"  # fmt: skip
    errors = [clip.error_deg for clip in clips if clip.error_deg is not None]
    off = f"; off by {mm(float(np.mean(errors)))} degrees on average" if errors else ""
    return Group(columns.table(first, shown, width), Text(total + off))


def sweeps(clips: Sequence[ClipSwings], width: int) -> Group:
    """Many clips: where each is nearest, and the means of all of them, threshold by threshold."""
    swept = [clip.sweep for clip in clips if clip.sweep is not None]
    least = [each.least_error for each in swept]
    names = Column("clip", _below_common([clip.path for clip in clips]))
    others = [
        Column("nearest at", [f"{row.threshold:g}" for row in least], right=True),
        Column("off deg", [mm(row.error_deg) for row in least], right=True),
        Column("swings", [str(row.n_swings) for row in least], right=True),
        Column("stored", [file_size(row.bytes) for row in least], right=True),
    ]
    raw_bytes = float(np.mean([clip.size.raw_bytes for clip in clips]))
    title = Text(f"mean of {counted(len(clips), 'clip')}", style="bold")
    means = sweep_table(mean_sweep(swept), raw_bytes, width)
    return Group(columns.table(names, others, width), Text(""), title, means)


def sweep_table(rows: Sequence[SweepRow | MeanRow], raw_bytes: float, width: int) -> Group:
    """Size against error, for each threshold; the least error is marked."""
    least = min(rows, key=lambda row: row.error_deg)
    first = Column("threshold", [f"{row.threshold:g}" for row in rows])
    others = [
        Column("off deg", [mm(row.error_deg) for row in rows], right=True),
        Column("swings", [f"{row.n_swings:.0f}" for row in rows], right=True),
        *([Column("keys", [f"{row.n_keys:.0f}" for row in rows], right=True)] if any(r.n_keys for r in rows) else []),
        Column("stored", [file_size(round(row.bytes)) for row in rows], right=True),
        Column("of raw", [f"{100 * row.bytes / max(1, raw_bytes):.0f} %" for row in rows], right=True),
    ]
    styles = ["bold" if row is least else "" for row in rows]
    legend = Text(f"nearest to the capture at {least.threshold:g}", style="dim")
    return Group(columns.table(first, others, width, styles), legend)


def _how(clip: ClipSwings, wanted: SwingsWanted) -> str:
    """By what they were found."""
    threshold = f"threshold {clip.settings['threshold']:.3g}"
    finding = wanted.finding
    if finding.max_deg is not None:
        how = f"the smallest within {finding.max_deg:g} degrees ({threshold})"
    elif finding.max_mm is not None:
        how = f"the smallest within {finding.max_mm:g} mm ({threshold})"
    else:
        how = threshold
    if clip.settings["fallback"] is not None:
        how += f", keys where they are off by more than {clip.settings['fallback_deg']:.3g} degrees"
    return how + (f"; the {100 * wanted.level:.3g} % with the largest angles" if wanted.level < 1 else "")


def counted(number: int, what: str) -> str:
    """``1 swing``, ``2 swings``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _figure(value: float | None) -> str:
    return "-" if value is None else mm(value)


def written_block(job: Playing, made: Played, seconds: float) -> Group:
    """One clip that was written: what was changed, how near it is, and where it is."""
    how = f", {100 * job.level:.3g} % of them with the largest angles" if job.level < 1 else ""
    rows = [
        ("frames", f"{made.n_frames} at {made.fps:.6g} fps, {duration(made.n_frames / made.fps)}"),
        ("swings", f"{made.n_swings} of {counted(made.n_joints, 'joint')}{how}"),
        *(("edit", edit_line(edit, made)) for edit in made.edits),
    ]
    if made.edits:
        rows.append(("feet", _feet(made)))
    rows += error_rows(made.error_deg, made.error_per_angle_deg, made.score)
    rows.append(("written", f"{job.target} ({file_size(made.bytes)}) in {seconds:.2f} s"))
    return labelled(str(job.source), rows)


def edit_line(edit: Edited, made: Played) -> str:
    """What one edit did."""
    if edit.end < edit.start:
        return f"{edit.edit}: {counted(edit.n_swings, 'swing')}, nothing plays differently"
    more = len(edit.joints) - JOINTS_NAMED
    names = ", ".join(edit.joints[:JOINTS_NAMED]) + (f" and {more} more" if more > 0 else "")
    span = f"frames {edit.start} to {edit.end}, {edit.start / made.fps:.2f} to {edit.end / made.fps:.2f} s"
    return f"{edit.edit}: {counted(edit.n_swings, 'swing')}; {names} changed in {span}"


def written_table(written: Sequence[tuple[Playing, Played]], width: int) -> Group:
    """Many clips that were written, one row each."""
    made = [clip for _, clip in written]
    names = Column("clip", _below_common([str(job.source) for job, _ in written]))
    edited = any(clip.edits for clip in made)
    others = [
        Column("frames", [str(clip.n_frames) for clip in made], right=True),
        Column("swings", [str(clip.n_swings) for clip in made], right=True),
        *(
            [
                Column("edited", [str(sum(edit.n_swings for edit in clip.edits)) for clip in made], right=True),
                Column("feet mm", [_figure(clip.feet_held_mm) for clip in made], right=True),
            ]
            if edited
            else [
                Column("off deg", [_figure(clip.error_deg) for clip in made], right=True),
                Column("mean mm", [_figure(getattr(clip.score, "mean_mm", None)) for clip in made], right=True),
            ]
        ),
        Column("size", [file_size(clip.bytes) for clip in made], right=True),
        Column("written", _below_common([str(job.target) for job, _ in written])),
    ]
    shown = columns.without_needless(names, others, width, NEEDLESS_OF_WRITTEN)
    legend = [Text("feet: how far holding them moved an ankle at most, on a figure of 1.7 m", style="dim")]
    return Group(columns.table(names, shown, width), *(legend if edited else []))


def _feet(made: Played) -> str:
    if made.feet_held_mm is None:
        return "as the swings take them"
    if made.feet_held_mm < LEAST_HELD_MM:
        return "stand where they stood"
    return f"held where they stood, which moved an ankle by {mm(made.feet_held_mm)} mm at most"


def _below_common(paths: Sequence[str]) -> list[str]:
    """Names from the folder that all are in or below, if any."""
    folder = common_folder(paths)
    return [printable(os.path.relpath(path, folder) if folder else path) for path in paths]
