"""Time axis along the bottom of a picture: seconds, and frames below them."""

from __future__ import annotations

from keypose.pictures.chart.axes import ROW_PX, TEXT_PX, Area, draw_x, horizontal_ticks
from keypose.pictures.chart.elements import Axis
from keypose.pictures.chart.scale import Scale
from keypose.pictures.svg import number, text_element
from keypose.pictures.theme import Theme

TIME_PX = 2 * ROW_PX + 6  # height of both rows


def frame_scale(n_frames: int, left: float, right: float) -> Scale:
    """Return the scale of frames over the width; a single frame is at the left."""
    return Scale(0.0, float(max(n_frames - 1, 1)), left, right, is_integer=True)


def draw_time_axis(area: Area, frames: Scale, fps: float, theme: Theme, *, grid: bool = True) -> str:
    """Draw the time axis below ``area``, with vertical grid lines at round seconds."""
    seconds = Scale(frames.low / fps, frames.high / fps, frames.start_px, frames.end_px)
    elements = [draw_x(area, horizontal_ticks(Axis(), seconds), Axis(), theme, grid=grid)]
    y = area.bottom + 2 * ROW_PX
    frame_ticks = horizontal_ticks(Axis(), frames)
    elements += [text_element(x, y, text, TEXT_PX, theme["muted"], anchor="middle") for x, text in frame_ticks]
    elements += [
        text_element(area.left - 12, area.bottom + ROW_PX * row, text, TEXT_PX, theme["ink"], anchor="end")
        for row, text in ((1, "seconds"), (2, "frame"))
    ]
    return "".join(elements)


def draw_key_lines(area: Area, xs: list[float], theme: Theme, *, heads: bool = True) -> str:
    """Draw vertical key lines over the area, with small triangles on top if ``heads``."""
    if not xs:
        return ""
    xs = sorted({round(x, 1) if len(xs) < area.width / 2 else float(round(x)) for x in xs})
    lines = "".join(f"M{number(x)} {number(area.top)}V{number(area.bottom)}" for x in xs)
    tops = "".join(f"M{number(x - 3.5)} {number(area.top - 6)}h7l-3.5 6z" for x in xs) if heads else ""
    opacity = max(0.25, min(0.9, 0.12 * area.width / len(xs)))
    colour = theme["key"]
    return (f'<path data-keys="{len(xs)}" d="{lines}" stroke="{colour}" stroke-opacity="{opacity:.2f}" fill="none"/>'
            f'<path d="{tops}" fill="{colour}"/>')  # fmt: skip
