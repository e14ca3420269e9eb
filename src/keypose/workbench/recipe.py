"""How keys are chosen, but for their number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from keypose.errors import OptionError
from keypose.methods import METHODS
from keypose.model import Motion
from keypose.options import number, one_of, whole
from keypose.workbench.told import exactly, names, text_numbers, whole_numbers

LONGEST_SMOOTHING_S = 10.0
FEWEST, PART, MOST = 60, 5, 400  # keys that a ladder goes up to where nobody said
MANY = 1200  # keys, where a tolerance needs more than that
BEST = "salient"
GAP_S = 1.0  # between keys, at least, for in-betweens to be worth measuring
MOST_SPANS = 120_000  # whose in-betweens are measured within about a second,
MOST_CHORDS = 12_000_000  # and whose chords within two or three
MOST_NEEDED = 2000  # keys that a ladder may begin with
QUICK = "farthest"
NOT_OPTIONS = ("pins", "excluded", "threads", "top_only")  # said elsewhere, or not for a page to say


@dataclass(frozen=True)
class Recipe:
    """A method and all that it is told. Frames count from 0; ``first`` and ``last`` are both inside the range."""

    method: str = BEST
    joints: tuple[str, ...] | None = None  # names, body parts or groups; None: what the method was made for
    weights: Mapping[str, float] | None = None
    pins: tuple[int, ...] = ()
    excluded: tuple[int, ...] = ()
    first: int | None = None
    last: int | None = None
    max_keys: int | None = None  # None: enough to browse, and quick
    smoothing_s: float = 0.0
    options: Mapping[str, Any] | None = field(default=None)  # of the method; None: what is best and still quick

    def __post_init__(self) -> None:
        one_of("method", self.method, tuple(METHODS))
        set_ = object.__setattr__
        set_(self, "joints", None if self.joints is None else names("joints", self.joints))
        set_(self, "weights", None if self.weights is None else text_numbers("weights", self.weights))
        set_(self, "pins", whole_numbers("pins", self.pins, least=0))
        set_(self, "excluded", whole_numbers("excluded", self.excluded, least=0))
        for name, least in (("first", 0), ("last", 0), ("max_keys", 2)):
            if getattr(self, name) is not None:
                set_(self, name, whole(name, getattr(self, name), least=least))
        set_(self, "smoothing_s", number("smoothing_s", self.smoothing_s, least=0.0, most=LONGEST_SMOOTHING_S))
        if self.options is not None:
            self._check_options()

    def _check_options(self) -> None:
        if not isinstance(self.options, Mapping):
            raise OptionError(f"options={self.options!r}, expected a mapping, such as {{'objective': 'sum'}}")
        known = tuple(name for name in METHODS[self.method].options if name not in NOT_OPTIONS)
        for name in self.options:
            if name not in known:
                there = f"expected one of {', '.join(known)}" if known else "which has no options"
                raise OptionError(f"option {name!r} of {self.method}, {there}")

    @staticmethod
    def of(told: Mapping[str, Any]) -> Recipe:
        """A recipe that came as plain data."""
        return Recipe(**exactly("recipe", told, tuple(each.name for each in fields(Recipe))))

    def key(self) -> tuple[Any, ...]:
        """What is the same for two recipes only if both are."""
        return tuple(_hashable(getattr(self, each.name)) for each in fields(self))

    @property
    def is_left_open(self) -> bool:
        """Whether nothing is said that ``kp.unbake`` does not take: it chooses by the curves that come out."""
        return self.method == BEST and self.options is None and not self.smoothing_s

    def of_part(self, first: int, last: int) -> Recipe:
        """The same for the part of a motion from ``first`` to ``last``, whose frames count from 0."""
        pins, excluded = (
            tuple(frame - first for frame in frames if first <= frame <= last) for frames in (self.pins, self.excluded)
        )
        return replace(self, first=None, last=None, pins=pins, excluded=excluded)

    def verb_options(self, motion: Motion, usual: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What ``kp.ladder`` and ``kp.select`` are told beside motion, method and ``max_keys``.

        ``usual`` are the method's options where the recipe leaves them open; by default the best that are quick.
        """
        first, last = self.range_in(motion)
        open_ = usual_options(motion, self) if usual is None else usual
        told: dict[str, Any] = dict(open_ if self.options is None else self.options)
        if self.joints is not None:
            told["joints"] = self.joints
        if self.weights:
            told["weights"] = dict(self.weights)
        if self.smoothing_s:
            told["smoothing_s"] = self.smoothing_s
        if (first, last) != (0, motion.n_frames - 1):
            told["frames"] = (first, last + 1)
        for name in ("pins", "excluded"):
            if getattr(self, name):
                self._check_takes(name)
                told[name] = getattr(self, name)
        return told

    def _check_takes(self, name: str) -> None:
        if name not in METHODS[self.method].options:
            some = ", ".join(row.name for row in METHODS.values() if name in row.options)
            raise OptionError(f"{self.method} takes no {name}, expected one of {some} with them")

    def range_in(self, motion: Motion) -> tuple[int, int]:
        """The first and the last frame that count."""
        end = motion.n_frames - 1
        first, last = 0 if self.first is None else self.first, end if self.last is None else self.last
        if first > last or last > end:
            raise OptionError(f"frames {first} to {last}, expected a range within 0 to {end}")
        return first, last

    def most_keys(self, motion: Motion) -> int:
        """How many keys the ladder goes up to."""
        first, last = self.range_in(motion)
        n = last - first + 1
        if self.max_keys is not None:
            return max(2, min(n, self.max_keys))
        needed = max(len(self.pins) + 2, fewest(n, self._gap(motion)))
        if needed > MOST_NEEDED:
            raise OptionError(
                f"{n:,} frames at once would need {needed:,} keys to begin with, expected a range of fewer frames, "
                f"or another method: {QUICK} takes any number"
            )
        return max(2, min(n, max(min(max(FEWEST, n // PART), MOST), 2 * needed)))

    def _gap(self, motion: Motion) -> int | None:
        options = usual_options(motion, self) if self.options is None else self.options
        gap = options.get("greatest_gap_frames")
        return gap if isinstance(gap, int) else None  # what else it may be, the method refuses


def fewest(n_frames: int, gap: int | None) -> int:
    """How many keys there are at least where none are farther apart than ``gap`` frames."""
    return 2 if gap is None or gap >= n_frames - 1 else math.ceil((n_frames - 1) / max(1, gap)) + 1


def usual_options(motion: Motion, recipe: Recipe) -> dict[str, Any]:
    """Options that give the best keys while one can wait for them.

    Keys are best where the curves through them stay nearest, which takes long for many frames at a high rate: there,
    and for very few keys, they are chosen by the shape of the path alone. The longer the clip, the nearer keys must be
    to each other.
    """
    if recipe.method != BEST:
        return {}
    first, last = recipe.range_in(motion)
    n = last - first + 1
    gap = min(n - 1, MOST_SPANS // n)
    is_enough = recipe.max_keys is None or recipe.max_keys >= fewest(n, gap)
    if n > 2 and gap >= min(n - 1, GAP_S * motion.fps) and is_enough and not recipe.smoothing_s:
        return {"cost": "inbetween", "greatest_gap_frames": gap}
    widest = MOST_CHORDS // n
    return {} if n - 1 <= 2 * widest else {"greatest_gap_frames": widest}


def tolerant(recipe: Recipe, motion: Motion, tolerance_mm: float, interpolation: str) -> tuple[Recipe, ...]:
    """Recipes to try, one after another, for fewest keys whose curves stay within a tolerance."""
    if recipe.is_left_open and interpolation != "natural":
        first, last = recipe.range_in(motion)
        n = last - first + 1
        tops = (max(2, n // 2), max(2, n)) if recipe.max_keys is None else (recipe.max_keys,)
        by_curves = {"cost": "inbetween", "interpolation": interpolation, "limit_mm": tolerance_mm}
        return tuple(replace(recipe, max_keys=top, options=by_curves) for top in tops)
    return (recipe, replace(recipe, max_keys=MANY)) if recipe.max_keys is None else (recipe,)


def _hashable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple(sorted((name, _hashable(each)) for name, each in value.items()))
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value
