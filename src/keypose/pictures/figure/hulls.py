"""Outlines of hulls of circles as SVG paths, many at once.

The farthest point of a hull in a direction lies on the circle that reaches farthest in it. The outline is computed by
finding that circle for many directions: a run of directions with the same circle is an arc, and between two runs the
outline is straight.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats

Indices = NDArray[np.intp]

MAX_ARC_SHARE = 0.6  # of a circle
ABSENT = -1e12  # radius of an absent circle


def hull_paths(centres: Floats, radii: Floats, n_directions: int = 48) -> list[str]:
    """Return closed paths around circles: ``centres`` (N, C, 2) and ``radii`` (N, C), rounded to integers.

    The radii of missing circles of a hull are ``ABSENT``. All paths have the same orientation, so that several in one
    path are filled as one shape.
    """
    if not len(centres):
        return []
    vectors = _direction_vectors(n_directions)
    reach = centres[..., 0, None] * vectors[0] + centres[..., 1, None] * vectors[1] + radii[..., None]  # (N, C, D)
    farthest = reach.argmax(axis=1)  # (N, D)
    is_start = farthest != np.roll(farthest, 1, axis=1)
    is_start[~is_start.any(axis=1), 0] = True  # one circle covers the others
    hulls, starts, span, _, _ = _find_arcs(is_start)
    # The ends of an almost complete circle are so close that rounding would move it: split it into two arcs.
    long = span > MAX_ARC_SHARE * n_directions
    is_start[hulls[long], (starts[long] + n_directions // 2) % n_directions] = True
    hulls, starts, span, first, last = _find_arcs(is_start)
    circles = farthest[hulls, starts]
    middle, radius = centres[hulls, circles], np.maximum(radii[hulls, circles], 0.0)
    begin = np.rint(middle + radius[:, None] * vectors[:, starts].T)
    end = np.rint(middle + radius[:, None] * vectors[:, (starts + span) % n_directions].T)
    step, chord = begin.copy(), end - begin
    step[1:] -= np.where(first[1:, None], 0.0, end[:-1])
    # A radius and two rounded ends define the bulge of a half circle badly, so the radius is fitted to the bulge.
    half = np.sqrt(np.einsum("rk,rk->r", chord, chord)) / 2
    bulge = radius * (1 - np.cos(span * (np.pi / n_directions)))
    arc_radius = np.where(bulge > 0, (half * half + bulge * bulge) / (2 * np.maximum(bulge, 1e-9)), 0.0)
    integer, tenth = np.divmod(np.rint(10 * arc_radius), 10)
    arcs = np.column_stack((step, integer, tenth, integer, tenth, bulge > half, chord))
    return _format_paths(arcs.astype(int).tolist(), first, last)


def _find_arcs(is_start: Bools) -> tuple[Indices, Indices, Indices, Bools, Bools]:
    """Return the runs of directions that start at ``is_start`` (N, D): hull, start, number of steps to the end, and
    whether each is the first and the last of its hull.
    """
    hulls, starts = np.nonzero(is_start)
    last = np.append(hulls[1:] != hulls[:-1], True)
    first = np.append(True, last[:-1])
    next_starts = np.append(starts[1:], 0)
    next_starts[last] = starts[first] + is_start.shape[1]
    return hulls, starts, next_starts - starts - 1, first, last


@lru_cache
def _direction_vectors(n_directions: int) -> Floats:
    angles = np.arange(n_directions) * (2 * np.pi / n_directions)
    return np.stack((np.cos(angles), np.sin(angles)))


def _format_paths(arcs: list[list[int]], first: Bools, last: Bools) -> list[str]:
    """Return arcs as paths: start, two radii (integer part and tenth), large-arc flag, end.

    A single format call with integers only, since there are thousands of numbers.
    """
    kinds = [f"{start}%d %da%d.%d %d.%d 0 %d 1 %d %d{end}" for end in ("", "z\n") for start in "lM"]
    rows = "".join([kinds[kind] for kind in (first + 2 * last).tolist()])
    return (rows % tuple(chain.from_iterable(arcs))).split("\n")[:-1]
