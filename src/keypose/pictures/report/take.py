"""One motion of a report, with all that is to be shown of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints
from keypose.batch.unbake import BEST, unbaked_by, worst_turn
from keypose.errors import OptionError
from keypose.inbetween.costs import inbetween_costs
from keypose.metrics import Score, position_errors_mm, score
from keypose.model import KeyedMotion, Ladder, Motion
from keypose.pictures.report.settings import Settings, Source
from keypose.swings.noun import Swings
from keypose.swings.segment import swings
from keypose.verbs.selecting import ladder
from keypose.verbs.unbaking import automatic_keys, unbake

MOST_SHOWN = 2.0  # times the keys that there are: so far the error curve goes
FEWEST_SHOWN = 24
LEAST_FRAMES = 3  # of a motion that has an error curve
OTHER_COSTS = {"joints", "weights", "objective", "measure"}  # options with which the cost is no largest error
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
    worst_turn: tuple[int, str]  # the frame and joint whose turn is farthest off
    settings: Settings
    source: Source | None

    @property
    def in_mm(self) -> bool:
        """Whether errors can be stated in mm; else they are in file units."""
        return self.score is not None

    @property
    def error_name(self) -> str:
        """What the ladder tells: the largest error, unless keys were chosen by something else."""
        told = self.settings.choosing if self.settings.method == BEST else {}
        return "cost" if set(told) & OTHER_COSTS else "largest error"


def take_of(motion: Motion, settings: Settings, source: Source | None = None) -> Take:
    """Unbakes and measures a motion."""
    if not isinstance(motion, Motion):
        raise OptionError(f"{type(motion).__name__}, expected a Motion, as kp.load gives")
    keyed, found = _unbaked(motion, settings)
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
        ladder=found,
        worst_turn=worst_turn(motion, rebuilt),
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


def _unbaked(motion: Motion, settings: Settings) -> tuple[KeyedMotion, Ladder | None]:
    """Keys and curves, and the error curve: of the same search where that looks at every number of keys."""
    s, fitting = settings, {"residual": False, **settings.fitting}
    if s.method == BEST and s.keys is None and s.tolerance_mm is None:
        search = {name: fitting[name] for name in ("interpolation", "threads") if name in fitting}
        chosen, found = automatic_keys(motion, **search, **s.choosing)
        keyed = unbake(motion, chosen, **fitting)
        return keyed, _start(found, _most(keyed)) if motion.n_frames >= LEAST_FRAMES else None
    keyed = unbaked_by(motion, s.method, s.keys, s.tolerance_mm, s.choosing, fitting, auto=s.auto)
    return keyed, _ladder(motion, settings, _most(keyed))


def _most(keyed: KeyedMotion) -> int:
    """Up to how many keys the error curve goes: some more than there are."""
    return min(keyed.n_frames, max(round(MOST_SHOWN * keyed.n_keys), FEWEST_SHOWN))


def _start(ladder: Ladder, most: int) -> Ladder:
    """The ladder up to ``most`` keys."""
    counts = ladder.counts[ladder.counts <= most]
    frames = ladder.frames[: int(counts.sum())]
    return Ladder.of_paths(ladder.method, ladder.n_frames, counts, frames, ladder.cost_values[: len(counts)])


def _ladder(motion: Motion, settings: Settings, most: int) -> Ladder | None:
    """The costs of the best keys of every number."""
    if motion.n_frames < LEAST_FRAMES:
        return None
    told = settings.choosing if settings.method == BEST else {}
    options = {name: told[name] for name in LADDER_OPTIONS if name in told}
    options |= {name: value for name, value in settings.fitting.items() if name == "threads"}
    try:
        return ladder(motion, BEST, max_keys=most, cost="inbetween", interpolation=_spans(settings), **options)
    except OptionError:  # too long a clip for so many keys, or too many pins
        return None
