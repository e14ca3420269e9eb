"""Points as the path of a line: gaps where there is nothing, and no more points than px can show."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats, runs
from keypose.pictures.svg import number

PER_COLUMN = 4  # points to a px above which only the highest and lowest are kept
PASSES = 6
MOST_OFF_PX = 0.3  # by which a simplified line may be off in all
SHAPES = ("circle", "square", "diamond", "triangle", "drop")


def path_of(xs: Floats, ys: Floats, *, floor: float | None = None) -> str:
    """The path data through points in px, broken at NaN; with ``floor`` as areas down to that y."""
    parts = []
    for start, stop in runs(np.isfinite(xs) & np.isfinite(ys)):
        x, y = simplified(*thinned(xs[start:stop], ys[start:stop]))
        texts = [f"{number(a)} {number(b)}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        if floor is not None:
            parts.append(f"M{number(x[0])} {number(floor)}L{'L'.join(texts)}L{number(x[-1])} {number(floor)}Z")
        else:
            parts.append(f"M{texts[0]}h0" if len(texts) == 1 else f"M{'L'.join(texts)}")
    return "".join(parts)


def thinned(xs: Floats, ys: Floats) -> tuple[Floats, Floats]:
    """Of the points in each column of 1 px the lowest and the highest, in their order; first and last stay."""
    columns = np.floor(xs).astype(np.int64)
    if len(xs) <= PER_COLUMN * (columns[-1] - columns[0] + 2) or (np.diff(xs) < 0).any():
        return xs, ys
    starts = np.flatnonzero(np.append(True, np.diff(columns) != 0))
    order = np.lexsort((ys, columns))  # within each column from the least to the greatest
    least, greatest = order[starts], order[np.append(starts[1:], len(xs)) - 1]
    kept = np.unique(np.concatenate(([0, len(xs) - 1], least, greatest)))
    return xs[kept], ys[kept]


def simplified(xs: Floats, ys: Floats) -> tuple[Floats, Floats]:
    """Without points that lie on the line between their neighbours; nothing moves by more than ``MOST_OFF_PX``."""
    for _ in range(PASSES):
        middle = np.arange(1, len(xs) - 1, 2)
        before, at, after = ((xs[middle + k], ys[middle + k]) for k in (-1, 0, 1))
        wide = after[0] - before[0]
        part = (at[0] - before[0]) / np.where(wide > 0, wide, 1.0)
        off = np.abs(before[1] + part * (after[1] - before[1]) - at[1])
        dropped = middle[(wide > 0) & (off <= MOST_OFF_PX / PASSES)]
        if not len(dropped):
            break
        xs, ys = np.delete(xs, dropped), np.delete(ys, dropped)
    return xs, ys


def dots_of(xs: Floats, ys: Floats, shape: str, radius: float) -> str:
    """Path data of a small shape, one of ``SHAPES``, at each point; points that are NaN have none."""
    there = np.isfinite(xs) & np.isfinite(ys)
    points = zip(xs[there].tolist(), ys[there].tolist(), strict=True)
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
