"""The jobs of ``timeline``, ``curves`` and ``error-curve``: read one file, draw, write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keypose.api.select import select
from keypose.api.selection_report import select_with_report
from keypose.batch.load_options import ClipLoadOptions, resolve_frame_range
from keypose.batch.swings import SwingsLoader
from keypose.cli.picture_options import DrawnPicture, option_errors_as_usage, png_size
from keypose.errors import OptionError
from keypose.model import Motion, Selection
from keypose.pictures.chart.chart import MAX_SIZE_PX, MIN_SIZE_PX
from keypose.pictures.curves import MAX_PANEL_PX, MIN_PANEL_PX, plot_curves
from keypose.pictures.error_curve import plot_errors
from keypose.pictures.picture import MAX_SCALE, MIN_SCALE, Picture
from keypose.pictures.timeline import MAX_ROW_PX, MIN_ROW_PX, timeline
from keypose.validation import check_number

SIZES = {
    "width_px": (MIN_SIZE_PX, MAX_SIZE_PX),
    "height_px": (MIN_SIZE_PX, MAX_SIZE_PX),
    "row_px": (MIN_ROW_PX, MAX_ROW_PX),
    "panel_px": (MIN_PANEL_PX, MAX_PANEL_PX),
}


@dataclass(frozen=True)
class Style:
    """The appearance of a picture."""

    options: Mapping[str, Any]  # keywords of the function that draws it
    scale: float  # pixels per px


def build_style(options: Mapping[str, Any], scale: float) -> Style:
    """Return the style; sizes are checked before any work is done."""
    with option_errors_as_usage():
        check_number("scale", scale, min_value=MIN_SCALE, max_value=MAX_SCALE)
        for name, (minimum, maximum) in SIZES.items():
            if name in options:
                check_number(name, options[name], min_value=minimum, max_value=maximum)
    return Style(options, scale)


@dataclass(frozen=True)
class TimelineJob:
    """Draw a timeline of swings."""

    source: Path
    target: Path
    finding: SwingsLoader
    style: Style
    marked_frames: tuple[int, ...]
    select_options: Mapping[str, Any] | None  # keywords of ``select``; None: no keys


@dataclass(frozen=True)
class CurvesJob:
    """Draw motion curves."""

    source: Path
    target: Path
    load_options: ClipLoadOptions
    frames: tuple[int | None, int | None] | None
    style: Style
    marked_frames: tuple[int, ...]
    select_options: Mapping[str, Any] | None


@dataclass(frozen=True)
class ErrorCurveJob:
    """Draw the error for every number of keys."""

    source: Path
    target: Path
    load_options: ClipLoadOptions
    frames: tuple[int | None, int | None] | None
    style: Style
    select_options: Mapping[str, Any]


def draw_timeline(job: TimelineJob) -> DrawnPicture:
    """Find the swings of one file and draw them."""
    motion, swings = job.finding.find_swings(job.source)
    if motion is None and job.select_options is not None:
        raise OptionError(f"{job.source}: holds swings and no motion to choose keys of; --mark says frames")
    keys = _select_keys(motion, job.marked_frames, job.select_options)
    picture = timeline(swings, keys=keys, **job.style.options)
    figures = {"n_frames": swings.n_frames, "fps": swings.fps, "n_swings": swings.n_swings, "keys": _key_frames(keys)}
    return _save_picture(picture, job.target, job.style, figures, swings.notes)


def draw_curves(job: CurvesJob) -> DrawnPicture:
    """Read one file and draw the curves of its joints."""
    motion = job.load_options.load(job.source)
    motion = motion[slice(*resolve_frame_range(job.frames, motion.n_frames))]
    keys = _select_keys(motion, job.marked_frames, job.select_options)
    picture = plot_curves(motion, keys, **job.style.options)
    figures = {"n_frames": motion.n_frames, "fps": motion.fps, "keys": _key_frames(keys)}
    return _save_picture(picture, job.target, job.style, figures, motion.notes)


def draw_error_curve(job: ErrorCurveJob) -> DrawnPicture:
    """Read one file, choose its keys, and draw the error for every number of keys."""
    motion = job.load_options.load(job.source)
    start, stop = resolve_frame_range(job.frames, motion.n_frames)
    choice = select_with_report(motion, frames=(start, stop), **job.select_options)
    ladder, keys = choice.ladder, choice.selection
    options = {"title": f"{motion.name}: error against keys, {ladder.method}"} | dict(job.style.options)
    unit = "mm" if job.select_options.get("cost") == "inbetween" else ""
    picture = plot_errors(ladder, chosen=keys, unit=unit, n_frames=stop - start, **options)
    figures = {
        "method": ladder.method,
        "n_frames": motion.n_frames,
        "range": [start, stop],
        "chosen": len(keys),
        "chosen_by": choice.count_source,
        "curve": [{"keys": n, "cost": cost} for n, cost in ladder.costs.items()],
        "cliffs": [cliff.keys for cliff in ladder.cliffs()],
    }
    return _save_picture(picture, job.target, job.style, figures, motion.notes)


def _select_keys(
    motion: Motion | None, marked_frames: tuple[int, ...], select_options: Mapping[str, Any] | None
) -> Selection | tuple[int, ...] | None:
    if motion is not None and select_options is not None:
        return select(motion, **select_options)
    return marked_frames or None


def _key_frames(keys: Selection | tuple[int, ...] | None) -> list[int]:
    return list(keys or ())


def _save_picture(
    picture: Picture, target: Path, style: Style, figures: Mapping[str, Any], notes: tuple[str, ...]
) -> DrawnPicture:
    picture.save(target, scale=style.scale)
    return DrawnPicture(picture.width, picture.height, picture.alt_text, figures, notes, png_size(target))
