"""Turn dense motion into a few key poses with fitted curves, which an animator can edit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from keypose.api.joint_keys import unbake_per_joint
from keypose.api.key_count import MAX_CLIFF_FACTOR, auto_tolerance, cliffs_above
from keypose.api.method_input import (
    FeatureOptions,
    build_curve_options,
    check_options,
    find_method,
    parse_frame_options,
    put_keys_at_holds,
    try_gaps,
)
from keypose.api.select import (
    EXTREMES_SLACK,
    ExtremesPreference,
    build_extremes_search,
    check_extremes_first,
    check_key_count_options,
    check_tolerance_mm,
    ladder,
    select,
    selection_with_keys,
)
from keypose.arrays import Ints
from keypose.curves.capture_faults import remove_flips, warn_of_spikes
from keypose.curves.cubic_fit import compute_inbetween_costs
from keypose.curves.keyed_motion import CurveFitter, CurveOptions, add_residual
from keypose.errors import Hint, OptionError, format_count
from keypose.extremes import find_holds
from keypose.features import check_weights
from keypose.methods import METHODS
from keypose.methods.base import check_ladder_size
from keypose.methods.salient import PreferredSearch, default_gap_frames, default_max_keys
from keypose.model import KeyedMotion, Ladder, Motion, Selection, parse_frames
from keypose.options import (
    Interpolation,
    LeadingPart,
    Measure,
    MethodOptions,
    Objective,
    Per,
    RotationKind,
    UnbakeOptions,
    check_option_int,
)
from keypose.validation import check_bool, check_choice

METHOD = "salient"
UNSUPPORTED_OPTIONS = {  # options of ``select`` that have another meaning here
    "frames": "; for a part of a motion unbake m[100:400]",
    "cost": ": keys are chosen by the error of the curves that come out",
    "features": ": keys are chosen by the error of the curves that come out",
    "smoothing_s": ": keys are chosen by the error of the curves that come out",
    "fps": "; for another rate unbake m.at_fps(30)",
}
# Factor by which polish may reduce the largest error when fewer keys are tried; 1.1 to 1.2 is typical.
POLISH_GAIN = 1.3
# Motions that are longer than two sections are searched section by section, with a key between two sections.
SECTION_FRAMES = 3000
SECTION_KEYS_FACTOR = 1.5  # keys of a section, at most, relative to its share of the frames
SECTION_OPTIONS = ("min_gap_frames", "limit_mm", "threads")
# Factor of the error up to which ``auto`` searches, so that the ladder has the numbers of keys before that of a cliff.
CLIFF_MARGIN = 1.25
# Of selections with keys at extremes: how many are tried, and the factor by which polish may reduce their errors more.
MAX_EXTREMES_TRIES, EXTREMES_POLISH_GAIN = 12, 1.15


def unbake(
    motion: Motion,
    selection: Selection | Sequence[int] | None = None,
    *,
    keys: int | None = None,
    tolerance_mm: float | None = None,
    auto: bool = False,
    method: str = METHOD,
    per: Per = "pose",
    interpolation: Interpolation | None = None,
    rotation: RotationKind | None = None,
    shared_tangents: bool = False,
    jump_penalty: float = 0.0,
    polish: bool | None = None,
    polish_weights: Mapping[str, float] | None = None,
    smooth: bool | None = None,
    residual: bool = True,
    extremes: Selection | Sequence[int] | None = None,
    extremes_first: bool | None = None,
    leading: LeadingPart | None = None,
    max_keys: int | None = None,
    threads: int | None = None,
    **options: Any,
) -> KeyedMotion:
    """Return a few key poses with curves between them close to ``motion``, and the residual, the difference of
    ``motion`` from them.

    The keys are a ``selection`` by any method or plain frames, or only their number is set: by ``keys``,
    ``tolerance_mm`` (the fewest keys with which no joint of the curves is farther from the capture, on a figure of 1.7
    m), or ``auto=True`` (the default: the fewest within 1 % of the height, or up to a quarter more at a cliff of the
    error curve). They are then selected by the error of the fitted curves; ``options`` as for
    ``select(..., "salient", cost="inbetween")``: pins, excluded, joints, weights, min_gap_frames, max_gap_frames, loop,
    objective, measure. Of a number of ``keys`` some are at the first and last frame of holds, so that the curves stay
    still there, where the search then finds errors at most 1.3 times as large. Another ``method`` selects them as
    ``select`` does, with its own ``options``. Curves omit flips of the capture, unless there is a ``tolerance_mm``. A
    FormatWarning names keys that are spikes of the capture, which ``repair_capture`` removes.

    ``per="joint"`` gives every joint keys of its own: ``keys`` of each, the method's own number (``refine``,
    ``saliency``), or with ``salient`` the fewest within the tolerance. ``options`` are those of the method.

    ``interpolation``: "bezier" (the default) fits cubics to all frames, "natural" is the natural spline through the
    keys, "linear" interpolates linearly. ``rotation``: quaternions (the default), or "euler" angles in each joint's
    best order. Keys per joint by a method that sees Euler angles, any but ``salient``, have natural splines of the
    Euler angles of the file by default. ``shared_tangents``
    gives a key the same tangent on both sides; ``jump_penalty`` (0.01 is strong) reduces their difference. ``polish``
    adjusts tangents to bring the joints closest to their captured positions, with weight 3 for feet or
    ``polish_weights``; it is the default for Bezier curves of quaternions with free tangents. ``smooth``: joints
    accelerate at keys at most 1.2 times as much as in the capture, on average, unless a tolerance prevents it; the
    default for polished curves from 93 % of the frames removed on, where that costs less than 15 % in mean error and
    nothing in the largest error, and rotations have at most twice the mean error. ``extremes`` are keys marked as
    such, the others are breakdowns; by default those at which a part of the body is at the end of its travel.
    ``extremes_first`` (the default with ``auto``): of the selections with as many keys whose curves have errors up to
    5 % larger, take the one with most keys at extremes; with ``leading``, at the ends of travel of this part first.
    ``max_keys`` is the largest number of keys, and ``threads`` the number of processor cores.
    """
    if not isinstance(motion, Motion):
        raise OptionError(type(motion).__name__, expected="a Motion, as kp.load gives")
    check_key_count_options(keys, tolerance_mm, auto=auto)
    is_per_joint = check_choice("per", per, get_args(Per)) == "joint"
    sees_angles = is_per_joint and find_method(method).name != METHOD
    curve_options = build_curve_options(
        motion.skeleton,
        ("natural" if sees_angles else "bezier") if interpolation is None else interpolation,
        ("euler" if sees_angles else "quaternion") if rotation is None else rotation,
        shared_tangents,
        jump_penalty,
        False if is_per_joint and polish is None else polish,
        polish_weights,
        threads,
        smooth,
    )
    method = find_method(method).name
    first = None if extremes_first is None else check_bool("extremes_first", extremes_first)
    has_key_options = bool(first or leading is not None or options or auto or is_per_joint or method != METHOD)
    is_count_given = any(each is not None for each in (max_keys, keys, tolerance_mm))
    if selection is not None and (has_key_options or is_count_given):
        raise OptionError(
            "a selection already contains the keys: give it without keys=, tolerance_mm=, auto= and other options"
        )
    # A tolerance applies to every frame of the capture.
    source = motion if tolerance_mm is not None else remove_flips(motion)
    if is_per_joint:
        _check_joint_options(method, auto, tolerance_mm, curve_options, first, leading, max_keys)
        tolerance = None if tolerance_mm is None else check_tolerance_mm(tolerance_mm)
        keyed = unbake_per_joint(source, method, curve_options, keys, tolerance, options)
        warn_of_spikes(source, keyed.keys)
    elif selection is not None or method != METHOD:
        if selection is None:
            _check_tolerance_method(tolerance_mm, method)
            is_automatic = auto or (keys is None and not METHODS[method].has_own_count)
            selection = select(
                motion,
                method,
                keys=keys,
                auto=is_automatic,
                extremes_first=first,
                leading=leading,
                max_keys=max_keys,
                **options,
            )
        keyed = CurveFitter(source, curve_options).fit(parse_frames(selection, motion.n_frames, "selection"))
    else:
        keyed = _unbake_optimally(source, curve_options, keys, tolerance_mm, first, leading, max_keys, options)
        warn_of_spikes(source, keyed.keys)
    if not is_per_joint and curve_options.may_smooth(keyed.n_keys, motion.n_frames):
        limit_mm = tolerance_mm if selection is None else None
        keyed = CurveFitter(source, curve_options).smooth(keyed, limit_mm)
    if extremes is not None:
        keyed = replace(keyed, extremes=_mark_extremes(keyed.keys, parse_frames(extremes, motion.n_frames, "extremes")))
    return add_residual(keyed, motion) if check_bool("residual", residual) else keyed


def _check_joint_options(
    method: str,
    auto: bool,
    tolerance_mm: float | None,
    curve_options: CurveOptions,
    extremes_first: bool | None,
    leading: LeadingPart | None,
    max_keys: int | None,
) -> None:
    """Raise OptionError for options that keys per joint do not have."""
    if method != METHOD:
        _check_tolerance_method(tolerance_mm, method)
    if auto and method != METHOD:
        raise OptionError(f"{method} decides its number of keys itself", option="auto", value=True)
    for name, is_given in (
        ("extremes_first", extremes_first is True),
        ("leading", leading is not None),
        ("max_keys", max_keys is not None),
        ("polish", curve_options.polish),
        ("smooth", curve_options.smooth is True),
    ):
        if is_given:
            raise OptionError("is for keys that all joints share", option=name, code="conflicting_options")


def _check_tolerance_method(tolerance_mm: float | None, method: str) -> None:
    """Raise OptionError for a tolerance with a method that does not select keys by the error of curves."""
    if tolerance_mm is not None:
        raise OptionError(
            f"has no effect: {method} does not select keys by the error of curves",
            option="tolerance_mm",
            value=tolerance_mm,
            expected=f"a number of keys with it, or the method {METHOD}",
        )


def _unbake_optimally(
    source: Motion,
    curve_options: CurveOptions,
    keys: int | None,
    tolerance_mm: float | None,
    extremes_first: bool | None,
    leading: LeadingPart | None,
    max_keys: int | None,
    options: Mapping[str, Any],
) -> KeyedMotion:
    """Return the keyed motion with keys that are selected by the error of its curves."""
    is_auto = keys is None and tolerance_mm is None
    search_options = {**options, "loop": False}
    preference = check_extremes_first(extremes_first, leading, source, METHOD, search_options, auto=is_auto)
    if tolerance_mm is not None:
        keyed = _unbake_within(source, curve_options, check_tolerance_mm(tolerance_mm), max_keys, options)
    elif keys is not None:
        keyed = _unbake_to_count(source, curve_options, keys, max_keys, options)
    else:
        keyed = _unbake_automatically(source, curve_options, max_keys, options)
    if preference is None:
        return keyed
    return _put_extremes_first(
        source, curve_options, keyed, options, preference, auto_tolerance(source) if is_auto else tolerance_mm
    )


def _mark_extremes(keys: Ints, extremes: Ints) -> Any:
    missing = np.setdiff1d(extremes, keys)
    if len(missing):
        raise OptionError(f"frame {missing[0]} is no key", option="extremes", hint=f"the keys are {keys.tolist()[:20]}")
    return np.isin(keys, extremes)


def _build_search_options(motion: Motion, curve_options: CurveOptions, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the search for keys: its cost is that of linear spans for linear curves, else of fitted
    ones."""
    for name, instead in UNSUPPORTED_OPTIONS.items():
        if name in options:
            raise OptionError(f"unbake has no option {name!r}{instead}", code="unknown_option", value=name)
    search_options = {
        **options,
        "cost": "inbetween",
        "interpolation": curve_options.search_interpolation,
        "threads": curve_options.threads,
    }
    # A file begins and ends with a key, which is the seam of the loop here.
    if check_bool("loop", options.get("loop", False)):
        pins = parse_frame_options(motion, options, 0, motion.n_frames).get("pins", ())
        search_options["pins"] = (0, *pins)
    return search_options


def _search_ladder(
    motion: Motion, curve_options: CurveOptions, max_keys: int | None, options: Mapping[str, Any]
) -> Ladder:
    search = _build_search_options(motion, curve_options, options)
    if has_sections(motion, max_keys, search):
        with suppress(OptionError):  # too many constraints for a section
            return search_sections(motion, max_keys, search)
    if not check_bool("loop", options.get("loop", False)):
        return ladder(motion, METHOD, max_keys=max_keys, **search)
    max_keys_without_seam = None if max_keys is None else max(1, max_keys - 1)  # the seam is a key on both sides
    return _add_seam(ladder(motion, METHOD, max_keys=max_keys_without_seam, **search))


def has_sections(motion: Motion, max_keys: int | None, search: Mapping[str, Any]) -> bool:
    """Return whether keys are searched section by section: the time of a search grows with the square of frames."""
    if motion.n_frames < 2 * SECTION_FRAMES or any(
        check_bool(name, search.get(name, False)) for name in ("loop", "top_only")
    ):
        return False
    measure = check_choice("measure", search.get("measure", "max"), get_args(Measure))
    objective = check_choice("objective", search.get("objective", "max"), get_args(Objective))
    return measure == objective == "max" and _max_gap_frames(motion, max_keys, search) <= SECTION_FRAMES // 4


def _max_gap_frames(motion: Motion, max_keys: int | None, search: Mapping[str, Any]) -> int:
    gap = search.get("max_gap_frames")
    if gap is None:
        return default_gap_frames(motion.n_frames, motion.fps, max_keys)
    return check_option_int(MethodOptions, "max_gap_frames", gap)


def search_sections(motion: Motion, max_keys: int | None, search: Mapping[str, Any]) -> Ladder:
    """Return a ladder that is optimal among those with keys at the cuts between sections of the motion.

    ``search`` are options of ``ladder``, with ``cost="inbetween"``. Raise OptionError if there is no selection of at
    most ``max_keys`` keys.
    """
    n_frames = motion.n_frames
    check_options(METHODS[METHOD], {name: search[name] for name in search if name not in FeatureOptions._fields})
    frame_options = parse_frame_options(motion, search, 0, n_frames)
    pins, excluded = (np.array(frame_options.get(name, ()), np.int32) for name in ("pins", "excluded"))
    cost_options = {name: search[name] for name in ("interpolation", "measure") if name in search}
    joints = "all" if search.get("joints") is None else search["joints"]
    costs = compute_inbetween_costs(motion, joints, search.get("weights"), **cost_options)
    gap = _max_gap_frames(motion, max_keys, search)
    options = {name: search[name] for name in SECTION_OPTIONS if name in search} | {"max_gap_frames": gap}
    min_keys = len(pins) + -(-n_frames // gap)
    top = default_max_keys(n_frames, min_keys) if max_keys is None else max_keys
    check_ladder_size(top)
    cuts = [0, *_choose_cuts(motion, pins, excluded), n_frames - 1]
    ladders = []
    for first, last in pairwise(cuts):
        section_frames = {
            name: (frames[(frames >= first) & (frames <= last)] - first).tolist()
            for name, frames in (("pins", pins), ("excluded", excluded))
        }
        n_section = last - first + 1
        share = math.ceil(SECTION_KEYS_FACTOR * top * n_section / n_frames)
        section_min_keys = len(section_frames["pins"]) + -(-n_section // gap)
        section_top = min(max(share, default_max_keys(n_section, section_min_keys)), top, n_section)
        ladders.append(ladder(costs[first : last + 1], METHOD, max_keys=section_top, **options, **section_frames))
    return _join_ladders(ladders, cuts, top)


def _choose_cuts(motion: Motion, pins: Ints, excluded: Ints) -> list[int]:
    """Return the frames between sections: pins, else the stillest frames of two seconds, where keys are likely."""
    n_frames, reach = motion.n_frames, min(round(motion.fps), SECTION_FRAMES // 4)
    cuts = []
    for middle in np.linspace(0, n_frames - 1, round(n_frames / SECTION_FRAMES) + 1).astype(int).tolist()[1:-1]:
        near = np.arange(middle - reach, middle + reach + 1)
        pinned = near[np.isin(near, pins)]
        candidates = pinned if len(pinned) else near[~np.isin(near, excluded)]
        if len(candidates):
            world = motion[middle - reach - 1 : middle + reach + 2].world_positions()
            speeds = np.linalg.norm(world[2:] - world[:-2], axis=-1).mean(axis=-1)
            cuts.append(int(candidates[speeds[candidates - near[0]].argmin()]))
    return cuts


def _join_ladders(ladders: Sequence[Ladder], cuts: Sequence[int], max_keys: int) -> Ladder:
    """Return the ladder of consecutive sections: each further key goes to the section with the highest cost."""
    section_paths = [
        [frames[:-1] + np.int32(first) for frames in np.split(each.frames, np.cumsum(each.counts)[:-1])]
        for each, first in zip(ladders, cuts[:-1], strict=True)
    ]  # without their last keys, which are the first ones of the next sections
    positions = [0] * len(ladders)
    counts: list[int] = []
    costs: list[float] = []
    paths: list[NDArray[np.integer[Any]]] = []
    while True:
        section_costs = [float(each.cost_values[at]) for each, at in zip(ladders, positions, strict=True)]
        path = [frames[at] for frames, at in zip(section_paths, positions, strict=True)]
        n_keys = sum(map(len, path)) + 1
        if n_keys > max_keys:
            break
        counts.append(n_keys)
        costs.append(max(section_costs))
        paths += [*path, np.array(cuts[-1:], np.int32)]
        worst = int(np.argmax(section_costs))
        positions[worst] += 1
        if positions[worst] == len(ladders[worst].counts):
            break
    if not counts:
        raise OptionError(f"no selection with keys at {cuts}", code="no_selection", value=max_keys)
    return Ladder.from_paths(METHOD, cuts[-1] + 1, counts, np.concatenate(paths), costs)


def _add_seam(key_ladder: Ladder) -> Ladder:
    """Return the ladder of a loop with its last frame, which repeats the first pose, as a key too."""
    paths = [np.append(key_ladder.at(n).frames, key_ladder.n_frames - 1) for n in key_ladder.counts.tolist()]
    return Ladder.from_paths(
        METHOD, key_ladder.n_frames, key_ladder.counts + 1, np.concatenate(paths), key_ladder.cost_values
    )


def _unbake_to_count(
    motion: Motion, curve_options: CurveOptions, keys: int, max_keys: int | None, options: Mapping[str, Any]
) -> KeyedMotion:
    """Return the keyed motion with a number of keys."""
    max_count = _check_max_keys(max_keys)
    n_keys = check_option_int(UnbakeOptions, "keys", keys)
    if n_keys > motion.n_frames:
        raise OptionError(
            f"is too many: {motion.name!r} has only {format_count(motion.n_frames, 'frame')}",
            option="keys",
            value=n_keys,
        )
    if max_count is not None and n_keys > max_count:
        raise OptionError(
            option="keys",
            value=n_keys,
            expected=Hint(f"at most max_keys={max_count}", f"at most --max-keys {max_count}"),
        )

    def select_keys(gap_options: Mapping[str, Any]) -> Ints:
        key_ladder = _search_top(motion, curve_options, n_keys, gap_options)
        if not check_bool("loop", options.get("loop", False)):
            key_ladder = put_keys_at_holds(
                motion, key_ladder, gap_options, lambda pinned: _search_top(motion, curve_options, n_keys, pinned)
            )
        return selection_with_keys(key_ladder, n_keys).frames

    *_, frames = try_gaps(motion, n_keys, options, select_keys, lambda frames: frames)
    return CurveFitter(motion, curve_options).fit(frames)


def _search_top(motion: Motion, curve_options: CurveOptions, keys: int, options: Mapping[str, Any]) -> Ladder:
    """Return the ladder without the selections that cost more than its last one, of at most ``keys`` keys."""
    return _search_ladder(motion, curve_options, max(keys, 2), {**options, "top_only": True})


def _check_max_keys(max_keys: int | None) -> int | None:
    return None if max_keys is None else check_option_int(UnbakeOptions, "max_keys", max_keys)


def _unbake_within(
    motion: Motion,
    curve_options: CurveOptions,
    tolerance_mm: float,
    max_keys: int | None,
    options: Mapping[str, Any],
) -> KeyedMotion:
    """Return the keyed motion with the fewest keys such that its final curves are within the tolerance."""
    if motion.height <= 0:
        raise OptionError(
            "the figure has no height, so nothing can be stated in mm",
            code="no_height",
            subject=motion.name,
            hint=Hint("give keys=", "give --keys"),
        )
    return _ToleranceSearch(motion, curve_options, tolerance_mm, _check_max_keys(max_keys)).run(options).keyed


def _unbake_automatically(
    motion: Motion, curve_options: CurveOptions, max_keys: int | None, options: Mapping[str, Any]
) -> KeyedMotion:
    """Return the keyed motion with the fewest keys within 1 % of the height, or with up to a quarter more at a cliff.

    If the options leave no such selection, it has the most keys that they permit.
    """
    max_count = _check_max_keys(max_keys)
    search = _ToleranceSearch(motion, curve_options, auto_tolerance(motion), max_count, CLIFF_MARGIN)
    try:
        result = search.run(options)
    except OptionError as error:
        if error.code != "no_selection":
            raise
        return _unbake_to_top(motion, curve_options, max_count or motion.n_frames, options)
    key_ladder = search.extend_ladder(result)
    at_cliffs = (search.fit(key_ladder.at(keys)) for keys in cliffs_above(key_ladder, result.keyed.n_keys))
    return next((keyed for keyed in at_cliffs if keyed is not None), result.keyed)


def _unbake_to_top(
    motion: Motion, curve_options: CurveOptions, max_keys: int, options: Mapping[str, Any]
) -> KeyedMotion:
    """Return the keyed motion with the most keys that the options permit, up to ``max_keys``."""

    def select_keys(gap_options: Mapping[str, Any]) -> Ints:
        key_ladder = _search_top(motion, curve_options, max_keys, gap_options)
        return key_ladder.at(int(key_ladder.counts[-1])).frames

    *_, frames = try_gaps(motion, max_keys, options, select_keys, lambda frames: frames)
    return CurveFitter(motion, curve_options).fit(frames)


class _SearchResult(NamedTuple):
    """The fewest keys within a tolerance, their ladder, and the options of its search."""

    keyed: KeyedMotion
    ladder: Ladder
    options: Mapping[str, Any]


class _ToleranceSearch:
    """Search for the fewest keys such that the final curves are within a tolerance.

    The ladder that it finds them in goes up to costs of ``margin`` times the largest that may be within the tolerance.
    """

    def __init__(
        self,
        motion: Motion,
        curve_options: CurveOptions,
        tolerance: float,
        max_keys: int | None,
        margin: float = 1.0,
    ) -> None:
        self._motion, self._curve_options = motion, curve_options
        self._tolerance, self._max_keys, self._margin = tolerance, max_keys, margin
        self._fitter = CurveFitter(motion, curve_options)

    def run(self, options: Mapping[str, Any]) -> _SearchResult:
        """Return the fewest keys; raise an OptionError if no selection is within the tolerance."""
        results = try_gaps(self._motion, self._max_keys, options, self._search_gap, lambda found: found.keyed.keys)
        return min(results, key=lambda found: found.keyed.n_keys)

    def extend_ladder(self, result: _SearchResult) -> Ladder:
        """Return the ladder of ``result``, or one with more numbers of keys if cliffs above it depend on them."""
        n_keys, counts = result.keyed.n_keys, result.ladder.counts
        last = min(self._max_keys or self._motion.n_frames, int(MAX_CLIFF_FACTOR * n_keys) + 2)
        if counts[0] <= max(2, n_keys - 1) and counts[-1] >= last:
            return result.ladder
        return _search_ladder(self._motion, self._curve_options, max(last, int(counts[-1])), result.options)

    def fit(self, selection: Selection) -> KeyedMotion | None:
        """Return the curves through a selection if they are within the tolerance."""
        return self._fitter.fit_within(selection.frames, self._tolerance)

    def _search_gap(self, options: Mapping[str, Any]) -> _SearchResult:
        # The cost is the error of the spans before polish, which reduces it somewhat.
        is_error = self._curve_options.is_search_curve and _is_max_error(options)
        gain = POLISH_GAIN if self._curve_options.polish else 1 + 1e-9
        limit = self._tolerance * gain if is_error else np.inf
        above, key_ladder = 0, None
        for top in (self._max_keys,) if self._max_keys is not None else (None, self._motion.n_frames):
            key_ladder = self._search_ladder_up_to(top, options, limit * self._margin)
            for keys in key_ladder.counts[(key_ladder.counts > above) & (key_ladder.cost_values <= limit)].tolist():
                keyed = self.fit(key_ladder.at(keys))
                if keyed is not None:
                    return _SearchResult(keyed, key_ladder, options)
            above = int(key_ladder.counts[-1])
            if above == self._motion.n_frames:
                break
        assert key_ladder is not None
        min_error = self._fitter.max_error_mm(self._fitter.fit(key_ladder.at(above).frames))
        raise OptionError(
            f"no keys stay within {self._tolerance:g} mm",
            code="no_selection",
            value=self._tolerance,
            hint=f"with {format_count(above, 'key')} the largest error is {min_error:.4g} mm",
        )

    def _search_ladder_up_to(self, max_keys: int | None, options: Mapping[str, Any], limit: float) -> Ladder:
        """Return the ladder up to a cost of ``limit``; the whole ladder if every cost is higher."""
        if np.isfinite(limit):
            try:
                return _search_ladder(self._motion, self._curve_options, max_keys, {**options, "limit_mm": limit})
            except OptionError:  # there is no such cost, or another error, which the whole ladder will raise
                pass
        return _search_ladder(self._motion, self._curve_options, max_keys, options)


def _put_extremes_first(
    motion: Motion,
    curve_options: CurveOptions,
    keyed: KeyedMotion,
    options: Mapping[str, Any],
    preference: ExtremesPreference,
    tolerance_mm: float | None,
) -> KeyedMotion:
    """Return the keyed motion with as many keys, more of them at extremes, and errors up to 5 % larger or within the
    tolerance."""
    gap = max(int(np.diff(keyed.keys).max(initial=1)), default_gap_frames(motion.n_frames, motion.fps, keyed.n_keys))
    search_options = _build_search_options(motion, curve_options, {"max_gap_frames": gap, **options})
    frame_options = parse_frame_options(motion, search_options, 0, motion.n_frames)
    at_holds = np.intersect1d(keyed.keys, np.ravel(find_holds(motion)).astype(np.int32))
    frame_options["pins"] = tuple(sorted({*frame_options.get("pins", ()), *at_holds.tolist()}))
    slack = EXTREMES_SLACK * (EXTREMES_POLISH_GAIN if curve_options.polish else 1.0)
    fitter = CurveFitter(motion, curve_options)
    error_mm = fitter.max_error_mm(keyed)
    limit_mm = max(error_mm, min(EXTREMES_SLACK * error_mm, np.inf if tolerance_mm is None else tolerance_mm))
    moved = []
    for keys in _split_keys(keyed.keys) if curve_options.is_search_curve else [keyed.keys]:
        first, last = int(keys[0]), int(keys[-1])
        part_frames = {
            name: tuple(frame - first for frame in frames if first <= frame <= last)
            for name, frames in frame_options.items()
        }
        part = motion if last - first == motion.n_frames - 1 else motion[first : last + 1]
        search = build_extremes_search(part, keys - first, search_options | part_frames, preference, slack)
        moved.append(keys if search is None else _find_within(search, fitter, keys, limit_mm))
    moved_keys = np.unique(np.concatenate(moved)).astype(np.int32)
    return keyed if np.array_equal(moved_keys, keyed.keys) else fitter.fit_within(moved_keys, limit_mm) or keyed


def _split_keys(keys: Ints) -> list[Ints]:
    """Return the keys of each section of a long motion; a section starts with the last key of the one before it."""
    n_sections = max(1, round(int(keys[-1] - keys[0]) / SECTION_FRAMES))
    ends = np.linspace(keys[0], keys[-1], n_sections + 1)[1:-1]
    cuts = np.unique([0, *np.searchsorted(keys, ends).tolist(), len(keys) - 1])
    return [keys[first : last + 1] for first, last in pairwise(cuts.tolist())] if len(keys) > 1 else [keys]


def _find_within(search: PreferredSearch, fitter: CurveFitter, keys: Ints, limit_mm: float) -> Ints:
    """Return the best keys that ``search`` finds whose curves are within the limit; ``keys`` if there are none."""
    first = int(keys[0])
    accepted = set(pairwise((keys - first).tolist()))
    for left in reversed(range(MAX_EXTREMES_TRIES)):
        if not left:  # only spans that need no polish, or that have been polished
            search.limit_costs(limit_mm, accepted)
        found = search.find()
        if found is None:
            break
        beyond = [(start - first, stop - first) for start, stop in fitter.spans_beyond(found + first, limit_mm)]
        if not beyond:
            return found + first
        accepted |= set(pairwise(found.tolist())).difference(beyond)
        for span in beyond:  # polish reduces their errors less than those of others
            search.forbid(*span)
    return keys


def _is_max_error(options: Mapping[str, Any]) -> bool:
    """Return whether the cost of a ladder is the largest error of all joints."""
    measure = check_choice("measure", options.get("measure", "max"), get_args(Measure))
    objective = check_choice("objective", options.get("objective", "max"), get_args(Objective))
    counts_all = options.get("joints") is None and not check_weights(options.get("weights"))
    return measure == objective == "max" and counts_all
