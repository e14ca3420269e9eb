"""Analysis of one motion of a report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.api.select import ladder
from keypose.api.unbake import select_automatic_keys, unbake
from keypose.arrays import Floats, Frozen, Ints
from keypose.batch.unbake import DEFAULT_METHOD, unbake_with_method
from keypose.curves.cubic_fit import compute_inbetween_costs
from keypose.errors import OptionError
from keypose.metrics import Score, position_errors_mm, score
from keypose.model import KeyedMotion, Ladder, Motion
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
    if not isinstance(motion, Motion):
        raise OptionError(type(motion).__name__, expected="a Motion, as kp.load gives")
    keyed, error_ladder = _unbake_with_ladder(motion, settings)
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
        ladder=error_ladder,
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


def _unbake_with_ladder(motion: Motion, settings: ReportSettings) -> tuple[KeyedMotion, Ladder | None]:
    """Return keys and curves, and the error ladder, which is that of the same search if it covers every number of
    keys."""
    s, curve_options = settings, {"residual": False, **settings.curve_options}
    if s.method == DEFAULT_METHOD and s.keys is None and s.tolerance_mm is None:
        search = {name: curve_options[name] for name in ("interpolation", "threads") if name in curve_options}
        chosen, error_ladder = select_automatic_keys(motion, **search, **s.key_options)
        keyed = unbake(motion, chosen, **curve_options)
        return keyed, _limit_ladder(error_ladder, _max_curve_keys(keyed)) if motion.n_frames >= MIN_FRAMES else None
    keyed = unbake_with_method(motion, s.method, s.keys, s.tolerance_mm, s.key_options, curve_options, auto=s.auto)
    return keyed, _compute_ladder(motion, settings, _max_curve_keys(keyed))


def _max_curve_keys(keyed: KeyedMotion) -> int:
    """Return the largest number of keys of the error curve."""
    return min(keyed.n_frames, max(round(MAX_KEYS_FACTOR * keyed.n_keys), MIN_CURVE_KEYS))


def _limit_ladder(ladder: Ladder, max_keys: int) -> Ladder:
    """Return the ladder up to ``max_keys`` keys."""
    counts = ladder.counts[ladder.counts <= max_keys]
    frames = ladder.frames[: int(counts.sum())]
    return Ladder.from_paths(ladder.method, ladder.n_frames, counts, frames, ladder.cost_values[: len(counts)])


def _compute_ladder(motion: Motion, settings: ReportSettings, max_keys: int) -> Ladder | None:
    """Return the ladder of the best method; None if it cannot be computed."""
    if motion.n_frames < MIN_FRAMES:
        return None
    key_options = settings.key_options if settings.method == DEFAULT_METHOD else {}
    options = {name: key_options[name] for name in LADDER_OPTIONS if name in key_options}
    options |= {name: value for name, value in settings.curve_options.items() if name == "threads"}
    try:
        return ladder(
            motion,
            DEFAULT_METHOD,
            max_keys=max_keys,
            cost="inbetween",
            interpolation=_worth_interpolation(settings),
            **options,
        )
    except OptionError:  # clip too long for so many keys, or too many pins
        return None
