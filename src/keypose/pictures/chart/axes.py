"""Axes of a chart: grid, ticks, labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keypose.pictures.chart.scale import Axis, Scale, TopAxis, format_tick
from keypose.pictures.svg import Theme, fit_text, number, text_element, text_width

TEXT_PX = 11.0  # size of ticks and labels
ROW_PX = 15.0  # height of a row of such text
TEXT_GAP_PX = 8.0  # minimum gap between two texts in a row
MIN_TICK_GAP_PX = 26.0  # between two ticks of a vertical axis
TIME_PX = 2 * ROW_PX + 6  # height of both rows


@dataclass(frozen=True)
class Area:
    """The rectangle in which lines are drawn, in px of the picture."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Width in px."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Height in px."""
        return self.bottom - self.top


def tick_label(axis: Axis, tick: float) -> str:
    """Return the text of a tick."""
    return format_tick(tick) if axis.text is None else axis.text(tick)


def horizontal_ticks(axis: Axis, scale: Scale) -> list[tuple[float, str]]:
    """Return (x in px, text) of the ticks of a horizontal axis; fewer ticks if texts are long, so that none overlap."""
    length = abs(scale.end_px - scale.start_px)
    if axis.ticks is not None:
        return _drop_overlapping(
            [(scale.at(tick), tick_label(axis, tick)) for tick in _ticks_inside(axis.ticks, scale)]
        )
    max_ticks = max(2, int(length / 40))
    while True:
        ticks = [(scale.at(tick), tick_label(axis, tick)) for tick in scale.ticks(max_ticks)]
        visible = _drop_overlapping(ticks)
        if len(visible) == len(ticks) or max_ticks <= 2:
            return visible
        max_ticks -= 1


def vertical_ticks(axis: Axis, scale: Scale) -> list[tuple[float, str]]:
    """Return (y in px, text) of the ticks of a vertical axis."""
    length = abs(scale.end_px - scale.start_px)
    ticks = (
        scale.ticks(max(2, int(length / MIN_TICK_GAP_PX))) if axis.ticks is None else _ticks_inside(axis.ticks, scale)
    )
    return [(scale.at(tick), tick_label(axis, tick)) for tick in ticks]


def max_label_width(ticks: Sequence[tuple[float, str]]) -> float:
    """Return the width in px of the widest tick text."""
    return max((text_width(text, TEXT_PX) for _, text in ticks), default=0.0)


def draw_x(area: Area, ticks: Sequence[tuple[float, str]], axis: Axis, theme: Theme, *, grid: bool = True) -> str:
    """Draw the horizontal axis below the area: two rows of text, or one without a label."""
    top, bottom = number(area.top if grid else area.bottom), number(area.bottom + 4)
    lines = "".join(f"M{number(x)} {top}V{bottom}" for x, _ in ticks)
    ground = f"M{number(area.left)} {number(area.bottom)}H{number(area.right)}"
    elements = [f'<path d="{lines}" stroke="{theme["grid"]}" fill="none"/>'] if lines else []
    elements.append(f'<path d="{ground}" stroke="{theme["floor"]}"/>')
    y = area.bottom + ROW_PX
    elements += [text_element(x, y, text, TEXT_PX, theme["muted"], anchor="middle") for x, text in ticks]
    if axis.full_label:
        label = fit_text(axis.full_label, area.width, TEXT_PX)
        elements.append(
            text_element((area.left + area.right) / 2, y + ROW_PX, label, TEXT_PX, theme["ink"], anchor="middle")
        )
    return "".join(elements)


def draw_y(area: Area, ticks: Sequence[tuple[float, str]], theme: Theme) -> str:
    """Draw the ticks of the vertical axis, left of the area."""
    lines = "".join(f"M{number(area.left - 3)} {number(y)}H{number(area.right)}" for y, _ in ticks)
    elements = [f'<path d="{lines}" stroke="{theme["grid"]}" fill="none"/>'] if lines else []
    x, down = area.left - 6, 0.35 * TEXT_PX
    elements += [text_element(x, y + down, text, TEXT_PX, theme["muted"], anchor="end") for y, text in ticks]
    return "".join(elements)


def draw_top(area: Area, scale: Scale, axis: TopAxis, theme: Theme) -> str:
    """Draw the second horizontal axis, above the area: one row of text that starts with its label."""
    y = area.top - 7
    start = area.left + text_width(axis.label, TEXT_PX) + TEXT_GAP_PX
    ticks = [(scale.at(x), text) for x, text in axis.ticks if scale.low <= x <= scale.high]
    visible = [(x, text) for x, text in ticks if x - text_width(text, TEXT_PX) / 2 >= start]
    elements = [text_element(area.left, y, axis.label, TEXT_PX, theme["muted"])]
    for x, text in _drop_overlapping(visible):
        elements.append(f'<path d="M{number(x)} {number(area.top)}v-4" stroke="{theme["floor"]}"/>')
        elements.append(text_element(x, y, text, TEXT_PX, theme["muted"], anchor="middle"))
    return "".join(elements)


def _ticks_inside(ticks: Sequence[float], scale: Scale) -> list[float]:
    return [tick for tick in ticks if scale.low <= tick <= scale.high]


def _drop_overlapping(ticks: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return the ticks with a text that does not overlap the previous one."""
    visible: list[tuple[float, str]] = []
    last = float("-inf")
    for x, text in sorted(ticks):
        half = text_width(text, TEXT_PX) / 2
        if x - half >= last:
            visible.append((x, text))
            last = x + half + TEXT_GAP_PX
    return visible


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
