"""What the pictures of a report show, as tables: for who cannot see them, and for whoever wants the numbers."""

from __future__ import annotations

import math

import numpy as np

from keypose.model import Ladder
from keypose.pictures.page import Cell, folded, table
from keypose.pictures.report.take import Take
from keypose.pictures.svg import clean

MOST_ROWS = 200


def keys_table(take: Take) -> str:
    """Every key: where it is, what it is, and what it is worth."""
    unit = "mm" if take.in_mm else "units"
    keyed, first = take.keyed, take.motion.first_frame
    rows: list[list[Cell]] = [
        [
            frame,
            *([frame + first] if first else []),
            frame / keyed.fps,
            "extreme" if is_extreme else "breakdown",
            None if math.isnan(worth) else worth,
        ]
        for frame, is_extreme, worth in zip(
            keyed.keys.tolist(), keyed.extremes.tolist(), take.worth.tolist(), strict=True
        )
    ]
    head = ("frame", *(["in the source"] if first else []), "time (s)", "kind", f"worth ({unit})")
    return _limited("Keys. Worth is the largest error that there would be around a key without it.", head, rows)


def error_table(ladder: Ladder, name: str, unit: str) -> str:
    """The error curve in numbers, which are of that ``name``."""
    rows: list[list[Cell]] = [
        [count, cost] for count, cost in zip(ladder.counts.tolist(), ladder.cost_values.tolist(), strict=True)
    ]
    return folded(
        "The curve as a table", _limited(f"{name.capitalize()} by number of keys", ("keys", f"{name} ({unit})"), rows)
    )


def joints_table(take: Take) -> str:
    """The heat map in numbers: of each joint the mean, the 95th percentile and the largest error."""
    if take.errors_mm is None:
        return ""
    errors = take.errors_mm
    order = np.argsort(-errors.max(axis=0), kind="stable")
    p95 = np.percentile(errors, 95, axis=0)
    rows: list[list[Cell]] = [
        [take.motion.skeleton.names[j], float(errors[:, j].mean()), float(p95[j]), float(errors[:, j].max()),
         int(errors[:, j].argmax())]
        for j in order.tolist()
    ]  # fmt: skip
    head = ("joint", "mean (mm)", "95 % within (mm)", "largest (mm)", "at frame")
    return folded("The map as a table", _limited("Error by joint, largest first", head, rows))


def swings_table(take: Take) -> str:
    """The timeline in numbers: every swing."""
    rows: list[list[Cell]] = [
        [swing.joint, swing.start, swing.end, swing.angle_deg] for track in take.swings.tracks for swing in track.swings
    ]
    return folded("The timeline as a table", _limited("Swings", ("joint", "from frame", "to frame", "turn (°)"), rows))


def score_table(take: Take) -> str:
    """How close the curves come, in figures."""
    found = take.score
    if found is None:
        return "<p>The figure has no height, so nothing can be stated in millimetres.</p>\n"
    rows: list[list[Cell]] = [
        ["mean distance of joints", f"{found.mean_mm:.2f} mm"],
        ["95 % of joints and frames within", f"{found.p95_mm:.2f} mm"],
        ["largest distance", f"{found.max_mm:.2f} mm ({clean(found.worst_joint, 60)}, frame {found.worst_frame:,})"],
        ["mean turn off", f"{found.mean_deg:.2f}°"],
        ["largest turn off", f"{found.max_deg:.1f}° ({clean(take.worst_turn[1], 60)}, frame {take.worst_turn[0]:,})"],
    ]  # fmt: skip
    if found.foot_slide_mm is not None:
        rows.append(
            ["feet slide", f"{found.foot_slide_mm:.1f} mm (in the original {found.original_foot_slide_mm:.1f})"]
        )
    if found.key_acceleration is not None:
        rows.append(["acceleration at keys", f"{found.key_acceleration:.2f} times the original's"])
    rows.append(["stored", f"{found.stored_values:,} numbers"])
    return table("How far the unbaked motion is from the original, on a figure of 1.7 m", ("measure", "value"), rows)


def _limited(caption: str, head: tuple[str, ...], rows: list[list[Cell]]) -> str:
    more = len(rows) - MOST_ROWS
    rest = f"<p class='quiet'>and {more:,} more</p>\n" if more > 0 else ""
    return table(caption, head, rows[:MOST_ROWS]) + rest
