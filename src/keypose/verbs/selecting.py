"""Choosing keys: one interface to every method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from keypose.errors import OptionError
from keypose.features import JointNames
from keypose.methods import METHODS, Methods
from keypose.methods.farthest import FarthestSearch
from keypose.methods.refine import RefineTable
from keypose.methods.refine import refine_table as table_of
from keypose.model import Features, Ladder, Motion, Selection
from keypose.options import flag, whole
from keypose.verbs.budget import Errors, FittedError, LinearError, automatic, tolerance
from keypose.verbs.frames import FrameRange, frame_range, frames_of_options
from keypose.verbs.seeing import Look, Source, check_options, length, method_of, seen_by


def methods() -> Methods:
    """Every method: ``.name``, ``.summary``, ``.paper``, ``.options`` with defaults, ``.options_help``."""
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
    """Keys for every number of keys, by one method; ``methods()`` lists them with their options.

    ``motion`` is a Motion, a plain array (T, D) with ``fps``, Features, or for ``salient`` EdgeCosts. ``joints`` takes
    joint names, body parts or groups, ``weights`` a mapping of the same; both default to what the method was made for.
    ``frames`` is a range (start, stop) like a slice; keys are frames of the whole motion. ``pins`` (of
    methods that have it) takes frames, ``"contacts"``, or both.
    """
    row = method_of(method)
    check_options(row, options)
    n_frames = length(motion)
    start, stop = frame_range(frames, n_frames)
    if "pins" in options or "excluded" in options:
        options = {**options, **frames_of_options(motion, options, start, stop)}
    seen = seen_by(row, motion, Look(fps, features, joints, weights, smoothing_s), start, stop, options)
    found = row.ladder(seen, max_keys, **options)
    return found if n_frames == found.n_frames else replace(found, frames=found.frames + start, n_frames=n_frames)


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

    Give ``keys``, or ``tolerance_mm`` (the first of the method's selections, from few keys to many, whose in-betweens
    leave no joint farther off, on a figure of 1.7 m; they are straight, or with ``cost="inbetween"`` as its
    ``interpolation`` says), or ``auto=True`` (where the error curve says to
    stop); with none of them the method's own count.
    """
    check_budget(keys, tolerance_mm, auto=auto)
    if keys is not None:
        wanted = whole("keys", keys)
        if max_keys is not None and wanted > whole("max_keys", max_keys):
            raise OptionError(f"keys={wanted} is more than max_keys={max_keys}")
        if options.get("cost") == "inbetween":
            options.setdefault("top_only", True)
        return rung(ladder(motion, method, max_keys=max(wanted, 2), **options), wanted)
    if tolerance_mm is not None:
        return within(motion, method, tolerance(tolerance_mm), max_keys, options)[1]
    found = ladder(motion, method, max_keys=max_keys, **options)
    if auto:
        return automatic(found, errors_of(motion, options))
    if found.natural is None:
        own = ", ".join(name for name, row in METHODS.items() if row.has_own_count)
        why = "is above max_keys" if METHODS[method].has_own_count else f"does not exist (only {own} have one)"
        raise OptionError(f"{method}'s own number of keys {why}: give keys=, tolerance_mm= or auto=True")
    return found.at(found.natural)


def breakdowns(
    motion: Source, extremes: Selection | Sequence[int], *, max_keys: int | None = None, **options: Any
) -> Ladder:
    """Optimal further keys between given ones: extremes first, then breakdowns, seen with other joints or costs.

    The extremes (say, by ``joints="hips"``) stay keys; what is added is optimal for the ``joints``, ``weights`` and
    other options given here. The ladder starts with the extremes and the ends of the range.
    """
    for name in ("pins", "method"):
        if name in options:
            raise OptionError(f"breakdowns has no option {name!r}: the extremes are the pins, the method is salient")
    if isinstance(extremes, Selection) and extremes.n_frames != length(motion):
        raise OptionError(f"the extremes are of {extremes.n_frames} frames, the motion has {length(motion)}")
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
    """The most distinct poses one by one: ``.more(1)`` gives the next key in one pass over the frames."""
    row = METHODS["farthest"]
    check_options(row, options, Look._fields)
    look = Look(fps, features, joints, weights, smoothing_s)
    return FarthestSearch(cast(Features, seen_by(row, motion, look, 0, length(motion))))


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
    """The table of Matsuda & Kondo: keys by axis, overlapped and after reduction, for every joint."""
    row = METHODS["refine"]
    check_options(row, options, (*Look._fields, "frames"))
    start, stop = frame_range(frames, length(motion))
    look = Look(fps, features, joints, weights, smoothing_s)
    return table_of(cast(Features, seen_by(row, motion, look, start, stop)), **options)


def check_budget(keys: int | None, tolerance_mm: float | None, *, auto: bool) -> None:
    """At most one of the ways to say how many keys."""
    if sum([keys is not None, tolerance_mm is not None, flag("auto", auto)]) > 1:
        raise OptionError("give one of keys=, tolerance_mm= and auto=True, not several")


def rung(found: Ladder, keys: int) -> Selection:
    """The selection with so many keys; else an error that says what there is."""
    if keys in found.costs:
        return found.at(keys)
    least, most = int(found.counts[0]), int(found.counts[-1])
    if keys < least:
        why = "pins and gaps" if least > 2 else "the first and the last frame"
        need = f"{found.method} needs at least {least} here" + (f" for {why}" if least > 1 else "")
        raise OptionError(f"{keys} key{'s' * (keys != 1)}, but {need}")
    if keys > most:
        raise OptionError(f"{keys} keys, but {found.method} has selections of {least} to {most} keys here")
    return found.at(keys)


def errors_of(motion: Source, options: Mapping[str, Any]) -> Errors | None:
    """What measures in-betweens over the range of the options; None where there are no millimetres."""
    if not isinstance(motion, Motion) or motion.height <= 0:
        return None
    start, stop = frame_range(options.get("frames"), motion.n_frames)
    if options.get("cost") == "inbetween" and options.get("interpolation", "bezier") == "bezier":
        # Then the cost of a ladder is the largest error itself.
        is_cost = options.get("measure", "max") == "max" and options.get("objective", "max") == "max"
        counts_all = options.get("joints") is None and not options.get("weights")
        return FittedError(motion, start, stop, is_cost=is_cost and counts_all, loop=bool(options.get("loop")))
    return LinearError(motion, start, stop)


def within(
    motion: Source, method: str, tolerance_mm: float, max_keys: int | None, options: Mapping[str, Any]
) -> tuple[Ladder, Selection]:
    """Fewest keys within the tolerance, and the ladder that they stand on."""
    if not isinstance(motion, Motion):
        raise OptionError("tolerance_mm= needs a Motion: a plain array has no millimetres; see ladder(...).costs")
    errors = errors_of(motion, options)
    if errors is None:
        raise OptionError(f"{motion.name}: the figure has no height, so nothing can be stated in mm")
    found = ladder(motion, method, max_keys=max_keys, **options)
    selection = errors.first_within(found, tolerance_mm)
    if selection is None and max_keys is None and found.counts[-1] < errors.n_frames:
        usual, found = int(found.counts[-1]), _longest(motion, method, errors.n_frames, options, found)
        selection = errors.first_within(found, tolerance_mm, above=usual)
    if selection is None:
        most = int(found.counts[-1])
        raise OptionError(f"no selection of {found.counts[0]} to {most} keys stays within {tolerance_mm:g} mm; "
                          f"with {most} keys it is {errors.greatest_mm(found.at(most)):.4g} mm")  # fmt: skip
    return found, selection


def _longest(motion: Motion, method: str, n_frames: int, options: Mapping[str, Any], usual: Ladder) -> Ladder:
    """The ladder up to every frame, or the usual one where that is more than the method can do."""
    try:
        return ladder(motion, method, max_keys=n_frames, **options)
    except OptionError:
        return usual
