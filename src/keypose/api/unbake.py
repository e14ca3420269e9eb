"""Turn dense motion into a few key poses with fitted curves, which an animator can edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from keypose.api.curve_fitter import CurveFitter, CurveOptions, build_curve_options
from keypose.api.key_count import check_tolerance_mm, select_automatically
from keypose.api.method_input import parse_frame_options
from keypose.api.select import build_error_measure, check_key_count_options, ladder, selection_with_keys
from keypose.arrays import Ints, freeze_ints
from keypose.curves.keyed_motion import add_residual
from keypose.errors import Hint, ModelError, OptionError
from keypose.methods.salient import default_gap_frames
from keypose.model import KeyedMotion, Ladder, Motion, Selection
from keypose.options import Interpolation, MethodOptions, RotationKind, UnbakeOptions, check_option_int
from keypose.validation import check_bool

METHOD = "salient"
UNSUPPORTED_OPTIONS = {  # options of ``select`` that have another meaning here
    "method": ": choose by another method first, kp.unbake(m, kp.select(m, 'farthest', keys=8))",
    "frames": "; for a part of a motion unbake m[100:400]",
    "cost": ": keys are chosen by the error of the curves that come out",
    "features": ": keys are chosen by the error of the curves that come out",
    "smoothing_s": ": keys are chosen by the error of the curves that come out",
    "fps": "; for another rate unbake m.at_fps(30)",
}
MAX_DEFAULT_GAP_S = 4.0  # between keys of a long hold, without ``max_gap_frames``
# Factor by which polish may reduce the largest error when fewer keys are tried; 1.1 to 1.2 is typical.
POLISH_GAIN = 1.3


def unbake(
    motion: Motion,
    selection: Selection | Sequence[int] | None = None,
    *,
    keys: int | None = None,
    tolerance_mm: float | None = None,
    auto: bool = False,
    interpolation: Interpolation = "bezier",
    rotation: RotationKind = "quaternion",
    shared_tangents: bool = False,
    jump_penalty: float = 0.0,
    polish: bool | None = None,
    polish_weights: Mapping[str, float] | None = None,
    residual: bool = True,
    extremes: Selection | Sequence[int] | None = None,
    max_keys: int | None = None,
    threads: int | None = None,
    **options: Any,
) -> KeyedMotion:
    """Return a few key poses with curves between them close to ``motion``, and the residual, the difference of
    ``motion`` from them.

    The keys are a ``selection`` by any method or plain frames, or only their number is set: by ``keys``,
    ``tolerance_mm`` (the fewest keys with which no joint of the curves is farther from the capture, on a figure of 1.7
    m), or ``auto=True`` (by the shape of the error curve; default). They are then selected by the error of the fitted
    curves; ``options`` as for ``select(..., "salient", cost="inbetween")``: pins, excluded, joints, weights,
    min_gap_frames, max_gap_frames, loop, objective, measure.

    ``interpolation``: "bezier" fits cubics to all frames, "natural" is the natural spline through the keys, "linear"
    interpolates linearly. ``rotation``: quaternions, or "euler" angles in each joint's best order. ``shared_tangents``
    gives a key the same tangent on both sides; ``jump_penalty`` (0.01 is strong) reduces their difference. ``polish``
    adjusts tangents to bring the joints closest to their captured positions, with weight 3 for feet or
    ``polish_weights``; it is the default for Bezier curves of quaternions with free tangents. ``extremes`` are keys
    marked as such, the others are breakdowns; by default the keys at which the body is slowest.
    ``max_keys`` is the largest number of keys, and ``threads`` the number of processor cores.
    """
    if not isinstance(motion, Motion):
        raise OptionError(type(motion).__name__, expected="a Motion, as kp.load gives")
    curve_options = build_curve_options(
        interpolation, rotation, shared_tangents, jump_penalty, polish, polish_weights, threads
    )
    check_key_count_options(keys, tolerance_mm, auto=auto)
    fitter = CurveFitter(motion, curve_options)
    if selection is not None:
        if options or max_keys is not None or keys is not None or tolerance_mm is not None or auto:
            raise OptionError(
                "a selection already contains the keys: give it without keys=, tolerance_mm=, auto= and other options"
            )
        keyed = fitter.fit(parse_frames(selection, motion, "selection"))
    elif tolerance_mm is not None:
        keyed = _unbake_within(motion, fitter, curve_options, check_tolerance_mm(tolerance_mm), max_keys, options)
    else:
        keyed = fitter.fit(_choose_keys(motion, curve_options, keys, max_keys, options)[0].frames)
    if extremes is not None:
        keyed = replace(keyed, extremes=_mark_extremes(keyed.keys, parse_frames(extremes, motion, "extremes")))
    return add_residual(keyed, motion) if check_bool("residual", residual) else keyed


def select_automatic_keys(
    motion: Motion,
    *,
    interpolation: Interpolation = "bezier",
    max_keys: int | None = None,
    threads: int | None = None,
    **options: Any,
) -> tuple[Selection, Ladder]:
    """Return the keys of ``unbake(motion, auto=True)`` with these options, and their ladder."""
    curve_options = build_curve_options(interpolation, "quaternion", False, 0.0, None, None, threads)
    return _choose_keys(motion, curve_options, None, max_keys, options)


def parse_frames(selection: Selection | Sequence[int], motion: Motion, name: str) -> Ints:
    """Return frames given as a selection or plainly: sorted, each once."""
    if isinstance(selection, Selection):
        if selection.n_frames != motion.n_frames:
            raise OptionError(f"keys of {selection.n_frames} frames, the motion has {motion.n_frames}", option=name)
        return selection.frames
    try:
        frames = freeze_ints(np.unique(np.asarray(selection)), (None,), name)
    except (ModelError, TypeError, ValueError):
        raise OptionError(
            option=name, value=selection, expected="what kp.select gives, or frames like (0, 30, 88)"
        ) from None
    if not len(frames) or frames[0] < 0 or frames[-1] >= motion.n_frames:
        outside = frames.tolist()[:1] + frames.tolist()[-1:]
        raise OptionError(f"frames {outside}", option=name, expected=f"at least one of 0 to {motion.n_frames - 1}")
    return frames


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
    if not check_bool("loop", options.get("loop", False)):
        return ladder(motion, METHOD, max_keys=max_keys, **search)
    max_keys_without_seam = None if max_keys is None else max(1, max_keys - 1)  # the seam is a key on both sides
    return _add_seam(ladder(motion, METHOD, max_keys=max_keys_without_seam, **search))


def _add_seam(key_ladder: Ladder) -> Ladder:
    """Return the ladder of a loop with its last frame, which repeats the first pose, as a key too."""
    paths = [np.append(key_ladder.at(n).frames, key_ladder.n_frames - 1) for n in key_ladder.counts.tolist()]
    return Ladder.from_paths(
        METHOD, key_ladder.n_frames, key_ladder.counts + 1, np.concatenate(paths), key_ladder.cost_values
    )


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


def _choose_keys(
    motion: Motion, curve_options: CurveOptions, keys: int | None, max_keys: int | None, options: Mapping[str, Any]
) -> tuple[Selection, Ladder]:
    max_count = None if max_keys is None else check_option_int(UnbakeOptions, "max_keys", max_keys)
    n_keys = None if keys is None else check_option_int(UnbakeOptions, "keys", keys)
    if n_keys is not None and n_keys > motion.n_frames:
        raise OptionError(
            f"is too many: {motion.name!r} has only {motion.n_frames} frames", option="keys", value=n_keys
        )
    if n_keys is not None and max_count is not None and n_keys > max_count:
        raise OptionError(
            option="keys",
            value=n_keys,
            expected=Hint(f"at most max_keys={max_count}", f"at most --max-keys {max_count}"),
        )
    result: tuple[Selection, Ladder] | None = None
    for gap, gap_options in _gap_options(motion, n_keys or max_count, options):
        try:
            result = _choose_keys_with_gap(motion, curve_options, n_keys, max_count, gap_options)
        except OptionError:
            if gap >= motion.n_frames - 1:
                raise
            continue
        if not _needs_wider_gap(result[0].frames, gap, motion.fps):
            break
    assert result is not None
    return result


def _choose_keys_with_gap(
    motion: Motion, curve_options: CurveOptions, keys: int | None, max_keys: int | None, options: Mapping[str, Any]
) -> tuple[Selection, Ladder]:
    if keys is not None:
        key_ladder = _search_ladder(motion, curve_options, max(keys, 2), {**options, "top_only": True})
        return selection_with_keys(key_ladder, keys), key_ladder
    search = _build_search_options(motion, curve_options, options)
    key_ladder = _search_ladder(motion, curve_options, max_keys, options)
    return select_automatically(key_ladder, build_error_measure(motion, {**search, "loop": False})), key_ladder


def _unbake_within(
    motion: Motion,
    fitter: CurveFitter,
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
    max_count = None if max_keys is None else check_option_int(UnbakeOptions, "max_keys", max_keys)
    best: KeyedMotion | None = None
    for gap, gap_options in _gap_options(motion, max_count, options):
        try:
            keyed = _fit_fewest_keys(motion, fitter, curve_options, tolerance_mm, max_count, gap_options)
        except OptionError:
            if gap >= motion.n_frames - 1:
                raise
            continue
        if best is None or keyed.n_keys < best.n_keys:
            best = keyed
        if not _needs_wider_gap(keyed.keys, gap, motion.fps):
            break
    assert best is not None
    return best


def _fit_fewest_keys(
    motion: Motion,
    fitter: CurveFitter,
    curve_options: CurveOptions,
    tolerance_mm: float,
    max_keys: int | None,
    options: Mapping[str, Any],
) -> KeyedMotion:
    # The cost is the error of the spans before polish, which reduces it somewhat.
    is_error = curve_options.is_search_curve and _is_max_error(options)
    limit = tolerance_mm * (POLISH_GAIN if curve_options.polish else 1 + 1e-9) if is_error else np.inf
    above, key_ladder = 0, None
    for top in (max_keys,) if max_keys is not None else (None, motion.n_frames):
        key_ladder = _search_ladder_up_to(motion, curve_options, top, options, limit)
        for keys in key_ladder.counts[(key_ladder.counts > above) & (key_ladder.cost_values <= limit)].tolist():
            keyed = fitter.fit_within(key_ladder.at(keys).frames, tolerance_mm)
            if keyed is not None:
                return keyed
        above = int(key_ladder.counts[-1])
        if above == motion.n_frames:
            break
    assert key_ladder is not None
    min_error_mm = fitter.max_error_mm(fitter.fit(key_ladder.at(above).frames))
    raise OptionError(
        f"no keys stay within {tolerance_mm:g} mm",
        code="no_selection",
        value=tolerance_mm,
        hint=f"with {above} keys the largest error is {min_error_mm:.4g} mm",
    )


def _search_ladder_up_to(
    motion: Motion, curve_options: CurveOptions, max_keys: int | None, options: Mapping[str, Any], limit: float
) -> Ladder:
    """Return the ladder up to a cost of ``limit``; the whole ladder if every cost is higher."""
    if np.isfinite(limit):
        try:
            return _search_ladder(motion, curve_options, max_keys, {**options, "limit_mm": limit})
        except OptionError:  # there is no such cost, or another error, which the whole ladder will raise
            pass
    return _search_ladder(motion, curve_options, max_keys, options)


def _is_max_error(options: Mapping[str, Any]) -> bool:
    """Return whether the cost of a ladder is the largest error of all joints."""
    plain = options.get("measure", "max") == "max" and options.get("objective", "max") == "max"
    return plain and options.get("joints") is None and not options.get("weights")
