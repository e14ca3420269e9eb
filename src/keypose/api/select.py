"""Select keys: one interface to every method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from keypose.api.key_count import (
    AUTO_SHARE,
    ErrorMeasure,
    FittedErrorMeasure,
    LadderErrorMeasure,
    LinearErrorMeasure,
    auto_tolerance,
    select_automatically,
)
from keypose.api.method_input import (
    FeatureOptions,
    FrameRange,
    Source,
    build_method_input,
    check_options,
    count_frames,
    find_method,
    measures_fitted_inbetweens,
    measures_inbetweens,
    parse_frame_options,
    parse_frame_range,
    try_gaps,
)
from keypose.arrays import Ints
from keypose.curves.capture_faults import remove_flips, warn_of_spikes
from keypose.curves.cubic_fit import compute_inbetween_costs
from keypose.errors import Hint, OptionError, format_count, format_count_range
from keypose.extremes import NEAR_S, find_extremes, weigh_extremes
from keypose.features import JointNames, build_array_features
from keypose.methods import METHODS, Methods
from keypose.methods.farthest import FarthestSearch
from keypose.methods.refine import RefineTable
from keypose.methods.refine import refine_table as compute_refine_table
from keypose.methods.salient import PreferredSearch
from keypose.model import EdgeCosts, Features, InbetweenCosts, Ladder, Motion, Selection
from keypose.options import KeyCountOptions, LeadingPart, check_option_number
from keypose.validation import check_bool, check_choice, check_int

SPAN_OPTIONS = ("cost", "min_gap_frames", "max_gap_frames", "threads")
COST_OPTIONS = ("cost", "features", "smoothing_s", "limit_mm", "top_only")  # of ``salient``, that decide on its cost
EXTREMES_SLACK = 1.05  # factor by which errors may grow for keys at extremes


def methods() -> Methods:
    """Return every method, with ``.name``, ``.summary``, ``.paper``, ``.options`` with defaults, ``.options_help``."""
    return Methods(METHODS.values())


def ladder(
    motion: Source,
    method: str = "salient",
    *,
    max_keys: int | None = None,
    fps: float | None = None,
    features: str | None = None,
    joints: JointNames | None = None,
    weights: Mapping[str, float] | None = None,
    smoothing_s: float = 0.0,
    frames: FrameRange = None,
    **options: Any,
) -> Ladder:
    """Return a selection for every number of keys, by one method; ``methods()`` lists them with their options.

    ``motion`` is a Motion, a plain array (T, D) with ``fps``, Features, or for ``salient`` EdgeCosts. ``joints`` are
    joint names, body parts or groups, ``weights`` is a mapping from these, and ``features`` the kind of features; all
    have defaults of the method. ``max_keys`` is the largest number of keys, ``smoothing_s`` the sigma of a Gaussian
    filter. ``frames`` is a range (start, stop) like a slice; keys are frames of the whole motion. ``pins`` (of methods
    with this option) are frames, ``"contacts"``, or both.
    """
    method_row = find_method(method)
    check_options(method_row, options)
    n_frames = count_frames(motion)
    start, stop = parse_frame_range(frames, n_frames)
    if "pins" in options or "excluded" in options:
        options = {**options, **parse_frame_options(motion, options, start, stop)}
    method_input = build_method_input(
        method_row, motion, FeatureOptions(fps, features, joints, weights, smoothing_s), start, stop, options
    )
    key_ladder = method_row.ladder(method_input, max_keys, **options)
    return (
        key_ladder
        if n_frames == key_ladder.n_frames
        else replace(key_ladder, frames=key_ladder.frames + start, n_frames=n_frames)
    )


def select(
    motion: Source,
    method: str = "salient",
    *,
    keys: int | None = None,
    tolerance_mm: float | None = None,
    auto: bool = False,
    extremes_first: bool | None = None,
    leading: LeadingPart | None = None,
    max_keys: int | None = None,
    **options: Any,
) -> Selection:
    """Return the selection for one number of keys; options as for ``ladder``.

    The number is set by ``keys``, or ``tolerance_mm`` (the fewest keys with which no joint of the in-betweens is
    farther from the capture, on a figure of 1.7 m; in-betweens are linear, or those of ``interpolation`` with
    ``cost="inbetween"``), or ``auto=True`` (the fewest keys with which no joint of curves fitted through them is
    farther than 1 % of the height from the capture, up to ``max_keys``; ``salient`` then selects by the error of these
    curves, unless a ``cost`` is given); without any of them the number of keys is the method's own.

    ``extremes_first`` (of ``salient``; the default with ``auto``): of the selections with as many keys that cost at
    most 5 % more, take the one with most keys at extremes, where a part of the body is at the end of its travel.
    ``leading``: the same, the ends of travel of this part first.
    A FormatWarning names keys that are spikes of the capture, which ``repair_capture`` removes.
    """
    selection = _select(motion, method, keys, tolerance_mm, auto, extremes_first, leading, max_keys, options)
    if isinstance(motion, Motion):
        warn_of_spikes(motion, selection.frames)
    return selection


def _select(
    motion: Source,
    method: str,
    keys: int | None,
    tolerance_mm: float | None,
    auto: bool,
    extremes_first: bool | None,
    leading: LeadingPart | None,
    max_keys: int | None,
    options: dict[str, Any],
) -> Selection:
    find_method(method)
    check_key_count_options(keys, tolerance_mm, auto=auto)
    if max_keys is not None:
        check_int("max_keys", max_keys)
    preference = check_extremes_first(extremes_first, leading, motion, method, options, auto=auto)
    if keys is not None:
        n_keys = check_int("keys", keys)
        if max_keys is not None and n_keys > max_keys:
            raise OptionError(
                option="keys",
                value=n_keys,
                expected=Hint(f"at most max_keys={max_keys}", f"at most --max-keys {max_keys}"),
            )
        if measures_inbetweens(options):
            options.setdefault("top_only", True)
        key_ladder = ladder(motion, method, max_keys=max(n_keys, 2), **options)
        selection = selection_with_keys(key_ladder, n_keys)
        return selection if preference is None else put_extremes_first(motion, selection, options, preference)
    if tolerance_mm is not None:
        tolerance = check_tolerance_mm(tolerance_mm)
        return select_within(motion, method, tolerance, max_keys, options, preference)[1]
    if auto:
        options = auto_options(motion, method, options)
        return select_auto(motion, method, max_keys, options, preference)[1]
    key_ladder = ladder(motion, method, max_keys=max_keys, **options)
    if key_ladder.natural is None:
        own = ", ".join(name for name, row in METHODS.items() if row.has_own_count)
        why = "is above max_keys" if METHODS[method].has_own_count else f"does not exist (only {own} have one)"
        raise OptionError(
            f"{method}'s own number of keys {why}",
            code="missing_argument",
            value=method,
            expected=Hint("keys=, tolerance_mm= or auto=True", "--keys, --tolerance-mm or --auto"),
        )
    return key_ladder.at(key_ladder.natural)


def breakdowns(
    motion: Source, extremes: Selection | Sequence[int], *, max_keys: int | None = None, **options: Any
) -> Ladder:
    """Return a ladder of given extremes and optimal further keys between them, which may be selected by other joints or
    costs.

    The extremes (selected, for example, with ``joints="hips"``) remain keys; added keys are optimal for the ``joints``,
    ``weights`` and other options given here. The ladder starts with the extremes and the ends of the range,
    and ends at ``max_keys``.
    """
    for name in ("pins", "method"):
        if name in options:
            raise OptionError(
                f"breakdowns has no option {name!r}: the extremes are the pins, the method is salient",
                code="unknown_option",
                value=name,
            )
    if isinstance(extremes, Selection) and extremes.n_frames != count_frames(motion):
        raise OptionError(
            f"keys of {format_count(extremes.n_frames, 'frame')}",
            option="extremes",
            expected=f"those of the {count_frames(motion)} of the motion",
        )
    return ladder(motion, "salient", max_keys=max_keys, pins=extremes, **options)


def farthest_search(
    motion: Source,
    *,
    fps: float | None = None,
    features: str | None = None,
    joints: JointNames | None = None,
    weights: Mapping[str, float] | None = None,
    smoothing_s: float = 0.0,
    **options: Any,
) -> FarthestSearch:
    """Return a search for the most distinct poses: ``.more(1)`` returns the next key in one pass over the frames."""
    row = METHODS["farthest"]
    check_options(row, options, FeatureOptions._fields)
    feature_options = FeatureOptions(fps, features, joints, weights, smoothing_s)
    return FarthestSearch(cast(Features, build_method_input(row, motion, feature_options, 0, count_frames(motion))))


def refine_table(
    motion: Source,
    *,
    fps: float | None = None,
    features: str | None = None,
    joints: JointNames | None = None,
    weights: Mapping[str, float] | None = None,
    smoothing_s: float = 0.0,
    frames: FrameRange = None,
    **options: Any,
) -> RefineTable:
    """Return the table of Matsuda & Kondo: keys by axis, overlapped and after reduction, for every joint, and the
    largest error of natural splines through these keys; options as for ``ladder(..., "refine")``.

    Counts are of frames at 30 fps, to which motion at other rates is resampled.
    """
    row = METHODS["refine"]
    check_options(row, options, (*FeatureOptions._fields, "frames"))
    start, stop = parse_frame_range(frames, count_frames(motion))
    feature_options = FeatureOptions(fps, features, joints, weights, smoothing_s)
    features_of_method = cast(Features, build_method_input(row, motion, feature_options, start, stop))
    table = compute_refine_table(features_of_method, **options)
    return RefineTable(
        tuple(each._replace(key_frames=tuple(frame + start for frame in each.key_frames)) for each in table.rows)
    )


def check_key_count_options(keys: int | None, tolerance_mm: float | None, *, auto: bool) -> None:
    """Raise an OptionError if more than one option for the number of keys is given."""
    if sum([keys is not None, tolerance_mm is not None, check_bool("auto", auto)]) > 1:
        raise OptionError(
            "several options say how many keys",
            code="conflicting_options",
            expected=Hint("one of keys=, tolerance_mm= and auto=True", "one of --keys, --tolerance-mm and --auto"),
        )


def check_tolerance_mm(value: float) -> float:
    """Return a tolerance in millimetres, checked."""
    return check_option_number(KeyCountOptions, "tolerance_mm", value)


def selection_with_keys(key_ladder: Ladder, keys: int) -> Selection:
    """Return the selection with this many keys; else raise an OptionError that lists the available counts."""
    if keys in key_ladder.costs:
        return key_ladder.at(keys)
    min_keys, max_keys = int(key_ladder.counts[0]), int(key_ladder.counts[-1])
    if keys < min_keys:
        why = "pins and gaps" if min_keys > 2 else "the first and the last frame"
        need = f"{key_ladder.method} needs at least {min_keys} here" + (f" for {why}" if min_keys > 1 else "")
        raise OptionError(f"is too few: {need}", option="keys", value=keys)
    if keys > max_keys:
        raise OptionError(
            f"is too many: {key_ladder.method} has selections of {format_count_range(min_keys, max_keys, 'key')} here",
            option="keys",
            value=keys,
        )
    return key_ladder.at(keys)


class ExtremesPreference(NamedTuple):
    """Keys are to be moved to extremes."""

    leading: LeadingPart | None  # of this part first


def check_extremes_first(
    extremes_first: bool | None,
    leading: LeadingPart | None,
    source: Source,
    method: str,
    options: Mapping[str, Any],
    *,
    auto: bool,
) -> ExtremesPreference | None:
    """Return how keys are to be moved to extremes: with ``leading`` or, if that is possible, ``auto`` by default."""
    if leading is not None:
        check_choice("leading", leading, get_args(LeadingPart))
    is_default = extremes_first is None
    is_first = auto or leading is not None if is_default else check_bool("extremes_first", extremes_first)
    if not is_first:
        if leading is not None:
            raise OptionError("moves keys to extremes", option="leading", value=leading, code="conflicting_options")
        return None
    objective, loop = options.get("objective", "max"), options.get("loop", False)
    is_optimal = isinstance(method, str) and method == "salient" and isinstance(objective, str) and objective == "max"
    if isinstance(source, Motion) and is_optimal and loop is False:
        return ExtremesPreference(leading)
    if is_default and leading is None:
        return None
    option, value = ("extremes_first", True) if leading is None else ("leading", leading)
    raise OptionError(
        "needs a Motion, the method salient and its objective max, and no loop", option=option, value=value
    )


def build_extremes_search(
    motion: Motion,
    keys: Ints,
    options: Mapping[str, Any],
    preference: ExtremesPreference,
    slack: float = EXTREMES_SLACK,
) -> PreferredSearch | None:
    """Return the search for selections with as many keys as ``keys``, more of them at extremes, and costs up to
    ``slack`` times theirs; options as for ``ladder``, checked. None if there is nothing to choose."""
    start, stop = parse_frame_range(options.get("frames"), motion.n_frames)
    extremes = find_extremes(motion[start:stop])
    if len(keys) < 3 or not extremes:
        return None
    weights = weigh_extremes(extremes, stop - start, preference.leading)
    feature_options = FeatureOptions(**{name: options[name] for name in FeatureOptions._fields if name in options})
    span_options = {name: options[name] for name in SPAN_OPTIONS if name in options}
    return PreferredSearch(
        build_method_input(METHODS["salient"], motion, feature_options, start, stop, options),
        (keys - start).astype(np.int32),
        weights,
        NEAR_S * motion.fps,
        slack=slack,
        **(span_options | parse_frame_options(motion, options, start, stop)),
    )


def put_extremes_first(
    motion: Source,
    selection: Selection,
    options: Mapping[str, Any],
    preference: ExtremesPreference,
    is_acceptable: Callable[[Selection], bool] = lambda _: True,
) -> Selection:
    """Return ``selection`` with keys moved to extremes, if that is acceptable, else as it is."""
    assert isinstance(motion, Motion)  # check_extremes_first
    search = build_extremes_search(motion, selection.frames, options, preference)
    keys = None if search is None else search.find()
    if keys is None:
        return selection
    start, _ = parse_frame_range(options.get("frames"), motion.n_frames)
    moved = replace(selection, frames=keys + start)
    return moved if is_acceptable(moved) else selection


def select_within(
    motion: Source,
    method: str,
    tolerance_mm: float,
    max_keys: int | None,
    options: Mapping[str, Any],
    preference: ExtremesPreference | None = None,
) -> tuple[Ladder, Selection]:
    """Return the ladder, and its selection with fewest keys within the tolerance."""
    if not isinstance(motion, Motion):
        raise OptionError(
            "needs a Motion: a plain array has no millimetres",
            option="tolerance_mm",
            value=tolerance_mm,
            hint="see ladder(...).costs",
        )
    if motion.height <= 0:
        raise OptionError(
            "the figure has no height, so nothing can be stated in mm", code="no_height", subject=motion.name
        )
    key_ladder = ladder(motion, method, max_keys=max_keys, **options)
    errors = _build_error_measure(motion, options)
    selection = errors.first_within(key_ladder, tolerance_mm)
    if selection is None and max_keys is None and key_ladder.counts[-1] < errors.n_frames:
        default_max_keys, key_ladder = (
            int(key_ladder.counts[-1]),
            _full_ladder(motion, method, errors.n_frames, options, key_ladder),
        )
        selection = errors.first_within(key_ladder, tolerance_mm, above=default_max_keys)
    if selection is None:
        max_count = int(key_ladder.counts[-1])
        raise OptionError(
            f"no selection of {key_ladder.counts[0]} to {max_count} keys stays within {tolerance_mm:g} mm",
            hint=f"with {format_count(max_count, 'key')} it is {errors.max_error(key_ladder.at(max_count)):.4g} mm",
        )
    if preference is not None:
        selection = put_extremes_first(
            motion, selection, options, preference, lambda moved: errors.max_error(moved) <= tolerance_mm
        )
    return key_ladder, selection


def _build_error_measure(motion: Motion, options: Mapping[str, Any]) -> ErrorMeasure:
    """Return the error measure of the in-betweens that the options name; they have been checked, as ``ladder`` does."""
    start, stop = parse_frame_range(options.get("frames"), motion.n_frames)
    if measures_fitted_inbetweens(options):
        costs = compute_inbetween_costs(motion)[start:stop]
        return FittedErrorMeasure.from_costs(costs, start, loop=bool(options.get("loop")))
    return LinearErrorMeasure(motion, start, stop)


class _AutoSelection(NamedTuple):
    """A selection with an automatic number of keys, its ladder, their options, and what the number depends on."""

    selection: Selection
    ladder: Ladder
    options: Mapping[str, Any]
    errors: ErrorMeasure
    tolerance: float


def auto_options(source: Source, method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of ``ladder`` for an automatic number of keys.

    It depends on the error of fitted curves, so ``salient`` selects by this error, unless options decide on the cost.
    """
    given = [options[name] for name in COST_OPTIONS if options.get(name) is not None]
    is_decided = any(bool(each) if isinstance(each, bool | int | float | str) else True for each in given)
    if method != "salient" or not isinstance(source, Motion) or is_decided:
        return dict(options)
    return {**options, "cost": "inbetween"}


def select_auto(
    source: Source,
    method: str,
    max_keys: int | None,
    options: Mapping[str, Any],
    preference: ExtremesPreference | None = None,
) -> tuple[Ladder, Selection]:
    """Return the ladder, and its selection with an automatic number of keys; options as ``auto_options`` returns them.

    Flips of the capture get no keys: the ladder is that of the motion without them.
    """
    source = remove_flips(source) if isinstance(source, Motion) else source

    def search(search_options: Mapping[str, Any]) -> _AutoSelection:
        return _search_auto(source, method, max_keys, search_options)

    if isinstance(source, Motion) and measures_inbetweens(options):
        results = try_gaps(source, max_keys, options, search, lambda result: result.selection.frames)
        best = min(results, key=lambda result: len(result.selection))
    else:
        best = search(options)
    if preference is None:
        return best.ladder, best.selection
    limit = max(best.tolerance, best.errors.max_error(best.selection))
    return best.ladder, put_extremes_first(
        source, best.selection, best.options, preference, lambda moved: best.errors.max_error(moved) <= limit
    )


def _search_auto(source: Source, method: str, max_keys: int | None, options: Mapping[str, Any]) -> _AutoSelection:
    key_ladder = ladder(source, method, max_keys=max_keys, **options)
    errors, tolerance = build_auto_measure(source, key_ladder, options)
    is_partial = max_keys is None and key_ladder.counts[-1] < errors.n_frames
    if is_partial and errors.first_within(key_ladder, tolerance) is None:
        key_ladder = _full_ladder(source, method, errors.n_frames, options, key_ladder)
    return _AutoSelection(select_automatically(key_ladder, errors, tolerance), key_ladder, options, errors, tolerance)


def build_auto_measure(source: Source, key_ladder: Ladder, options: Mapping[str, Any]) -> tuple[ErrorMeasure, float]:
    """Return the error of fitted curves through selections of a ladder, and the largest one that ``auto`` accepts.

    Edge costs, which have no values to fit, are errors themselves.
    """
    if isinstance(source, EdgeCosts):
        return LadderErrorMeasure(key_ladder), AUTO_SHARE * float(key_ladder.cost_values.max())
    start, stop = parse_frame_range(options.get("frames"), count_frames(source))
    is_loop = bool(options.get("loop"))
    if isinstance(source, Motion):
        costs = compute_inbetween_costs(source)
        return FittedErrorMeasure.from_costs(costs[start:stop], start, loop=is_loop), auto_tolerance(source)
    if isinstance(source, InbetweenCosts):
        costs = replace(source[start:stop], use_mean=False)
        return FittedErrorMeasure.from_costs(costs, start, loop=is_loop), auto_tolerance(costs)
    features = source if isinstance(source, Features) else build_array_features(source, None)
    part = features[start:stop]
    return FittedErrorMeasure.from_features(part, start), auto_tolerance(part)


def _full_ladder(source: Source, method: str, n_frames: int, options: Mapping[str, Any], default: Ladder) -> Ladder:
    """Return the ladder up to a key on every frame, or the default one if that is too much for the method."""
    try:
        return ladder(source, method, max_keys=n_frames, **options)
    except OptionError:
        return default
