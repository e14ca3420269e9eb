"""Optimal keyframes for every number of keys: Roberts, Lewis, Anjyo, Seo, Seol, "Salient Poses", 2018.

Each frame is a point. The cost of an edge from key i to key j is the largest distance of the points between them from
the line through points i and j; the cost of a selection is the largest of its edges. Dynamic programming finds the
cheapest selection for every number of keys at once, exactly.

Differences from the paper:
- The paper prints the *sum* of edge costs; the program of the authors uses the largest. The sum of largest distances
  gives many tiny segments and one huge gap, so ``objective="max"`` is the default and ``"sum"`` an option.
- If two keys have the same pose there is no line; the cost is the largest distance to that pose (that of the paper is
0/0).
- Pins are constraints of the optimisation; the number of keys between two pins is not fixed in advance.
- ``cost="inbetween"`` measures an edge by the in-betweens that will be exported, fitted cubics or straight ones, in
  millimetres of the world instead of distances in the space of features.
- ``cost="integrated"`` (the paper's footnote) is the sum of squared distances of an edge instead of the largest.
- With ``loop=True`` the frames form a circle, and its best start is searched as well: no particular frame must be a
key.

Costs of a ladder: distances in units of the features; sums of squares for ``cost="integrated"``; millimetres for
``cost="inbetween"``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from keypose import _core
from keypose.arrays import Bools, Floats, Ints
from keypose.errors import Hint, OptionError, format_count
from keypose.methods.base import Method, check_ladder_size, resolve_max_keys
from keypose.model import EdgeCosts, Features, InbetweenCosts, Ladder
from keypose.options import Option
from keypose.validation import check_bool, check_choice, check_int, check_number

MIN_THREADED_FRAMES = 600  # with fewer frames, threads do not save time
MIN_DEFAULT_KEYS, DEFAULT_FRAMES_PER_KEY, MAX_DEFAULT_KEYS = 100, 5, 4000  # of a ladder if max_keys is None
MAX_THREADS = 256
# Maximum numbers stored by the kernel at a time, if the gaps allow that.
WINDOW_VALUES, PARENT_VALUES = 1 << 27, 1 << 26
MAX_MEMORY_SHARE = 0.7  # of the machine's memory for one search
DEFAULT_GAP_S = 1.0  # for cost="inbetween", unless few keys need more
# Of preferred frames: the share of a weight that a key at the end of the near range costs, and the share of the largest
# weight that a span of the largest cost does.
NEAR_PENALTY, COST_PENALTY = 0.25, 0.02
LIMIT_ROUNDING = 1e-12  # so that a selection is within the limit that is its own cost
LOOP_TOLERANCE = 1e-3  # maximum distance of the ends of a loop, relative to the diameter


COSTS, INTERPOLATIONS, MEASURES = ("chord", "integrated", "inbetween"), ("bezier", "linear"), ("max", "mean")

MethodInput: TypeAlias = Features | EdgeCosts | InbetweenCosts


def salient(
    features: MethodInput,
    max_keys: int | None = None,
    *,
    objective: str = "max",
    cost: str = "chord",
    interpolation: str = "bezier",
    measure: str = "max",
    limit_mm: float | None = None,
    top_only: bool = False,
    pins: Sequence[int] = (),
    excluded: Sequence[int] = (),
    min_gap_frames: int = 1,
    max_gap_frames: int | None = None,
    loop: bool = False,
    threads: int | None = None,
) -> Ladder:
    """Return the cheapest keys for every number of keys; without ``loop`` the first and last frame are keys.

    The input is features or edge costs; InbetweenCosts already include ``interpolation`` and ``measure``.
    """
    if not isinstance(features, InbetweenCosts):
        _check_inbetween_options(features, cost, interpolation, measure, limit_mm, check_bool("top_only", top_only))
    problem = replace(
        _Problem.from_options(
            features, objective, cost, pins, excluded, min_gap_frames, max_gap_frames, max_keys, threads
        ),
        limit=np.inf if limit_mm is None else check_number("limit_mm", limit_mm, min_value=0),
        top_only=check_bool("top_only", top_only),
    )
    is_loop = check_bool("loop", loop)
    if features.n_frames == 1:
        return Ladder.from_paths("salient", 1, [1], [0], [0.0])
    top = problem.find_max_keys(max_keys, is_loop=is_loop)
    costs, keys = problem.solve_loop(top) if is_loop else problem.solve_line(max(2, top))
    counts = np.flatnonzero(np.isfinite(costs))
    if not len(counts):
        raise OptionError(problem.explain_failure(top), code="no_selection", value=features.n_frames)
    frames = np.concatenate([keys[count] for count in counts.tolist()])
    return Ladder.from_paths("salient", features.n_frames, counts, frames, problem.to_cost_units(costs[counts]))


class PreferredSearch:
    """Search for the keys, in place of given ones, of which most are at preferred frames.

    Of all selections of as many keys whose spans cost at most ``slack`` times the most expensive span of ``keys``, it
    finds the one with the lowest penalty, exactly. ``weights`` (T,) are above 0 at preferred frames. The penalty is the
    weight of every preferred frame that has no key within ``near_frames``; for one that has, up to ``NEAR_PENALTY`` of
    its weight, in proportion to the distance; and for the cost of each span up to ``COST_PENALTY`` of the largest
    weight: squared, relative to the limit.
    """

    def __init__(
        self,
        features: MethodInput,
        keys: Ints,
        weights: Floats,
        near_frames: float,
        *,
        slack: float = 1.0,
        cost: str = "chord",
        pins: Sequence[int] = (),
        excluded: Sequence[int] = (),
        min_gap_frames: int = 1,
        max_gap_frames: int | None = None,
        threads: int | None = None,
    ) -> None:
        self._n_keys = len(keys)
        problem = _Problem.from_options(
            features, "max", cost, pins, excluded, min_gap_frames, max_gap_frames, len(keys), threads
        )
        max_cost = slack * float(problem.span_costs(keys).max())
        self._problem = replace(problem, limit=max_cost)
        costs = self._problem.span_costs_within()
        reach = 1 + int(np.flatnonzero(np.isfinite(costs).any(axis=0)).max(initial=0))
        self._costs = costs[:, :reach]
        relative = self._costs / max_cost if max_cost > 0 else self._costs  # all finite costs are 0 then
        missed = compute_missed_weights(weights, near_frames, reach)
        self._penalties = np.ascontiguousarray(missed + COST_PENALTY * float(weights.max()) * relative**2)

    def cost(self, keys: Ints) -> float:
        """Return the cost of a selection, that of its most expensive span."""
        return float(self._problem.span_costs(keys).max())

    def forbid(self, start: int, stop: int) -> None:
        """Exclude the selections in which ``start`` and ``stop`` are neighbouring keys."""
        self._penalties[start, stop - start - 1] = np.inf

    def limit_costs(self, max_cost: float, exceptions: Iterable[tuple[int, int]]) -> None:
        """Exclude the selections in which two neighbouring keys cost more, unless they are one of ``exceptions``."""
        is_beyond = self._costs > max_cost
        for start, stop in exceptions:
            is_beyond[start, stop - start - 1] = False
        self._penalties[is_beyond] = np.inf

    def find(self) -> Ints | None:
        """Return the keys with the lowest penalty; None if all selections are excluded."""
        n, reach = self._penalties.shape
        problem = replace(self._problem, source=EdgeCosts(n, reach, self._penalties), objective="sum")
        costs, keys = problem.solve_line(self._n_keys)
        return keys[self._n_keys] if np.isfinite(costs[self._n_keys]) else None


def compute_missed_weights(weights: Floats, near_frames: float, max_gap_frames: int) -> Floats:
    """Return the penalties (T, max_gap_frames) of the spans from frame i to i + 1, i + 2, ... for the preferred frames
    inside them."""
    n, near = len(weights), int(near_frames)
    padded = np.append(weights, np.zeros(max_gap_frames + 1))
    sums = np.append(0.0, np.cumsum(padded))
    shares = NEAR_PENALTY * np.arange(near + 1) / max(near_frames, 1.0)  # by the distance of the nearest key
    frames = np.arange(n)
    penalties = np.zeros((n, max_gap_frames))
    for gap in range(2, max_gap_frames + 1):
        from_start = min(near, gap // 2)  # frames nearest to the first key, and to the last
        from_end = min(near, gap - 1 - from_start)
        penalty = penalties[:, gap - 1]
        for distance in range(1, from_start + 1):
            penalty += shares[distance] * padded[frames + distance]
        for distance in range(1, from_end + 1):
            penalty += shares[distance] * padded[frames + gap - distance]
        penalty += sums[frames + gap - from_end] - sums[frames + from_start + 1]
    return penalties


def _check_inbetween_options(
    source: MethodInput, cost: str, interpolation: str, measure: str, limit_mm: float | None, top_only: bool
) -> None:
    check_choice("cost", cost, COSTS)
    if cost == "inbetween":
        reason = (
            "edge costs are costs already" if isinstance(source, EdgeCosts) else "a plain array has no joints to move"
        )
        raise OptionError(f"needs a Motion: {reason}", option="cost", value="inbetween")
    for name, value, choices in (("interpolation", interpolation, INTERPOLATIONS), ("measure", measure, MEASURES)):
        if check_choice(name, value, choices) != choices[0]:
            raise OptionError("is for cost inbetween", option=name, value=value)
    if limit_mm is not None:
        raise OptionError("is for cost inbetween, whose costs are millimetres", option="limit_mm", value=limit_mm)
    if top_only:
        raise OptionError(
            "is for cost inbetween: other costs take no longer for all", option="top_only", value=top_only
        )


class FewestKeys:
    """The fewest keys whose spans cost at most a limit, for any limit up to ``max_limit``; ties: the lowest cost.

    Two neighbouring keys are at most ``max_gap_frames`` apart.
    """

    def __init__(
        self,
        costs: InbetweenCosts,
        max_limit: float,
        max_gap_frames: int,
        *,
        pins: Sequence[int] = (),
        excluded: Sequence[int] = (),
        min_gap_frames: int = 1,
        threads: int | None = None,
    ) -> None:
        problem = _Problem.from_options(
            costs, "max", "chord", pins, excluded, min_gap_frames, max_gap_frames, None, threads
        )
        self.max_gap_frames = problem.max_gap
        table = replace(problem, limit=max_limit).span_costs_within()
        table[:, : problem.min_gap - 1] = np.inf
        table[~problem.allowed] = np.inf
        frames = np.arange(len(table))
        stops = frames[:, None] + 1 + np.arange(table.shape[1])
        table[(stops >= len(table)) | ~problem.allowed[np.minimum(stops, len(table) - 1)]] = np.inf
        self._span_costs = table  # (T, reach) from each frame to the next ones

    def find(self, limit: float) -> Ints | None:
        """Return the keys (K,), which include the first and the last frame; None if there are none."""
        n_frames = len(self._span_costs)
        costs, before = np.full(n_frames, np.inf), np.full(n_frames, -1, np.int32)
        costs[0] = 0.0
        reached = np.zeros(1, np.intp)  # the frames that need as many keys as the last ones found
        while not np.isfinite(costs[-1]):
            row, gap = np.nonzero(self._span_costs[reached] <= limit)
            starts, stops = reached[row], reached[row] + 1 + gap
            is_new = np.isinf(costs[stops])
            starts, stops = starts[is_new], stops[is_new]
            if not len(stops):
                return None
            largest = np.maximum(costs[starts], self._span_costs[starts, stops - starts - 1])
            order = np.lexsort((starts, largest, stops))
            first = order[np.diff(stops[order], prepend=-1) > 0]
            reached = stops[first]
            costs[reached], before[reached] = largest[first], starts[first]
        keys = [n_frames - 1]
        while keys[-1] > 0:
            keys.append(int(before[keys[-1]]))
        return np.array(keys[::-1], np.int32)


def span_costs(features: Features | InbetweenCosts, keys: Ints, *, cost: str = "chord") -> Floats:
    """Return the cost of each span between neighbouring keys, (K - 1,)."""
    if isinstance(features, InbetweenCosts):
        return features.span_costs(keys)
    costs = [_squared_chord_distances(features.values[a : b + 1]) for a, b in pairwise(keys.tolist())]
    return np.array([np.sqrt(off.max(initial=0.0)) if cost == "chord" else off.sum() for off in costs])


def _squared_chord_distances(points: Floats) -> Floats:
    """Return the squared distances of the inner points from the line through the first and the last one."""
    offsets, chord = points[1:-1] - points[0], points[-1] - points[0]
    square = float(chord @ chord)
    if square > 0:
        offsets = offsets - np.multiply.outer(offsets @ chord / square, chord)
    squares: Floats = np.einsum("td,td->t", offsets, offsets)
    return squares


@dataclass(frozen=True)
class _Problem:
    source: MethodInput
    objective: str
    cost: str
    allowed: Bools
    pinned: Bools
    min_gap: int
    max_gap: int
    threads: int
    limit: float = np.inf
    top_only: bool = False

    @staticmethod
    def from_options(
        features: MethodInput,
        objective: str,
        cost: str,
        pins: Sequence[int],
        excluded: Sequence[int],
        min_gap_frames: int,
        max_gap_frames: int | None,
        max_keys: int | None,
        threads: int | None,
    ) -> _Problem:
        n = features.n_frames
        min_gap = check_int("min_gap_frames", min_gap_frames, min_value=1)
        widest = max(1, min(features.max_gap_frames, n - 1) if isinstance(features, EdgeCosts) else n - 1)
        if min_gap > widest:
            raise OptionError(option="min_gap_frames", value=min_gap, expected=f"at most {widest} here")
        if max_gap_frames is None:
            max_gap = n
            if isinstance(features, InbetweenCosts):
                max_gap = max(min_gap, default_gap_frames(n, features.fps, max_keys))
        else:
            max_gap = check_int("max_gap_frames", max_gap_frames, min_value=min_gap)
        pinned, is_excluded = _frame_flags("pins", pins, n), _frame_flags("excluded", excluded, n)
        both = np.flatnonzero(pinned & is_excluded)
        if len(both):
            raise OptionError(f"frame {both[0]} is both pinned and excluded", option="excluded")
        if is_excluded.all():
            raise OptionError("every frame is excluded", option="excluded", expected="some frame to choose from")
        if isinstance(features, EdgeCosts) and cost != "chord":
            raise OptionError("is for features: edge costs are costs already", option="cost", value=cost)
        is_quick = n < MIN_THREADED_FRAMES and not isinstance(features, InbetweenCosts)
        default_threads = 1 if is_quick else available_cores()
        return _Problem(
            source=features,
            objective=check_choice("objective", objective, ("max", "sum")),
            cost=check_choice("cost", cost, COSTS),
            allowed=~is_excluded,
            pinned=pinned,
            min_gap=min_gap,
            max_gap=min(widest, max_gap),
            threads=default_threads
            if threads is None
            else min(check_int("threads", threads, min_value=1), MAX_THREADS),
        )

    def find_max_keys(self, max_keys: int | None, *, is_loop: bool) -> int:
        """Return the largest number of keys of the ladder; by default more than the constraints need."""
        n = self.source.n_frames
        ends = 1 if is_loop else 2
        min_keys = max(int(self.pinned[1:-1].sum()) + ends, -(-(n - 1) // self.max_gap) + ends - 1)
        possible = (n - 1) // self.min_gap + ends - 1  # more keys do not fit
        top = min(
            resolve_max_keys(max_keys, n, default=default_max_keys(n, min_keys), min_keys=ends), max(possible, ends)
        )
        if min_keys > top and (max_keys is None or top < max_keys):
            raise OptionError(self.explain_failure(top), code="no_selection", value=n)
        if min_keys > top:
            why = f"{int(self.pinned.sum())} pins and gaps of at most {format_count(self.max_gap, 'frame')}"
            raise OptionError(
                f"is too few: {why} need at least {format_count(min_keys, 'key')} of {format_count(n, 'frame')}",
                option="max_keys",
                value=top,
            )
        check_ladder_size(top)
        columns = self.source.values.shape[1] if isinstance(self.source, Features) else None
        check_memory(n, columns, self.max_gap, top, self.threads)
        return top

    def solve_line(self, top: int) -> tuple[Floats, dict[int, Ints]]:
        """Return costs by number of keys, infinite if there is no path, and the keys of each path."""
        if not self.allowed[0] or not self.allowed[-1]:
            raise OptionError(
                "the first and the last frame are always keys and cannot be excluded",
                code="no_selection",
                value="excluded",
                hint=Hint(
                    "choose a range without them by frames=(start, stop)",
                    "choose a range without them by --range START:END",
                ),
            )
        adds_up, flags = self.objective == "sum", (self.allowed.view(np.uint8), self.pinned.view(np.uint8))
        if isinstance(self.source, Features):
            gaps, is_sum = (self.min_gap, self.max_gap), self.cost == "integrated"
            costs, keys = _core.salient_paths(self.source.values, top, adds_up, is_sum, *gaps, *flags, self.threads)
        elif isinstance(self.source, InbetweenCosts):
            gaps = (self.min_gap, self.max_gap)
            limit = self.limit / self.source.scale
            costs, keys = _core.inbetween_paths(
                *self.source.kernel_arguments, top, adds_up, *gaps, *flags, self.threads, limit, self.top_only
            )
            costs *= self.source.scale
        else:
            table = np.ascontiguousarray(self.source.costs[:, : self.max_gap])
            costs, keys = _core.table_paths(table, top, adds_up, self.min_gap, *flags, self.threads)
        starts = np.cumsum(np.arange(top + 1)) - 1  # the path with m keys follows those with 2 to m - 1
        return costs, {m: keys[starts[m - 1] : starts[m]] for m in range(2, top + 1)}

    def solve_loop(self, top: int) -> tuple[Floats, dict[int, Ints]]:
        """Return the best paths over every start of the circle; the first pose is also the last."""
        cut_loop = self._loop_cutter()
        period = self.source.n_frames - 1
        pinned = self.pinned[:-1].copy()
        pinned[0] |= self.pinned[-1]
        allowed = self.allowed[:-1].copy()
        allowed[0] &= self.allowed[-1]
        if pinned[0] and not allowed[0]:
            raise OptionError(
                "the first and the last frame of a loop are one pose: it is both pinned and excluded", option="excluded"
            )
        best = np.full(min(top, period) + 1, np.inf)
        keys: dict[int, Ints] = {}
        first_pin = np.flatnonzero(pinned)[:1].tolist()
        for start in first_pin or np.flatnonzero(allowed[: self.max_gap]).tolist():
            frames = np.append(np.arange(start, period), np.arange(start + 1))  # and the start again
            problem = replace(self, source=cut_loop(frames), allowed=allowed[frames], pinned=pinned[frames])
            costs, paths = problem.solve_line(min(top, period) + 1)
            for m in np.flatnonzero(costs[2:] < best[1:]).tolist():
                best[m + 1] = costs[m + 2]
                keys[m + 1] = np.sort(frames[paths[m + 2][:-1]]).astype(np.int32)
        top_cost = best[-1] if self.top_only else np.inf
        best[best > min(self.limit, top_cost)] = np.inf
        return best, keys

    def _loop_cutter(self) -> Callable[[NDArray[np.intp]], Features | EdgeCosts]:
        """Return a function from frames (T,) in a new order to the features or costs of the loop cut there."""
        source = self.source
        if isinstance(source, EdgeCosts):
            raise OptionError(
                "needs a motion or features: edge costs do not tell whether the clip closes", option="loop", value=True
            )
        points = source.values if isinstance(source, Features) else source.world_positions.reshape(source.n_frames, -1)
        ends = float(np.linalg.norm(points[-1] - points[0]))
        size = float(np.linalg.norm(np.ptp(points, axis=0)))
        if ends > LOOP_TOLERANCE * size:
            raise OptionError(
                f"needs a last pose like the first; it is {ends:g} away in a clip that spans {size:g}",
                option="loop",
                value=True,
                hint=Hint(
                    "features='root_matched' ignores where the figure stands",
                    "--features root_matched ignores where the figure stands",
                ),
            )
        if isinstance(source, Features):
            return lambda frames: Features(source.values[frames], source.fps)
        reach = min(self.max_gap, source.n_frames - 1)
        circle = source.build_loop_table(reach, self.threads).costs
        return lambda frames: EdgeCosts(len(frames), reach, circle[frames])

    def span_costs(self, keys: Ints) -> Floats:
        """Return the cost of each span between neighbouring keys, (K - 1,)."""
        if isinstance(self.source, EdgeCosts):
            return np.asarray(self.source.costs[keys[:-1], np.diff(keys) - 1])
        return span_costs(self.source, keys, cost=self.cost)

    def span_costs_within(self) -> Floats:
        """Return the costs (T, reach) of the spans from frame i to i + 1, i + 2, ... up to the limit; else infinite."""
        n = self.source.n_frames
        gap, pinned = min(self.max_gap, n - 1), self.pinned.view(np.uint8)
        if isinstance(self.source, EdgeCosts):
            costs = self.source.costs[:, :gap]
            return np.where(costs <= self.limit, costs, np.inf)
        if isinstance(self.source, InbetweenCosts):
            arguments, scale = self.source.kernel_arguments, self.source.scale
            limit = self.limit * (1 + LIMIT_ROUNDING) / scale
            return _core.inbetween_costs_within(*arguments, gap, pinned, limit, self.threads) * scale
        is_sum = self.cost == "integrated"
        limit = (self.limit if is_sum else self.limit**2) * (1 + LIMIT_ROUNDING)
        return self.to_cost_units(
            _core.chord_costs_within(self.source.values, is_sum, gap, pinned, limit, self.threads)
        )

    def to_cost_units(self, costs: Floats) -> Floats:
        """Return costs as distances; the kernel returns squares for chord costs that are not summed."""
        is_squared = isinstance(self.source, Features) and self.cost == "chord" and self.objective == "max"
        return np.sqrt(costs) if is_squared else costs

    def explain_failure(self, top: int) -> str:
        """Return a message that explains why no number of keys has a selection."""
        constraints = [f"{int(self.pinned.sum())} pins"] if self.pinned.any() else []
        constraints += [f"{int((~self.allowed).sum())} excluded frames"] if not self.allowed.all() else []
        constraints += [f"gaps of {self.min_gap} to {self.max_gap} frames", f"at most {format_count(top, 'key')}"]
        constraints += [f"a cost of at most {self.limit:g} mm"] if np.isfinite(self.limit) else []
        return (
            f"no selection of {format_count(self.source.n_frames, 'frame')} has "
            f"{', '.join(constraints)}: loosen one of these"
        )


def available_cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_memory(n_frames: int, columns: int | None, max_gap: int, max_keys: int, threads: int) -> None:
    """Raise OptionError if a search does not fit into the memory of this machine.

    ``columns``: numbers per point; None if the input is not points.
    """
    band = 2 * max_gap + 1
    distances = (
        n_frames * min(n_frames, band) if n_frames <= 2 * band else min(n_frames * band, WINDOW_VALUES + band * band)
    )
    edges = n_frames * max_gap - max_gap * max_gap // 2
    if columns is None:
        distances, columns = 0, 0
    rows = (threads + 1) * 32 + math.isqrt(2 * max_keys)
    parents = min(max_keys * n_frames, max(PARENT_VALUES, math.isqrt(2 * max_keys) * n_frames))
    needed_bytes = 8 * (distances + edges + n_frames * (columns + rows)) + 4 * parents + 2 * max_keys * max_keys
    machine_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 16 << 30
    if needed_bytes > MAX_MEMORY_SHARE * machine_bytes:
        raise OptionError(
            f"{format_count(n_frames, 'frame')} with gaps up to {max_gap} and up to {max_keys} keys need about "
            f"{needed_bytes / 2**30:.0f} GB, and this machine has {machine_bytes / 2**30:.0f}",
            code="too_much_memory",
            value=n_frames,
            hint=Hint(
                "give max_gap_frames= (say, two seconds of frames), fewer max_keys=, a range frames=(start, stop), or "
                "the motion at a lower rate",
                "give --max-gap-frames (say, two seconds of frames), fewer --max-keys, a --range, or the motion at a "
                "lower rate",
            ),
        )


def default_max_keys(n_frames: int, min_keys: int) -> int:
    """Return the default largest number of keys of a ladder: more than the ``min_keys`` that the constraints need."""
    return max(min(max(MIN_DEFAULT_KEYS, n_frames // DEFAULT_FRAMES_PER_KEY), MAX_DEFAULT_KEYS), 2 * min_keys)


def default_gap_frames(n_frames: int, fps: float, max_keys: int | None) -> int:
    """Return the default maximum gap for cost="inbetween": a second, or twice the mean gap of ``max_keys`` keys."""
    gap_for_few_keys = 0 if max_keys is None else math.ceil(2 * (n_frames - 1) / max(1, max_keys - 1))
    return max(round(DEFAULT_GAP_S * fps), gap_for_few_keys, 2)


def _frame_flags(name: str, frames: Sequence[int], n_frames: int) -> Bools:
    flags = np.zeros(n_frames, bool)
    for frame in frames:
        if check_int(name, frame, min_value=0) >= n_frames:
            raise OptionError(f"frame {frame}", option=name, expected=f"0 to {n_frames - 1}")
        flags[frame] = True
    return flags


METHOD = Method(
    name="salient",
    summary="selects the optimal keys for every number of keys",
    paper="Roberts, Lewis, Anjyo, Seo, Seol: Optimal and interactive keyframe selection for motion capture, 2018",
    ladder=salient,
    feature_kind="world",
    joints="all",
    declarations={
        "objective": Option("cost of a selection: the largest cost of its spans (max) or their sum (sum)"),
        "cost": Option(
            "cost of a span: largest distance (chord), sum of squares (integrated), curve error in mm (inbetween)"
        ),
        "interpolation": Option("in-betweens for cost inbetween: fitted cubics (bezier) or straight lines (linear)"),
        "measure": Option(
            "for cost inbetween: the largest error (max), or the mean error (mean; use it with objective sum)"
        ),
        "limit_mm": Option("for cost inbetween: omit selections that cost more, which is faster", min_value=0.0),
        "top_only": Option(
            "for cost inbetween: omit selections that cost more than the one with max_keys, which is faster"
        ),
        "pins": Option(
            "frames that must be keys; 'contacts' adds foot contacts, 'extremes' the ends of travel of the body"
        ),
        "excluded": Option("frames that must not be keys"),
        "min_gap_frames": Option("minimum number of frames from one key to the next"),
        "max_gap_frames": Option(
            "maximum number of frames from one key to the next; reduces the memory for long takes"
        ),
        "loop": Option("the last pose equals the first: find the best keys of the loop, wherever it starts"),
        "threads": Option("number of processor cores; by default all for long clips"),
    },
    takes_edge_costs=True,
    span_costs=span_costs,
)
