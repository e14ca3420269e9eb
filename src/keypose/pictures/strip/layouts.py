"""Where the poses of a strip go: offsets in heights of the figure, y up."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.options import whole

Layout = Literal["side", "time", "path", "expanded", "in-place"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
GAP = 0.07  # heights between neighbours that must not touch
CLOSE = 0.5  # of the distance at which neighbours would just touch: what poses near in time are granted
LONGEST = 1.8  # times the width of poses side by side: no longer does time make a strip
DRIFT = 0.5  # heights by which the last pose is put to the right of the first, where order decides


def check_rows(per_row: int | None, layout: Layout) -> None:
    """Refuses rows that cannot be."""
    if per_row is not None and whole("per_row", per_row, least=1) and layout != "side":
        raise OptionError(f'per_row={per_row} with layout={layout!r}, expected it with "side": only poses side by side '
                          f"have rows")  # fmt: skip


def side_by_side(boxes: Floats, least: float) -> Floats:
    """Offsets (F,) to the right that put boxes (F, 2, 2) next to each other, each at least ``least`` wide."""
    lows, highs = boxes[:, 0, 0], boxes[:, 1, 0]
    spare = np.maximum(0.0, least - (highs - lows)) / 2
    widths = highs - lows + 2 * spare + GAP
    starts = np.concatenate(([0.0], np.cumsum(widths)[:-1]))
    offsets: Floats = starts + spare - lows
    return offsets


def in_rows(boxes: Floats, rows: Ints, least: float) -> Floats:
    """Offsets (F,) to the right of boxes side by side, each of ``rows`` (F,) from the left on."""
    offsets = np.empty(len(boxes))
    for row in range(int(rows.max()) + 1):
        own = rows == row
        offsets[own] = side_by_side(boxes[own], least)
    return offsets


def row_floors(low: Floats, high: Floats, between: float) -> Floats:
    """How high the floors (R,) of rows are that reach from ``low`` to ``high`` (R,) around them, the first at 0."""
    steps = high[1:] - low[:-1] + between
    return -np.concatenate(([0.0], np.cumsum(steps)))


def by_time(boxes: Floats, times: Floats, least: float) -> Floats:
    """Offsets (F,) in proportion to ``times``; poses close in time may cover each other in part."""
    if len(times) < 2:
        return -boxes[:, 0, 0]
    middles = boxes[:, :, 0].mean(axis=1)
    halves = np.maximum(boxes[:, 1, 0] - boxes[:, 0, 0], least) / 2
    needed = CLOSE * (halves[1:] + halves[:-1] + GAP)
    beside = side_by_side(boxes, least)
    rate = float((needed / np.diff(times)).max())
    longest = LONGEST * float(beside[-1] - beside[0] + GAP)
    rate = min(rate, longest / float(times[-1] - times[0]))
    offsets: Floats = (times - times[0]) * rate - middles
    return offsets


def expanded(boxes: Floats, across: Floats) -> Floats:
    """Offsets (F,) nearest to places ``across`` at which no boxes overlap.

    Poses keep the order of their places; those at one place the order of time. Of all such offsets these have the
    least sum of squared shifts.
    """
    order = np.argsort(across + DRIFT * np.linspace(0.0, 1.0, len(across)), kind="stable")
    lows, highs = boxes[order, 0, 0], boxes[order, 1, 0]
    apart = np.concatenate(([0.0], np.cumsum(highs[:-1] - lows[1:] + GAP)))
    placed = np.empty(len(across))
    placed[order] = _increasing(across[order] - apart) + apart
    return placed


def _increasing(values: Floats) -> Floats:
    """The nearest values that never fall, in least squares: neighbours that fall are pooled to their mean."""
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        mean, count = value, 1
        while pools and pools[-1][0] >= mean:
            before, many = pools.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        pools.append((mean, count))
    return np.repeat([mean for mean, _ in pools], [count for _, count in pools])
