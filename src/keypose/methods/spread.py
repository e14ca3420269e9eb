"""Keys whose neighbours differ most: Morishima et al., as Tanuwijaya & Ohno compare with it.

Of all ways to choose k frames in time order, the one with the greatest sum of distances between neighbouring keys
("Data-driven efficient production of cartoon character animation", SIGGRAPH sketches 2007; the objective is printed
in section 3.3 of Tanuwijaya & Ohno). Exact, by dynamic programming, for every k.

Where they leave a choice:
- Nothing binds the first and last frame: with few keys an optimum often leaves them out (0, 10, 0 has its two best
  keys at one end). Only what the objective says is kept.
- Of equally good choices the one whose last key is lowest is taken, then the one before it, and so on.
- One key has no neighbour, so every frame would be as good: ladders start at two.
"""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.methods.base import Method, budget
from keypose.model import Features, Ladder

USUAL_STEPS = 1_000_000_000  # where nobody says how many keys: about a second
MOST_STEPS = 20_000_000_000  # twenty times as many
LEAST_KEYS = 100  # that a long clip gets all the same
CHUNK_FRAMES = 128  # compared, or left out, together


def spread(features: Features, max_keys: int | None = None) -> Ladder:
    """For every number of keys the frames with the greatest sum of distances between neighbours.

    The cost is the length of the path through all frames less that sum: the movement that the keys do not show.
    O(keys frames^2) time, keys x frames numbers of memory. By default a fifth of the frames or 100 keys, whichever
    is more, but of long clips no more than take about a second, at least 100.
    """
    n = features.n_frames
    if n == 1:
        return Ladder.of_paths("spread", 1, [1], [0], [0.0])
    usual = max(LEAST_KEYS, min(n // 5, 2 * USUAL_STEPS // n**2))
    most = budget(max_keys, n, default=usual, least=2)
    _check_length(n, most)
    sums = _greatest_sums(features.values, most)
    frames = _paths(features.values, sums)
    steps = np.diff(features.values, axis=0)
    length = np.sqrt(np.einsum("td,td->t", steps, steps)).cumsum()[-1]  # one by one, as the sums were made
    # A key more never shows less, and none more than all: the clipping only takes rounding away.
    costs = np.minimum.accumulate(np.maximum(length - sums.max(axis=0)[1:], 0.0))
    return Ladder.of_paths("spread", n, np.arange(2, most + 1), frames, costs)


def _check_length(n_frames: int, keys: int) -> None:
    steps = keys * n_frames**2 // 2
    if steps > MOST_STEPS:
        possible = 2 * MOST_STEPS // n_frames**2
        fewer = f"max_keys={possible} or less, " if possible >= 2 else ""
        raise OptionError(
            f"spread compares every pair of frames for every key: {keys} keys of {n_frames} frames are {steps:.1e} "
            f"steps, expected at most {MOST_STEPS:.0e}; give {fewer}a part of the motion with frames=(start, stop), "
            f"or the motion at a lower frame rate"
        )


def _distances(values: Floats, frame: int) -> Floats:
    """From every frame before ``frame`` to it, from differences."""
    away = values[:frame] - values[frame]
    distances: Floats = np.sqrt(np.einsum("td,td->t", away, away))
    return distances


def _greatest_sums(values: Floats, most: int) -> Floats:
    """(n_frames, most) the greatest sum with m + 1 keys of which the last is frame t; -inf where there are too few.

    A chunk of earlier frames is left out where its greatest sum and its greatest distance together are no better than
    what is found already: sums grow along the clip and distances do not, so most chunks are.
    """
    n = len(values)
    sums = np.full((n, most), -np.inf)
    sums[:, 0] = 0.0
    starts = np.arange(0, n, CHUNK_FRAMES)
    greatest = np.full((len(starts), most), -np.inf)  # of each chunk
    for t in range(1, n):
        distances = _distances(values, t)
        now = t // CHUNK_FRAMES
        latest = max(0, now - 1) * CHUNK_FRAMES
        best = sums[t, 1 : t + 1]  # so many keys fit before it
        m = len(best)
        best[:] = (sums[latest:t, :m] + distances[latest:, None]).max(axis=0)
        if latest:
            farthest = np.maximum.reduceat(distances, starts[: now - 1])
            is_open = greatest[: now - 1, :m] + farthest[:, None] > best
            for chunk in np.flatnonzero(is_open.any(axis=1)).tolist():
                low, high = int(is_open[chunk].argmax()), m - int(is_open[chunk, ::-1].argmax())
                frames = slice(starts[chunk], starts[chunk + 1])
                joined = (sums[frames, low:high] + distances[frames, None]).max(axis=0)
                np.maximum(best[low:high], joined, out=best[low:high])
        greatest[now] = np.maximum(greatest[now], sums[t])
    return sums


def _paths(values: Floats, sums: Floats) -> Ints:
    """The keys for 2, for 3, ... one after another. Sums are made again, backwards in time, where a path goes."""
    n, most = sums.shape
    ends = sums.argmax(axis=0)
    is_on_path = np.zeros((n, most), bool)  # frame t with m keys before it
    is_on_path[ends, np.arange(most)] = True
    parents = np.zeros((n, most), np.int32)
    for t in range(n - 1, 0, -1):
        before = np.flatnonzero(is_on_path[t, 1:])
        if before.size:
            parents[t, before + 1] = (sums[:t, before] + _distances(values, t)[:, None]).argmax(axis=0)
            is_on_path[parents[t, before + 1], before] = True
    keys = np.zeros((most, most), np.int32)
    here = ends
    for back in range(most):  # all paths walk back together, each from its own end
        paths = np.arange(back, most)
        keys[paths, paths - back] = here
        here = parents[here, paths - back][1:]
    up_to_its_end = np.tri(most - 1, most, 1, dtype=bool)
    frames: Ints = keys[1:][up_to_its_end]
    return frames


METHOD = Method(
    name="spread",
    summary="the poses in time order whose neighbours differ most in sum",
    paper="Morishima et al., Data-driven efficient production of cartoon character animation, 2007",
    ladder=spread,
    recipe="root_matched",
    joints="major",
    options_help={},
)
