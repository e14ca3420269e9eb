"""Time along the bottom of a picture: seconds, and below them frames."""

from __future__ import annotations

from keypose.pictures.chart.axes import ROW_PX, TEXT_PX, Area, draw_x, ticks_across
from keypose.pictures.chart.nouns import Axis
from keypose.pictures.chart.scale import Scale
from keypose.pictures.svg import number, words
from keypose.pictures.theme import Theme

TIME_PX = 2 * ROW_PX + 6  # height of both rows


def frame_scale(n_frames: int, left: float, right: float) -> Scale:
    """Frames from the first to the last, as far as the picture reaches; of an only frame there is room beside it."""
    return Scale(0.0, float(max(n_frames - 1, 1)), left, right, whole=True)


def draw_time(area: Area, frames: Scale, fps: float, theme: Theme, *, grid: bool = True) -> str:
    """The axis below ``area``; upright lines at round seconds."""
    seconds = Scale(frames.low / fps, frames.high / fps, frames.start_px, frames.end_px)
    drawn = [draw_x(area, ticks_across(Axis(), seconds), Axis(), theme, grid=grid)]
    y = area.bottom + 2 * ROW_PX
    places = ticks_across(Axis(), frames)
    drawn += [words(x, y, text, TEXT_PX, theme["muted"], anchor="middle") for x, text in places]
    drawn += [
        words(area.left - 12, area.bottom + ROW_PX * row, text, TEXT_PX, theme["ink"], anchor="end")
        for row, text in ((1, "seconds"), (2, "frame"))
    ]
    return "".join(drawn)


def draw_keys(area: Area, at: list[float], theme: Theme, *, heads: bool = True) -> str:
    """Upright lines over the whole area, each under a small triangle if it has one."""
    if not at:
        return ""
    at = sorted({round(x, 1) if len(at) < area.width / 2 else float(round(x)) for x in at})
    lines = "".join(f"M{number(x)} {number(area.top)}V{number(area.bottom)}" for x in at)
    tops = "".join(f"M{number(x - 3.5)} {number(area.top - 6)}h7l-3.5 6z" for x in at) if heads else ""
    faint = max(0.25, min(0.9, 0.12 * area.width / len(at)))
    colour = theme["key"]
    return (f'<path data-keys="{len(at)}" d="{lines}" stroke="{colour}" stroke-opacity="{faint:.2f}" fill="none"/>'
            f'<path d="{tops}" fill="{colour}"/>')  # fmt: skip
