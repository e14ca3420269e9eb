"""Outlines of hulls of circles as SVG paths, many at once.

The farthest point of a hull in a direction lies on the circle that reaches farthest there. So the outline is found by
asking in many directions which circle that is: a run of directions with one circle is an arc, and between two runs the
outline is straight.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats

Places = NDArray[np.intp]

LONGEST_ARC = 0.6  # of a circle
NOWHERE = -1e12  # radius of a circle that is not there


def outlines(centres: Floats, radii: Floats, directions: int = 48) -> list[str]:
    """Closed paths around circles: ``centres`` (N, C, 2) and ``radii`` (N, C), rounded to whole numbers.

    A hull with fewer than C circles has the others at ``NOWHERE``. All go the same way round, so that several in one
    path are filled as one.
    """
    if not len(centres):
        return []
    ways = _ways(directions)
    reach = centres[..., 0, None] * ways[0] + centres[..., 1, None] * ways[1] + radii[..., None]  # (N, C, D)
    farthest = reach.argmax(axis=1)  # (N, D)
    changed = farthest != np.roll(farthest, 1, axis=1)
    changed[~changed.any(axis=1), 0] = True  # one circle covers the others
    hulls, starts, span, _, _ = _runs(changed)
    # The ends of nearly a whole circle lie so close that rounding them would move it: it is made of two arcs.
    long = span > LONGEST_ARC * directions
    changed[hulls[long], (starts[long] + directions // 2) % directions] = True
    hulls, starts, span, first, last = _runs(changed)
    circles = farthest[hulls, starts]
    middle, radius = centres[hulls, circles], np.maximum(radii[hulls, circles], 0.0)
    begin = np.rint(middle + radius[:, None] * ways[:, starts].T)
    end = np.rint(middle + radius[:, None] * ways[:, (starts + span) % directions].T)
    step, chord = begin.copy(), end - begin
    step[1:] -= np.where(first[1:, None], 0.0, end[:-1])
    # A radius and two rounded ends say badly where a half circle bulges to. So the radius is made to fit the bulge.
    half = np.sqrt(np.einsum("rk,rk->r", chord, chord)) / 2
    bulge = radius * (1 - np.cos(span * (np.pi / directions)))
    fitting = np.where(bulge > 0, (half * half + bulge * bulge) / (2 * np.maximum(bulge, 1e-9)), 0.0)
    whole, tenth = np.divmod(np.rint(10 * fitting), 10)
    arcs = np.column_stack((step, whole, tenth, whole, tenth, bulge > half, chord))
    return _written(arcs.astype(int).tolist(), first, last)


def _runs(changed: Bools) -> tuple[Places, Places, Places, Bools, Bools]:
    """Runs of directions, from ``changed`` (N, D) where they start: whose hull, the start, the steps to the end, and
    which are the first and the last of their hull.
    """
    hulls, starts = np.nonzero(changed)
    last = np.append(hulls[1:] != hulls[:-1], True)
    first = np.append(True, last[:-1])
    following = np.append(starts[1:], 0)
    following[last] = starts[first] + changed.shape[1]
    return hulls, starts, following - starts - 1, first, last


@lru_cache
def _ways(directions: int) -> Floats:
    angles = np.arange(directions) * (2 * np.pi / directions)
    return np.stack((np.cos(angles), np.sin(angles)))


def _written(arcs: list[list[int]], first: Bools, last: Bools) -> list[str]:
    """Arcs as paths: where each begins, its two radii (whole part and tenth), whether it is a large one, where it ends.

    One format for all of them, and of whole numbers alone: thousands of numbers, of which each takes its time.
    """
    kinds = [f"{start}%d %da%d.%d %d.%d 0 %d 1 %d %d{end}" for end in ("", "z\n") for start in "lM"]
    rows = "".join([kinds[kind] for kind in (first + 2 * last).tolist()])
    return (rows % tuple(chain.from_iterable(arcs))).split("\n")[:-1]
