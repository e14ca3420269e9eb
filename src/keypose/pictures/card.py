"""The card of a motion: a few poses and the facts, as one self-contained piece of HTML for notebooks."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from html import escape

import numpy as np

from keypose.arrays import Floats
from keypose.kinematics import heights_above
from keypose.model import Motion
from keypose.pictures import stick

POSES = 6
POSE_PX = 130.0  # height of the tallest pose, or width of the widest if that is more
MARGIN_PX = 8.0
LABEL_PX = 16.0
HEAD_PX = (0.05 * POSE_PX, 0.07 * POSE_PX)  # least and greatest radius
LONGEST_TEXT = 200  # characters of a name or note that are shown
MOST_NOTES = 5


def motion_card(motion: Motion) -> str:
    """HTML of a strip of poses and the facts of ``motion``: no script, nothing from outside, under 60 KB.

    Every text that a file may have brought is escaped and cut to a sane length. Only the frames that are
    drawn are computed, unless the figure's height can be told only from all of them (see ``Motion.height``).
    """
    frames = np.unique(np.linspace(0, motion.n_frames - 1, POSES).round().astype(int)).tolist()
    figure = stick.figure_of(motion.skeleton)
    facts = _facts(motion, figure)
    rows = "".join(
        f'<tr><th style="{_TH}">{escape(name)}</th><td style="{_TD}">{escape(value)}</td></tr>' for name, value in facts
    )
    return (
        f'<div style="max-width:60em;font:13px/1.5 system-ui,sans-serif">'
        f'<div style="font-weight:600">{escape(_short(motion.name))}</div>'
        f"{_strip(motion, figure, frames)}"
        f'<table style="{_TABLE}">{rows}</table></div>'
    )


_TABLE = "border-collapse:collapse;margin:4px 0;background:none;color:inherit;font:inherit"
_CELL = "border:none;background:none;text-align:left;vertical-align:top;overflow-wrap:anywhere;"
_TH = _CELL + "padding:0 1.2em 0 0;font-weight:400;opacity:0.65;white-space:nowrap"
_TD = _CELL + "padding:0"


def _facts(motion: Motion, figure: stick.Figure) -> list[tuple[str, str]]:
    s = motion.skeleton
    known = sum(part is not None for part in s.anatomy.parts)
    ends = f" and {len(s.end_joints):,} end sites" if len(s.end_joints) else ""
    metres = motion.metres_per_unit
    in_metres = f" = {motion.height * metres:.3g} m" if metres else ""
    facts = [
        ("frames", f"{motion.n_frames:,} at {motion.fps:g} fps, {motion.duration_s:.2f} s"),
        ("joints", f"{s.n_joints:,}{ends}; {known:,} recognised"),
        ("up", f"{motion.up} axis"),
        ("unit", f"{metres:g} m" if metres else "not stated"),
        ("height", f"{motion.height:.4g} units{in_metres}"),
    ]
    if motion.first_frame:
        facts.insert(1, ("first frame", f"number {motion.first_frame:,} of its source"))
    if figure.left_out:
        facts.append(("picture", f"the {figure.left_out:,} shortest limbs or last markers are not drawn"))
    facts += [("note", _short(note)) for note in motion.notes[:MOST_NOTES]]
    if len(motion.notes) > MOST_NOTES:
        facts.append(("", f"and {len(motion.notes) - MOST_NOTES:,} more notes"))
    return facts


@dataclass(frozen=True)
class _Layout:
    """Poses side by side on one floor, in px."""

    xy: Floats  # (F, N, 2) y down
    depth: Floats  # (F, N) towards the viewer
    cell: float  # width of one pose
    floor: float  # y
    bottom: float  # y of the lowest stroke: that of a head may be below the floor


def _lay_out(points: Floats, motion: Motion, figure: stick.Figure) -> _Layout:
    """Poses (F, N, 3) at one scale, each in the middle of its own cell, over one floor."""
    points = points / (float(np.abs(points).max()) or 1.0)  # any size can be drawn
    view = stick.view_of(points, motion.up, stick.leftward(points, motion.skeleton))
    across, heights, depth = points @ view.right, heights_above(points, motion.up), points @ view.towards
    across = across - across.min(axis=1, keepdims=True)
    heights = heights - heights.min()
    extent = max(float(heights.max()), float(across.max()))
    scale = POSE_PX / extent if extent > 0 else 1.0
    xy = np.stack((across, -heights), axis=-1) * scale
    drawn = np.array([stick.bounds(figure, pose, HEAD_PX) for pose in xy])  # (F, 2, 2): heads reach beyond joints
    cell = max(float(np.ptp(drawn[..., 0], axis=1).max()), 0.4 * POSE_PX) + 2 * MARGIN_PX
    floor = MARGIN_PX - float(drawn[..., 1].min())
    middles = cell * (np.arange(len(points)) + 0.5)
    xy[..., 0] += (middles - drawn[..., 0].mean(axis=1))[:, None]
    xy[..., 1] += floor
    return _Layout(xy, depth, cell, floor, floor + float(drawn[..., 1].max()))


def _strip(motion: Motion, figure: stick.Figure, frames: list[int]) -> str:
    layout = _lay_out(stick.points_of(motion, frames), motion, figure)
    width, height = layout.cell * len(frames), layout.bottom + LABEL_PX + 4.0
    poses = "".join(stick.draw(figure, xy, depth, HEAD_PX) for xy, depth in zip(layout.xy, layout.depth, strict=True))
    labels = "".join(
        f'<text x="{layout.cell * (k + 0.5):.1f}" y="{height - 4.0:.1f}">{motion.first_frame + frame}</text>'
        for k, frame in enumerate(frames)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{len(frames)} poses of the motion" '
        f'viewBox="0 0 {width:.1f} {height:.1f}" width="{width:.0f}" height="{height:.0f}" '
        f'style="max-width:100%;height:auto;display:block;background:none">'
        f'<path d="M0 {layout.floor + 1.5:.1f}h{width:.1f}" stroke="currentColor" opacity="0.3"/>{poses}'
        f'<g font-family="system-ui,sans-serif" font-size="10" text-anchor="middle" fill="currentColor" '
        f'opacity="0.65">{labels}</g></svg>'
    )


def _short(text: str) -> str:
    """One line of at most LONGEST_TEXT characters, without control characters and lone surrogates."""
    cut = text[: LONGEST_TEXT + 1]
    clean = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in cut)
    return clean if len(clean) <= LONGEST_TEXT else clean[: LONGEST_TEXT - 1] + "…"
