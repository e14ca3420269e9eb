"""Keys of plain named curves, such as rig controls, blend shapes and scales, at the samples of the curves.

Between two neighbouring keys a curve is the cubic through both that is closest to the samples between them, or a
straight line. The error of a span is the largest distance of its cubic from a sample. It is also the distance by which
the cubic leaves the range of two neighbouring samples between these, so that a curve that switches from one value to
another does not swing beyond. (Where a curve turns around between two samples, its range reaches beyond both.)

The keys are optimal: with the fewest keys within the tolerances, the most expensive span costs as little as possible;
``salient`` finds the selection for every number of keys from the costs of all spans.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from keypose import _core
from keypose.arrays import Floats, Frozen, Ints, freeze_floats, freeze_ints, freeze_items
from keypose.errors import Hint, ModelError, OptionError, format_count
from keypose.methods.base import resolve_max_keys
from keypose.methods.salient import available_cores, check_memory, default_max_keys, salient
from keypose.model import EdgeCosts, Ladder
from keypose.options import MeasuredInterpolation
from keypose.validation import check_choice, check_int, check_number, check_text

OTHERS = "*"  # in a mapping by curve or group: all that it does not name
MAX_NAMES = 20  # of curves in a message
ROUNDING = 1e-12  # relative to the values of a curve: smaller differences of costs are rounding
Result = TypeVar("Result")


class CurveGroup(NamedTuple):
    """Curves that have keys at the same times; a curve with keys of its own is a group of its name."""

    name: str
    columns: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class CurveSamples(Frozen):
    """Named curves that are sampled at the same times, in groups with common keys."""

    times: Floats  # (N,) seconds, increasing
    names: tuple[str, ...]  # (C,)
    values: Floats  # (C, N)
    groups: tuple[CurveGroup, ...]  # every curve is in one

    def __post_init__(self) -> None:
        times = freeze_floats(self.times, (None,), "times")
        self._set_field("times", times)
        values = freeze_floats(self.values, (len(self.names), len(times)), "values")
        self._set_field("values", values)
        if not values.size or (np.diff(times) <= 0).any():
            raise ModelError(subject="curves", expected="a curve, and samples at increasing times")
        columns = sorted(column for group in self.groups for column in group.columns)
        if columns != list(range(len(self.names))) or not all(group.columns for group in self.groups):
            raise ModelError(subject="curves", expected="every curve in one group")

    @property
    def n_samples(self) -> int:
        """The number of samples of each curve."""
        return len(self.times)

    def find_group(self, name: str) -> CurveGroup | None:
        """Return the group of that name or with the curve of that name."""
        by_name = {group.name: group for group in self.groups}
        return by_name.get(name) or next(
            (each for each in self.groups if any(self.names[column] == name for column in each.columns)), None
        )


@dataclass(frozen=True, eq=False)
class ReducedCurve(Frozen):
    """The keys of one curve; before the first and after the last key it is constant."""

    name: str
    times: Floats  # (K,) seconds
    values: Floats  # (K,)
    in_tangents: Floats  # (K,) per second, before each key; 0 at the first
    out_tangents: Floats  # (K,) per second, after each key; 0 at the last
    samples: Ints  # (K,) the indices of the keys among the samples
    max_error: float  # the largest at any sample

    def __post_init__(self) -> None:
        check_text("name", self.name)
        self._set_field("max_error", check_number("max_error", self.max_error, min_value=0.0))
        samples = freeze_ints(self.samples, (None,), "samples")
        self._set_field("samples", samples)
        for name in ("times", "values", "in_tangents", "out_tangents"):
            self._set_field(name, freeze_floats(getattr(self, name), (len(samples),), name))
        if not len(samples) or (np.diff(self.times) <= 0).any():
            raise ModelError(subject=self.name, expected="keys at increasing times")

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"ReducedCurve({self.name}: {format_count(len(self), 'key')}, error up to {self.max_error:.4g})"

    def sample(self, times: ArrayLike) -> Floats:
        """Return the values at ``times`` in seconds, of any shape."""
        keys, values = self.times, self.values
        clipped = np.clip(_parse_times(times), keys[0], keys[-1])
        if len(keys) == 1:
            return np.full(clipped.shape, values[0])
        lengths, rises = np.diff(keys), np.diff(values)
        # As in core/plain_curves.cpp, operation by operation: errors are exactly the costs of the search.
        linear = lengths * self.out_tangents[:-1]
        last = lengths * self.in_tangents[1:]
        square = 3.0 * rises - 2.0 * linear - last
        cube = linear + last - 2.0 * rises
        span = np.minimum(np.searchsorted(keys, clipped, side="right") - 1, len(keys) - 2)
        share = (clipped - keys[span]) * (1.0 / lengths)[span]
        result = values[span] + share * (linear[span] + share * (square[span] + share * cube[span]))
        return np.where(clipped == keys[-1], values[-1], result)


@dataclass(frozen=True, eq=False)
class ReducedCurves(Frozen, Mapping[str, ReducedCurve]):
    """The keys of several curves by name, ``reduced["jaw"]``, and their ladders: keys for every other number of keys.

    The costs of ``ladder`` and ``cost`` are errors in units of the curves; in a group of curves with different
    tolerances they are multiples of these.
    """

    source: CurveSamples
    curves: tuple[ReducedCurve, ...]  # (C,)
    interpolation: MeasuredInterpolation
    tolerances: Floats | None = None  # (C,) of the curves; None if the number of keys was given

    def __post_init__(self) -> None:
        self._set_field("curves", freeze_items(self.curves, ReducedCurve, "reduced curves: curves"))
        if not isinstance(self.source, CurveSamples):
            raise ModelError(type(self.source).__name__, subject="reduced curves: source", expected="CurveSamples")
        check_choice("interpolation", self.interpolation, get_args(MeasuredInterpolation))
        if tuple(curve.name for curve in self.curves) != self.source.names:
            raise ModelError(subject="reduced curves", expected="the keys of every curve")
        if self.tolerances is not None:
            self._set_field("tolerances", freeze_floats(self.tolerances, (len(self.curves),), "tolerances"))

    def __getitem__(self, name: str) -> ReducedCurve:
        if name not in self:
            raise _unknown_name_error(self.source.names, "name", name)
        return self.curves[self.source.names.index(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.source.names

    def get(self, name: str, default: Any = None) -> Any:
        """Return the curve of that name, or ``default`` if there is none."""
        return next((curve for curve in self.curves if curve.name == name), default)

    def __iter__(self) -> Iterator[str]:
        return iter(self.source.names)

    def __len__(self) -> int:
        return len(self.curves)

    def __repr__(self) -> str:
        curves, samples = format_count(len(self), "curve"), format_count(self.source.n_samples, "sample")
        return f"ReducedCurves({curves} of {samples}: {format_count(self.n_keys, 'key')})"

    @property
    def n_keys(self) -> int:
        """The number of keys of all curves together."""
        return sum(map(len, self.curves))

    def sample(self, times: ArrayLike) -> dict[str, Floats]:
        """Return the values of each curve at ``times`` in seconds."""
        return {curve.name: curve.sample(times) for curve in self.curves}

    def ladder(self, name: str, *, max_keys: int | None = None) -> Ladder:
        """Return the optimal keys of a curve or group for every number of keys up to ``max_keys``, with their costs."""
        return self._search(find_group(self.source, name, "name")).ladder(max_keys)

    def at(self, keys: int | Mapping[str, int]) -> ReducedCurves:
        """Return the curves with at most ``keys`` keys, fewer where more do not lower the error.

        ``keys`` is a number for all, or a mapping from curves and groups ("*": all others); the rest stays as it is.
        """
        counts = parse_key_counts(self.source, keys)
        group_keys = [
            self.curves[group.columns[0]].samples
            if count is None
            else self._search(group).find_cheapest_keys(count, threads=available_cores())
            for group, count in zip(self.source.groups, counts, strict=True)
        ]
        return build_reduced_curves(self.source, group_keys, self.interpolation, self.tolerances)

    def _search(self, group: CurveGroup) -> GroupSearch:
        return GroupSearch.of_group(self.source, group, self.interpolation, self.tolerances)


def _parse_times(times: ArrayLike) -> Floats:
    """Return times of any shape, checked."""
    try:
        array = np.asarray(times)
    except ValueError as error:
        raise ModelError(f"not numbers ({error})", option="times") from None
    return freeze_floats(array.reshape(-1), (None,), "times").reshape(array.shape)


def _unknown_name_error(names: Sequence[str], option: str, name: object) -> OptionError:
    matches = difflib.get_close_matches(name, names, n=1) if isinstance(name, str) else []
    suggestion = f"; did you mean {matches[0]!r}?" if matches else ""
    return OptionError(
        "is no curve or group", option=option, value=name, expected=f"one of {list_names(names)}{suggestion}"
    )


def find_group(source: CurveSamples, name: str, option: str) -> CurveGroup:
    """Return the group of that name or with that curve. Raise OptionError if there is none."""
    group = source.find_group(name) if isinstance(name, str) else None
    if group is None:
        names = [*(each.name for each in source.groups if len(each.columns) > 1), *source.names]
        raise _unknown_name_error(names, option, name)
    return group


def list_names(names: Sequence[str]) -> str:
    """Return some names for a message."""
    return ", ".join(names[:MAX_NAMES]) + (", ..." if len(names) > MAX_NAMES else "")


def parse_key_counts(source: CurveSamples, keys: int | Mapping[str, int]) -> list[int | None]:
    """Return the number of keys of each group, checked; None where ``keys`` does not name it."""
    if not isinstance(keys, Mapping):
        return [check_int("keys", keys, min_value=1)] * len(source.groups)
    others = check_int("keys", keys[OTHERS], min_value=1) if OTHERS in keys else None
    counts: dict[str, int] = {}
    for name, count in keys.items():
        if name == OTHERS:
            continue
        group = find_group(source, name, "keys")
        if group.name in counts:
            raise OptionError(
                "has several numbers of keys", option="keys", value=group.name, expected="one for the group"
            )
        counts[group.name] = check_int("keys", count, min_value=1)
    return [counts.get(group.name, others) for group in source.groups]


@dataclass(frozen=True)
class GroupSearch:
    """The search for the keys that the curves of one group have in common."""

    times: Floats  # (N,)
    values: Floats  # (C, N)
    scales: Floats  # (C,) the cost of a span is the largest scaled error
    limits: Floats  # (C,) the largest error of each curve
    is_straight: bool

    @staticmethod
    def of_group(
        source: CurveSamples, group: CurveGroup, interpolation: MeasuredInterpolation, tolerances: Floats | None
    ) -> GroupSearch:
        """Return the search for the keys of a group; ``tolerances`` (C,) are those of all curves."""
        columns = list(group.columns)
        limits = np.full(len(columns), np.inf) if tolerances is None else tolerances[columns]
        scales = np.ones(len(columns)) if (limits == limits[0]).all() else 1.0 / limits
        return GroupSearch(
            source.times, np.ascontiguousarray(source.values[columns]), scales, limits, interpolation == "linear"
        )

    @property
    def is_constant(self) -> bool:
        """Whether one key is enough."""
        return bool((self.values == self.values[:, :1]).all())

    def find_fewest_keys(self) -> Ints:
        """Return the fewest samples with which every curve is within its limit, of these the cheapest ones."""
        if self.is_constant:
            return np.zeros(1, np.int32)
        return _core.plain_fewest_keys(self.times, self.values, self.scales, self.limits, self.is_straight)

    def find_cheapest_keys(self, max_keys: int, *, threads: int = 1) -> Ints:
        """Return the samples, at most ``max_keys``, with the lowest cost; the fewest of several with this cost."""
        if self.is_constant:
            return np.zeros(1, np.int32)
        if max_keys < 2:
            raise OptionError(
                "is too few: a curve that changes has a key at its first and its last sample", option="keys", value=1
            )
        count = min(max_keys, len(self.times))
        found = self._compute_ladder(count, self._find_cost_limit(count), threads)
        size = float((np.abs(self.values).max(axis=1) * self.scales).max())
        is_best = found.cost_values <= found.cost_values.min() + ROUNDING * size
        return found.at(int(found.counts[np.argmax(is_best)])).frames

    def ladder(self, max_keys: int | None = None) -> Ladder:
        """Return the optimal keys for every number of keys; limits are ignored."""
        n = len(self.times)
        if n == 1:
            return Ladder.from_paths("salient", 1, [1], [0], [0.0])
        top = resolve_max_keys(max_keys, n, default=default_max_keys(n, 2), min_keys=2)
        found = self._compute_ladder(max(2, top), np.inf, available_cores())
        if not self.is_constant:
            return found
        counts, costs = np.append(1, found.counts), np.append(0.0, found.cost_values)
        return Ladder.from_paths("salient", n, counts, np.append(0, found.frames), costs)

    def _compute_ladder(self, max_keys: int, limit: float, threads: int) -> Ladder:
        """Return the ladder of the selections with costs up to ``limit``."""
        n = len(self.times)
        try:
            check_memory(n, None, n - 1, max_keys, threads)
        except OptionError as error:
            hint = Hint("give tolerance=, which needs little memory", "give --tolerance, which needs little memory")
            raise error.with_fields(hint=hint) from None
        unlimited = np.full(len(self.scales), np.inf)
        costs = _core.plain_costs(
            self.times, self.values, self.scales, unlimited, self.is_straight, n - 1, limit, threads
        )
        return salient(EdgeCosts(n, n - 1, costs), max_keys, threads=threads)

    def _find_cost_limit(self, max_keys: int) -> float:
        """Return a cost that a selection of at most ``max_keys`` keys has, at most twice that of the best one."""
        size = float((np.ptp(self.values, axis=1) * self.scales).max())
        limit, smallest = np.inf, ROUNDING * size
        cost = size
        while cost > smallest:
            search = replace(self, limits=cost / self.scales)
            if len(search.find_fewest_keys()) > max_keys:
                break
            limit, cost = cost, cost / 2
        return limit


def map_groups(function: Callable[[Any], Result], items: Sequence[Any], threads: int | None) -> list[Result]:
    """Return the results of ``function`` for all items, several at once."""
    workers = min(len(items), available_cores() if threads is None else threads)
    if workers <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        try:
            return list(pool.map(function, items))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def reduce_within(
    source: CurveSamples, tolerances: Floats, interpolation: MeasuredInterpolation, threads: int | None = None
) -> ReducedCurves:
    """Return the curves with the fewest keys within ``tolerances`` (C,), each above 0."""
    searches = [GroupSearch.of_group(source, group, interpolation, tolerances) for group in source.groups]
    group_keys = map_groups(GroupSearch.find_fewest_keys, searches, threads)
    return build_reduced_curves(source, group_keys, interpolation, tolerances)


def reduce_to_counts(
    source: CurveSamples, counts: Sequence[int], interpolation: MeasuredInterpolation, threads: int | None = None
) -> ReducedCurves:
    """Return the curves with at most as many keys in each group, and the lowest errors."""
    searches = [GroupSearch.of_group(source, group, interpolation, None) for group in source.groups]
    group_keys = map_groups(
        lambda item: item[0].find_cheapest_keys(item[1]), list(zip(searches, counts, strict=True)), threads
    )
    return build_reduced_curves(source, group_keys, interpolation, None)


def build_reduced_curves(
    source: CurveSamples,
    group_keys: Sequence[Ints],
    interpolation: MeasuredInterpolation,
    tolerances: Floats | None,
) -> ReducedCurves:
    """Fit the tangents of all curves through the keys of their groups."""
    curves: dict[int, ReducedCurve] = {}
    for group, keys in zip(source.groups, group_keys, strict=True):
        values = np.ascontiguousarray(source.values[list(group.columns)])
        in_tangents, out_tangents = np.zeros((2, len(values), len(keys)))
        if len(keys) > 1:
            tangents = _core.plain_tangents(source.times, values, interpolation == "linear", keys)
            out_tangents[:, :-1], in_tangents[:, 1:] = tangents[:, 0].T, tangents[:, 1].T
        for row, column in enumerate(group.columns):
            curve = ReducedCurve(
                source.names[column],
                source.times[keys],
                source.values[column, keys],
                in_tangents[row],
                out_tangents[row],
                keys,
                0.0,
            )
            error = float(np.abs(curve.sample(source.times) - source.values[column]).max())
            curves[column] = replace(curve, max_error=error)
    return ReducedCurves(
        source, tuple(curves[column] for column in range(len(source.names))), interpolation, tolerances
    )
