"""Optimal keyframes for every number of keys: Roberts, Lewis, Anjyo, Seo, Seol, "Salient Poses", 2018.

Each frame is a point. An edge from key i to key j costs the largest distance of the points between them from the
line through points i and j; a selection costs the largest of its edges, and dynamic programming finds the cheapest
selection for every number of keys at once, exactly.

Where we read the paper differently:
- The paper prints the *sum* of edge costs; the authors' program takes the largest. The sum of largest distances buys
  many tiny segments and leaves one huge gap, so ``objective="max"`` is the default and ``"sum"`` is kept.
- Where two keys hold the same pose there is no line; the cost is the largest distance to that pose (theirs is 0/0).
- Pins are kept by the optimisation itself, not by sharing keys out between pinned sections.
- ``cost="inbetween"`` measures an edge by the in-betweens that will be exported, fitted cubics or straight ones, in
  millimetres of the world instead of distances in the space of features.
- ``cost="integrated"`` (the paper's footnote) takes the sum of squared distances of an edge instead of the largest.
- With ``loop=True`` the frames lie on a circle, on which the best start is found too: no frame need be a key.

Costs of a ladder: distances in units of the features; sums of squares for ``cost="integrated"``; millimetres for
``cost="inbetween"``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from keypose import _core
from keypose.arrays import Bools, Floats, Ints
from keypose.errors import OptionError
from keypose.methods.base import Method, budget, check_paths
from keypose.model import EdgeCosts, Features, InbetweenCosts, Ladder
from keypose.options import flag, number, one_of, whole

ONE_THREAD_BELOW = 600  # frames; for fewer, starting threads costs more than it gains
FEWEST_BY_DEFAULT, PART_BY_DEFAULT, MOST_BY_DEFAULT = 100, 5, 4000  # keys that a ladder goes up to
MOST_THREADS = 256
WINDOW, PARENTS = 1 << 27, 1 << 26  # numbers that the kernel holds at a time, where the gaps allow
MOST_OF_MEMORY = 0.7  # of the machine's that one search may take
USUAL_GAP_S = 1.0  # between keys whose in-betweens are measured, unless few keys need more
SAME_POSE = 1e-3  # of the diameter: how far apart the ends of a loop may be


COSTS, INTERPOLATIONS, MEASURES = ("chord", "integrated", "inbetween"), ("bezier", "linear"), ("max", "mean")

Seen: TypeAlias = Features | EdgeCosts | InbetweenCosts


def salient(
    features: Seen,
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
    least_gap_frames: int = 1,
    greatest_gap_frames: int | None = None,
    loop: bool = False,
    threads: int | None = None,
) -> Ladder:
    """The cheapest keys for every number of keys; without ``loop`` the first and last frame are keys.

    In place of features it takes edge costs of any other kind; those of in-betweens know ``interpolation`` and
    ``measure`` already.
    """
    if not isinstance(features, InbetweenCosts):
        _refuse_inbetween(features, cost, interpolation, measure, limit_mm, flag("top_only", top_only))
    problem = replace(
        _Problem.checked(
            features, objective, cost, pins, excluded, least_gap_frames, greatest_gap_frames, max_keys, threads
        ),
        limit=np.inf if limit_mm is None else number("limit_mm", limit_mm, least=0),
        top_only=flag("top_only", top_only),
    )
    is_loop = flag("loop", loop)
    if features.n_frames == 1:
        return Ladder.of_paths("salient", 1, [1], [0], [0.0])
    top = problem.budget(max_keys, is_loop=is_loop)
    costs, keys = problem.on_a_circle(top) if is_loop else problem.on_a_line(max(2, top))
    counts = np.flatnonzero(np.isfinite(costs))
    if not len(counts):
        raise OptionError(problem.why_nothing(top))
    kept = np.concatenate([keys[count] for count in counts.tolist()])
    return Ladder.of_paths("salient", features.n_frames, counts, kept, problem.in_units(costs[counts]))


def _refuse_inbetween(
    seen: Seen, cost: str, interpolation: str, measure: str, limit_mm: float | None, top_only: bool
) -> None:
    one_of("cost", cost, COSTS)
    if cost == "inbetween":
        what = "edge costs are costs already" if isinstance(seen, EdgeCosts) else "a plain array has no joints to move"
        raise OptionError(f"cost='inbetween' needs a Motion: {what}")
    for name, value, known in (("interpolation", interpolation, INTERPOLATIONS), ("measure", measure, MEASURES)):
        if one_of(name, value, known) != known[0]:
            raise OptionError(f"{name}= is for cost='inbetween'")
    if limit_mm is not None:
        raise OptionError("limit_mm= is for cost='inbetween', whose costs are millimetres")
    if top_only:
        raise OptionError("top_only= is for cost='inbetween': other costs take no longer for all")


def span_costs(features: Features | InbetweenCosts, keys: Ints, *, cost: str = "chord") -> Floats:
    """What each span between neighbouring keys costs, (K - 1,): of these the cost of a selection is made."""
    if isinstance(features, InbetweenCosts):
        return features.of_spans(keys)
    costs = [_off_chord(features.values[a : b + 1]) for a, b in pairwise(keys.tolist())]
    return np.array([np.sqrt(off.max(initial=0.0)) if cost == "chord" else off.sum() for off in costs])


def _off_chord(points: Floats) -> Floats:
    """The squared distances of the inner points from the line through the first and the last one."""
    off, along = points[1:-1] - points[0], points[-1] - points[0]
    square = float(along @ along)
    if square > 0:
        off = off - np.multiply.outer(off @ along / square, along)
    squares: Floats = np.einsum("td,td->t", off, off)
    return squares


@dataclass(frozen=True)
class _Problem:
    seen: Seen
    objective: str
    cost: str
    allowed: Bools
    pinned: Bools
    least_gap: int
    greatest_gap: int
    threads: int
    limit: float = np.inf
    top_only: bool = False

    @staticmethod
    def checked(
        features: Seen,
        objective: str,
        cost: str,
        pins: Sequence[int],
        excluded: Sequence[int],
        least_gap_frames: int,
        greatest_gap_frames: int | None,
        max_keys: int | None,
        threads: int | None,
    ) -> _Problem:
        n = features.n_frames
        least = whole("least_gap_frames", least_gap_frames, least=1)
        widest = max(1, min(features.greatest_gap, n - 1) if isinstance(features, EdgeCosts) else n - 1)
        if least > widest:
            raise OptionError(f"least_gap_frames={least}, expected at most {widest} here")
        if greatest_gap_frames is None:
            greatest = n
            if isinstance(features, InbetweenCosts):
                greatest = max(least, usual_gap(n, features.fps, max_keys))
        else:
            greatest = whole("greatest_gap_frames", greatest_gap_frames, least=least)
        pinned, barred = _flags("pins", pins, n), _flags("excluded", excluded, n)
        both = np.flatnonzero(pinned & barred)
        if len(both):
            raise OptionError(f"frame {both[0]} is both pinned and excluded")
        if barred.all():
            raise OptionError("every frame is excluded: there is nothing to choose from")
        if isinstance(features, EdgeCosts) and cost != "chord":
            raise OptionError("cost= is for features: edge costs are costs already")
        is_quick = n < ONE_THREAD_BELOW and not isinstance(features, InbetweenCosts)
        usual = 1 if is_quick else available_cores()
        return _Problem(
            seen=features,
            objective=one_of("objective", objective, ("max", "sum")),
            cost=one_of("cost", cost, COSTS),
            allowed=~barred,
            pinned=pinned,
            least_gap=least,
            greatest_gap=min(widest, greatest),
            threads=usual if threads is None else min(whole("threads", threads, least=1), MOST_THREADS),
        )

    def budget(self, max_keys: int | None, *, is_loop: bool) -> int:
        """How many keys to go up to: by default some more than are needed at least."""
        n = self.seen.n_frames
        ends = 1 if is_loop else 2
        needed = max(int(self.pinned[1:-1].sum()) + ends, -(-(n - 1) // self.greatest_gap) + ends - 1)
        usual = min(max(FEWEST_BY_DEFAULT, n // PART_BY_DEFAULT), MOST_BY_DEFAULT)
        possible = (n - 1) // self.least_gap + ends - 1  # more rows would be searched for nothing
        top = min(budget(max_keys, n, default=max(usual, 2 * needed), least=ends), max(possible, ends))
        if needed > top and (max_keys is None or top < max_keys):
            raise OptionError(self.why_nothing(top))
        if needed > top:
            why = f"{int(self.pinned.sum())} pins and gaps of at most {self.greatest_gap} frames"
            raise OptionError(f"{why} need at least {needed} keys of {n} frames, and max_keys is {top}")
        check_paths(top)
        columns = self.seen.values.shape[1] if isinstance(self.seen, Features) else None
        check_memory(n, columns, self.greatest_gap, top, self.threads)
        return top

    def on_a_line(self, top: int) -> tuple[Floats, dict[int, Ints]]:
        """Costs by number of keys, infinite where there is no path, and the keys of each path."""
        if not self.allowed[0] or not self.allowed[-1]:
            raise OptionError("the first and the last frame are always keys and cannot be excluded; "
                              "choose a range without them by frames=(start, stop)")  # fmt: skip
        adds_up, flags = self.objective == "sum", (self.allowed.view(np.uint8), self.pinned.view(np.uint8))
        if isinstance(self.seen, Features):
            gaps, is_sum = (self.least_gap, self.greatest_gap), self.cost == "integrated"
            costs, keys = _core.salient_paths(self.seen.values, top, adds_up, is_sum, *gaps, *flags, self.threads)
        elif isinstance(self.seen, InbetweenCosts):
            gaps = (self.least_gap, self.greatest_gap)
            limit = self.limit / self.seen.scale
            costs, keys = _core.inbetween_paths(
                *self.seen.arrays, top, adds_up, *gaps, *flags, self.threads, limit, self.top_only
            )
            costs *= self.seen.scale
        else:
            table = np.ascontiguousarray(self.seen.costs[:, : self.greatest_gap])
            costs, keys = _core.table_paths(table, top, adds_up, self.least_gap, *flags, self.threads)
        starts = np.cumsum(np.arange(top + 1)) - 1  # the path with m keys starts behind those with 2 to m - 1
        return costs, {m: keys[starts[m - 1] : starts[m]] for m in range(2, top + 1)}

    def on_a_circle(self, top: int) -> tuple[Floats, dict[int, Ints]]:
        """The best over every frame as the start of the circle; the pose at the start is met again at the end."""
        turned_to = self._turns()
        period = self.seen.n_frames - 1
        pinned = self.pinned[:-1].copy()
        pinned[0] |= self.pinned[-1]
        allowed = self.allowed[:-1].copy()
        allowed[0] &= self.allowed[-1]
        if pinned[0] and not allowed[0]:
            raise OptionError("the first and the last frame of a loop are one pose: it is both pinned and excluded")
        best = np.full(min(top, period) + 1, np.inf)
        keys: dict[int, Ints] = {}
        first_pin = np.flatnonzero(pinned)[:1].tolist()
        for start in first_pin or np.flatnonzero(allowed[: self.greatest_gap]).tolist():
            around = np.append(np.arange(start, period), np.arange(start + 1))  # and back to the start
            turned = replace(self, seen=turned_to(around), allowed=allowed[around], pinned=pinned[around])
            costs, paths = turned.on_a_line(min(top, period) + 1)
            for m in np.flatnonzero(costs[2:] < best[1:]).tolist():
                best[m + 1] = costs[m + 2]
                keys[m + 1] = np.sort(around[paths[m + 2][:-1]]).astype(np.int32)
        top_cost = best[-1] if self.top_only else np.inf
        best[best > min(self.limit, top_cost)] = np.inf
        return best, keys

    def _turns(self) -> Callable[[NDArray[np.intp]], Features | EdgeCosts]:
        """What is seen of a closed clip if it is cut elsewhere, by the frames (T,) in their new order."""
        seen = self.seen
        if isinstance(seen, EdgeCosts):
            raise OptionError("loop=True needs a motion or features: edge costs do not tell whether the clip closes")
        points = seen.values if isinstance(seen, Features) else seen.world_positions.reshape(seen.n_frames, -1)
        ends = float(np.linalg.norm(points[-1] - points[0]))
        size = float(np.linalg.norm(np.ptp(points, axis=0)))
        if ends > SAME_POSE * size:
            raise OptionError(f"loop=True, but the last pose is {ends:g} from the first in a clip that spans {size:g}: "
                              "expected the same; features='root_matched' ignores where the figure stands")  # fmt: skip
        if isinstance(seen, Features):
            return lambda frames: Features(seen.values[frames], seen.fps)
        reach = min(self.greatest_gap, seen.n_frames - 1)
        circle = seen.around(reach, self.threads).costs
        return lambda frames: EdgeCosts(len(frames), reach, circle[frames])

    def in_units(self, costs: Floats) -> Floats:
        """Distances, of which the kernel gives the squares where nothing is added up."""
        squared = isinstance(self.seen, Features) and self.cost == "chord" and self.objective == "max"
        return np.sqrt(costs) if squared else costs

    def why_nothing(self, top: int) -> str:
        """Why no number of keys has a selection."""
        asked = [f"{int(self.pinned.sum())} pins"] if self.pinned.any() else []
        asked += [f"{int((~self.allowed).sum())} excluded frames"] if not self.allowed.all() else []
        asked += [f"gaps of {self.least_gap} to {self.greatest_gap} frames", f"at most {top} keys"]
        asked += [f"a cost of at most {self.limit:g} mm"] if np.isfinite(self.limit) else []
        return f"no selection of {self.seen.n_frames} frames has {', '.join(asked)}: loosen one of these"


def available_cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_memory(n_frames: int, columns: int | None, greatest_gap: int, max_keys: int, threads: int) -> None:
    """Refuses what does not fit into this machine, before anything is computed.

    ``columns`` is how many numbers a point has; None where edges do not come from points.
    """
    band = 2 * greatest_gap + 1
    distances = n_frames * min(n_frames, band) if n_frames <= 2 * band else min(n_frames * band, WINDOW + band * band)
    edges = n_frames * greatest_gap - greatest_gap * greatest_gap // 2
    if columns is None:
        distances, columns = 0, 0
    rows = (threads + 1) * 32 + math.isqrt(2 * max_keys)
    parents = min(max_keys * n_frames, max(PARENTS, math.isqrt(2 * max_keys) * n_frames))
    needed = 8 * (distances + edges + n_frames * (columns + rows)) + 4 * parents + 2 * max_keys * max_keys
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 16 << 30
    if needed > MOST_OF_MEMORY * there:
        raise OptionError(
            f"{n_frames} frames with gaps up to {greatest_gap} and up to {max_keys} keys need about "
            f"{needed / 2**30:.0f} GB, and this machine has {there / 2**30:.0f}: give greatest_gap_frames= (say, two "
            "seconds of frames), fewer max_keys=, a range frames=(start, stop), or the motion at a lower rate"
        )


def usual_gap(n_frames: int, fps: float, max_keys: int | None) -> int:
    """How far keys whose in-betweens are measured may be apart: a second, or twice the mean gap of so few keys."""
    few = 0 if max_keys is None else math.ceil(2 * (n_frames - 1) / max(1, max_keys - 1))
    return max(round(USUAL_GAP_S * fps), few, 2)


def _flags(what: str, frames: Sequence[int], n_frames: int) -> Bools:
    flags = np.zeros(n_frames, bool)
    for frame in frames:
        if whole(what, frame, least=0) >= n_frames:
            raise OptionError(f"{what}: frame {frame}, expected 0 to {n_frames - 1}")
        flags[frame] = True
    return flags


METHOD = Method(
    name="salient",
    summary="optimal keys for every number of keys",
    paper="Roberts, Lewis, Anjyo, Seo, Seol: Optimal and interactive keyframe selection for motion capture, 2018",
    ladder=salient,
    recipe="world",
    joints="all",
    options_help={
        "objective": "cost of a selection: the largest of its edges (max) or their sum",
        "cost": "of an edge: chord (largest distance off it), integrated (sum of squares), inbetween (mm of real ones)",
        "interpolation": "of cost='inbetween': fitted cubics (bezier) or straight (linear)",
        "measure": "of cost='inbetween': the largest error (max) or the mean, best with objective='sum'",
        "limit_mm": "of cost='inbetween': leave out selections that cost more, which makes it faster",
        "top_only": "of cost='inbetween': leave out those that cost more than the one with max_keys, which is faster",
        "pins": "frames that must be keys, and/or 'contacts' for where feet touch and leave the ground",
        "excluded": "frames that must not be keys",
        "least_gap_frames": "fewest frames from one key to the next",
        "greatest_gap_frames": "most frames from one key to the next; long takes then need little memory",
        "loop": "the last pose is the first again: find the best keys on the circle",
        "threads": "processor cores to use; by default all for long clips",
    },
    takes_edge_costs=True,
    span_costs=span_costs,
)
