"""Choosing keys: one interface to every method."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from keypose.errors import OptionError
from keypose.features import JointNames, features_of, features_of_array
from keypose.methods import METHODS, Method
from keypose.methods.farthest import FarthestSearch
from keypose.methods.refine import RefineTable
from keypose.methods.refine import refine_table as table_of
from keypose.model import EdgeCosts, Features, Ladder, Motion, Selection
from keypose.verbs.budget import LinearError, automatic, tolerance, within_tolerance
from keypose.verbs.frames import FrameRange, frame_range, frames_of_options, whole_number

Source: TypeAlias = Motion | Features | EdgeCosts | ArrayLike

COMMON_OPTIONS = {
    "max_keys": "go up to so many keys",
    "fps": "frames per second of a plain array",
    "features": "what the method sees: world, root_matched, unmatched, parent_relative or euler",
    "joints": "joints, body parts or groups that count",
    "weights": "weight of joints, body parts or groups on the squared distance, {'hands': 3}",
    "smoothing_s": "sigma in seconds of a Gaussian filter before anything else",
    "frames": "only these frames, (start, stop)",
}


def methods() -> tuple[Method, ...]:
    """Every method: ``.name``, ``.summary``, ``.paper``, ``.options`` with defaults, ``.options_help``."""
    return tuple(METHODS.values())


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
    """Keys for every number of keys, by one method; ``methods()`` lists them with their options.

    ``motion`` is a Motion, a plain array (T, D) with ``fps``, Features, or for ``salient`` EdgeCosts. ``joints`` takes
    joint names, body parts or groups, ``weights`` a mapping of the same; both default to what the method was made for.
    ``frames`` is a range (start, stop) like a slice; keys are frames of the whole motion. ``pins`` (of
    methods that have it) takes frames, ``"contacts"``, or both.
    """
    row = _method(method)
    _check_options(row, options)
    start, stop = frame_range(frames, _length(motion))
    if "pins" in options or "excluded" in options:
        options = {**options, **frames_of_options(motion, options, start, stop)}
    seen = _features(motion, row, start, stop, fps, features, joints, weights, smoothing_s)
    found = row.ladder(seen, max_keys, **options)
    return _shifted(found, start, _length(motion))


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
    """Keys for one number of keys; options as for ``ladder``.

    Give ``keys``, or ``tolerance_mm`` (fewest keys whose straight in-betweens leave no joint farther off, on a
    figure of 1.7 m), or ``auto=True`` (where the error curve says to stop); with none of them the method's own count.
    """
    check_budget(keys, tolerance_mm, auto=auto)
    if keys is not None:
        wanted = whole_number("keys", keys)
        return ladder(motion, method, max_keys=max(wanted, 2), **options).at(wanted)
    if tolerance_mm is not None:
        return within(motion, method, tolerance(tolerance_mm), max_keys, options)[1]
    found = ladder(motion, method, max_keys=max_keys, **options)
    if auto:
        return automatic(found, errors_of(motion, options))
    if found.natural is None:
        own = ", ".join(name for name, row in METHODS.items() if row.has_own_count)
        raise OptionError(f"{method} has no number of keys of its own (only {own} have): "
                          "give keys=, tolerance_mm= or auto=True")  # fmt: skip
    return found.at(found.natural)


def breakdowns(
    motion: Source, extremes: Selection | Sequence[int], *, max_keys: int | None = None, **options: Any
) -> Ladder:
    """Optimal further keys between given ones: extremes first, then breakdowns, seen with other joints or costs.

    The extremes (say, by ``joints="hips"``) stay keys; what is added is optimal for the ``joints``, ``weights`` and
    other options given here. The ladder starts with the extremes and the ends of the range.
    """
    pins = [int(frame) for frame in extremes]
    return ladder(motion, "salient", max_keys=max_keys, pins=pins, **options)


def farthest_search(
    motion: Source,
    *,
    fps: float | None = None,
    features: str | None = None,
    joints: JointNames | None = None,
    weights: Mapping[str, float] | None = None,
    smoothing_s: float = 0.0,
) -> FarthestSearch:
    """The most distinct poses one by one: ``.more(1)`` gives the next key in one pass over the frames."""
    row, n_frames = METHODS["farthest"], _length(motion)
    seen = _features(motion, row, 0, n_frames, fps, features, joints, weights, smoothing_s)
    assert isinstance(seen, Features)  # farthest takes no edge costs
    return FarthestSearch(seen)


def refine_table(
    motion: Source,
    *,
    fps: float | None = None,
    joints: JointNames | None = None,
    frames: FrameRange = None,
    **options: Any,
) -> RefineTable:
    """The table of Matsuda & Kondo: keys by axis, overlapped and after reduction, for every joint."""
    row = METHODS["refine"]
    _check_options(row, options)
    start, stop = frame_range(frames, _length(motion))
    seen = _features(motion, row, start, stop, fps, None, joints, None, 0.0)
    assert isinstance(seen, Features)  # nor does refine
    return table_of(seen, **options)


# What a person says -> what a method sees


def _method(name: str) -> Method:
    if name not in METHODS:
        raise OptionError(f"method {name!r}{_instead(str(name), METHODS)}")
    return METHODS[name]


def _check_options(method: Method, options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in method.options:
            elsewhere = [other.name for other in METHODS.values() if name in other.options]
            there = f" (an option of {', '.join(elsewhere)})" if elsewhere else ""
            known = (*method.options, *COMMON_OPTIONS)
            raise OptionError(f"{method.name} has no option {name!r}{there}{_instead(name, known)}")


def _instead(wanted: str, known: Iterable[str]) -> str:
    listed = tuple(known)
    near = difflib.get_close_matches(wanted, listed, n=1)
    return (f"; did you mean {near[0]!r}?" if near else "") + f"; known: {', '.join(listed)}"


def _length(motion: Source) -> int:
    try:
        return len(motion)  # type: ignore[arg-type]
    except TypeError:
        raise OptionError(f"{type(motion).__name__}, expected a Motion or an array of frames and columns") from None


def _features(
    motion: Source,
    method: Method,
    start: int,
    stop: int,
    fps: float | None,
    recipe: str | None,
    joints: JointNames | None,
    weights: Mapping[str, float] | None,
    smoothing_s: float,
) -> Features | EdgeCosts:
    if isinstance(motion, Motion):
        _refuse({"fps": fps}, "is for plain arrays: a Motion knows its own (for another rate use m.at_fps)")
        names = method.joints if joints is None else joints
        seen: Features | EdgeCosts = features_of(motion, recipe or method.recipe, names, weights, smoothing_s)
    else:
        _refuse({"features": recipe, "joints": joints, "weights": weights}, "needs a Motion, which has joints")
        if isinstance(motion, Features | EdgeCosts):
            _refuse({"fps": fps, "smoothing_s": smoothing_s or None}, "is for motions and plain arrays")
            seen = motion
        else:
            seen = features_of_array(motion, fps, smoothing_s)
    if isinstance(seen, EdgeCosts) and not method.takes_edge_costs:
        takers = ", ".join(row.name for row in METHODS.values() if row.takes_edge_costs)
        raise OptionError(f"{method.name} needs a motion or an array; edge costs are for {takers}")
    return seen if (start, stop) == (0, seen.n_frames) else seen[start:stop]


def _refuse(told: Mapping[str, object], why: str) -> None:
    for name, value in told.items():
        if value is not None:
            raise OptionError(f"{name}= {why}")


def _shifted(found: Ladder, start: int, n_frames: int) -> Ladder:
    if (start, n_frames) == (0, found.n_frames):
        return found
    return replace(found, frames=found.frames + start, n_frames=n_frames)


def check_budget(keys: int | None, tolerance_mm: float | None, *, auto: bool) -> None:
    """At most one of the ways to say how many keys."""
    if sum([keys is not None, tolerance_mm is not None, bool(auto)]) > 1:
        raise OptionError("give one of keys=, tolerance_mm= and auto=True, not several")


def errors_of(motion: Source, options: Mapping[str, Any]) -> LinearError | None:
    """What measures straight in-betweens over the range of the options; None where there are no millimetres."""
    if not isinstance(motion, Motion) or motion.height <= 0:
        return None
    return LinearError(motion, *frame_range(options.get("frames"), motion.n_frames))


def within(
    motion: Source, method: str, tolerance_mm: float, max_keys: int | None, options: Mapping[str, Any]
) -> tuple[Ladder, Selection]:
    """Fewest keys within the tolerance, and the ladder that they stand on."""
    if not isinstance(motion, Motion):
        raise OptionError("tolerance_mm= needs a Motion: a plain array has no millimetres; see ladder(...).costs")
    errors = LinearError(motion, *frame_range(options.get("frames"), motion.n_frames))
    found = ladder(motion, method, max_keys=max_keys, **options)
    selection = within_tolerance(found, errors, tolerance_mm)
    if selection is None and max_keys is None and found.counts[-1] < errors.n_frames:
        found = ladder(motion, method, max_keys=errors.n_frames, **options)
        selection = within_tolerance(found, errors, tolerance_mm)
    if selection is None:
        most = int(found.counts[-1])
        raise OptionError(f"no selection of {found.counts[0]} to {most} keys stays within {tolerance_mm:g} mm; "
                          f"with {most} keys it is {errors.greatest_mm(found.at(most)):.4g} mm")  # fmt: skip
    return found, selection
