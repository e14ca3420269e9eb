"""Path data of lines: gaps at NaN, and no more points than px can show."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats, runs
from keypose.pictures.svg import number

MAX_POINTS_PER_PX = 4  # above this only the highest and lowest point of each px column remain
PASSES = 6
MAX_ERROR_PX = 0.3  # maximum error of a simplified line
SHAPES = ("circle", "square", "diamond", "triangle", "drop")


def line_path(xs: Floats, ys: Floats, *, floor: float | None = None) -> str:
    """Return path data through points in px, broken at NaN; with ``floor`` areas down to that y."""
    segments = []
    for start, stop in runs(np.isfinite(xs) & np.isfinite(ys)):
        x, y = simplify_points(*thin_points(xs[start:stop], ys[start:stop]))
        texts = [f"{number(a)} {number(b)}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        if floor is not None:
            segments.append(f"M{number(x[0])} {number(floor)}L{'L'.join(texts)}L{number(x[-1])} {number(floor)}Z")
        else:
            segments.append(f"M{texts[0]}h0" if len(texts) == 1 else f"M{'L'.join(texts)}")
    return "".join(segments)


def thin_points(xs: Floats, ys: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and highest point of each column of 1 px, in order, with the first and last point."""
    columns = np.floor(xs).astype(np.int64)
    if len(xs) <= MAX_POINTS_PER_PX * (columns[-1] - columns[0] + 2) or (np.diff(xs) < 0).any():
        return xs, ys
    starts = np.flatnonzero(np.append(True, np.diff(columns) != 0))
    order = np.lexsort((ys, columns))  # sorted by y within each column
    lowest, highest = order[starts], order[np.append(starts[1:], len(xs)) - 1]
    indices = np.unique(np.concatenate(([0, len(xs) - 1], lowest, highest)))
    return xs[indices], ys[indices]


def simplify_points(xs: Floats, ys: Floats) -> tuple[Floats, Floats]:
    """Return the line without points near the line between their neighbours; error at most ``MAX_ERROR_PX``."""
    for _ in range(PASSES):
        middle = np.arange(1, len(xs) - 1, 2)
        before, at, after = ((xs[middle + k], ys[middle + k]) for k in (-1, 0, 1))
        width = after[0] - before[0]
        part = (at[0] - before[0]) / np.where(width > 0, width, 1.0)
        error = np.abs(before[1] + part * (after[1] - before[1]) - at[1])
        redundant = middle[(width > 0) & (error <= MAX_ERROR_PX / PASSES)]
        if not len(redundant):
            break
        xs, ys = np.delete(xs, redundant), np.delete(ys, redundant)
    return xs, ys


def dots_path(xs: Floats, ys: Floats, shape: str, radius: float) -> str:
    """Return path data of a small shape, one of ``SHAPES``, at each finite point."""
    is_finite = np.isfinite(xs) & np.isfinite(ys)
    points = zip(xs[is_finite].tolist(), ys[is_finite].tolist(), strict=True)
    return "".join(_shape(shape, x, y, radius) for x, y in points)


def _shape(shape: str, x: float, y: float, radius: float) -> str:
    r, wide, steep = number(radius), number(2 * radius), number(1.3 * radius)
    match shape:
        case "square":
            return f"M{number(x - radius)} {number(y - radius)}h{wide}v{wide}h-{wide}z"
        case "diamond":
            return f"M{number(x)} {number(y - 1.3 * radius)}l{steep} {steep}l-{steep} {steep}l-{steep} -{steep}z"
        case "triangle":
            return f"M{number(x - radius)} {number(y + radius)}h{wide}L{number(x)} {number(y - 1.2 * radius)}z"
        case "drop":
            return f"M{number(x - radius)} {number(y - radius)}h{wide}L{number(x)} {number(y + 1.2 * radius)}z"
        case _:
            return f"M{number(x - radius)} {number(y)}a{r} {r} 0 1 0 {wide} 0a{r} {r} 0 1 0 -{wide} 0z"
