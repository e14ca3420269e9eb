"""Convert a motion and options (joints, ranges, pins, contacts, gaps) to the input of a method: features or edge
costs; check options of curves."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Ints, runs
from keypose.curves.cubic_fit import ROTATION_KINDS, compute_inbetween_costs
from keypose.curves.keyed_motion import INTERPOLATIONS, MAX_POLISHED_CHAIN, CurveOptions
from keypose.errors import OptionError
from keypose.extremes import find_extremes, find_holds
from keypose.features import JointNames, body_root, build_array_features, compute_features
from keypose.kinematics import heights_above
from keypose.methods import METHODS, Method
from keypose.methods.salient import MAX_THREADS, available_cores, default_gap_frames
from keypose.model import EdgeCosts, Features, InbetweenCosts, Ladder, Motion, Skeleton
from keypose.options import (
    PIN_WORDS,
    Interpolation,
    MethodOptions,
    RotationKind,
    SelectOptions,
    UnbakeOptions,
    check_option_int,
    check_option_number,
)
from keypose.validation import check_bool, check_choice, check_int

Source: TypeAlias = Motion | Features | EdgeCosts | InbetweenCosts | ArrayLike

COMMON_OPTIONS = {
    "max_keys": "go up to so many keys",
    "fps": "frames per second of a plain array",
    "features": "what the method sees: world, root_matched, unmatched, parent_relative or euler",
    "joints": "joints, body parts or groups that count",
    "weights": "weight of joints, body parts or groups on the squared distance, {'hands': 3}",
    "smoothing_s": "sigma in seconds of a Gaussian filter before anything else",
    "frames": "only these frames, (start, stop)",
}
KEY_COUNT_OPTIONS = ("keys", "tolerance_mm", "auto")  # of select
FrameRange: TypeAlias = tuple[int | None, int | None] | slice | None
MIN_FLIGHT_S = 0.1
HOLD_SLACK = 1.3  # factor by which errors may grow for keys at the ends of holds
MAX_DEFAULT_GAP_S = 4.0  # between keys of a long hold, without ``max_gap_frames``

Result = TypeVar("Result")


class FeatureOptions(NamedTuple):
    """How features are computed from a motion; None: the default of the method."""

    fps: float | None = None
    features: str | None = None
    joints: JointNames | None = None
    weights: Mapping[str, float] | None = None
    smoothing_s: float = 0.0


def find_method(name: str) -> Method:
    """Return the method with this name."""
    if not isinstance(name, str) or name not in METHODS:
        raise OptionError(option="method", value=name, hint=_suggest(name if isinstance(name, str) else "", METHODS))
    return METHODS[name]


def check_options(
    method: Method, options: Mapping[str, Any], common_options: Iterable[str] = (*COMMON_OPTIONS, *KEY_COUNT_OPTIONS)
) -> None:
    """Raise an OptionError for options that the method does not have; the message lists those it has."""
    for name in options:
        if name not in method.options:
            elsewhere = [other.name for other in METHODS.values() if name in other.options]
            hint = f" (an option of {', '.join(elsewhere)})" if elsewhere else ""
            names = (*method.options, *common_options)
            raise OptionError(
                f"{method.name} has no option {name!r}{hint}",
                code="unknown_option",
                value=name,
                hint=_suggest(name, names),
            )


def _suggest(name: str, names: Iterable[str]) -> str:
    all_names = tuple(names)
    near = difflib.get_close_matches(name, all_names, n=1)
    return (f"did you mean {near[0]!r}? " if near else "") + f"known: {', '.join(all_names)}"


def count_frames(source: Source) -> int:
    """Return the number of frames."""
    if isinstance(source, str | bytes) or not hasattr(source, "__len__"):
        description = f"{source!r}" if isinstance(source, str | bytes) else type(source).__name__
        raise OptionError(f"{description}", expected="a Motion, as kp.load gives, or an array of frames and columns")
    try:
        return len(source)  # type: ignore[arg-type]
    except TypeError:  # a zero-dimensional array
        raise OptionError("a single number", expected="a Motion or an array of frames and columns") from None


def measures_inbetweens(options: Mapping[str, Any]) -> bool:
    """Return whether options of a method, not checked yet, make the error of the in-betweens the cost of a span."""
    cost = options.get("cost")
    return isinstance(cost, str) and cost == "inbetween"


def measures_fitted_inbetweens(options: Mapping[str, Any]) -> bool:
    """Return whether the cost of a span is the error of fitted curves, not of straight in-betweens."""
    return measures_inbetweens(options) and bool(options.get("interpolation", "bezier") == "bezier")


def build_method_input(
    method: Method,
    source: Source,
    feature_options: FeatureOptions,
    start: int,
    stop: int,
    options: Mapping[str, Any] | None = None,
) -> Features | EdgeCosts | InbetweenCosts:
    """Return the features, or edge costs if the method's options need them, of frames ``start`` to ``stop``."""
    method_input: Features | EdgeCosts | InbetweenCosts
    if isinstance(source, Motion) and measures_inbetweens(options or {}):
        has_smoothing = check_option_number(SelectOptions, "smoothing_s", feature_options.smoothing_s) > 0
        unused_options = {
            "fps": feature_options.fps,
            "features": feature_options.features,
            "smoothing_s": has_smoothing or None,
        }
        _reject_options(unused_options, "is not for cost='inbetween', which measures the motion itself")
        names = method.joints if feature_options.joints is None else feature_options.joints
        cost_options = {name: value for name, value in (options or {}).items() if name in ("interpolation", "measure")}
        method_input = compute_inbetween_costs(source, names, feature_options.weights, **cost_options)
    elif isinstance(source, Motion):
        _reject_options(
            {"fps": feature_options.fps}, "is for plain arrays: a Motion knows its own (for another rate use m.at_fps)"
        )
        names = method.joints if feature_options.joints is None else feature_options.joints
        feature_kind = method.feature_kind if feature_options.features is None else feature_options.features
        method_input = compute_features(
            source, feature_kind, names, feature_options.weights, feature_options.smoothing_s
        )
    else:
        motion_options = {
            "features": feature_options.features,
            "joints": feature_options.joints,
            "weights": feature_options.weights,
        }
        _reject_options(motion_options, "needs a Motion, which has joints")
        if isinstance(source, Features | EdgeCosts | InbetweenCosts):
            has_smoothing = check_option_number(SelectOptions, "smoothing_s", feature_options.smoothing_s) > 0
            _reject_options(
                {"fps": feature_options.fps, "smoothing_s": has_smoothing or None}, "is for motions and plain arrays"
            )
            method_input = source
        else:
            if feature_options.fps is None and any(option.endswith("_s") for option in method.options):
                raise OptionError(
                    f"{method.name} measures time in seconds",
                    option="fps",
                    expected="frames per second with a plain array",
                )
            method_input = build_array_features(source, feature_options.fps, feature_options.smoothing_s)
    if isinstance(method_input, EdgeCosts | InbetweenCosts) and not method.takes_edge_costs:
        names = ", ".join(row.name for row in METHODS.values() if row.takes_edge_costs)
        raise OptionError(f"{method.name} needs a motion or an array", hint=f"edge costs are for {names}")
    return method_input if (start, stop) == (0, method_input.n_frames) else method_input[start:stop]


def _reject_options(options: Mapping[str, object], reason: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise OptionError(reason, option=name)


def parse_frame_range(frames: FrameRange, n_frames: int) -> tuple[int, int]:
    """Return start and stop of a range given as in a slice."""
    if frames is None:
        return 0, n_frames
    pair = (frames.start, frames.stop) if isinstance(frames, slice) and frames.step in (None, 1) else frames
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise OptionError(option="frames", value=frames, expected="a range (start, stop)")
    ends = [None if end is None else check_int("frames", end) for end in pair]
    first, last, _ = slice(*ends).indices(n_frames)
    if first >= last:
        raise OptionError(
            f"frames {pair[0]}:{pair[1]} hold no frame", option="frames", expected=f"some of 0 to {n_frames - 1}"
        )
    return first, last


def parse_frame_options(
    motion: object, options: Mapping[str, Any], start: int, stop: int
) -> dict[str, tuple[int, ...]]:
    """Return pins and excluded frames, converted from frames of the whole motion to frames of the range."""
    frame_sets = {
        name: {
            frame
            for item in _items(name, options[name])
            for frame in _parse_frame_item(motion, name, item, start, stop)
        }
        for name in ("pins", "excluded")
        if name in options
    }
    both = frame_sets.get("pins", set()) & frame_sets.get("excluded", set())
    if both:
        raise OptionError(f"frame {min(both)} is both pinned and excluded", option="excluded")
    return {name: tuple(sorted(frame - start for frame in frames)) for name, frames in frame_sets.items()}


def _items(name: str, value: Any) -> Iterable[Any]:
    if isinstance(value, str | int | np.integer):
        return (value,)
    try:
        return tuple(value)
    except TypeError:
        raise OptionError(option=name, value=value, expected="frames such as (30, 88)") from None


def _parse_frame_item(motion: object, name: str, item: Any, start: int, stop: int) -> Iterable[int]:
    if name == "pins" and isinstance(item, str):
        if item not in PIN_WORDS:
            words = " and ".join(map(repr, PIN_WORDS))
            raise OptionError(f"{item!r}", option="pins", expected=f"frames or the words {words}")
        if not isinstance(motion, Motion):
            raise OptionError("needs a Motion: a plain array has no body", option="pins", value=item)
        frames = contact_frames(motion) if item == "contacts" else extreme_frames(motion)
        return [frame for frame in frames if start <= frame < stop]
    frame = check_int(name, item)
    if not start <= frame < stop:
        raise OptionError(f"frame {frame}", option=name, expected=f"{start} to {stop - 1}")
    return [frame]


def contact_frames(motion: Motion) -> tuple[int, ...]:
    """Return the first and last frame of each foot contact, and the frame of each flight in which the hips are highest.

    A flight is a time of at least 0.1 s between two contacts in which no foot is in contact. Shorter ones are ignored,
    as in a walk the contact of one foot often ends a frame or two before that of the other is detected.
    """
    contacts = motion.foot_contacts()
    if not contacts.feet:
        raise OptionError(
            "has nothing to pin: no foot is recognised", subject=motion.name, option="pins", value="contacts"
        )
    frames: set[int] = set()
    for foot in contacts.in_contact.T:
        for start, stop in runs(foot):
            frames |= {start, stop - 1}
    heights = heights_above(motion.world_positions()[:, body_root(motion.skeleton)], motion.up)
    for start, stop in runs(np.logical_not(contacts.in_contact.any(axis=1))):
        if start > 0 and stop < motion.n_frames and stop - start >= MIN_FLIGHT_S * motion.fps:
            frames.add(start + int(np.argmax(heights[start:stop])))
    return tuple(sorted(frames))


def extreme_frames(motion: Motion) -> tuple[int, ...]:
    """Return the frames of the extremes, at which a part of the body is at the end of its travel."""
    frames = tuple(extreme.frame for extreme in find_extremes(motion))
    if not frames:
        raise OptionError(
            "has nothing to pin: no part of the body turns back", subject=motion.name, option="pins", value="extremes"
        )
    return frames


def put_keys_at_holds(
    motion: Motion, key_ladder: Ladder, options: Mapping[str, Any], search: Callable[[Mapping[str, Any]], Ladder]
) -> Ladder:
    """Return a ladder with keys at the first and last frame of holds, between which the curves then stay still.

    For each number of keys it has the selection that is optimal with keys at all holds; if that costs more than
    ``HOLD_SLACK`` times as much as in ``key_ladder``, with keys at the longer half of them, and so on; else that of
    ``key_ladder``. ``search`` returns the ladder for options, as ``options`` are: those of ``ladder``.
    """
    start, stop = parse_frame_range(options.get("frames"), motion.n_frames)
    frame_options = parse_frame_options(motion, options, start, stop)
    excluded = set(frame_options.get("excluded", ()))
    holds = [hold for hold in find_holds(motion[start:stop]) if excluded.isdisjoint(hold)]
    holds.sort(key=lambda hold: hold[0] - hold[1])
    if not holds:
        return key_ladder
    paths = {count: key_ladder.at(count).frames for count in key_ladder.counts.tolist()}
    costs = {count: key_ladder.costs[count] for count in paths}
    limits = {count: HOLD_SLACK * cost for count, cost in costs.items()}
    while holds and limits:
        ends = {frame for hold in holds for frame in hold}.union(frame_options.get("pins", ()))
        limit = max((limits[count] for count in limits if count >= len(ends)), default=0.0)
        limit = min(limit, np.inf if options.get("limit_mm") is None else options["limit_mm"])
        with suppress(OptionError):  # more holds than keys, gaps that do not fit them, or a higher cost
            pinned = search({**options, "pins": tuple(sorted(start + end for end in ends)), "limit_mm": limit})
            for count in pinned.counts.tolist():
                if pinned.costs[count] <= limits.get(count, -1.0):
                    paths[count], costs[count] = pinned.at(count).frames, pinned.costs[count]
                    del limits[count]
        holds = holds[: len(holds) // 2]
    frames = np.concatenate(list(paths.values()))
    return replace(key_ladder, frames=frames, cost_values=np.array(list(costs.values())), is_nested=False)


def _gap_options(
    motion: Motion, max_keys: int | None, options: Mapping[str, Any]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield maximum gaps between keys, and the options with each: the requested one, else increasing ones.

    Gaps of a second are sufficient for most motions, and wider ones take longer to search. The next gap, up to some
    seconds, is tried if the selected keys reach the maximum gap, as in a hold, or if there is no selection because many
    frames are excluded.
    """
    max_gap_frames = options.get("max_gap_frames")
    if max_gap_frames is not None:
        yield motion.n_frames, dict(options)
        return
    min_gap_frames = check_option_int(MethodOptions, "min_gap_frames", options.get("min_gap_frames", 1))
    gap = max(min_gap_frames, default_gap_frames(motion.n_frames, motion.fps, max_keys))
    while True:
        yield gap, {**options, "max_gap_frames": gap}
        if gap >= motion.n_frames - 1:
            return
        gap *= 2


def _needs_wider_gap(keys: Ints, gap: int, fps: float) -> bool:
    """Return whether a wider gap is worth trying."""
    return len(keys) > 1 and int(np.diff(keys).max()) >= gap and gap < MAX_DEFAULT_GAP_S * fps


def try_gaps(
    motion: Motion,
    max_keys: int | None,
    options: Mapping[str, Any],
    search: Callable[[Mapping[str, Any]], Result],
    keys_of: Callable[[Result], Ints],
) -> Iterator[Result]:
    """Yield the results of a search with increasing maximum gaps, as long as a wider gap is worth trying."""
    for gap, gap_options in _gap_options(motion, max_keys, options):
        try:
            result = search(gap_options)
        except OptionError:
            if gap >= motion.n_frames - 1:
                raise
            continue
        yield result
        if not _needs_wider_gap(keys_of(result), gap, motion.fps):
            return


def build_curve_options(
    skeleton: Skeleton,
    interpolation: Interpolation,
    rotation: RotationKind,
    shared_tangents: bool,
    jump_penalty: float,
    polish: bool | None,
    polish_weights: Mapping[str, float] | None,
    threads: int | None,
    smooth: bool | None,
) -> CurveOptions:
    """Return checked options; polish is on by default where it is possible."""
    check_choice("interpolation", interpolation, INTERPOLATIONS)
    check_choice("rotation", rotation, ROTATION_KINDS)
    shared = check_bool("shared_tangents", shared_tangents)
    penalty = check_option_number(UnbakeOptions, "jump_penalty", jump_penalty)
    if interpolation != "bezier":
        for name, is_given in (("shared_tangents", shared), ("jump_penalty", penalty > 0)):
            if is_given:
                raise OptionError("only interpolation bezier has free tangents", option=name)
    has_free_tangents = interpolation == "bezier" and rotation == "quaternion" and not shared and not penalty
    can_polish = has_free_tangents and _chain_length(skeleton) <= MAX_POLISHED_CHAIN
    if polish is not None and check_bool("polish", polish) and not can_polish:
        needed = "interpolation bezier, rotation quaternion and free tangents"
        if has_free_tangents:
            needed = f"chains of at most {MAX_POLISHED_CHAIN} joints"
        raise OptionError(f"needs {needed}", option="polish", value=True)
    if polish_weights is not None and (polish is False or not can_polish):
        raise OptionError("curves are not polished here, so weights have no effect", option="polish_weights")
    if smooth is not None and check_bool("smooth", smooth) and (interpolation != "bezier" or shared or penalty):
        expected = "interpolation bezier, without shared_tangents and jump_penalty"
        raise OptionError("sets the tangents at keys itself", option="smooth", value=True, expected=expected)
    cores = (
        available_cores() if threads is None else min(check_option_int(UnbakeOptions, "threads", threads), MAX_THREADS)
    )
    return CurveOptions(
        interpolation,
        rotation,
        shared,
        penalty,
        can_polish if polish is None else polish,
        polish_weights,
        cores,
        smooth,
    )


def _chain_length(skeleton: Skeleton) -> int:
    """Return the number of joints on the longest way from a root."""
    lengths: list[int] = []
    for parent in skeleton.parents.tolist():
        lengths.append(1 + (lengths[parent] if parent >= 0 else 0))
    return max(lengths)
