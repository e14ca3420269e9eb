"""Where everything of a chart goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.pictures.chart.axes import ROW_PX, TEXT_PX, Area, ticks_across, ticks_upright, width_of
from keypose.pictures.chart.draw import points_of
from keypose.pictures.chart.labels import Box, Label, along_top, beside, in_rows, spread
from keypose.pictures.chart.nouns import Axis, Band, Line, Mark, TopAxis
from keypose.pictures.chart.scale import Scale, scale_of
from keypose.pictures.svg import fitting, text_width

TITLE_PX = 14.0
EDGE_PX = 10.0
NAME_PX = 16.0  # from the area to the names beside it
MARK_ROWS = 2
BESIDE_SHARE = 0.3  # of the width, that names beside the lines may take
LEAST_BESIDE_PX = 360.0  # narrower pictures have their legend below
LEAST_AREA_PX = 40.0  # height that a legend leaves to the lines; names beyond have no room
ROOM = 0.04  # above and below the lines, of their height


@dataclass(frozen=True)
class Asked:
    """All that a chart is told."""

    lines: tuple[Line, ...]
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    bands: tuple[Band, ...]
    top: TopAxis | None
    title: str

    @property
    def named(self) -> list[Line]:
        """The lines that have a name."""
        return [line for line in self.lines if line.label]


@dataclass(frozen=True)
class Plan:
    """Places in px."""

    width: float
    area: Area
    x: Scale
    y: Scale
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    title_y: float
    label_y: float  # of the upright axis
    mark_labels: list[Label | None]
    is_beside: bool  # the names of the lines, beside their ends; else in a legend
    ends: list[tuple[float, float]]  # of named lines,
    name_places: list[float]  # and y of their names
    legend: list[tuple[int, float, str]]
    legend_y: float


def lay_out(asked: Asked, width: float, height: float) -> Plan:
    """A place for everything: axes and names take what they need, lines the rest."""
    upright = [mark.y is None for mark in asked.marks]
    plan = _lay_out(asked, width, height, MARK_ROWS if any(upright) else 0)
    used = {label.y for label, is_above in zip(plan.mark_labels, upright, strict=True) if is_above and label}
    return plan if not any(upright) or len(used) == MARK_ROWS else _lay_out(asked, width, height, len(used))


def _lay_out(asked: Asked, width: float, height: float, mark_rows: int) -> Plan:
    above = ROW_PX * (bool(asked.y.says) + mark_rows + (asked.top is not None))
    head = EDGE_PX + (TITLE_PX + 6 if asked.title else 0.0) + above
    foot = height - EDGE_PX - ROW_PX * (1 + bool(asked.x.says))
    room = BESIDE_SHARE * width - NAME_PX
    names = [text_width(fitting(line.label, room, TEXT_PX), TEXT_PX) for line in asked.named]
    is_beside = bool(names) and width >= LEAST_BESIDE_PX and len(names) * ROW_PX <= foot - head
    legend = [] if is_beside else in_rows([line.label for line in asked.named], EDGE_PX, width - 2 * EDGE_PX)
    most_rows = max(0, int((foot - head - LEAST_AREA_PX) / ROW_PX))
    legend = [place for place in legend if place[0] < most_rows]
    rows = legend[-1][0] + 1 if legend else 0
    foot = max(foot - ROW_PX * rows - (4 if rows else 0), head + 10)
    dots = [mark.y for mark in asked.marks if mark.y is not None]
    y = scale_of(asked.y, [*(line.y for line in asked.lines), dots], foot, head, room=ROOM)
    y_ticks = ticks_upright(asked.y, y)
    left = min(EDGE_PX + width_of(y_ticks) + 6, 0.5 * width)
    right = max(width - EDGE_PX - (max(names) + NAME_PX if is_beside else 6), 0.5 * width + 10)
    area = Area(left, head, right, foot)
    x = scale_of(asked.x, [*(line.x for line in asked.lines), [mark.x for mark in asked.marks]], left, right)
    points = [points_of(line, x, y) for line in asked.lines]
    ends = [_end(p, area) for p, line in zip(points, asked.lines, strict=True) if line.label]
    return Plan(
        width=width,
        area=area,
        x=x,
        y=y,
        x_ticks=ticks_across(asked.x, x),
        y_ticks=y_ticks,
        title_y=EDGE_PX + TITLE_PX - 2,
        label_y=head - above + ROW_PX - 7,
        mark_labels=_mark_labels(asked, x, y, area, points, mark_rows),
        is_beside=is_beside,
        ends=ends,
        name_places=spread([end_y for _, end_y in ends], area.top + 4, area.bottom - 2),
        legend=legend,
        legend_y=height - EDGE_PX - ROW_PX * (rows - 1),
    )


def _end(points: tuple[Floats, Floats], area: Area) -> tuple[float, float]:
    """The last point of a line that is somewhere."""
    xs, ys = points
    last = np.flatnonzero(np.isfinite(xs) & np.isfinite(ys))[-1:]
    if not len(last):
        return area.right, area.bottom
    return float(xs[last[0]]), min(max(float(ys[last[0]]), area.top), area.bottom)


def _mark_labels(
    asked: Asked, x: Scale, y: Scale, area: Area, points: Sequence[tuple[Floats, Floats]], rows: int
) -> list[Label | None]:
    above = Area(area.left, area.top - (0.0 if asked.top is None else ROW_PX), area.right, area.bottom)
    texts = [(x.at(mark.x), fitting(mark.label, area.width, TEXT_PX)) for mark in asked.marks]
    upright = [text for text, mark in zip(texts, asked.marks, strict=True) if mark.y is None]
    on_top = iter(along_top(upright, above, rows))
    taken: list[Box] = []
    for mark in asked.marks:
        if mark.y is not None:
            px, py = x.at(mark.x), y.at(mark.y)
            taken.append((px - 4, py - 4, px + 4, py + 4))
            taken += [(px - 1, py, px + 1, area.bottom)] if mark.drop else []
    return [
        next(on_top) if mark.y is None else beside(px, y.at(mark.y), text, area, taken, points)
        for mark, (px, text) in zip(asked.marks, texts, strict=True)
    ]
