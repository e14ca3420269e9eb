"""Keys for every number of keys, and what helps to choose among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from keypose.errors import OptionError
from keypose.model import Ladder, Motion, Selection
from keypose.verbs import ladder
from keypose.verbs.budget import automatic
from keypose.verbs.selecting import errors_of
from keypose.workbench.recipe import Recipe

MM = "mm"
UNITS = {"integrated": "squared units of the features, summed up"}  # by cost; else
FEATURE_UNITS = "units of the features"
NOT_THE_METHODS = ("joints", "weights", "smoothing_s", "frames", "pins", "excluded")  # but every method's


@dataclass(frozen=True, eq=False)
class Rungs:
    """A ladder, where it says to stop, and what it was told."""

    ladder: Ladder
    auto: int  # keys, where the curve of costs says to stop
    unit: str  # of the costs
    options: Mapping[str, Any]  # of the method, as they were in the end


def ladder_of(motion: Motion, recipe: Recipe) -> Rungs:
    """All selections of a recipe: ``kp.ladder``, with ``kp.select(auto=True)`` among them."""
    options = recipe.verb_options(motion)
    found = ladder(motion, recipe.method, max_keys=recipe.most_keys(motion), **options)
    chosen = automatic(found, errors_of(motion, options))
    told = {name: value for name, value in options.items() if name not in NOT_THE_METHODS}
    return Rungs(found, len(chosen), _unit(options), told)


def with_keys(motion: Motion, recipe: Recipe, keys: int) -> Selection:
    """So many keys of a recipe; where there are fewer selections than that, those with most keys."""
    rungs = ladder_of(motion, replace(recipe, max_keys=max(2, keys)))
    counts = [count for count in rungs.ladder.counts.tolist() if count <= keys]
    if not counts:
        raise OptionError(f"{keys} keys, expected at least {rungs.ladder.counts[0]} here")
    return rungs.ladder.at(counts[-1])


def _unit(options: Mapping[str, Any]) -> str:
    cost = options.get("cost", "chord")
    return MM if cost == "inbetween" else UNITS.get(cost, FEATURE_UNITS)
