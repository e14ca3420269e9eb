"""The ladder of a selection spec, with the automatic number of keys and the unit of its costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from keypose.api.key_count import select_automatically
from keypose.api.select import build_error_measure, ladder
from keypose.clip_edit.selection_spec import SelectionSpec
from keypose.errors import OptionError
from keypose.model import Ladder, Motion, Selection

MM = "mm"
UNITS = {"integrated": "squared units of the features, summed up"}  # by cost; FEATURE_UNITS otherwise
FEATURE_UNITS = "units of the features"
COMMON_OPTIONS = (
    "joints",
    "weights",
    "smoothing_s",
    "frames",
    "pins",
    "excluded",
)  # keywords of every method, not options of one


@dataclass(frozen=True, eq=False)
class LadderView:
    """A ladder, its automatic number of keys, and the options it was computed with."""

    ladder: Ladder
    auto: int  # number of keys at the knee of the cost curve
    unit: str  # of the costs
    options: Mapping[str, Any]  # of the method, defaults included


def compute_ladder_view(motion: Motion, spec: SelectionSpec) -> LadderView:
    """Return all selections of a spec: ``kp.ladder``, and the number of keys of ``kp.select(auto=True)``."""
    options = spec.ladder_options(motion)
    result = ladder(motion, spec.method, max_keys=spec.ladder_max_keys(motion), **options)
    auto_selection = select_automatically(result, build_error_measure(motion, options))
    method_options = {name: value for name, value in options.items() if name not in COMMON_OPTIONS}
    return LadderView(result, len(auto_selection), _unit(options), method_options)


def select_keys(motion: Motion, spec: SelectionSpec, keys: int) -> Selection:
    """Return the selection of a spec with ``keys`` keys, or the largest one below that."""
    view = compute_ladder_view(motion, replace(spec, max_keys=max(2, keys)))
    counts = [count for count in view.ladder.counts.tolist() if count <= keys]
    if not counts:
        raise OptionError(f"{keys} keys, expected at least {view.ladder.counts[0]} here")
    return view.ladder.at(counts[-1])


def _unit(options: Mapping[str, Any]) -> str:
    cost = options.get("cost", "chord")
    return MM if cost == "inbetween" else UNITS.get(cost, FEATURE_UNITS)
