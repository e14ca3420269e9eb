"""Reduce plain named curves (rig controls, blend shapes, scales) to keys with fitted tangents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats, freeze, freeze_floats
from keypose.curves.reduce import (
    OTHERS,
    CurveGroup,
    CurveSamples,
    ReducedCurves,
    find_group,
    list_names,
    parse_key_counts,
    reduce_to_counts,
    reduce_within,
)
from keypose.errors import Hint, ModelError, OptionError, format_count
from keypose.methods.salient import MAX_THREADS
from keypose.options import CurveReductionOptions, MeasuredInterpolation, check_option_int, check_option_number
from keypose.validation import check_choice, check_items


def reduce_curves(
    times: ArrayLike,
    values: Mapping[str, ArrayLike] | ArrayLike,
    *,
    names: Sequence[str] | None = None,
    tolerance: float | Mapping[str, float] | None = None,
    keys: int | Mapping[str, int] | None = None,
    groups: Mapping[str, Sequence[str]] | Literal["all"] | None = None,
    interpolation: MeasuredInterpolation = "bezier",
    threads: int | None = None,
) -> ReducedCurves:
    """Return keys with fitted tangents for plain curves that are sampled at ``times`` (N,), increasing seconds.

    ``values`` is a mapping from names to samples (N,), or an array (N, C) with ``names`` (by default "0", "1", ...).
    Either ``tolerance`` says how far a curve may be from any of its samples, in its own units, and every curve has the
    fewest keys for that; or ``keys`` is the largest number of keys, and the error is the smallest for that. Both are
    one number for all, or a mapping from curves or groups, in which "*" is for all others.

    Every curve has keys at times of its own; the curves of one of the ``groups`` (a mapping from names of groups to
    names of curves; "all": one group of all) have them at the same times. ``interpolation``: between two keys is the
    cubic closest to the samples ("bezier"), or a straight line ("linear"). ``threads`` is the number of processor
    cores.
    """
    source = build_curve_samples(times, values, names, groups)
    kind: MeasuredInterpolation = check_choice("interpolation", interpolation, get_args(MeasuredInterpolation))  # type: ignore[assignment]
    if threads is not None:
        threads = min(check_option_int(CurveReductionOptions, "threads", threads), MAX_THREADS)
    if (tolerance is None) == (keys is None):
        raise OptionError(
            "nothing says how many keys" if keys is None else "tolerance and keys both say how many keys",
            code="missing_argument" if keys is None else "conflicting_options",
            expected=Hint("either tolerance= or keys=", "either --tolerance or --keys"),
        )
    if tolerance is not None:
        return reduce_within(source, _parse_tolerances(source, tolerance), kind, threads)
    assert keys is not None
    counts = parse_key_counts(source, keys)
    without = [group.name for group, count in zip(source.groups, counts, strict=True) if count is None]
    if without:
        raise OptionError(f"gives none for {without[0]!r}", option="keys", expected="a number for every curve or group")
    return reduce_to_counts(source, [count or 0 for count in counts], kind, threads)


def build_curve_samples(
    times: ArrayLike,
    values: Mapping[str, ArrayLike] | ArrayLike,
    names: Sequence[str] | None = None,
    groups: Mapping[str, Sequence[str]] | Literal["all"] | None = None,
) -> CurveSamples:
    """Return the samples of named curves, checked."""
    seconds = freeze_floats(times, (None,), "times")
    late = np.flatnonzero(np.diff(seconds) <= 0)
    if len(late):
        i = int(late[0]) + 1
        raise OptionError(
            f"{seconds[i]:g} at index {i} follows {seconds[i - 1]:g}", option="times", expected="increasing seconds"
        )
    if isinstance(values, Mapping):
        if names is not None:
            raise OptionError("is for an array: a mapping has names", option="names", value=names)
        if not values:
            raise OptionError("is empty", option="values", expected="at least one curve")
        curve_names = _check_names(tuple(values), "values")
        rows = [_check_row(name, values[name], len(seconds)) for name in curve_names]
        table = np.stack(rows)
    else:
        table = _parse_table(values, len(seconds))
        expected = f"{format_count(len(table), 'name')}, one for each column"
        curve_names = (
            tuple(map(str, range(len(table))))
            if names is None
            else _check_names(check_items("names", names, expected), "names")
        )
        if len(curve_names) != len(table):
            raise OptionError(format_count(len(curve_names), "name"), option="names", expected=expected)
    if not table.size:
        raise OptionError(f"shape {table.T.shape}", option="values", expected="at least one curve and one sample")
    return CurveSamples(seconds, curve_names, freeze(table), _parse_groups(curve_names, groups))


def _parse_table(values: ArrayLike, n_samples: int) -> Floats:
    """Return the curves (C, N) of an array (N, C), or (N,) of one curve."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ModelError(f"not numbers ({error})", option="values") from None
    columns = freeze_floats(array[:, None] if array.ndim == 1 else array, (n_samples, None), "values")
    return np.ascontiguousarray(columns.T)


def _check_row(name: str, samples: ArrayLike, n_samples: int) -> Floats:
    try:
        return freeze_floats(samples, (n_samples,), "values")
    except ModelError as error:
        raise error.with_fields(option=None, subject=f"curve {name!r}") from None


def _check_names(names: tuple[object, ...], option: str) -> tuple[str, ...]:
    texts = [name for name in names if isinstance(name, str) and name]
    if len(texts) < len(names) or len(set(texts)) < len(names):
        raise OptionError(option=option, expected="a name for every curve, each once")
    return tuple(texts)


def _parse_groups(
    names: tuple[str, ...], groups: Mapping[str, Sequence[str]] | Literal["all"] | None
) -> tuple[CurveGroup, ...]:
    """Return the groups in order of their first curve; every other curve is one alone."""
    if isinstance(groups, str):
        check_choice("groups", groups, ("all",))
        return (CurveGroup("all", tuple(range(len(names)))),)
    expected = "a mapping from names of groups to names of curves, or 'all'"
    if groups is not None and not isinstance(groups, Mapping):
        raise OptionError(option="groups", value=groups, expected=expected)
    columns, group_of = {name: column for column, name in enumerate(names)}, dict[str, str]()
    found: list[CurveGroup] = []
    for group, members in (groups or {}).items():
        members = (members,) if isinstance(members, str) else check_items("groups", members, expected)
        if not isinstance(group, str) or not group or not members:
            raise OptionError(option="groups", value={group: members}, expected=expected)
        if group in columns and group not in members:
            raise OptionError("is also the name of a curve outside of the group", option="groups", value=group)
        for name in members:
            if name not in columns:
                raise OptionError(
                    f"{group!r} has no curve {name!r}", option="groups", expected=f"some of {list_names(names)}"
                )
            if name in group_of:
                raise OptionError(
                    f"curve {name!r} is in {group_of[name]!r} and in {group!r}", option="groups", expected="one group"
                )
            group_of[name] = group
        found.append(CurveGroup(group, tuple(columns[name] for name in members)))
    found += [CurveGroup(name, (column,)) for name, column in columns.items() if name not in group_of]
    return tuple(sorted(found, key=lambda each: each.columns[0]))


def _parse_tolerances(source: CurveSamples, tolerance: float | Mapping[str, float]) -> Floats:
    """Return the tolerance of each curve (C,): its own one, or that of its group."""
    if not isinstance(tolerance, Mapping):
        return np.full(len(source.names), check_option_number(CurveReductionOptions, "tolerance", tolerance))
    tolerances = np.full(len(source.names), np.nan)
    by_curve: dict[int, float] = {}
    for name, value in sorted(tolerance.items(), key=lambda item: item[0] != OTHERS):
        number = check_option_number(CurveReductionOptions, "tolerance", value)
        group = None if name == OTHERS else find_group(source, name, "tolerance")
        if group is None:
            tolerances[:] = number
        elif name == group.name:
            tolerances[list(group.columns)] = number
        else:
            by_curve[source.names.index(name)] = number
    for column, number in by_curve.items():
        tolerances[column] = number
    missing = np.flatnonzero(np.isnan(tolerances))
    if len(missing):
        raise OptionError(
            f"gives none for {source.names[missing[0]]!r}", option="tolerance", expected="one for every curve or group"
        )
    return tolerances
