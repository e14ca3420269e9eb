"""Analysis of one motion of a report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.api.select import ladder
from keypose.api.unbake import has_sections, search_sections, unbake
from keypose.arrays import Floats, Frozen, Ints
from keypose.batch.unbake import DEFAULT_METHOD
from keypose.curves.cubic_fit import compute_inbetween_costs
from keypose.errors import OptionError
from keypose.metrics import Score, position_errors_mm, score
from keypose.model import KeyedMotion, Ladder, Motion
from keypose.model.motion import check_motion
from keypose.pictures.report.settings import ReportSettings, Source
from keypose.swings.model import Swings
from keypose.swings.segment import swings

MAX_KEYS_FACTOR = 2.0  # range of the error curve, relative to the number of keys
MIN_CURVE_KEYS = 24
MIN_FRAMES = 3  # shorter motions have no error curve
COST_OPTIONS = {"joints", "weights", "objective", "measure"}  # options with which the cost is not the largest error
LADDER_OPTIONS = ("pins", "excluded", "joints", "weights", "objective", "measure", "min_gap_frames",
                  "max_gap_frames", "loop")  # fmt: skip


@dataclass(frozen=True, eq=False)
class ClipAnalysis(Frozen):
    """A motion, its keys and curves, and their errors."""

    motion: Motion
    keyed: KeyedMotion
    rebuilt: Motion  # sampled curves, without residual
    swings: Swings
    removal_errors: Floats  # (K,) largest error around each key if it were removed; NaN at the ends
    errors_mm: Floats | None  # (T, J); None if the figure has no height
    score: Score | None  # None if the figure has no height
    ladder: Ladder | None  # cost by number of keys; None if not available
    settings: ReportSettings
    source: Source | None

    @property
    def in_mm(self) -> bool:
        """Whether errors are in mm; otherwise in file units."""
        return self.score is not None

    @property
    def error_name(self) -> str:
        """Name of the ladder's cost: the largest error, unless options change it."""
        key_options = self.settings.key_options if self.settings.method == DEFAULT_METHOD else {}
        return "cost" if set(key_options) & COST_OPTIONS else "largest error"


def analyse_motion(motion: Motion, settings: ReportSettings, source: Source | None = None) -> ClipAnalysis:
    """Unbake and measure a motion."""
    check_motion(motion)
    keyed = unbake(
        motion,
        method=settings.method,
        keys=settings.keys,
        tolerance_mm=settings.tolerance_mm,
        auto=settings.auto,
        **{"residual": False, **settings.key_options, **settings.curve_options},
    )
    rebuilt = keyed.sample()
    has_height = motion.height > 0
    return ClipAnalysis(
        motion=motion,
        keyed=keyed,
        rebuilt=rebuilt,
        swings=swings(motion),
        removal_errors=_compute_removal_errors(motion, keyed.keys, _worth_interpolation(settings)),
        errors_mm=position_errors_mm(motion, rebuilt) if has_height else None,
        score=score(motion, keyed) if has_height else None,
        ladder=_compute_ladder(motion, settings, _max_curve_keys(keyed)),
        settings=settings,
        source=source,
    )


def _worth_interpolation(settings: ReportSettings) -> str:
    """Return the interpolation for removal errors: linear if the curves are, else bezier."""
    return "linear" if settings.curve_options.get("interpolation") == "linear" else "bezier"


def _compute_removal_errors(motion: Motion, keys: Ints, interpolation: str) -> Floats:
    """Return the error (K,) of a span from the previous to the next key, for each inner key; NaN at the ends."""
    errors = np.full(len(keys), np.nan)
    if len(keys) > 2:
        costs = compute_inbetween_costs(motion, interpolation=interpolation)
        errors[1:-1:2] = costs.span_costs(keys[0::2])[: len(errors[1:-1:2])]
        errors[2:-1:2] = costs.span_costs(keys[1::2])[: len(errors[2:-1:2])]
    return errors


def _max_curve_keys(keyed: KeyedMotion) -> int:
    """Return the largest number of keys of the error curve."""
    return min(keyed.n_frames, max(round(MAX_KEYS_FACTOR * keyed.n_keys), MIN_CURVE_KEYS))


def _compute_ladder(motion: Motion, settings: ReportSettings, max_keys: int) -> Ladder | None:
    """Return the ladder of the best method; None if it cannot be computed."""
    if motion.n_frames < MIN_FRAMES:
        return None
    key_options = settings.key_options if settings.method == DEFAULT_METHOD else {}
    options = {name: key_options[name] for name in LADDER_OPTIONS if name in key_options}
    options |= {name: value for name, value in settings.curve_options.items() if name == "threads"}
    search = {**options, "cost": "inbetween", "interpolation": _worth_interpolation(settings)}
    try:
        if has_sections(motion, max_keys, search):
            return search_sections(motion, max_keys, search)
        return ladder(motion, DEFAULT_METHOD, max_keys=max_keys, **search)
    except OptionError:  # clip too long for so many keys, or too many pins
        return None
