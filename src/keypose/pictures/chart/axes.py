"""Axes around the area of a chart: grid, ticks, words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keypose.pictures.chart.nouns import Axis, TopAxis
from keypose.pictures.chart.scale import Scale
from keypose.pictures.chart.ticks import tick_text
from keypose.pictures.svg import fitting, number, text_width, words
from keypose.pictures.theme import Theme

TEXT_PX = 11.0  # size of ticks and labels
ROW_PX = 15.0  # height of a row of such text
BETWEEN_PX = 8.0  # two texts in a row
LEAST_ROW_PX = 26.0  # between two ticks of an upright axis


@dataclass(frozen=True)
class Area:
    """Where lines are drawn, in px of the picture."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top


def text_of(axis: Axis, tick: float) -> str:
    """What is written at a tick."""
    return tick_text(tick) if axis.text is None else axis.text(tick)


def ticks_across(axis: Axis, scale: Scale) -> list[tuple[float, str]]:
    """Ticks of a level axis: x in px and words, none over another; fewer of them where words are long."""
    length = abs(scale.end_px - scale.start_px)
    if axis.ticks is not None:
        return _apart([(scale.at(tick), text_of(axis, tick)) for tick in _inside(axis.ticks, scale)])
    most = max(2, int(length / 40))
    while True:
        found = [(scale.at(tick), text_of(axis, tick)) for tick in scale.ticks(most)]
        kept = _apart(found)
        if len(kept) == len(found) or most <= 2:
            return kept
        most -= 1


def ticks_upright(axis: Axis, scale: Scale) -> list[tuple[float, str]]:
    """Ticks of an upright axis: y in px and words."""
    length = abs(scale.end_px - scale.start_px)
    ticks = scale.ticks(max(2, int(length / LEAST_ROW_PX))) if axis.ticks is None else _inside(axis.ticks, scale)
    return [(scale.at(tick), text_of(axis, tick)) for tick in ticks]


def width_of(ticks: Sequence[tuple[float, str]]) -> float:
    """Of the widest words at ticks, in px."""
    return max((text_width(text, TEXT_PX) for _, text in ticks), default=0.0)


def draw_x(area: Area, ticks: Sequence[tuple[float, str]], axis: Axis, theme: Theme, *, grid: bool = True) -> str:
    """The level axis below the area, which takes two rows of text, or one without a label."""
    top, bottom = number(area.top if grid else area.bottom), number(area.bottom + 4)
    lines = "".join(f"M{number(x)} {top}V{bottom}" for x, _ in ticks)
    ground = f"M{number(area.left)} {number(area.bottom)}H{number(area.right)}"
    drawn = [f'<path d="{lines}" stroke="{theme["grid"]}" fill="none"/>'] if lines else []
    drawn.append(f'<path d="{ground}" stroke="{theme["floor"]}"/>')
    y = area.bottom + ROW_PX
    drawn += [words(x, y, text, TEXT_PX, theme["muted"], anchor="middle") for x, text in ticks]
    if axis.says:
        label = fitting(axis.says, area.width, TEXT_PX)
        drawn.append(words((area.left + area.right) / 2, y + ROW_PX, label, TEXT_PX, theme["ink"], anchor="middle"))
    return "".join(drawn)


def draw_y(area: Area, ticks: Sequence[tuple[float, str]], theme: Theme) -> str:
    """The ticks of the upright axis, left of the area."""
    lines = "".join(f"M{number(area.left - 3)} {number(y)}H{number(area.right)}" for y, _ in ticks)
    drawn = [f'<path d="{lines}" stroke="{theme["grid"]}" fill="none"/>'] if lines else []
    x, down = area.left - 6, 0.35 * TEXT_PX
    drawn += [words(x, y + down, text, TEXT_PX, theme["muted"], anchor="end") for y, text in ticks]
    return "".join(drawn)


def draw_top(area: Area, scale: Scale, axis: TopAxis, theme: Theme) -> str:
    """The second level axis, above the area: one row of words that starts with its label."""
    y = area.top - 7
    start = area.left + text_width(axis.label, TEXT_PX) + BETWEEN_PX
    places = [(scale.at(x), text) for x, text in axis.ticks if scale.low <= x <= scale.high]
    kept = [(x, text) for x, text in places if x - text_width(text, TEXT_PX) / 2 >= start]
    drawn = [words(area.left, y, axis.label, TEXT_PX, theme["muted"])]
    for x, text in _apart(kept):
        drawn.append(f'<path d="M{number(x)} {number(area.top)}v-4" stroke="{theme["floor"]}"/>')
        drawn.append(words(x, y, text, TEXT_PX, theme["muted"], anchor="middle"))
    return "".join(drawn)


def _inside(ticks: Sequence[float], scale: Scale) -> list[float]:
    return [tick for tick in ticks if scale.low <= tick <= scale.high]


def _apart(places: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Those words that do not come too near to the one before."""
    kept: list[tuple[float, str]] = []
    last = float("-inf")
    for x, text in sorted(places):
        half = text_width(text, TEXT_PX) / 2
        if x - half >= last:
            kept.append((x, text))
            last = x + half + BETWEEN_PX
    return kept
