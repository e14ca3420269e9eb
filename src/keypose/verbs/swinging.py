"""Swings as detailed as they need to be: the smallest within a bound, and what each threshold makes of a motion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.metrics import distances, position_errors_mm
from keypose.model import Motion
from keypose.options import number, one_of
from keypose.rotations import angle_between
from keypose.swings.fallback import Keying, with_keys
from keypose.swings.noun import Swings
from keypose.swings.packed import pack
from keypose.swings.segment import swings, thesis_tracks
from keypose.swings.settings import FARTHEST_MM, WIDEST_TURN_DEG, Fallback, Metric, Settings, setting

WITHIN = (0.2, 0.4, 0.7, 1.0)  # thresholds that are tried for a bound; near 0 hardly anything is a swing
SWEEP = (0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.8, 1.0, 1.5, 2.0)
TRANSLATION_SHARE = 0.15  # of a bound in mm that is left to translations
LEAST_LEVER_MM = 50.0  # a joint that carries nothing still turns what is around it
WIDEST_DEG = 30.0  # no joint is farther off, however little it carries
ROOM = 0.9999  # of a bound that is used: 32-bit numbers in files round
USED_UP = 0.95  # of a bound in mm: near enough
MOST_TRIES = 10  # to use it up


class SwingOptions(TypedDict, total=False):
    """What ``swings`` takes besides threshold and fallback."""

    metric: Metric
    smoothing_s: float
    window_s: float
    least_s: float
    rest_rad_per_s: float
    left_out: str | Sequence[str] | None
    translation_mm: float


@dataclass(frozen=True)
class SweepRow:
    """What one threshold makes of a motion."""

    threshold: float
    error_deg: float  # as the thesis measures it
    n_swings: int
    n_keys: int  # of joints that are not left out
    bytes: int  # packed


FIGURES = ("error_deg", "n_swings", "n_keys", "bytes")


@dataclass(frozen=True)
class MeanRow:
    """What one threshold makes of several motions, on average."""

    threshold: float
    error_deg: float
    n_swings: float
    n_keys: float
    bytes: float


@dataclass(frozen=True)
class Sweep:
    """Size against error, threshold by threshold."""

    rows: tuple[SweepRow, ...]

    @property
    def least_error(self) -> SweepRow:
        """The row of the least error."""
        return min(self.rows, key=lambda row: row.error_deg)

    def __iter__(self) -> Iterator[SweepRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def mean_sweep(sweeps: Sequence[Sweep]) -> tuple[MeanRow, ...]:
    """The means over several sweeps of the same thresholds: the thesis's Figure 18."""
    if not sweeps:
        raise OptionError("no sweep, expected at least one")
    if len({tuple(row.threshold for row in each) for each in sweeps}) > 1:
        raise OptionError("sweeps of different thresholds, expected the same ones for a mean")
    rows = zip(*sweeps, strict=True)
    return tuple(
        MeanRow(some[0].threshold, *(float(np.mean([getattr(row, figure) for row in some])) for figure in FIGURES))
        for some in rows
    )


def sweep(
    motion: Motion,
    thresholds: float | Sequence[float] = SWEEP,
    *,
    fallback: Fallback | None = None,
    fallback_deg: float = Settings.fallback_deg,
    **options: Unpack[SwingOptions],
) -> Sweep:
    """Swings at each of some thresholds: how far they are off and how large they are. Options as for ``swings``."""
    keys = None if fallback is None else one_of("fallback", fallback, ("keys",))
    setting("fallback_deg", fallback_deg)
    rows = []
    for found in _at_thresholds(motion, thresholds, options):
        shown = found if keys is None else with_keys(motion, found, fallback_deg)
        figures = shown.error(motion), shown.n_swings, shown.n_keys, len(pack(shown))
        rows.append(SweepRow(found.settings.threshold, *figures))
    return Sweep(tuple(rows))


def swings_within(
    motion: Motion,
    *,
    max_deg: float | None = None,
    max_mm: float | None = None,
    thresholds: float | Sequence[float] = WITHIN,
    **options: Unpack[SwingOptions],
) -> Swings:
    """The smallest swings, by what they take to store, that stay within a bound in every frame.

    ``max_deg``: no joint's own turn is farther off than so many degrees. ``max_mm``: no joint is farther from where it
    was, in the world, than so many millimetres on a figure of 1.7 m; joints that carry much are held to smaller angles,
    and a part of the bound is left to translations unless ``translation_mm`` says how far off those may be. Swings
    are found at each of ``thresholds``, and keyed where they are not near enough. Other options as for ``swings``.
    """
    if not isinstance(motion, Motion):
        raise OptionError(f"{type(motion).__name__}, expected a Motion, as kp.load gives it")
    if (max_deg is None) == (max_mm is None):
        raise OptionError("swings_within: expected one bound, max_deg= (of turns) or max_mm= (of places)")
    if max_deg is not None:
        bound = number("max_deg", max_deg, above=0.0, most=WIDEST_TURN_DEG)
        best = _smallest(_within_deg(motion, found, bound) for found in _at_thresholds(motion, thresholds, options))
        said = f"max_deg={bound:g}"
    else:
        bound = number("max_mm", max_mm, above=0.0, most=FARTHEST_MM)
        best = _smallest(_within_mm(motion, thresholds, options, bound))
        said = f"max_mm={bound:g}"
    if best is None:
        raise OptionError(f"{said}: a key on every frame is still farther off, by rounding; give a larger bound")
    return best


def _smallest(some: Iterator[Swings | None]) -> Swings | None:
    """The one of fewest bytes; None: there is none."""
    return min((found for found in some if found is not None), key=lambda found: len(pack(found)), default=None)


def _at_thresholds(motion: Motion, thresholds: float | Sequence[float], options: SwingOptions) -> Iterator[Swings]:
    """Swings as found at each threshold; what does not depend on it is found once."""
    wanted = _numbers(thresholds)
    first = swings(motion, wanted[0], **options)
    yield first
    for threshold in wanted[1:]:
        settings = replace(first.settings, threshold=threshold)
        yield replace(first, settings=settings, tracks=thesis_tracks(motion, settings))


def _numbers(thresholds: float | Sequence[float]) -> list[float]:
    """One threshold or several, checked."""
    if not np.iterable(thresholds) or isinstance(thresholds, str | bytes | Mapping):
        return [setting("threshold", thresholds, said="thresholds")]
    wanted = [setting("threshold", value, said="thresholds") for value in thresholds]
    if not wanted:
        raise OptionError("thresholds: none, expected at least one from 0 to pi")
    return wanted


def _said(keyed: Swings, widest_deg: float) -> Swings:
    """Keyed swings whose settings say so."""
    return replace(keyed, settings=replace(keyed.settings, fallback="keys", fallback_deg=widest_deg))


def _within_deg(motion: Motion, found: Swings, bound: float) -> Swings | None:
    keyed = _said(with_keys(motion, found, ROOM * bound), bound)
    off = np.rad2deg(angle_between(motion.rotations, keyed.play().rotations))
    return keyed if off.max() <= bound else None


def _within_mm(
    motion: Motion, thresholds: float | Sequence[float], options: SwingOptions, bound: float
) -> Iterator[Swings | None]:
    """At each threshold, what uses up the bound; all tolerances are one scale, found once and then corrected."""
    if motion.height <= 0:
        raise OptionError(f"{motion.name}: the figure has no height, so nothing can be stated in mm: give max_deg=")
    if setting("translation_mm", options.get("translation_mm", 0.0)) >= bound:
        raise OptionError(f"translation_mm={options['translation_mm']:g}, expected less than max_mm={bound:g}")
    options = {"translation_mm": TRANSLATION_SHARE * bound, **options}
    levers = levers_mm(motion)
    scale = bound / 2
    for found in _at_thresholds(motion, thresholds, options):
        best, scale = _used_up(motion, found, levers, bound, scale)
        yield best


def _used_up(motion: Motion, found: Swings, levers: Floats, bound: float, scale: float) -> tuple[Swings | None, float]:
    """The widest tolerances that keep within the bound, and their scale: mm by which one joint may move others."""
    keying = Keying(motion, found)
    best, least, most = None, 0.0, np.inf
    for _ in range(MOST_TRIES):
        tolerances = np.minimum(np.rad2deg(scale / levers), WIDEST_DEG)
        keyed = keying.within(tolerances)
        there, _ = kinematics.forward(motion.skeleton.parents, keying.plain.translations, keyed.played())
        worst = motion.mm_per_unit * float(distances(motion.world_positions(), there).max())
        if worst <= ROOM * bound:
            best, least = keyed, scale
            if worst >= USED_UP * bound or tolerances.min() == WIDEST_DEG:
                break
        else:
            most = scale
        guess = scale * 0.98 * bound / max(worst, 1e-3 * bound)  # errors grow about as tolerances do
        scale = guess if least < guess < most else (least + most) / 2
        if most - least < 0.02 * least:
            break
    if best is None:
        return None, scale
    made = _said(best.swings(), float(np.minimum(np.rad2deg(least / levers), WIDEST_DEG).max()))
    return (made if position_errors_mm(motion, made.play()).max() <= bound else None), least


def levers_mm(motion: Motion) -> Floats:
    """How far off each joint the farthest joint or end site is that it carries, along the bones, in mm (J,)."""
    skeleton = motion.skeleton
    longest = np.zeros(skeleton.n_joints)
    ends = np.linalg.norm(skeleton.end_offsets, axis=1)
    np.maximum.at(longest, skeleton.end_joints, ends)
    for j in range(skeleton.n_joints - 1, -1, -1):
        parent = int(skeleton.parents[j])
        if parent >= 0:
            longest[parent] = max(longest[parent], longest[j] + float(np.linalg.norm(motion.translations[0, j])))
    return np.asarray(np.maximum(motion.mm_per_unit * longest, LEAST_LEVER_MM))
