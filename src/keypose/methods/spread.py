"""Keys with the largest differences between neighbours: Morishima et al., as compared by Tanuwijaya & Ohno.

The keys are the k frames, in order of time, with the largest sum of distances between neighbouring keys ("Data-driven
efficient production of cartoon character animation", SIGGRAPH sketches 2007; the objective is printed in section 3.3 of
Tanuwijaya & Ohno). Exact, by dynamic programming, for every k.

Choices that the papers leave open:
- The first and last frame need not be keys: with few keys they are often not optimal (the two best keys of 0, 10, 0 are
at one end).
- Of equally good choices the one with the lowest last key is selected, then the lowest key before it, and so on.
- One key has no neighbour, so any frame would do: ladders start at two keys.
"""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import Hint, OptionError, format_count
from keypose.methods.base import Method, resolve_max_keys
from keypose.model import Features, Ladder

DEFAULT_STEPS = 1_000_000_000  # if max_keys is None: about a second
MAX_STEPS = 20_000_000_000  # about 20 s
MIN_DEFAULT_KEYS = 100  # of long clips if max_keys is None
CHUNK_FRAMES = 128  # frames that are compared or skipped together


def spread(features: Features, max_keys: int | None = None) -> Ladder:
    """Return for every number of keys the frames with the largest sum of distances between neighbours.

    The cost is the length of the path through all frames minus that sum. O(keys frames^2) time, keys x frames numbers
    of memory. The default maximum is a fifth of the frames or 100 keys, whichever is more; for long clips as many as
    can be computed in about a second, at least 100.
    """
    n = features.n_frames
    if n == 1:
        return Ladder.from_paths("spread", 1, [1], [0], [0.0])
    default_keys = max(MIN_DEFAULT_KEYS, min(n // 5, 2 * DEFAULT_STEPS // n**2))
    n_keys = resolve_max_keys(max_keys, n, default=default_keys, min_keys=2)
    _check_steps(n, n_keys)
    sums = _max_sums(features.values, n_keys)
    frames = _trace_paths(features.values, sums)
    steps = np.diff(features.values, axis=0)
    # Summed in the same order as the sums of the paths.
    length = np.sqrt(np.einsum("td,td->t", steps, steps)).cumsum()[-1]
    # Without rounding errors costs never increase and are never negative; this restores both.
    costs = np.minimum.accumulate(np.maximum(length - sums.max(axis=0)[1:], 0.0))
    return Ladder.from_paths("spread", n, np.arange(2, n_keys + 1), frames, costs)


def _check_steps(n_frames: int, keys: int) -> None:
    steps = keys * n_frames**2 // 2
    if steps > MAX_STEPS:
        possible = 2 * MAX_STEPS // n_frames**2
        fewer = [f"max_keys={possible} or less, ", f"--max-keys {possible} or less, "] if possible >= 2 else ["", ""]
        raise OptionError(
            f"spread compares every pair of frames for every key: {format_count(keys, 'key')} "
            f"of {format_count(n_frames, 'frame')} "
            f"are {steps:.1e} steps",
            expected=f"at most {MAX_STEPS:.0e}",
            hint=Hint(
                f"give {fewer[0]}a part of the motion with frames=(start, stop), or the motion at a lower frame rate",
                f"give {fewer[1]}a part of the motion with --range START:END, or the motion at a lower frame rate",
            ),
        )


def _max_sums(values: Floats, n_keys: int) -> Floats:
    """Return (n_frames, n_keys): the largest sum with m + 1 keys ending at frame t; -inf if there are too few.

    A chunk of earlier frames is skipped if its largest sum plus its largest distance does not exceed the best so far.
    As sums grow along the clip and distances do not, most chunks are skipped.
    """
    n = len(values)
    sums = np.full((n, n_keys), -np.inf)
    sums[:, 0] = 0.0
    starts = np.arange(0, n, CHUNK_FRAMES)
    chunk_max = np.full((len(starts), n_keys), -np.inf)  # of each chunk
    for t in range(1, n):
        distances = _distances(values, t)
        current_chunk = t // CHUNK_FRAMES
        latest = max(0, current_chunk - 1) * CHUNK_FRAMES
        best = sums[t, 1 : t + 1]  # at most t keys before frame t
        m = len(best)
        best[:] = (sums[latest:t, :m] + distances[latest:, None]).max(axis=0)
        if latest:
            farthest = np.maximum.reduceat(distances, starts[: current_chunk - 1])
            is_open = chunk_max[: current_chunk - 1, :m] + farthest[:, None] > best
            for chunk in np.flatnonzero(is_open.any(axis=1)).tolist():
                low, high = int(is_open[chunk].argmax()), m - int(is_open[chunk, ::-1].argmax())
                frames = slice(starts[chunk], starts[chunk + 1])
                chunk_best = (sums[frames, low:high] + distances[frames, None]).max(axis=0)
                np.maximum(best[low:high], chunk_best, out=best[low:high])
        chunk_max[current_chunk] = np.maximum(chunk_max[current_chunk], sums[t])
    return sums


def _distances(values: Floats, frame: int) -> Floats:
    """Return the distances (frame,) of all earlier frames to ``frame``."""
    offsets = values[:frame] - values[frame]
    distances: Floats = np.sqrt(np.einsum("td,td->t", offsets, offsets))
    return distances


def _trace_paths(values: Floats, sums: Floats) -> Ints:
    """Return the keys for 2, 3, ... concatenated. Sums are computed again along the paths, backwards in time."""
    n, n_keys = sums.shape
    ends = sums.argmax(axis=0)
    is_on_path = np.zeros((n, n_keys), bool)  # whether frame t is on a path with m keys before it
    is_on_path[ends, np.arange(n_keys)] = True
    parents = np.zeros((n, n_keys), np.int32)
    for t in range(n - 1, 0, -1):
        before = np.flatnonzero(is_on_path[t, 1:])
        if before.size:
            parents[t, before + 1] = (sums[:t, before] + _distances(values, t)[:, None]).argmax(axis=0)
            is_on_path[parents[t, before + 1], before] = True
    keys = np.zeros((n_keys, n_keys), np.int32)
    current = ends
    for back in range(n_keys):  # trace all paths back at once, each from its own end
        paths = np.arange(back, n_keys)
        keys[paths, paths - back] = current
        current = parents[current, paths - back][1:]
    is_used = np.tri(n_keys - 1, n_keys, 1, dtype=bool)
    frames: Ints = keys[1:][is_used]
    return frames


METHOD = Method(
    name="spread",
    summary="selects the poses with the largest sum of distances between neighbours",
    paper="Morishima et al., Data-driven efficient production of cartoon character animation, 2007",
    ladder=spread,
    feature_kind="root_matched",
    joints="major",
    declarations={},
)
