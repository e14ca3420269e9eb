"""Tables of the numbers in the pictures of a report."""

from __future__ import annotations

import math

import numpy as np

from keypose.model import Ladder
from keypose.pictures.page import Cell, details, table
from keypose.pictures.report.analysis import ClipAnalysis
from keypose.pictures.svg import clean

MAX_ROWS = 200


def keys_table(analysis: ClipAnalysis) -> str:
    """Return a table of the keys: frame, time, kind and removal error."""
    unit = "mm" if analysis.in_mm else "units"
    keyed, first = analysis.keyed, analysis.motion.first_frame
    rows: list[list[Cell]] = [
        [
            frame,
            *([frame + first] if first else []),
            frame / keyed.fps,
            "extreme" if is_extreme else "breakdown",
            None if math.isnan(removal_error) else removal_error,
        ]
        for frame, is_extreme, removal_error in zip(
            keyed.keys.tolist(), keyed.extremes.tolist(), analysis.removal_errors.tolist(), strict=True
        )
    ]
    head = ("frame", *(["in the source"] if first else []), "time (s)", "kind", f"worth ({unit})")
    return _render_limited_table(
        "Keys. Worth is the largest error that there would be around a key without it.", head, rows
    )


def error_table(ladder: Ladder, name: str, unit: str) -> str:
    """Return the error curve as a table; ``name`` and ``unit`` label the cost."""
    rows: list[list[Cell]] = [
        [count, cost] for count, cost in zip(ladder.counts.tolist(), ladder.cost_values.tolist(), strict=True)
    ]
    return details(
        "The curve as a table",
        _render_limited_table(f"{name.capitalize()} by number of keys", ("keys", f"{name} ({unit})"), rows),
    )


def joints_table(analysis: ClipAnalysis) -> str:
    """Return the heat map as a table: mean, 95th percentile and largest error of each joint."""
    if analysis.errors_mm is None:
        return ""
    errors = analysis.errors_mm
    order = np.argsort(-errors.max(axis=0), kind="stable")
    p95 = np.percentile(errors, 95, axis=0)
    rows: list[list[Cell]] = [
        [analysis.motion.skeleton.names[j], float(errors[:, j].mean()), float(p95[j]), float(errors[:, j].max()),
         int(errors[:, j].argmax())]
        for j in order.tolist()
    ]  # fmt: skip
    head = ("joint", "mean (mm)", "95 % within (mm)", "largest (mm)", "at frame")
    return details("The map as a table", _render_limited_table("Error by joint, largest first", head, rows))


def swings_table(analysis: ClipAnalysis) -> str:
    """Return the timeline as a table of swings."""
    rows: list[list[Cell]] = [
        [swing.joint, swing.start, swing.end, swing.angle_deg]
        for track in analysis.swings.tracks
        for swing in track.swings
    ]
    return details(
        "The timeline as a table",
        _render_limited_table("Swings", ("joint", "from frame", "to frame", "turn (°)"), rows),
    )


def score_table(analysis: ClipAnalysis) -> str:
    """Return a table of the score."""
    score = analysis.score
    if score is None:
        return "<p>The figure has no height, so nothing can be stated in millimetres.</p>\n"
    worst_frame, worst_joint = analysis.worst_rotation
    rows: list[list[Cell]] = [
        ["mean distance of joints", f"{score.mean_mm:.2f} mm"],
        ["95 % of joints and frames within", f"{score.p95_mm:.2f} mm"],
        ["largest distance", f"{score.max_mm:.2f} mm ({clean(score.worst_joint, 60)}, frame {score.worst_frame:,})"],
        ["mean rotation error", f"{score.mean_deg:.2f}°"],
        ["largest rotation error", f"{score.max_deg:.1f}° ({clean(worst_joint, 60)}, frame {worst_frame:,})"],
    ]  # fmt: skip
    if score.foot_slide_mm is not None:
        rows.append(
            ["feet slide", f"{score.foot_slide_mm:.1f} mm (in the original {score.original_foot_slide_mm:.1f})"]
        )
    if score.key_acceleration is not None:
        rows.append(["acceleration at keys", f"{score.key_acceleration:.2f} times the original's"])
    rows.append(["stored", f"{score.stored_values:,} numbers"])
    return table("How far the unbaked motion is from the original, on a figure of 1.7 m", ("measure", "value"), rows)


def _render_limited_table(caption: str, head: tuple[str, ...], rows: list[list[Cell]]) -> str:
    more = len(rows) - MAX_ROWS
    omission = f"<p class='quiet'>and {more:,} more</p>\n" if more > 0 else ""
    return table(caption, head, rows[:MAX_ROWS]) + omission
