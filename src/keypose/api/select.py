"""Select keys: one interface to every method, and a report on the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from keypose.api.key_count import ErrorMeasure, FittedError, LinearError, check_tolerance_mm, select_automatically
from keypose.api.method_input import (
    FeatureOptions,
    FrameRange,
    Source,
    build_method_input,
    check_options,
    count_frames,
    find_method,
    parse_frame_options,
    parse_frame_range,
)
from keypose.arrays import Floats, Frozen, Ints, freeze
from keypose.curves import interpolate_linear
from keypose.curves.keyed_motion import build_keyed_motion
from keypose.errors import Hint, OptionError
from keypose.features import JointNames
from keypose.methods import METHODS, Methods
from keypose.methods.farthest import FarthestSearch
from keypose.methods.refine import RefineTable
from keypose.methods.refine import refine_table as compute_refine_table
from keypose.metrics import Score, distances, score_distances
from keypose.model import Features, Ladder, Motion, Selection
from keypose.validation import check_bool, check_int

Rebuild: TypeAlias = Callable[[Motion, Ints], Motion]
CountSource: TypeAlias = Literal["keys", "tolerance", "auto", "own"]


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
    max_keys: int | None = None,
    **options: Any,
) -> Selection:
    """Return the selection for one number of keys; options as for ``ladder``.

    The number is set by ``keys``, or ``tolerance_mm`` (the fewest keys with which no joint of the in-betweens is
    farther from the capture, on a figure of 1.7 m; in-betweens are linear, or those of ``interpolation`` with
    ``cost="inbetween"``), or ``auto=True`` (by the shape of the error curve, up to ``max_keys``); without any of them
    the number of keys is the method's own.
    """
    check_key_count_options(keys, tolerance_mm, auto=auto)
    if keys is not None:
        n_keys = check_int("keys", keys)
        if max_keys is not None and n_keys > check_int("max_keys", max_keys):
            raise OptionError(
                option="keys",
                value=n_keys,
                expected=Hint(f"at most max_keys={max_keys}", f"at most --max-keys {max_keys}"),
            )
        if options.get("cost") == "inbetween":
            options.setdefault("top_only", True)
        return selection_with_keys(ladder(motion, method, max_keys=max(n_keys, 2), **options), n_keys)
    if tolerance_mm is not None:
        return select_within(motion, method, check_tolerance_mm(tolerance_mm), max_keys, options)[1]
    key_ladder = ladder(motion, method, max_keys=max_keys, **options)
    if auto:
        return select_automatically(key_ladder, build_error_measure(motion, options))
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
            f"keys of {extremes.n_frames} frames",
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
    """Return the table of Matsuda & Kondo: keys by axis, overlapped and after reduction, for every joint."""
    row = METHODS["refine"]
    check_options(row, options, (*FeatureOptions._fields, "frames"))
    start, stop = parse_frame_range(frames, count_frames(motion))
    feature_options = FeatureOptions(fps, features, joints, weights, smoothing_s)
    features_of_method = cast(Features, build_method_input(row, motion, feature_options, start, stop))
    return compute_refine_table(features_of_method, **options)


def check_key_count_options(keys: int | None, tolerance_mm: float | None, *, auto: bool) -> None:
    """Raise an OptionError if more than one option for the number of keys is given."""
    if sum([keys is not None, tolerance_mm is not None, check_bool("auto", auto)]) > 1:
        raise OptionError(
            "several options say how many keys",
            code="conflicting_options",
            expected=Hint("one of keys=, tolerance_mm= and auto=True", "one of --keys, --tolerance-mm and --auto"),
        )


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
            f"is too many: {key_ladder.method} has selections of {min_keys} to {max_keys} keys here",
            option="keys",
            value=keys,
        )
    return key_ladder.at(keys)


def build_error_measure(motion: Source, options: Mapping[str, Any]) -> ErrorMeasure | None:
    """Return the error measure of in-betweens for the range of the options; None for input without millimetres."""
    if not isinstance(motion, Motion) or motion.height <= 0:
        return None
    start, stop = parse_frame_range(options.get("frames"), motion.n_frames)
    if options.get("cost") == "inbetween" and options.get("interpolation", "bezier") == "bezier":
        # With these options the cost of a ladder is the largest error itself.
        is_cost = options.get("measure", "max") == "max" and options.get("objective", "max") == "max"
        counts_all = options.get("joints") is None and not options.get("weights")
        return FittedError(motion, start, stop, is_cost=is_cost and counts_all, loop=bool(options.get("loop")))
    return LinearError(motion, start, stop)


def select_within(
    motion: Source, method: str, tolerance_mm: float, max_keys: int | None, options: Mapping[str, Any]
) -> tuple[Ladder, Selection]:
    """Return the ladder, and its selection with fewest keys within the tolerance."""
    if not isinstance(motion, Motion):
        raise OptionError(
            "needs a Motion: a plain array has no millimetres",
            option="tolerance_mm",
            value=tolerance_mm,
            hint="see ladder(...).costs",
        )
    errors = build_error_measure(motion, options)
    if errors is None:
        raise OptionError(
            "the figure has no height, so nothing can be stated in mm", code="no_height", subject=motion.name
        )
    key_ladder = ladder(motion, method, max_keys=max_keys, **options)
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
            hint=f"with {max_count} keys it is {errors.max_error_mm(key_ladder.at(max_count)):.4g} mm",
        )
    return key_ladder, selection


def _full_ladder(motion: Motion, method: str, n_frames: int, options: Mapping[str, Any], default: Ladder) -> Ladder:
    """Return the ladder up to a key on every frame, or the default one if that is too much for the method."""
    try:
        return ladder(motion, method, max_keys=n_frames, **options)
    except OptionError:
        return default


@dataclass(frozen=True, eq=False)
class SelectionReport(Frozen):
    """Keys, their ladder, and the errors of their in-betweens."""

    selection: Selection
    ladder: Ladder
    count_source: CountSource  # how the number of keys was chosen
    score: Score | None  # position errors in the range; None, like the next two, for a figure without height
    span_mm: Floats | None  # (K,) largest error from each key to the next; the first one includes frames before its key
    without_mm: Floats | None  # (K,) largest error around each key if it is removed; None also for a single key
    span_costs: Floats | None  # (K - 1,) if the method's cost is a sum or maximum over spans


def select_with_report(
    motion: Motion,
    method: str = "salient",
    *,
    keys: int | None = None,
    tolerance_mm: float | None = None,
    auto: bool = False,
    max_keys: int | None = None,
    frames: FrameRange = None,
    **options: Any,
) -> SelectionReport:
    """Return the selection of ``select`` with a report; the ladder is computed once.

    Without ``keys``, ``tolerance_mm`` or ``auto``: the method's own number of keys, or ``auto`` if it has none.
    """
    check_key_count_options(keys, tolerance_mm, auto=auto)
    options["frames"] = frames
    count_source: CountSource
    if tolerance_mm is not None:
        key_ladder, selection = select_within(motion, method, check_tolerance_mm(tolerance_mm), max_keys, options)
        count_source = "tolerance"
    else:
        key_ladder = ladder(motion, method, max_keys=max_keys, **options)
        if keys is not None:
            if max_keys is None and not key_ladder.counts[0] <= keys <= key_ladder.counts[-1]:
                key_ladder = ladder(motion, method, max_keys=max(2, keys), **options)
            selection, count_source = selection_with_keys(key_ladder, keys), "keys"
        elif auto or key_ladder.natural is None:
            selection, count_source = select_automatically(key_ladder, build_error_measure(motion, options)), "auto"
        else:
            selection, count_source = key_ladder.at(key_ladder.natural), "own"
    return SelectionReport(
        selection,
        key_ladder,
        count_source,
        *score_inbetweens(motion, selection, frames, _choose_rebuild(options)),
        _span_costs(motion, key_ladder, selection, options),
    )


def _span_costs(motion: Motion, key_ladder: Ladder, selection: Selection, options: Mapping[str, Any]) -> Floats | None:
    method = METHODS[key_ladder.method]
    if method.span_costs is None or options.get("loop"):
        return None
    feature_options = FeatureOptions(**{name: options[name] for name in FeatureOptions._fields if name in options})
    cost_options = {name: options[name] for name in ("cost",) if name in options}
    return method.span_costs(
        build_method_input(method, motion, feature_options, 0, motion.n_frames, options),
        selection.frames,
        **cost_options,
    )


def _choose_rebuild(options: Mapping[str, Any]) -> Rebuild:
    is_fitted = options.get("cost") == "inbetween" and options.get("interpolation", "bezier") == "bezier"
    return _rebuild_fitted if is_fitted else interpolate_linear


def _rebuild_fitted(motion: Motion, keys: Ints) -> Motion:
    return build_keyed_motion(motion, keys).sample()


def score_inbetweens(
    motion: Motion, selection: Selection, frames: FrameRange = None, rebuild: Rebuild = interpolate_linear
) -> tuple[Score | None, Floats | None, Floats | None]:
    """Return ``score``, ``span_mm`` and ``without_mm`` of a selection report."""
    try:
        mm_per_unit = motion.mm_per_unit
    except OptionError:
        return None, None, None
    start, stop = parse_frame_range(frames, motion.n_frames)
    part, keys = motion[start:stop], selection.frames - start
    world = motion.world_positions()[start:stop]

    def errors_mm(key_frames: Ints) -> Floats:
        return mm_per_unit * distances(world, rebuild(part, key_frames).world_positions())

    errors = errors_mm(keys)
    return (
        score_distances(errors, motion.skeleton.names, start),
        freeze(np.maximum.reduceat(errors.max(axis=1), np.append(0, keys[1:]))),
        freeze(_errors_without_key(keys, len(errors), errors_mm)) if len(keys) > 1 else None,
    )


def _errors_without_key(keys: Ints, n_frames: int, errors_mm: Callable[[Ints], Floats]) -> Floats:
    """Return the largest error around each key if it is removed; every second key is removed at once."""
    bounds = [0, *keys.tolist(), n_frames]
    without = np.zeros(len(keys))
    for first in (0, 1):
        largest = errors_mm(keys[1 - first :: 2]).max(axis=1)
        for k in range(first, len(keys), 2):
            without[k] = largest[bounds[k] : bounds[k + 2]].max()
    return without
