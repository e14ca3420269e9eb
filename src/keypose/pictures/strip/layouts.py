"""Layouts of a strip: offsets of poses in heights of the figure, y up."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.validation import check_int

Layout = Literal["side", "time", "path", "expanded", "in-place"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
GAP = 0.07  # heights between neighbours that must not touch
MIN_TIME_GAP_SHARE = 0.5  # of the distance at which neighbours touch, in layout "time"
MAX_TIME_STRETCH = 1.8  # maximum width of layout "time" relative to poses side by side
DRIFT = 0.5  # heights added to the last pose relative to the first when sorting by position


def check_rows(per_row: int | None, layout: Layout) -> None:
    """Raise OptionError if ``per_row`` is invalid for ``layout``."""
    if per_row is not None and check_int("per_row", per_row, min_value=1) and layout != "side":
        raise OptionError(f'per_row={per_row} with layout={layout!r}, expected it with "side": only poses side by side '
                          f"have rows")  # fmt: skip


def side_by_side(boxes: Floats, min_width: float) -> Floats:
    """Return offsets (F,) to the right that put boxes (F, 2, 2) side by side, each at least ``min_width`` wide."""
    lows, highs = boxes[:, 0, 0], boxes[:, 1, 0]
    spare = np.maximum(0.0, min_width - (highs - lows)) / 2
    widths = highs - lows + 2 * spare + GAP
    starts = np.concatenate(([0.0], np.cumsum(widths)[:-1]))
    offsets: Floats = starts + spare - lows
    return offsets


def in_rows(boxes: Floats, rows: Ints, min_width: float) -> Floats:
    """Return offsets (F,) to the right of boxes side by side, for each of ``rows`` (F,) from the left."""
    offsets = np.empty(len(boxes))
    for row in range(int(rows.max()) + 1):
        own = rows == row
        offsets[own] = side_by_side(boxes[own], min_width)
    return offsets


def row_floors(low: Floats, high: Floats, between: float) -> Floats:
    """Return the floor heights (R,) of rows that reach from ``low`` to ``high`` (R,) around them, the first at 0."""
    steps = high[1:] - low[:-1] + between
    return -np.concatenate(([0.0], np.cumsum(steps)))


def by_time(boxes: Floats, times: Floats, min_width: float) -> Floats:
    """Return offsets (F,) in proportion to ``times``; poses close in time may overlap partly."""
    if len(times) < 2:
        return -boxes[:, 0, 0]
    middles = boxes[:, :, 0].mean(axis=1)
    halves = np.maximum(boxes[:, 1, 0] - boxes[:, 0, 0], min_width) / 2
    min_distances = MIN_TIME_GAP_SHARE * (halves[1:] + halves[:-1] + GAP)
    side_offsets = side_by_side(boxes, min_width)
    rate = float((min_distances / np.diff(times)).max())
    max_length = MAX_TIME_STRETCH * float(side_offsets[-1] - side_offsets[0] + GAP)
    rate = min(rate, max_length / float(times[-1] - times[0]))
    offsets: Floats = (times - times[0]) * rate - middles
    return offsets


def expand_along_path(boxes: Floats, x: Floats) -> Floats:
    """Return the offsets (F,) nearest to positions ``x`` at which no boxes overlap.

    Poses keep the order of their positions; those at one position the order of time. The offsets minimise the
    sum of squared shifts.
    """
    order = np.argsort(x + DRIFT * np.linspace(0.0, 1.0, len(x)), kind="stable")
    lows, highs = boxes[order, 0, 0], boxes[order, 1, 0]
    min_offsets = np.concatenate(([0.0], np.cumsum(highs[:-1] - lows[1:] + GAP)))
    offsets = np.empty(len(x))
    offsets[order] = _isotonic_fit(x[order] - min_offsets) + min_offsets
    return offsets


def _isotonic_fit(values: Floats) -> Floats:
    """Return the least-squares non-decreasing fit by pooling adjacent violators."""
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        mean, count = value, 1
        while pools and pools[-1][0] >= mean:
            before, many = pools.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        pools.append((mean, count))
    return np.repeat([mean for mean, _ in pools], [count for _, count in pools])
