"""Sections of one motion of a report: pictures, tables, and the settings to reproduce it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from keypose.api.compare.clip import compute_digest
from keypose.api.select import select
from keypose.arrays import Ints
from keypose.curves.capture_faults import describe_flips, list_flips, without_spike_warnings
from keypose.metrics import Score
from keypose.model import Ladder, Selection, list_notes
from keypose.pictures.error_curve import plot_errors
from keypose.pictures.figure import build_body
from keypose.pictures.figure.body import build_solids
from keypose.pictures.figure.paint import describe_sides
from keypose.pictures.heat import heat_map
from keypose.pictures.page import Cell, Section, code, details, facts, figure, notes, table
from keypose.pictures.report.analysis import ClipAnalysis
from keypose.pictures.report.player import PlayerClip, build_player_clip, render_player
from keypose.pictures.report.settings import python_script, report_command, unbake_command
from keypose.pictures.strip import strip
from keypose.pictures.timeline import timeline
from keypose.validation import clean_line

MAX_POSES, PER_ROW = 36, 12  # of a strip; more poses would be too small
STRIP_PX, ROW_PX = 860.0, 230.0  # maximum size before scaling
MAX_STRIP_SCALE = 1.28  # so that it fills the page and its text is readable in print
MAX_ROWS = 200
FLIP_TEXT = ", a flip of the capture"


@dataclass(frozen=True)
class ClipSummary:
    """The figures of one motion in the overview of several; errors are None for a figure without height."""

    n_frames: int
    fps: float
    n_keys: int
    mean_mm: float | None
    max_mm: float | None


@dataclass(frozen=True)
class ClipReport:
    """The section of one motion, its figures in the overview of several, and its score without arrays."""

    section: Section
    summary: ClipSummary
    score: Score | None  # None for a figure without height


def build_clip_report(analysis: ClipAnalysis, id: str) -> ClipReport:
    """Build the section of one motion; all ids in it start with ``id``."""
    score = analysis.score
    clip = build_player_clip(analysis.motion, analysis.keyed, analysis.rebuilt, analysis.errors_mm)
    subsections = (
        Section(f"{id}-strip", "Key poses", _render_strip(analysis, id)),
        Section(f"{id}-player", "Original and unbaked", _render_player(analysis, clip, id)),
        Section(f"{id}-score", "Accuracy", score_table(analysis)),
        *_error_sections(analysis, id),
        Section(f"{id}-swings", "Swings", _render_swings(analysis, id)),
        Section(f"{id}-keys", "Keys", keys_table(analysis)),
        Section(f"{id}-settings", "Reproduce this result", _render_settings(analysis)),
    )
    m = analysis.motion
    mean_mm, max_mm = (None, None) if score is None else (score.mean_mm, score.max_mm)
    return ClipReport(
        Section(id, m.name or "unnamed", _render_facts(analysis), subsections),
        ClipSummary(m.n_frames, m.fps, analysis.keyed.n_keys, mean_mm, max_mm),
        None if score is None else score.without_arrays(),
    )


def _render_facts(analysis: ClipAnalysis) -> str:
    m, keyed = analysis.motion, analysis.keyed
    removed_percent = 100 * (1 - keyed.n_keys / m.n_frames)
    height = f"{m.height:.4g} units" + (f" = {m.height * m.metres_per_unit:.3g} m" if m.metres_per_unit else "")
    pairs = [
        ("frames", f"{m.n_frames:,} at {m.fps:g} fps, {m.duration_s:.2f} s"),
        ("joints", f"{m.n_joints:,}"),
        ("height", height),
        ("keys", f"{keyed.n_keys:,}: {removed_percent:.1f} % of the frames removed"),
    ]
    if (score := analysis.score) is not None:
        outside_text = f" in a flip of the capture, {score.max_outside_flips_mm:.1f} mm outside of flips"
        outside = outside_text if score.is_worst_in_flip else ""
        pairs.append(("error", f"{score.mean_mm:.2f} mm on average, {score.max_mm:.1f} mm at most{outside}"))
    if flips := list_flips(m):
        omission = "" if analysis.settings.tolerance_mm is not None else "; the curves omit it"
        pairs.append(("flips", f"{describe_flips(flips)}: the capture turns a joint over for a few frames{omission}"))
    if m.first_frame:
        pairs.append(("first frame", f"number {m.first_frame:,} in its source"))
    return facts(pairs) + notes(list_notes(m))


def _render_strip(analysis: ClipAnalysis, id: str) -> str:
    selection = _select_strip_keys(analysis)
    rows = math.ceil(len(selection) / PER_ROW)
    picture = strip(analysis.motion, selection, theme="page", per_row=math.ceil(len(selection) / rows),
                    width_px=STRIP_PX, height_px=rows * ROW_PX)  # fmt: skip
    has_omitted_keys = len(selection) < analysis.keyed.n_keys
    count_text = (
        f"{len(selection)} of the {analysis.keyed.n_keys:,} keys, the most salient ones." if has_omitted_keys else ""
    )
    sentences = (
        count_text,
        "Below each pose its frame and time.",
        describe_sides(build_solids(build_body(analysis.motion))),
    )
    return figure(picture, f"{id}-strip-picture", " ".join(filter(None, sentences)), max_scale=MAX_STRIP_SCALE)


def _select_strip_keys(analysis: ClipAnalysis) -> Selection:
    """Return the keys, or the most salient of them if there are too many."""
    keys: Ints = analysis.keyed.keys
    if len(keys) > MAX_POSES:
        m = analysis.motion
        key_motion = replace(m, translations=m.translations[keys], rotations=m.rotations[keys])
        with without_spike_warnings():
            keys = keys[select(key_motion, "salient", keys=MAX_POSES).frames]
    return Selection(keys, analysis.motion.n_frames, analysis.settings.method)


def _render_player(analysis: ClipAnalysis, clip: PlayerClip, id: str) -> str:
    stored_text = (
        f"{clip.n_stored_frames:,} of {analysis.motion.n_frames:,} frames are in this page, keys among them; "
        * (clip.n_stored_frames < analysis.motion.n_frames)
    )
    text = f"{stored_text}points are rounded to {clip.rounding_mm:.2g} mm on a figure of 1.7 m."
    omission_text = f" {clip.n_omitted:,} small parts or markers are not drawn." if clip.n_omitted else ""
    about = f'<p class="quiet">{text[0].upper()}{text[1:]}{omission_text}</p>\n'
    return render_player(clip, analysis.motion, analysis.keyed, f"{id}-play") + about


def _error_sections(analysis: ClipAnalysis, id: str) -> list[Section]:
    """Return the sections of the error curve and the error map, if available."""
    sections = []
    if analysis.ladder is not None:
        unit = "mm" if analysis.in_mm else "units"
        chosen = analysis.keyed.n_keys if analysis.keyed.n_keys in analysis.ladder.costs else None
        picture = plot_errors(
            analysis.ladder, chosen=chosen, unit=unit, label=analysis.error_name, theme="page", title=""
        )
        caption = (
            f"The {analysis.error_name} that the best keys of each number leave, before their tangents are polished."
        )
        body = figure(picture, f"{id}-error-picture", caption, error_table(analysis.ladder, analysis.error_name, unit))
        sections.append(Section(f"{id}-error", "Error and number of keys", body))
    if analysis.errors_mm is not None:
        m = analysis.motion
        picture = heat_map(analysis.errors_mm, m.skeleton, fps=m.fps, keys=analysis.keyed, theme="page")
        caption = "Error of each joint by frame; vertical lines are keys."
        body = figure(picture, f"{id}-map-picture", caption, joints_table(analysis))
        sections.append(Section(f"{id}-map", "Error by joint and frame", body))
    return sections


def _render_swings(analysis: ClipAnalysis, id: str) -> str:
    picture = timeline(analysis.swings, keys=analysis.keyed, theme="page", title="")
    caption = "When each joint of the original turns about one axis, and how far; vertical lines are keys."
    return figure(picture, f"{id}-swings-picture", caption, swings_table(analysis))


def _render_settings(analysis: ClipAnalysis) -> str:
    from keypose import __version__

    source = analysis.source
    pairs = [("Keypose", __version__), ("content hash", f"sha256 {compute_digest(analysis.motion)}")]
    if source is not None:
        pairs.append(("file", f"{source.path.name}, sha256 {source.sha256}"))
    lines = (("The motion, on the command line:", unbake_command(analysis.settings, source, analysis.motion.name)),
             ("This page:", report_command(analysis.settings, source, analysis.motion.name)))  # fmt: skip
    commands = "".join(f"<p>{heading}</p>\n{code(line)}" for heading, line in lines if line is not None)
    python = code(python_script(analysis.settings, source, analysis.motion))
    return f"{commands}<p>The motion, in Python:</p>\n{python}{facts(pairs)}"


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
    head = ("frame", *(["in the source"] if first else []), "time (s)", "kind", f"importance ({unit})")
    return _render_limited_table(
        "Keys. The importance of a key is the largest error around it if it were removed.", head, rows
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
    rows: list[list[Cell]] = [
        ["mean distance of joints", f"{score.mean_mm:.2f} mm"],
        ["95 % of joints and frames within", f"{score.p95_mm:.2f} mm"],
        ["largest distance", f"{score.max_mm:.2f} mm ({clean_line(score.worst_joint, 60)}, "
                             f"frame {score.worst_frame:,}{FLIP_TEXT * score.is_worst_in_flip})"],
        ["mean rotation error", f"{score.mean_deg:.2f}°"],
        ["largest rotation error", f"{score.max_deg:.1f}° ({clean_line(score.worst_rotation_joint or '', 60)}, "
                                   f"frame {score.worst_rotation_frame:,}{FLIP_TEXT * score.is_worst_rotation_flip})"],
    ]  # fmt: skip
    if score.is_worst_in_flip:
        rows.insert(3, ["largest distance outside of flips", f"{score.max_outside_flips_mm:.2f} mm"])
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
