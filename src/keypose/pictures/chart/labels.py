"""Words that find their own place: beside the ends of lines, at marks, in a legend. None is drawn over another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from keypose.arrays import Floats
from keypose.pictures.chart.axes import BETWEEN_PX, ROW_PX, TEXT_PX, Area
from keypose.pictures.svg import fitting, text_width

Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom
SAMPLE_PX = 34.0  # length of the line in a legend


@dataclass(frozen=True)
class Label:
    """Words with their base line; ``x`` is where they start."""

    x: float
    y: float
    text: str

    @property
    def box(self) -> Box:
        """What they may cover, in px."""
        return self.x, self.y - TEXT_PX, self.x + text_width(self.text, TEXT_PX), self.y + 0.3 * TEXT_PX


def spread(wanted: Sequence[float], low: float, high: float, apart: float = ROW_PX) -> list[float]:
    """Places near the ``wanted`` ones, at least ``apart`` from each other, from ``low`` to ``high`` if they fit."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    apart = min(apart, (high - low) / max(1, len(wanted) - 1))
    groups: list[list[float]] = []  # [sum of (wanted - own offset), how many]: places of a group follow each other
    for rank, i in enumerate(order):
        groups.append([min(max(wanted[i], low), high) - rank * apart, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, count = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += count
    bases = [total / count for total, count in groups for _ in range(int(count))]
    last = (len(wanted) - 1) * apart
    places = [0.0] * len(wanted)
    for rank, i in enumerate(order):
        places[i] = min(max(bases[rank], low), high - last) + rank * apart
    return places


def along_top(wanted: Sequence[tuple[float, str]], area: Area, rows: int) -> list[Label | None]:
    """A place above the area for each of (x, text), right of its x, else left of it, in the lowest row that has room.

    None for those that have no room in any row; first come, first served.
    """
    taken: list[list[tuple[float, float]]] = [[] for _ in range(rows)]
    found: list[Label | None] = []
    for x, text in wanted:
        wide = text_width(text, TEXT_PX)
        places = ((row, start) for row in range(rows) for start in (x - wide / 2, x - 3, x + 3 - wide))
        label = None
        for row, start in places:
            inside = start >= area.left - BETWEEN_PX and start + wide <= area.right + BETWEEN_PX
            free = all(start >= right + BETWEEN_PX or start + wide + BETWEEN_PX <= left for left, right in taken[row])
            if text and inside and free:
                taken[row].append((start, start + wide))
                label = Label(start, area.top - 4 - row * ROW_PX, text)
                break
        found.append(label)
    return found


def beside(
    x: float, y: float, text: str, area: Area, taken: list[Box], lines: Sequence[tuple[Floats, Floats]] = ()
) -> Label | None:
    """A place for words near a point: inside the area, off all boxes ``taken``, off ``lines`` if that is possible.

    Its own box is added to those taken. None: there is no room.
    """
    wide = text_width(text, TEXT_PX)
    right, left, middle = x + 6, x - 6 - wide, x - wide / 2
    above, below = y - 5, y + TEXT_PX + 3
    places = [(right, above), (right, below), (left, below), (left, above), (middle, y - 10), (middle, below + 6)]
    places += [(right, above - TEXT_PX), (right, below + TEXT_PX), (left, above - TEXT_PX), (left, below + TEXT_PX)]
    free = [label for label in (Label(*place, text) for place in places) if text and _is_free(label.box, area, taken)]
    best = next((label for label in free if not any(_crosses(line, label.box) for line in lines)), None)
    found = best or next(iter(free), None)
    if found:
        taken.append(found.box)
    return found


def _is_free(box: Box, area: Area, taken: Sequence[Box]) -> bool:
    a, b, c, d = box
    inside = a >= area.left and c <= area.right and b >= area.top and d <= area.bottom
    return inside and all(c < left or a > right or d < top or b > bottom for left, top, right, bottom in taken)


def _crosses(line: tuple[Floats, Floats], box: Box) -> bool:
    """Whether a line goes through a box, looked at every 2 px."""
    xs, ys = line
    there = np.isfinite(xs) & np.isfinite(ys)
    if not there.any():
        return False
    left, top, right, bottom = box
    at = np.arange(max(left, xs[there][0]), min(right, xs[there][-1]), 2.0)
    heights = np.interp(at, xs[there], ys[there])
    return bool(((heights >= top) & (heights <= bottom)).any())


def in_rows(texts: Sequence[str], left: float, width: float) -> list[tuple[int, float, str]]:
    """A legend: for each text its row, where its line starts, and what of it fits."""
    places = []
    row, x = 0, left
    for text in texts:
        shown = fitting(text, width - SAMPLE_PX - 6, TEXT_PX)
        wide = SAMPLE_PX + 6 + text_width(shown, TEXT_PX)
        if x > left and x + wide > left + width:
            row, x = row + 1, left
        places.append((row, x, shown))
        x += wide + 2 * BETWEEN_PX
    return places
