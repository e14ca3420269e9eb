"""One motion of a report, with all that is to be shown of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints
from keypose.batch.unbake import BEST, unbaked_by
from keypose.errors import OptionError
from keypose.inbetween.costs import inbetween_costs
from keypose.metrics import Score, position_errors_mm, score
from keypose.model import KeyedMotion, Ladder, Motion
from keypose.pictures.report.settings import Settings, Source
from keypose.swings.noun import Swings
from keypose.swings.segment import swings
from keypose.verbs.selecting import ladder

MOST_SHOWN = 2.0  # times the keys that there are: so far the error curve goes
FEWEST_SHOWN = 24
LADDER_OPTIONS = ("pins", "excluded", "joints", "weights", "objective", "measure", "least_gap_frames",
                  "greatest_gap_frames", "loop")  # fmt: skip


@dataclass(frozen=True, eq=False)
class Take(Frozen):
    """A motion, its keys and curves, and how far these are off."""

    motion: Motion
    keyed: KeyedMotion
    rebuilt: Motion  # what the curves alone give, frame by frame
    swings: Swings
    worth: Floats  # (K,) the largest error that there would be around each key without it; NaN at the ends
    errors_mm: Floats | None  # (T, J); None: the figure has no height
    score: Score | None  # likewise
    ladder: Ladder | None  # what the best keys of every number cost; None: no such curve
    settings: Settings
    source: Source | None

    @property
    def in_mm(self) -> bool:
        """Whether errors can be stated in mm; else they are in file units."""
        return self.score is not None


def take_of(motion: Motion, settings: Settings, source: Source | None = None) -> Take:
    """Unbakes and measures a motion."""
    if not isinstance(motion, Motion):
        raise OptionError(f"{type(motion).__name__}, expected a Motion, as kp.load gives")
    s = settings
    keyed = unbaked_by(
        motion, s.method, s.keys, s.tolerance_mm, s.choosing, {"residual": False, **s.fitting}, auto=s.auto
    )
    rebuilt = keyed.sample()
    has_height = motion.height > 0
    return Take(
        motion=motion,
        keyed=keyed,
        rebuilt=rebuilt,
        swings=swings(motion),
        worth=_worth(motion, keyed.keys, _spans(settings)),
        errors_mm=position_errors_mm(motion, rebuilt) if has_height else None,
        score=score(motion, keyed) if has_height else None,
        ladder=_ladder(motion, settings, keyed.n_keys),
        settings=settings,
        source=source,
    )


def _spans(settings: Settings) -> str:
    """The in-betweens that say what a key is worth: fitted, or straight where the curves are."""
    return "linear" if settings.fitting.get("interpolation") == "linear" else "bezier"


def _worth(motion: Motion, keys: Ints, interpolation: str) -> Floats:
    """What each inner key is worth: the error of a span from the key before it to the one after it."""
    worth = np.full(len(keys), np.nan)
    if len(keys) > 2:
        costs = inbetween_costs(motion, interpolation=interpolation)
        worth[1:-1:2] = costs.of_spans(keys[0::2])[: len(worth[1:-1:2])]
        worth[2:-1:2] = costs.of_spans(keys[1::2])[: len(worth[2:-1:2])]
    return worth


def _ladder(motion: Motion, settings: Settings, keys: int) -> Ladder | None:
    """The costs of the best keys of every number up to some more than there are."""
    if motion.n_frames < 3:
        return None
    most = min(motion.n_frames, max(round(MOST_SHOWN * keys), FEWEST_SHOWN))
    told = settings.choosing if settings.method == BEST else {}
    options = {name: told[name] for name in LADDER_OPTIONS if name in told}
    options |= {name: value for name, value in settings.fitting.items() if name == "threads"}
    try:
        return ladder(motion, BEST, max_keys=most, cost="inbetween", interpolation=_spans(settings), **options)
    except OptionError:  # too long a clip for so many keys, or too many pins
        return None
