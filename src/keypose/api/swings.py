"""The smallest swings within an error bound, and size and error of swings by threshold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats
from keypose.errors import Hint, OptionError
from keypose.kinematics import distances
from keypose.metrics import position_errors_mm
from keypose.model import Motion
from keypose.model.motion import check_motion
from keypose.options import Fallback, Metric, SwingBoundOptions, SwingOptions, check_option_number
from keypose.rotations import angle_between
from keypose.swings.codec import pack
from keypose.swings.fallback import KeyFitter, add_keys
from keypose.swings.model import Swings
from keypose.swings.segment import build_tracks, swings
from keypose.swings.settings import Settings, check_setting
from keypose.validation import check_choice

BOUND_THRESHOLDS = (0.2, 0.4, 0.7, 1.0)  # thresholds that are tried for a bound; near 0 there are hardly any swings
SWEEP_THRESHOLDS = (0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.8, 1.0, 1.5, 2.0)
TRANSLATION_SHARE = 0.15  # share of a bound in mm for translations
MIN_LEVER_MM = 50.0  # minimum lever, also for joints without descendants, as they still rotate the body around them
MAX_TOLERANCE_DEG = 30.0  # maximum tolerance of a joint with a very short lever
SAFETY_FACTOR = 0.9999  # share of a bound that is used, because 32-bit numbers in files are rounded
MIN_BOUND_USE = 0.95  # share of a bound in mm that must be used
MAX_TRIES = 10  # to reach MIN_BOUND_USE
FIGURES = ("error_deg", "n_swings", "n_keys", "bytes")


class SwingKeywords(TypedDict, total=False):
    """The options of ``swings`` besides threshold and fallback."""

    metric: Metric
    smoothing_s: float
    window_s: float
    min_duration_s: float
    rest_rad_per_s: float
    left_out: str | Sequence[str] | None
    translation_mm: float


@dataclass(frozen=True)
class SweepRow:
    """Error and size of the swings of a motion at one threshold."""

    threshold: float
    error_deg: float  # measured as in the thesis
    n_swings: int
    n_keys: int  # without left-out joints
    bytes: int  # packed


@dataclass(frozen=True)
class MeanRow:
    """Mean error and size of the swings of several motions at one threshold."""

    threshold: float
    error_deg: float
    n_swings: float
    n_keys: float
    bytes: float


@dataclass(frozen=True)
class Sweep:
    """Size against error by threshold."""

    rows: tuple[SweepRow, ...]

    @property
    def min_error(self) -> SweepRow:
        """Return the row with the smallest error."""
        return min(self.rows, key=lambda row: row.error_deg)

    def __iter__(self) -> Iterator[SweepRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def mean_sweep(sweeps: Sequence[Sweep]) -> tuple[MeanRow, ...]:
    """Return the means over several sweeps of the same thresholds (Figure 18 of the thesis)."""
    if not sweeps:
        raise OptionError("no sweep", expected="at least one")
    if len({tuple(row.threshold for row in each) for each in sweeps}) > 1:
        raise OptionError("sweeps of different thresholds", expected="the same ones for a mean")
    rows = zip(*sweeps, strict=True)
    return tuple(
        MeanRow(some[0].threshold, *(float(np.mean([getattr(row, figure) for row in some])) for figure in FIGURES))
        for some in rows
    )


def sweep(
    motion: Motion,
    thresholds: float | Sequence[float] = SWEEP_THRESHOLDS,
    *,
    fallback: Fallback | None = None,
    fallback_deg: float = Settings.fallback_deg,
    **options: Unpack[SwingKeywords],
) -> Sweep:
    """Return error and size of the swings at several thresholds. Options as for ``swings``."""
    fallback_keys = None if fallback is None else check_choice("fallback", fallback, ("keys",))
    check_setting("fallback_deg", fallback_deg)
    rows = []
    for bare_swings in _swings_at_thresholds(motion, thresholds, options):
        row_swings = bare_swings if fallback_keys is None else add_keys(motion, bare_swings, fallback_deg)
        figures = row_swings.error(motion), row_swings.n_swings, row_swings.n_keys, len(pack(row_swings))
        rows.append(SweepRow(bare_swings.settings.threshold, *figures))
    return Sweep(tuple(rows))


def swings_within(
    motion: Motion,
    *,
    max_deg: float | None = None,
    max_mm: float | None = None,
    thresholds: float | Sequence[float] = BOUND_THRESHOLDS,
    metric: Metric = SwingOptions.metric,
    smoothing_s: float = SwingOptions.smoothing_s,
    window_s: float = SwingOptions.window_s,
    min_duration_s: float = SwingOptions.min_duration_s,
    rest_rad_per_s: float = SwingOptions.rest_rad_per_s,
    left_out: str | Sequence[str] | None = None,
    translation_mm: float | None = None,
) -> Swings:
    """Return the swings with the smallest stored size that stay within a bound in every frame.

    ``max_deg``: maximum error of each joint's local rotation. ``max_mm``: maximum distance of each joint from its
    captured world position, on a figure of 1.7 m; joints with long levers get smaller angles, and a share of the bound
    is reserved for translations unless ``translation_mm`` sets their error. Swings are found at each of ``thresholds``,
    and keys are added where they exceed the bound. Other options are those of ``swings``.
    """
    check_motion(motion)
    if (max_deg is None) == (max_mm is None):
        raise OptionError(
            code="missing_argument" if max_deg is None else "conflicting_options",
            expected=Hint(
                "one bound: max_deg= (of rotations) or max_mm= (of positions)",
                "one bound: --max-deg (of rotations) or --max-mm (of positions)",
            ),
        )
    options: SwingKeywords = {
        "metric": metric,
        "smoothing_s": smoothing_s,
        "window_s": window_s,
        "min_duration_s": min_duration_s,
        "rest_rad_per_s": rest_rad_per_s,
        "left_out": left_out,
    }
    if translation_mm is not None:
        options["translation_mm"] = translation_mm
    if max_deg is not None:
        bound = check_option_number(SwingBoundOptions, "max_deg", max_deg)
        best = _smallest(
            _fit_within_deg(motion, smallest, bound) for smallest in _swings_at_thresholds(motion, thresholds, options)
        )
        option = "max_deg"
    else:
        bound = check_option_number(SwingBoundOptions, "max_mm", max_mm)
        best = _smallest(_fit_within_mm(motion, thresholds, options, bound))
        option = "max_mm"
    if best is None:
        raise OptionError(
            "is exceeded even with a key on every frame, by rounding",
            option=option,
            value=bound,
            hint="give a larger bound",
        )
    return best


def _smallest(candidates: Iterator[Swings | None]) -> Swings | None:
    """Return the candidate with fewest bytes; None without candidates."""
    return min(
        (candidate for candidate in candidates if candidate is not None),
        key=lambda found: len(pack(found)),
        default=None,
    )


def _swings_at_thresholds(
    motion: Motion, thresholds: float | Sequence[float], options: SwingKeywords
) -> Iterator[Swings]:
    """Return the swings at each threshold; everything that does not depend on it is computed once."""
    values = _parse_thresholds(thresholds)
    first = swings(motion, values[0], **options)
    yield first
    for threshold in values[1:]:
        settings = replace(first.settings, threshold=threshold)
        yield replace(first, settings=settings, tracks=build_tracks(motion, settings))


def _parse_thresholds(thresholds: float | Sequence[float]) -> list[float]:
    """Return one or several thresholds as a tuple, checked."""
    if not np.iterable(thresholds) or isinstance(thresholds, str | bytes | Mapping):
        return [check_setting("threshold", thresholds, option="thresholds")]
    values = [check_setting("threshold", value, option="thresholds") for value in thresholds]
    if not values:
        raise OptionError("none", option="thresholds", expected="at least one from 0 to pi")
    return values


def _fit_within_deg(motion: Motion, bare_swings: Swings, bound: float) -> Swings | None:
    keyed = _with_fallback_settings(add_keys(motion, bare_swings, SAFETY_FACTOR * bound), bound)
    errors_deg = np.rad2deg(angle_between(motion.rotations, keyed.play().rotations))
    return keyed if errors_deg.max() <= bound else None


def _with_fallback_settings(keyed: Swings, fallback_deg: float) -> Swings:
    """Return keyed swings with the fallback in their settings."""
    return replace(keyed, settings=replace(keyed.settings, fallback="keys", fallback_deg=fallback_deg))


def _fit_within_mm(
    motion: Motion, thresholds: float | Sequence[float], options: SwingKeywords, bound: float
) -> Iterator[Swings | None]:
    """Return the swings that use up the bound at each threshold; tolerances share one scale, corrected for each."""
    if motion.height <= 0:
        raise OptionError(
            "the figure has no height, so nothing can be stated in mm",
            code="no_height",
            subject=motion.name,
            hint=Hint("give max_deg=", "give --max-deg"),
        )
    if check_setting("translation_mm", options.get("translation_mm", 0.0)) >= bound:
        raise OptionError(
            option="translation_mm",
            value=options["translation_mm"],
            expected=Hint(f"less than max_mm={bound:g}", f"less than --max-mm {bound:g}"),
        )
    options = {"translation_mm": TRANSLATION_SHARE * bound, **options}
    levers = levers_mm(motion)
    scale = bound / 2
    for bare_swings in _swings_at_thresholds(motion, thresholds, options):
        best, scale = _fit_to_bound(motion, bare_swings, levers, bound, scale)
        yield best


def _fit_to_bound(
    motion: Motion, bare_swings: Swings, levers: Floats, bound: float, scale: float
) -> tuple[Swings | None, float]:
    """Return the swings with the widest tolerances within the bound, and their scale (mm one joint may move others)."""
    key_fitter = KeyFitter(motion, bare_swings)
    best, min_scale, max_scale = None, 0.0, np.inf
    for _ in range(MAX_TRIES):
        tolerances = np.minimum(np.rad2deg(scale / levers), MAX_TOLERANCE_DEG)
        keyed = key_fitter.fit(tolerances)
        world_positions, _ = kinematics.forward(
            motion.skeleton.parents, key_fitter.played.translations, keyed.play_rotations()
        )
        worst = motion.mm_per_unit * float(distances(motion.world_positions(), world_positions).max())
        if worst <= SAFETY_FACTOR * bound:
            best, min_scale = keyed, scale
            if worst >= MIN_BOUND_USE * bound or tolerances.min() == MAX_TOLERANCE_DEG:
                break
        else:
            max_scale = scale
        guess = scale * 0.98 * bound / max(worst, 1e-3 * bound)  # errors are about proportional to tolerances
        scale = guess if min_scale < guess < max_scale else (min_scale + max_scale) / 2
        if max_scale - min_scale < 0.02 * min_scale:
            break
    if best is None:
        return None, scale
    result = _with_fallback_settings(
        best.build_swings(), float(np.minimum(np.rad2deg(min_scale / levers), MAX_TOLERANCE_DEG).max())
    )
    return (result if position_errors_mm(motion, result.play()).max() <= bound else None), min_scale


def levers_mm(motion: Motion) -> Floats:
    """Return the distance (J,) in mm from each joint to its farthest descendant joint or end site, along the bones."""
    skeleton = motion.skeleton
    lengths = np.zeros(skeleton.n_joints)
    ends = np.linalg.norm(skeleton.end_offsets, axis=1)
    np.maximum.at(lengths, skeleton.end_joints, ends)
    for j in range(skeleton.n_joints - 1, -1, -1):
        parent = int(skeleton.parents[j])
        if parent >= 0:
            lengths[parent] = max(lengths[parent], lengths[j] + float(np.linalg.norm(motion.translations[0, j])))
    return np.asarray(np.maximum(motion.mm_per_unit * lengths, MIN_LEVER_MM))
