"""Notebook cards of Keypose types: a small picture and facts, under 60 kB, without script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from html import escape

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import format_count
from keypose.metrics import Score
from keypose.model import KeyedMotion, Ladder, Motion, Selection, list_notes
from keypose.pictures.chart import Axis, Line, Mark, chart
from keypose.pictures.chart.axes import ROW_PX, TEXT_PX, Area, draw_x, frame_scale, horizontal_ticks
from keypose.pictures.error_curve import MAX_CLIFFS, plot_errors
from keypose.pictures.figure import Body, build_body
from keypose.pictures.figure.paint import MAX_SOLID_HULLS
from keypose.pictures.strip import strip
from keypose.pictures.svg import Picture, document, find_theme, number, text_element
from keypose.pictures.timeline import timeline
from keypose.swings import Swings
from keypose.validation import clean_line

__all__ = ["keyed_card", "ladder_card", "score_card", "selection_card", "swings_card"]


WIDTH_PX = 640.0
BAR_PX = 30.0  # height of the tallest key
MAX_LISTED_FRAMES = 40  # frames in a text
MAX_NOTES = 5
_TABLE = "border-collapse:collapse;margin:4px 0;background:none;color:inherit;font:inherit"
_CELL = "border:none;background:none;text-align:left;vertical-align:top;overflow-wrap:anywhere;"
_TH = _CELL + "padding:0 1.2em 0 0;font-weight:400;opacity:0.65;white-space:nowrap"
_TD = _CELL + "padding:0"

POSES = 6
# Figures with many hulls (such as markers) have fewer poses, to limit the size of the card.
MANY_HULLS, FEW_POSES = 30, 3
STRIP_PX = 170.0

MIN_HEIGHT = 0.35  # height of the least important key relative to the most important
MAX_MARKS = 1500  # maximum number of keys on one bar; more are thinned evenly
_LADDER_HEIGHT_PX = 260.0
_SCORE_HEIGHT_PX = 170.0

_TIMELINE_ROW_PX = 11.0
_TIMELINE_WIDTH_PX = 760.0
MAX_SVG_LENGTH = 45_000  # characters; longer timelines are drawn with fewer joints
FALLBACK_JOINT_COUNTS = (24, 12, 6, 3)


def motion_card(motion: Motion) -> str:
    """Return HTML with a strip of poses and facts of ``motion``: no script, no external resources, under 60 kB.

    Text from files is escaped and truncated. Only the drawn frames are computed, unless the height of the figure
    depends on all of them (see ``Motion.height``).
    """
    body = build_body(motion)
    poses = FEW_POSES if MANY_HULLS < len(body.hulls) <= MAX_SOLID_HULLS else POSES
    frames = np.unique(np.linspace(0, motion.n_frames - 1, poses).round().astype(int)).tolist()
    return render_card(
        motion.name,
        [_strip(motion, frames)],
        _facts(motion, body) + note_facts(list_notes(motion)),
    )


def _facts(motion: Motion, body: Body) -> list[tuple[str, str]]:
    s = motion.skeleton
    n_recognised = sum(part is not None for part in s.anatomy.body_parts)
    ends = f" and {len(s.end_joints):,} end sites" if len(s.end_joints) else ""
    metres = motion.metres_per_unit
    in_metres = f" = {motion.height * metres:.3g} m" if metres else ""
    height = f"{motion.height:.4g} units{in_metres}" if motion.height else "none: its bones have no length"
    facts = [
        ("frames", f"{motion.n_frames:,} at {motion.fps:g} fps, {motion.duration_s:.2f} s"),
        ("joints", f"{s.n_joints:,}{ends}; {n_recognised:,} recognised"),
        ("up", f"{motion.up} axis"),
        ("unit", f"{metres:g} m" if metres else "not stated"),
        ("height", height),
    ]
    if motion.first_frame:
        facts.insert(1, ("first frame", f"number {motion.first_frame:,} of its source"))
    if body.n_omitted:
        facts.append(("picture", f"the {body.n_omitted:,} shortest limbs or last markers are not drawn"))
    return facts


def _strip(motion: Motion, frames: list[int]) -> Picture:
    picture = strip(motion, frames, theme="notebook", height_px=STRIP_PX)
    style = 'style="max-width:100%;height:auto;display:block;background:none"'
    return replace(picture, svg=picture.svg.replace("<svg ", f"<svg {style} ", 1))


def selection_card(selection: Selection) -> str:
    """Return HTML with the keys on a bar, taller by importance if the method ranks them, and facts."""
    frames, alt_text = (
        selection.frames,
        f"{format_count(len(selection), 'key', ',')} of {format_count(selection.n_frames, 'frame', ',')}",
    )
    facts = [
        ("keys", format_key_count(len(selection), selection.n_frames)),
        ("frames", format_frames(frames)),
        *_gap_facts(frames),
    ]
    heights = np.ones(len(frames))
    if selection.order is not None:
        facts.append(("by importance", format_frames(selection.order)))
        heights[np.searchsorted(frames, selection.order)] = np.linspace(1.0, MIN_HEIGHT, len(frames))
    bar = draw_key_bar(*_thin_keys(frames, selection.n_frames, heights), alt_text)
    return render_card(f"Selection by {selection.method}", [bar], facts)


def keyed_card(keyed: KeyedMotion) -> str:
    """Return HTML with the keys on a bar, breakdowns lower than extremes, and facts."""
    heights = np.where(keyed.extremes, 1.0, 0.6)
    alt_text = f"{format_count(keyed.n_keys, 'key', ',')} of {format_count(keyed.n_frames, 'frame', ',')}"
    breakdowns = int(np.count_nonzero(~keyed.extremes))
    kind = ("cubic" if keyed.is_cubic else "straight") + (
        " curves of Euler angles" if keyed.rotation_orders else " curves of quaternions"
    )
    facts = [
        ("keys", format_key_count(keyed.n_keys, keyed.n_frames)),
        ("frames", format_frames(keyed.keys)),
        *_gap_facts(keyed.keys),
        ("rate", f"{keyed.fps:g} fps, {keyed.duration_s:.2f} s"),
        ("joints", f"{keyed.n_joints:,}"),
        ("between keys", kind),
        ("residual", "stored: kp.rebake adds the captured detail back" if keyed.residual is not None else "none"),
    ]
    if breakdowns:
        facts.insert(1, ("breakdowns", f"{breakdowns:,}, drawn lower"))
    return render_card(
        keyed.name,
        [draw_key_bar(*_thin_keys(keyed.keys, keyed.n_frames, heights), alt_text)],
        facts + note_facts(list_notes(keyed)),
    )


def _thin_keys(frames: Ints, n_frames: int, heights: Floats) -> tuple[Ints, int, Floats]:
    """Return at most MAX_MARKS of the keys, with the number of frames and heights."""
    indices = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), MAX_MARKS)).round().astype(int))
    return frames[indices], n_frames, heights[indices]


def _gap_facts(frames: Ints) -> list[tuple[str, str]]:
    gaps = np.diff(frames)
    if not len(gaps):
        return []
    return [("gaps", f"{gaps.min():,} to {gaps.max():,} frames, {gaps.mean():.1f} on average")]


def ladder_card(ladder: Ladder) -> str:
    """Return HTML with the error curve and facts: possible numbers of keys, cliffs and knee."""
    first, last = int(ladder.counts[0]), int(ladder.counts[-1])
    facts = [
        (
            "keys",
            f"{first:,} to {last:,} of {format_count(ladder.n_frames, 'frame', ',')}"
            + ", each a part of the next" * ladder.is_nested,
        ),
        ("cost", f"{ladder.cost_values[0]:.4g} to {ladder.cost_values[-1]:.4g}, in units of the features"),
    ]
    if ladder.natural is not None:
        facts.append(("the method's own", format_key_count(ladder.natural, ladder.n_frames)))
    cliffs = ladder.cliffs()[:MAX_CLIFFS]
    if cliffs:
        cliff_texts = ", ".join(f"{cliff.keys:,} (cost {ladder.costs[cliff.keys]:.3g})" for cliff in cliffs)
        facts.append(("cliffs", f"{cliff_texts}; the strongest first"))
    if len(ladder) > 2:
        facts.append(("knee", format_count(ladder.knee(), "key", ",")))
    curve = plot_errors(ladder, title="", width_px=WIDTH_PX, height_px=_LADDER_HEIGHT_PX, theme="notebook")
    return render_card(f"Ladder by {ladder.method}", [curve], facts)


def score_card(score: Score) -> str:
    """Return HTML with all measures and, if it was computed, a curve of the mean error per frame with its maximum
    marked.

    The largest error of a single joint may be in another frame; it is listed as well.
    """
    worst = f"{score.worst_joint} in frame {score.worst_frame:,}"
    curves = []
    if (errors := score.per_frame_mm) is not None:
        peak, frames = int(errors.argmax()), np.arange(len(errors))
        worst += f"; over all joints frame {peak:,}, by {errors[peak]:.3g} mm on average"
        curves.append(
            chart(
                [Line("", frames, errors, filled=True, dashed=False, width_px=1.2, dots=len(frames) < 2)],
                Axis("frame", is_integer=True),
                Axis("mean error over joints", unit="mm", low=0.0),
                width_px=WIDTH_PX,
                height_px=_SCORE_HEIGHT_PX,
                theme="notebook",
                alt_text=f"Mean error of each frame in mm, {errors.min():.3g} to {errors.max():.3g}",
                marks=[Mark(peak, "largest mean", colour="key", dashed=True)],
            )
        )
    facts = [
        ("error of positions", f"{score.mean_mm:.3g} mm on average, 95 % within {score.p95_mm:.3g} mm, "
                              f"{score.max_mm:.3g} mm at most"),
        ("worst", worst),
    ]  # fmt: skip
    if score.mean_deg is not None:
        facts.append(("error of rotations", f"{score.mean_deg:.3g}° on average, {score.max_deg:.3g}° at most"))
    if score.foot_slide_mm is not None:
        facts.append(("feet slide", f"{score.foot_slide_mm:.3g} mm, originally {score.original_foot_slide_mm:.3g} mm"))
    if score.key_acceleration is not None:
        facts.append(("acceleration at keys", f"{score.key_acceleration:.3g} times the original's"))
    if score.stored_values is not None and score.bytes is not None:
        facts.append(
            ("stored", f"{format_count(score.stored_values, 'value', ',')}, {format_count(score.bytes, 'byte', ',')}")
        )
    return render_card("Score, on a figure of 1.7 m", curves, facts)


def swings_card(swings: Swings) -> str:
    """Return HTML with the timeline and facts."""
    angles = np.rad2deg(np.concatenate([track.angles for track in swings.tracks]))
    facts = [
        ("swings", f"{swings.n_swings:,} of {format_count(swings.n_joints, 'joint', ',')}"),
        ("frames", f"{swings.n_frames:,} at {swings.fps:g} fps, {swings.duration_s:.2f} s"),
        ("found with", f"threshold {swings.settings.threshold:g}"),
    ]
    if len(angles):
        facts.insert(1, ("angles", f"{angles.max():.3g}° at most, median {np.median(angles):.3g}°"))
    if swings.n_keys:
        facts.insert(1, ("keys", f"{swings.n_keys:,} where swings are not near enough"))
    if swings.settings.left_out:
        facts.append(
            ("left out", f"{format_count(len(swings.settings.left_out), 'joint', ',')}, stored frame by frame")
        )
    return render_card(swings.name, [_draw_timeline(swings)], facts + note_facts(list_notes(swings)))


def _draw_timeline(swings: Swings) -> Picture:
    draw = partial(timeline, swings, width_px=_TIMELINE_WIDTH_PX, row_px=_TIMELINE_ROW_PX, theme="notebook")
    picture = draw(title="")
    by_activity = sorted(swings.tracks, key=lambda track: -float((track.ends - track.starts).sum()))
    for max_joints in FALLBACK_JOINT_COUNTS:
        if len(picture.svg) <= MAX_SVG_LENGTH:
            break
        names = [track.joint for track in by_activity[:max_joints]]
        picture = draw(joints=names, title=f"the {max_joints} joints that swing longest")
    return picture


def render_card(name: str, pictures: Iterable[Picture], facts: Iterable[tuple[str, str]]) -> str:
    """Return HTML without script and external resources. All text is truncated and escaped here."""
    rows = "".join(
        f'<tr><th style="{_TH}">{escape(clean_line(label))}</th>'
        f'<td style="{_TD}">{escape(clean_line(value, 600))}</td></tr>'
        for label, value in facts
    )
    images = "".join(f'<div style="overflow-x:auto">{picture.svg}</div>' for picture in pictures)
    return (
        f'<div style="max-width:60em;font:13px/1.5 system-ui,sans-serif">'
        f'<div style="font-weight:600">{escape(clean_line(name))}</div>{images}'
        f'<table style="{_TABLE}">{rows}</table></div>'
    )


def note_facts(notes: Sequence[str]) -> list[tuple[str, str]]:
    """Return the first notes as facts, and the number of further notes."""
    facts = [("note", note) for note in notes[:MAX_NOTES]]
    more = len(notes) - MAX_NOTES
    return facts + ([("", f"and {format_count(more, 'more note', ',')}")] if more > 0 else [])


def format_frames(frames: Ints) -> str:
    """Return the first frames as text, and the number of further frames."""
    more = len(frames) - MAX_LISTED_FRAMES
    return " ".join(map(str, frames[:MAX_LISTED_FRAMES].tolist())) + (f" … and {more:,} more" if more > 0 else "")


def format_key_count(keys: int, n_frames: int) -> str:
    """Return the number of keys, of frames and the removed share as text."""
    return f"{keys:,} of {format_count(n_frames, 'frame', ',')}: {100 * (1 - keys / n_frames):.1f} % removed"


def draw_key_bar(frames: Ints, n_frames: int, heights: Floats, alt_text: str) -> Picture:
    """Return a picture of keys along the frames, with relative ``heights`` (K,) from 0 to 1."""
    theme = find_theme("notebook")
    area = Area(10.0, 4.0, WIDTH_PX - 16.0, 4.0 + BAR_PX)
    scale = frame_scale(n_frames, area.left, area.right)
    ends = zip(scale.px(frames).tolist(), (BAR_PX * heights).tolist(), strict=True)
    lines = "".join(f"M{number(x)} {number(area.bottom)}v{number(-high)}" for x, high in ends)
    height = area.bottom + 2 * ROW_PX
    body = draw_x(area, horizontal_ticks(Axis(), scale), Axis(), theme, grid=False)
    body += f'<path data-keys="{len(frames)}" d="{lines}" stroke="{theme["key"]}" stroke-width="2" fill="none"/>'
    body += text_element(area.right, height - 3, "frame", TEXT_PX, theme["muted"], anchor="end")
    return Picture(document(body, WIDTH_PX, height, theme, title="keys", alt_text=alt_text), WIDTH_PX, height, alt_text)
