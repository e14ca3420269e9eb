"""The work of ``timeline``, ``curves`` and ``error-curve``: read one file, draw, write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keypose.batch.reading import Reading, frames_meant
from keypose.batch.swings import Finding
from keypose.cli.picturing import Drawn, of_the_command_line, pixels_in
from keypose.errors import OptionError
from keypose.model import Motion, Selection
from keypose.options import number
from keypose.pictures.chart.chart import LEAST_PX, MOST_PX
from keypose.pictures.curves import LEAST_PANEL_PX, MOST_PANEL_PX, plot_curves
from keypose.pictures.error_curve import plot_errors
from keypose.pictures.picture import LEAST_SCALE, MOST_SCALE, Picture
from keypose.pictures.timeline import LEAST_ROW_PX, MOST_ROW_PX, timeline
from keypose.verbs import select
from keypose.verbs.explaining import choose

SIZES = {
    "width_px": (LEAST_PX, MOST_PX),
    "height_px": (LEAST_PX, MOST_PX),
    "row_px": (LEAST_ROW_PX, MOST_ROW_PX),
    "panel_px": (LEAST_PANEL_PX, MOST_PANEL_PX),
}


@dataclass(frozen=True)
class Look:
    """How the picture looks."""

    options: Mapping[str, Any]  # of the verb that draws it
    scale: float  # pixels to a px


def look_from(options: Mapping[str, Any], scale: float) -> Look:
    """What was typed, its sizes checked before any work is done."""
    with of_the_command_line():
        number("scale", scale, least=LEAST_SCALE, most=MOST_SCALE)
        for name, (least, most) in SIZES.items():
            if name in options:
                number(name, options[name], least=least, most=most)
    return Look(options, scale)


@dataclass(frozen=True)
class TimelineWanted:
    """A timeline of swings."""

    source: Path
    target: Path
    finding: Finding
    look: Look
    marked: tuple[int, ...]
    choosing: Mapping[str, Any] | None  # of ``select``; None: choose none


@dataclass(frozen=True)
class CurvesWanted:
    """Motion curves."""

    source: Path
    target: Path
    reading: Reading
    frames: tuple[int | None, int | None] | None
    look: Look
    marked: tuple[int, ...]
    choosing: Mapping[str, Any] | None


@dataclass(frozen=True)
class ErrorCurveWanted:
    """The error for every number of keys."""

    source: Path
    target: Path
    reading: Reading
    frames: tuple[int | None, int | None] | None
    look: Look
    choosing: Mapping[str, Any]


def draw_timeline(wanted: TimelineWanted) -> Drawn:
    """Finds the swings of one file and draws them."""
    motion, found = wanted.finding.swings(wanted.source)
    if motion is None and wanted.choosing is not None:
        raise OptionError(f"{wanted.source}: holds swings and no motion to choose keys of; --mark says frames")
    keys = _keys(motion, wanted.marked, wanted.choosing)
    picture = timeline(found, keys=keys, **wanted.look.options)
    figures = {"n_frames": found.n_frames, "fps": found.fps, "n_swings": found.n_swings, "keys": _frames(keys)}
    return _written(picture, wanted.target, wanted.look, figures, found.notes)


def draw_curves(wanted: CurvesWanted) -> Drawn:
    """Reads one file and draws the curves of its joints."""
    motion = wanted.reading.load(wanted.source)
    motion = motion[slice(*frames_meant(wanted.frames, motion.n_frames))]
    keys = _keys(motion, wanted.marked, wanted.choosing)
    picture = plot_curves(motion, keys, **wanted.look.options)
    figures = {"n_frames": motion.n_frames, "fps": motion.fps, "keys": _frames(keys)}
    return _written(picture, wanted.target, wanted.look, figures, motion.notes)


def draw_error_curve(wanted: ErrorCurveWanted) -> Drawn:
    """Reads one file, chooses its keys, and draws what every number of them costs."""
    motion = wanted.reading.load(wanted.source)
    start, stop = frames_meant(wanted.frames, motion.n_frames)
    chosen = choose(motion, frames=(start, stop), **wanted.choosing)
    ladder, keys = chosen.ladder, chosen.selection
    options = {"title": f"{motion.name}: error against keys, {ladder.method}"} | dict(wanted.look.options)
    unit = "mm" if wanted.choosing.get("cost") == "inbetween" else ""
    picture = plot_errors(ladder, chosen=keys, unit=unit, n_frames=stop - start, **options)
    figures = {
        "method": ladder.method,
        "n_frames": motion.n_frames,
        "range": [start, stop],
        "chosen": len(keys),
        "chosen_by": chosen.by,
        "curve": [{"keys": n, "cost": cost} for n, cost in ladder.costs.items()],
        "cliffs": [cliff.keys for cliff in ladder.cliffs()],
    }
    return _written(picture, wanted.target, wanted.look, figures, motion.notes)


def _keys(
    motion: Motion | None, marked: tuple[int, ...], choosing: Mapping[str, Any] | None
) -> Selection | tuple[int, ...] | None:
    if motion is not None and choosing is not None:
        return select(motion, **choosing)
    return marked or None


def _frames(keys: Selection | tuple[int, ...] | None) -> list[int]:
    return list(keys or ())


def _written(picture: Picture, target: Path, look: Look, figures: Mapping[str, Any], notes: tuple[str, ...]) -> Drawn:
    picture.save(target, scale=look.scale)
    return Drawn(picture.width, picture.height, picture.says, figures, notes, pixels_in(target))
