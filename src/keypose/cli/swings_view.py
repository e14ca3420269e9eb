"""Swings as text: one clip as a table of joints with a timeline, many clips one row each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from keypose.api.swings import MeanRow, SweepRow, mean_sweep
from keypose.batch import Outcome
from keypose.batch.swing_edit import EditReport, SwingEditJob, SwingEditResult
from keypose.batch.swings import JointSwingStats, SwingsJob, SwingsResult
from keypose.cli import messages, output, swings_table
from keypose.cli.clip_view import common_folder, score_document
from keypose.cli.output import Column, escape_unprintable, format_bytes, format_duration, labelled_rows
from keypose.cli.unbake import format_mm
from keypose.errors import format_count
from keypose.metrics import Score
from keypose.swings import Action, Swing, Swings
from keypose.swings.codec import SwingSize

ALL_JOINTS = ("all",)
OPTIONAL_WRITTEN_HEADINGS = ("written", "frames", "mean mm")
MAX_JOINTS = 6  # changed joints named per edit
MIN_HELD_MM = 0.05
OPTIONAL_CLIP_HEADINGS = ("fps", "per angle", "frames", "max mm")


def build_view(clip: SwingsResult, job: SwingsJob, width: int, *, plain: bool) -> Group:
    """Return summary and tables of one clip."""
    if clip.sweep is not None:
        title = Text(escape_unprintable(clip.path), style="bold", overflow="fold")
        return Group(title, sweep_table(clip.sweep.rows, clip.size.raw_bytes, width))
    renderables: list[RenderableType] = [labelled_rows(clip.path, summary_rows(clip, job))]
    if clip.actions is not None:
        return Group(*renderables, swings_table.action_list(clip.actions, width))
    if clip.matches is not None:
        return Group(*renderables, swings_table.swing_list(clip, width))
    all_joints = job.joints != ALL_JOINTS
    return Group(*renderables, *swings_table.joint_table(clip, width, all_joints=all_joints, plain=plain))


def summary_rows(clip: SwingsResult, job: SwingsJob) -> list[tuple[str, str]]:
    """Return the summary of a clip as labelled rows."""
    swinging_joints = [joint for joint in clip.joints if joint.n_swings]
    joint_count = f" of {format_count(len(swinging_joints), 'joint')}" if job.joints == ALL_JOINTS else ""
    keys = f", and {format_count(clip.n_keys, 'key')}" if clip.n_keys else ""
    return [
        ("frames", f"{clip.n_frames} at {clip.fps:.6g} fps, {format_duration(clip.n_frames / clip.fps)}"),
        ("swings", f"{clip.n_swings}{joint_count}{keys}; {_method_text(clip, job)}"),
        *error_rows(clip.error_deg, clip.error_per_angle_deg, clip.score),
        ("stored", size_line(clip.size)),
    ]


def error_rows(error_deg: float | None, per_angle_deg: float | None, score: Score | None) -> list[tuple[str, str]]:
    """Return the error of the played motion as labelled rows."""
    if error_deg is None or per_angle_deg is None:
        return []
    rows = [
        (
            "error",
            f"{format_mm(error_deg)} degrees, all angles of a frame together; {format_mm(per_angle_deg)} per angle",
        )
    ]
    if score is None:
        return [*rows, ("", "not known in mm: the figure has no height")]
    rows.append(
        (
            "",
            f"{format_mm(score.mean_mm)} mm on average, 95 % within {format_mm(score.p95_mm)} mm, "
            f"{format_mm(score.max_mm)} mm at most: {score.worst_joint} in frame {score.worst_frame} "
            f"(on a figure of 1.7 m)",
        )
    )
    return rows


def size_line(size: SwingSize) -> str:
    """Return the stored size, its ratio to all frames with and without left out joints, and its parts as text."""
    sizes = {name: getattr(size, name) for name in ("swings", "rests", "keys", "left_out", "translation", "header")}
    sizes_text = ", ".join(f"{name.replace('_', ' ')} {format_bytes(count)}" for name, count in sizes.items() if count)
    ratio = f"{100 * size.ratio:.0f} % of all frames ({format_bytes(size.raw_bytes)})"
    swinging = f"; without left out joints {100 * size.swinging_ratio:.0f} %" if size.left_out else ""
    return f"{format_bytes(size.total)}, {ratio}: {sizes_text}{swinging}"


def build_table(clips: Sequence[SwingsResult], width: int) -> Group:
    """Return a table of clips, one row each."""
    first = Column("clip", _relative_paths([clip.path for clip in clips]))
    others = [
        Column("frames", [str(clip.n_frames) for clip in clips], right_aligned=True),
        Column("fps", [f"{clip.fps:.4g}" for clip in clips], right_aligned=True),
        Column("swings", [str(clip.n_swings) for clip in clips], right_aligned=True),
        Column("error deg", [_format_figure(clip.error_deg) for clip in clips], right_aligned=True),
        Column("per angle", [_format_figure(clip.error_per_angle_deg) for clip in clips], right_aligned=True),
        Column("mean mm", [_format_figure(getattr(clip.score, "mean_mm", None)) for clip in clips], right_aligned=True),
        Column("max mm", [_format_figure(getattr(clip.score, "max_mm", None)) for clip in clips], right_aligned=True),
        Column("stored", [format_bytes(clip.size.total) for clip in clips], right_aligned=True),
        Column("of raw", [f"{100 * clip.size.ratio:.0f} %" for clip in clips], right_aligned=True),
    ]
    visible_columns = output.drop_optional_columns(first, others, width, OPTIONAL_CLIP_HEADINGS)
    stored_bytes, raw = sum(clip.size.total for clip in clips), sum(clip.size.raw_bytes for clip in clips)
    left_out = sum(clip.size.left_out for clip in clips)
    left_out_raw = sum(clip.size.left_out_raw_bytes for clip in clips)
    total = (
        f"{format_count(len(clips), 'clip')}, {format_count(sum(clip.n_swings for clip in clips), 'swing')}, "
        f"{format_bytes(stored_bytes)} stored, "
        f"{100 * stored_bytes / raw:.0f} % of all frames, "
        f"{100 * (stored_bytes - left_out) / max(1, raw - left_out_raw):.0f} % without left out joints"
    )
    errors = [clip.error_deg for clip in clips if clip.error_deg is not None]
    error_note = f"; off by {format_mm(float(np.mean(errors)))} degrees on average" if errors else ""
    return Group(output.build_table(first, visible_columns, width), Text(total + error_note))


def build_sweep_tables(clips: Sequence[SwingsResult], width: int) -> Group:
    """Return the best threshold of each clip, and the means of all clips by threshold."""
    clip_sweeps = [clip.sweep for clip in clips if clip.sweep is not None]
    best_rows = [each.min_error for each in clip_sweeps]
    names = Column("clip", _relative_paths([clip.path for clip in clips]))
    others = [
        Column("nearest at", [f"{row.threshold:g}" for row in best_rows], right_aligned=True),
        Column("error deg", [format_mm(row.error_deg) for row in best_rows], right_aligned=True),
        Column("swings", [str(row.n_swings) for row in best_rows], right_aligned=True),
        Column("stored", [format_bytes(row.bytes) for row in best_rows], right_aligned=True),
    ]
    raw_bytes = float(np.mean([clip.size.raw_bytes for clip in clips]))
    title = Text(f"mean of {format_count(len(clips), 'clip')}", style="bold")
    means = sweep_table(mean_sweep(clip_sweeps), raw_bytes, width)
    return Group(output.build_table(names, others, width), Text(""), title, means)


def sweep_table(rows: Sequence[SweepRow | MeanRow], raw_bytes: float, width: int) -> Group:
    """Return a table of size and error by threshold; the smallest error is marked."""
    best_row = min(rows, key=lambda row: row.error_deg)
    first = Column("threshold", [f"{row.threshold:g}" for row in rows])
    others = [
        Column("error deg", [format_mm(row.error_deg) for row in rows], right_aligned=True),
        Column("swings", [f"{row.n_swings:.0f}" for row in rows], right_aligned=True),
        *(
            [Column("keys", [f"{row.n_keys:.0f}" for row in rows], right_aligned=True)]
            if any(r.n_keys for r in rows)
            else []
        ),
        Column("stored", [format_bytes(round(row.bytes)) for row in rows], right_aligned=True),
        Column("of raw", [f"{100 * row.bytes / max(1, raw_bytes):.0f} %" for row in rows], right_aligned=True),
    ]
    styles = ["bold" if row is best_row else "" for row in rows]
    legend = Text(f"nearest to the capture at {best_row.threshold:g}", style="dim")
    return Group(output.build_table(first, others, width, styles), legend)


def _method_text(clip: SwingsResult, job: SwingsJob) -> str:
    """Return how the swings were found, as text."""
    threshold = f"threshold {clip.settings['threshold']:.3g}"
    loader = job.loader
    if loader.max_deg is not None:
        text = f"the smallest within {loader.max_deg:g} degrees ({threshold})"
    elif loader.max_mm is not None:
        text = f"the smallest within {loader.max_mm:g} mm ({threshold})"
    else:
        text = threshold
    if clip.settings["fallback"] is not None:
        text += f", keys where they are off by more than {clip.settings['fallback_deg']:.3g} degrees"
    return text + (f"; the {100 * job.level:.3g} % with the largest angles" if job.level < 1 else "")


def _format_figure(value: float | None) -> str:
    return "-" if value is None else format_mm(value)


def written_block(job: SwingEditJob, result: SwingEditResult, seconds: float) -> Group:
    """Return the result of one written clip as text."""
    level_note = f", {100 * job.level:.3g} % of them with the largest angles" if job.level < 1 else ""
    rows = [
        ("frames", f"{result.n_frames} at {result.fps:.6g} fps, {format_duration(result.n_frames / result.fps)}"),
        ("swings", f"{result.n_swings} of {format_count(result.n_joints, 'joint')}{level_note}"),
        *(("edit", edit_line(edit, result)) for edit in result.edits),
    ]
    if result.edits:
        rows.append(("feet", _feet_text(result)))
    rows += error_rows(result.error_deg, result.error_per_angle_deg, result.score)
    rows.append(("written", f"{job.target} ({format_bytes(result.bytes)}) in {seconds:.2f} s"))
    return labelled_rows(str(job.source), rows)


def edit_line(edit: EditReport, result: SwingEditResult) -> str:
    """Return what one edit changed, as text."""
    if edit.end < edit.start:
        return f"{edit.edit}: {format_count(edit.n_swings, 'swing')}, nothing plays differently"
    more = len(edit.joints) - MAX_JOINTS
    names = ", ".join(edit.joints[:MAX_JOINTS]) + (f" and {more} more" if more > 0 else "")
    span = f"frames {edit.start} to {edit.end}, {edit.start / result.fps:.2f} to {edit.end / result.fps:.2f} s"
    return f"{edit.edit}: {format_count(edit.n_swings, 'swing')}; {names} changed in {span}"


def written_table(results: Sequence[tuple[SwingEditJob, SwingEditResult]], width: int) -> Group:
    """Return a table of written clips, one row each."""
    clips = [clip for _, clip in results]
    names = Column("clip", _relative_paths([str(job.source) for job, _ in results]))
    has_edits = any(clip.edits for clip in clips)
    others = [
        Column("frames", [str(clip.n_frames) for clip in clips], right_aligned=True),
        Column("swings", [str(clip.n_swings) for clip in clips], right_aligned=True),
        *(
            [
                Column(
                    "edited", [str(sum(edit.n_swings for edit in clip.edits)) for clip in clips], right_aligned=True
                ),
                Column("feet mm", [_format_figure(clip.feet_held_mm) for clip in clips], right_aligned=True),
            ]
            if has_edits
            else [
                Column("error deg", [_format_figure(clip.error_deg) for clip in clips], right_aligned=True),
                Column(
                    "mean mm",
                    [_format_figure(getattr(clip.score, "mean_mm", None)) for clip in clips],
                    right_aligned=True,
                ),
            ]
        ),
        Column("size", [format_bytes(clip.bytes) for clip in clips], right_aligned=True),
        Column("written", _relative_paths([str(job.target) for job, _ in results])),
    ]
    visible_columns = output.drop_optional_columns(names, others, width, OPTIONAL_WRITTEN_HEADINGS)
    legend = [Text("feet: how far holding them moved an ankle at most, on a figure of 1.7 m", style="dim")]
    return Group(output.build_table(names, visible_columns, width), *(legend if has_edits else []))


def _feet_text(result: SwingEditResult) -> str:
    if result.feet_held_mm is None:
        return "as the swings take them"
    if result.feet_held_mm < MIN_HELD_MM:
        return "stand where they stood"
    return f"kept in place, which moved an ankle by {format_mm(result.feet_held_mm)} mm at most"


def _relative_paths(paths: Sequence[str]) -> list[str]:
    """Return the paths relative to their common folder."""
    folder = common_folder(paths)
    return [escape_unprintable(os.path.relpath(path, folder) if folder else path) for path in paths]


def clip_document(job: SwingsJob, outcome: Outcome[SwingsResult]) -> dict[str, Any]:
    """Return the swings of one clip, or its failure, as a JSON document."""
    clip = outcome.value
    if clip is None:
        return messages.failed_file_document(job.path, outcome)
    assert clip.swings is not None
    document: dict[str, Any] = {
        "file": clip.path,
        "settings": dict(clip.settings),
        "max_deg": job.loader.max_deg,
        "max_mm": job.loader.max_mm,
        "level": job.level,
        "n_frames": clip.n_frames,
        "fps": clip.fps,
        "duration_s": clip.n_frames / clip.fps,
        "first_frame": clip.swings.first_frame,
        "n_swings": clip.n_swings,
        "n_keys": clip.n_keys,
        "error_deg": clip.error_deg,
        "error_per_angle_deg": clip.error_per_angle_deg,
        "score": score_document(clip.score),
        "size": size_document(clip.size),
        "joints": [_joint_document(clip.swings, joint) for joint in clip.joints],
        "paths": [{"joint": path.joint, "frames": path.keys.tolist()} for path in clip.swings.paths],
        "contacts": [asdict(standing) for standing in clip.swings.timeline().contacts],
        "notes": list(clip.notes),
        "warnings": messages.render_warnings(outcome.warnings),
    }
    if clip.matches is not None:
        matches = [{"joint": swing.joint, "index": n, **_swing_document(swing, clip.fps)} for n, swing in clip.matches]
        document["matches"] = matches
    if clip.actions is not None:
        document["actions"] = [_action_document(action) for action in clip.actions]
        document["notes"] += clip.actions.notes
    if clip.sweep is not None:
        document["sweep"] = [asdict(row) for row in clip.sweep]
    return document


def mean_sweep_documents(clips: Sequence[SwingsResult]) -> list[dict[str, Any]]:
    """Return the means of several sweeps as one document, printed after those of the clips; empty without sweeps."""
    swept = [clip.sweep for clip in clips if clip.sweep is not None]
    return [{"clips": len(swept), "mean": [asdict(row) for row in mean_sweep(swept)]}] if swept else []


def written_document(job: SwingEditJob, result: SwingEditResult) -> dict[str, Any]:
    """Return the result of one written clip as JSON fields."""
    return {**asdict(result), "score": score_document(result.score), "level": job.level}


def size_document(size: SwingSize) -> dict[str, Any]:
    """Return bytes by purpose, their sum and the ratios to all frames, of all joints and without left out ones."""
    return {**asdict(size), "total": size.total, "ratio": size.ratio, "swinging_ratio": size.swinging_ratio}


def _joint_document(swings: Swings, joint: JointSwingStats) -> dict[str, Any]:
    """Return swings, rests and keys of one joint; joints stored frame by frame have no keys here."""
    track, fps = swings.track(joint.joint), swings.fps
    keyed = () if joint.left_out else track.keyed
    return {
        **asdict(joint),
        "swings": [_swing_document(swing, fps) for swing in track.swings],
        "rests": [
            _span_document(rest.start, rest.end, fps) | {"rotation": rest.rotation.tolist()} for rest in track.rests
        ],
        "keys": [
            _span_document(span.start, span.end, fps)
            | {"frames": span.frames.tolist(), "rotations": span.rotations.tolist()}
            for span in keyed
        ],
    }


def _action_document(action: Action) -> dict[str, Any]:
    """Return one action; its swings are those of the joints within its span."""
    names = [field.name for field in fields(Action) if field.name not in ("swings", "members")]
    document = {name: getattr(action, name) for name in names}
    return {
        **document,
        "description": action.description,
        "n_swings": len(action.swings),
        "members": [_action_document(member) for member in action.members],
    }


def _swing_document(swing: Swing, fps: float) -> dict[str, Any]:
    return _span_document(swing.start, swing.end, fps) | {
        "angle_deg": swing.angle_deg,
        "axis": swing.axis.tolist(),
        "start_rotation": swing.start_rotation.tolist(),
    }


def _span_document(start: int, end: int, fps: float) -> dict[str, Any]:
    return {"start": start, "end": end, "start_s": start / fps, "end_s": end / fps}
