"""Positions of labels at line ends, at marks and in a legend, without overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from keypose.arrays import Floats
from keypose.pictures.chart.axes import ROW_PX, TEXT_GAP_PX, TEXT_PX, Area
from keypose.pictures.svg import fit_text, text_width

Box: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom
SAMPLE_PX = 34.0  # length of the line in a legend


@dataclass(frozen=True)
class Label:
    """A text that starts at ``x`` with its base line at ``y``."""

    x: float
    y: float
    text: str

    @property
    def box(self) -> Box:
        """Upper bound of the covered box in px."""
        return self.x, self.y - TEXT_PX, self.x + text_width(self.text, TEXT_PX), self.y + 0.3 * TEXT_PX


def spread_positions(targets: Sequence[float], low: float, high: float, min_gap: float = ROW_PX) -> list[float]:
    """Return positions near ``targets``, at least ``min_gap`` apart, from ``low`` to ``high`` if they fit."""
    order = sorted(range(len(targets)), key=lambda i: targets[i])
    min_gap = min(min_gap, (high - low) / max(1, len(targets) - 1))
    groups: list[list[float]] = []  # [sum of (target - own offset), count]; members are min_gap apart
    for rank, i in enumerate(order):
        groups.append([min(max(targets[i], low), high) - rank * min_gap, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, count = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += count
    bases = [total / count for total, count in groups for _ in range(int(count))]
    last = (len(targets) - 1) * min_gap
    positions = [0.0] * len(targets)
    for rank, i in enumerate(order):
        positions[i] = min(max(bases[rank], low), high - last) + rank * min_gap
    return positions


def place_along_top(labels: Sequence[tuple[float, str]], area: Area, rows: int) -> list[Label | None]:
    """Return a label above the area for each of (x, text), near its x, in the lowest row with space.

    None if no row has space; the first labels have precedence.
    """
    occupied: list[list[tuple[float, float]]] = [[] for _ in range(rows)]
    placed_labels: list[Label | None] = []
    for x, text in labels:
        wide = text_width(text, TEXT_PX)
        candidates = ((row, start) for row in range(rows) for start in (x - wide / 2, x - 3, x + 3 - wide))
        label = None
        for row, start in candidates:
            inside = start >= area.left - TEXT_GAP_PX and start + wide <= area.right + TEXT_GAP_PX
            free = all(
                start >= right + TEXT_GAP_PX or start + wide + TEXT_GAP_PX <= left for left, right in occupied[row]
            )
            if text and inside and free:
                occupied[row].append((start, start + wide))
                label = Label(start, area.top - 4 - row * ROW_PX, text)
                break
        placed_labels.append(label)
    return placed_labels


def place_beside(
    x: float, y: float, text: str, area: Area, occupied: list[Box], lines: Sequence[tuple[Floats, Floats]] = ()
) -> Label | None:
    """Return a label near a point: inside the area, off all ``occupied`` boxes, off ``lines`` if possible.

    The box of the label is added to ``occupied``. None if there is no space.
    """
    wide = text_width(text, TEXT_PX)
    right, left, middle = x + 6, x - 6 - wide, x - wide / 2
    above, below = y - 5, y + TEXT_PX + 3
    candidates = [(right, above), (right, below), (left, below), (left, above), (middle, y - 10), (middle, below + 6)]
    candidates += [(right, above - TEXT_PX), (right, below + TEXT_PX), (left, above - TEXT_PX), (left, below + TEXT_PX)]
    free = [
        label
        for label in (Label(*position, text) for position in candidates)
        if text and _is_free(label.box, area, occupied)
    ]
    best = next((label for label in free if not any(_crosses(line, label.box) for line in lines)), None)
    best_label = best or next(iter(free), None)
    if best_label:
        occupied.append(best_label.box)
    return best_label


def _is_free(box: Box, area: Area, occupied: Sequence[Box]) -> bool:
    a, b, c, d = box
    inside = a >= area.left and c <= area.right and b >= area.top and d <= area.bottom
    return inside and all(c < left or a > right or d < top or b > bottom for left, top, right, bottom in occupied)


def _crosses(line: tuple[Floats, Floats], box: Box) -> bool:
    """Return whether a line crosses a box, sampled every 2 px."""
    xs, ys = line
    is_finite = np.isfinite(xs) & np.isfinite(ys)
    if not is_finite.any():
        return False
    left, top, right, bottom = box
    at = np.arange(max(left, xs[is_finite][0]), min(right, xs[is_finite][-1]), 2.0)
    heights = np.interp(at, xs[is_finite], ys[is_finite])
    return bool(((heights >= top) & (heights <= bottom)).any())


def lay_out_legend(texts: Sequence[str], left: float, width: float) -> list[tuple[int, float, str]]:
    """Return row, x and truncated text of each legend entry."""
    entries = []
    row, x = 0, left
    for text in texts:
        label = fit_text(text, width - SAMPLE_PX - 6, TEXT_PX)
        wide = SAMPLE_PX + 6 + text_width(label, TEXT_PX)
        if x > left and x + wide > left + width:
            row, x = row + 1, left
        entries.append((row, x, label))
        x += wide + 2 * TEXT_GAP_PX
    return entries
