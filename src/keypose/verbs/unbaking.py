"""Dense motion in, a few key poses with fitted curves out: what an animator can edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from keypose.arrays import Ints, frozen_ints
from keypose.errors import ModelError, OptionError
from keypose.inbetween.channels import Turning
from keypose.inbetween.keyed import Interpolation, with_residual
from keypose.methods.salient import usual_gap
from keypose.model import KeyedMotion, Ladder, Motion, Selection
from keypose.options import flag, whole
from keypose.verbs.budget import automatic, tolerance
from keypose.verbs.drawing import Drawing, Style, style_of
from keypose.verbs.frames import frames_of_options
from keypose.verbs.selecting import check_budget, errors_of, ladder, rung

METHOD = "salient"
NOT_HERE = {  # options of select that would mean something else here
    "method": ": choose by another method first, kp.unbake(m, kp.select(m, 'farthest', keys=8))",
    "frames": "; for a part of a motion unbake m[100:400]",
    "cost": ": keys are chosen by the error of the curves that come out",
    "features": ": keys are chosen by the error of the curves that come out",
    "smoothing_s": ": keys are chosen by the error of the curves that come out",
    "fps": "; for another rate unbake m.at_fps(30)",
}
WIDEST_S = 4.0  # between keys, where a hold is longer and nobody said how far apart they may be
POLISH_GAIN = 1.3  # by what polish may shrink the largest error, as far as keys are tried: 1.1 to 1.2 is usual


def unbake(
    motion: Motion,
    selection: Selection | Sequence[int] | None = None,
    *,
    keys: int | None = None,
    tolerance_mm: float | None = None,
    auto: bool = False,
    interpolation: Interpolation = "bezier",
    rotation: Turning = "quaternion",
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
    """A few key poses with curves between them that stay close to ``motion``, and what they leave out kept apart.

    Say which keys: a ``selection`` by any method or plain frames, or how many: ``keys``, ``tolerance_mm`` (fewest keys
    whose curves leave no joint farther off, on a figure of 1.7 m), ``auto=True`` (where the error curve says to stop,
    the default). They are then chosen by the error of the very curves that come out; ``options`` as for
    ``select(..., "salient", cost="inbetween")``: pins, excluded, joints, weights, least_gap_frames,
    greatest_gap_frames, loop, objective, measure.

    ``interpolation``: "bezier" fits cubics to all frames, "natural" takes the natural spline through the keys,
    "linear" goes straight. ``rotation``: turns as quaternions, or as "euler" angles in each joint's best order.
    ``shared_tangents`` gives a key the same slope on both sides; ``jump_penalty`` (0.01 is strong) pulls the two
    together. ``polish`` moves the slopes until joints come closest to where they were, feet counting three times or as
    ``polish_weights`` say; by default on for Bezier curves of quaternions with free slopes. ``extremes`` are the keys
    marked as such, the others being breakdowns; by default those at which the body is slowest.
    """
    if not isinstance(motion, Motion):
        raise OptionError(f"{type(motion).__name__}, expected a Motion, as kp.load gives")
    style = style_of(interpolation, rotation, shared_tangents, jump_penalty, polish, polish_weights, threads)
    check_budget(keys, tolerance_mm, auto=auto)
    drawing = Drawing(motion, style)
    if selection is not None:
        if options or max_keys is not None or keys is not None or tolerance_mm is not None or auto:
            raise OptionError(
                "a selection says which keys: give it without keys=, tolerance_mm=, auto= and other options"
            )
        keyed = drawing.through(frames_of(selection, motion, "selection"))
    elif tolerance_mm is not None:
        keyed = _within(motion, drawing, style, tolerance(tolerance_mm), max_keys, options)
    else:
        keyed = drawing.through(_chosen(motion, style, keys, max_keys, options)[0].frames)
    if extremes is not None:
        keyed = replace(keyed, extremes=_marked(keyed.keys, frames_of(extremes, motion, "extremes")))
    return with_residual(keyed, motion) if flag("residual", residual) else keyed


def automatic_keys(
    motion: Motion,
    *,
    interpolation: Interpolation = "bezier",
    max_keys: int | None = None,
    threads: int | None = None,
    **options: Any,
) -> tuple[Selection, Ladder]:
    """The keys of ``unbake(motion, auto=True)`` with these options, and the error curve on which they were found."""
    style = style_of(interpolation, "quaternion", False, 0.0, None, None, threads)
    return _chosen(motion, style, None, max_keys, options)


def frames_of(selection: Selection | Sequence[int], motion: Motion, what: str) -> Ints:
    """Frames of a motion, as a selection or plainly: sorted, each once."""
    if isinstance(selection, Selection):
        if selection.n_frames != motion.n_frames:
            raise OptionError(f"{what}: keys of {selection.n_frames} frames, the motion has {motion.n_frames}")
        return selection.frames
    try:
        frames = frozen_ints(np.unique(np.asarray(selection)), (None,), what)
    except (ModelError, TypeError, ValueError):
        raise OptionError(f"{what}={selection!r}, expected what kp.select gives, or frames like (0, 30, 88)") from None
    if not len(frames) or frames[0] < 0 or frames[-1] >= motion.n_frames:
        outside = frames.tolist()[:1] + frames.tolist()[-1:]
        raise OptionError(f"{what}: frames {outside}, expected at least one of 0 to {motion.n_frames - 1}")
    return frames


def _marked(keys: Ints, extremes: Ints) -> Any:
    missing = np.setdiff1d(extremes, keys)
    if len(missing):
        raise OptionError(f"extremes: frame {missing[0]} is no key; the keys are {keys.tolist()[:20]}")
    return np.isin(keys, extremes)


def _search(motion: Motion, style: Style, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the search for keys: by the cost of straight spans for straight curves, else of fitted ones."""
    for name, instead in NOT_HERE.items():
        if name in options:
            raise OptionError(f"unbake has no option {name!r}{instead}")
    found = {**options, "cost": "inbetween", "interpolation": style.search, "threads": style.threads}
    if flag("loop", options.get("loop", False)):  # a file begins and ends with a key: the seam
        pins = frames_of_options(motion, options, 0, motion.n_frames).get("pins", ())
        found["pins"] = (0, *pins)
    return found


def _climbed(motion: Motion, style: Style, max_keys: int | None, options: Mapping[str, Any]) -> Ladder:
    search = _search(motion, style, options)
    if not flag("loop", options.get("loop", False)):
        return ladder(motion, METHOD, max_keys=max_keys, **search)
    on_circle = None if max_keys is None else max(1, max_keys - 1)  # the seam is a key on both sides
    return _with_seam(ladder(motion, METHOD, max_keys=on_circle, **search))


def _with_seam(found: Ladder) -> Ladder:
    """The ladder of a loop with its last frame, which is its first pose again, as a key too."""
    paths = [np.append(found.at(n).frames, found.n_frames - 1) for n in found.counts.tolist()]
    return Ladder.of_paths(METHOD, found.n_frames, found.counts + 1, np.concatenate(paths), found.cost_values)


def _widening(motion: Motion, max_keys: int | None, options: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Greatest gaps between keys, and the options with each: what was asked for, else ever wider ones from the usual.

    Keys a second apart are near enough for most motions, and wider gaps take longer to look at. Where the keys that
    are found are as far apart as they may be, as in a hold, the next gap is worth trying, up to some seconds; where
    there are no keys at all, because many frames are excluded, every gap is.
    """
    told = options.get("greatest_gap_frames")
    if told is not None:
        yield motion.n_frames, dict(options)
        return
    least = whole("least_gap_frames", options.get("least_gap_frames", 1), least=1)
    gap = max(least, usual_gap(motion.n_frames, motion.fps, max_keys))
    while True:
        yield gap, {**options, "greatest_gap_frames": gap}
        if gap >= motion.n_frames - 1:
            return
        gap *= 2


def _is_narrow(keys: Ints, gap: int, fps: float) -> bool:
    """Whether a wider gap than this one is worth trying."""
    return len(keys) > 1 and int(np.diff(keys).max()) >= gap and gap < WIDEST_S * fps


def _chosen(
    motion: Motion, style: Style, keys: int | None, max_keys: int | None, options: Mapping[str, Any]
) -> tuple[Selection, Ladder]:
    most = None if max_keys is None else whole("max_keys", max_keys, least=1)
    wanted = None if keys is None else whole("keys", keys, least=1)
    if wanted is not None and wanted > motion.n_frames:
        raise OptionError(f"keys={wanted}, but {motion.name!r} has only {motion.n_frames} frames")
    if wanted is not None and most is not None and wanted > most:
        raise OptionError(f"keys={wanted} is more than max_keys={most}")
    chosen: tuple[Selection, Ladder] | None = None
    for gap, widened in _widening(motion, wanted or most, options):
        try:
            chosen = _chosen_within(motion, style, wanted, most, widened)
        except OptionError:
            if gap >= motion.n_frames - 1:
                raise
            continue
        if not _is_narrow(chosen[0].frames, gap, motion.fps):
            break
    assert chosen is not None
    return chosen


def _chosen_within(
    motion: Motion, style: Style, keys: int | None, max_keys: int | None, options: Mapping[str, Any]
) -> tuple[Selection, Ladder]:
    if keys is not None:
        found = _climbed(motion, style, max(keys, 2), {**options, "top_only": True})
        return rung(found, keys), found
    search, found = _search(motion, style, options), _climbed(motion, style, max_keys, options)
    return automatic(found, errors_of(motion, {**search, "loop": False})), found


def _within(
    motion: Motion,
    drawing: Drawing,
    style: Style,
    tolerance_mm: float,
    max_keys: int | None,
    options: Mapping[str, Any],
) -> KeyedMotion:
    """Fewest keys whose curves, as they come out, leave no joint farther off."""
    if motion.height <= 0:
        raise OptionError(f"{motion.name}: the figure has no height, so nothing can be stated in mm: give keys=")
    most = None if max_keys is None else whole("max_keys", max_keys, least=1)
    best: KeyedMotion | None = None
    for gap, widened in _widening(motion, most, options):
        try:
            found = _fewest(motion, drawing, style, tolerance_mm, most, widened)
        except OptionError:
            if gap >= motion.n_frames - 1:
                raise
            continue
        if best is None or found.n_keys < best.n_keys:
            best = found
        if not _is_narrow(found.keys, gap, motion.fps):
            break
    assert best is not None
    return best


def _fewest(
    motion: Motion,
    drawing: Drawing,
    style: Style,
    tolerance_mm: float,
    max_keys: int | None,
    options: Mapping[str, Any],
) -> KeyedMotion:
    # The cost is the error of the spans that keys are chosen by; polish makes it somewhat smaller.
    is_error = style.is_plain and _counts_all(options)
    limit = tolerance_mm * (POLISH_GAIN if style.polish else 1 + 1e-9) if is_error else np.inf
    above, found = 0, None
    for top in (max_keys,) if max_keys is not None else (None, motion.n_frames):
        found = _cheap(motion, style, top, options, limit)
        for keys in found.counts[(found.counts > above) & (found.cost_values <= limit)].tolist():
            keyed = drawing.within(found.at(keys).frames, tolerance_mm)
            if keyed is not None:
                return keyed
        above = int(found.counts[-1])
        if above == motion.n_frames:
            break
    assert found is not None
    least = drawing.greatest_mm(drawing.through(found.at(above).frames))
    raise OptionError(f"no keys stay within {tolerance_mm:g} mm; with {above} keys the largest error is {least:.4g} mm")


def _cheap(motion: Motion, style: Style, max_keys: int | None, options: Mapping[str, Any], limit: float) -> Ladder:
    """The ladder as far as it costs at most ``limit``; the whole of it if nothing is so cheap."""
    if np.isfinite(limit):
        try:
            return _climbed(motion, style, max_keys, {**options, "limit_mm": limit})
        except OptionError:  # nothing is, or something else is wrong: the whole ladder says which
            pass
    return _climbed(motion, style, max_keys, options)


def _counts_all(options: Mapping[str, Any]) -> bool:
    """Whether the cost of a ladder is the largest error of all joints."""
    plain = options.get("measure", "max") == "max" and options.get("objective", "max") == "max"
    return plain and options.get("joints") is None and not options.get("weights")
