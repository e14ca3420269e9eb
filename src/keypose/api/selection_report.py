"""A selection with its ladder, its errors, and the contribution of each key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from keypose.api.frames import FrameRange, parse_frame_range
from keypose.api.key_count import check_tolerance_mm, select_automatically
from keypose.api.method_input import FeatureOptions, build_method_input
from keypose.api.select import build_error_measure, check_key_count_options, ladder, select_within, selection_with_keys
from keypose.arrays import Floats, Frozen, Ints, freeze, freeze_floats
from keypose.curves import interpolate_linear
from keypose.curves.keyed_motion import build_keyed_motion
from keypose.errors import OptionError
from keypose.methods import METHODS
from keypose.metrics import distances
from keypose.model import Ladder, Motion, Selection

Rebuild: TypeAlias = Callable[[Motion, Ints], Motion]
CountSource: TypeAlias = Literal["keys", "tolerance", "auto", "own"]


@dataclass(frozen=True, eq=False)
class InbetweenErrors(Frozen):
    """Errors of in-betweens, in mm on a figure of 1.7 m."""

    mean_mm: float  # over joints and frames of the range
    p95_mm: float
    max_mm: float
    span_mm: Floats  # (K,) largest from each key up to the next one; frames before the first key count to the first
    without_mm: Floats | None  # (K,) largest around each key if it is removed; None for a single key

    def __post_init__(self) -> None:
        self._set_field("span_mm", freeze_floats(self.span_mm, (None,), "span errors"))
        if self.without_mm is not None:
            self._set_field("without_mm", freeze_floats(self.without_mm, (len(self.span_mm),), "errors without a key"))


@dataclass(frozen=True, eq=False)
class SelectionReport(Frozen):
    """Keys, their ladder, and their errors."""

    selection: Selection
    ladder: Ladder
    count_source: CountSource  # what decided the number of keys
    errors: InbetweenErrors | None  # None for a figure without height
    span_costs: Floats | None  # (K - 1,) if the method's cost is a sum or maximum over spans


def select_with_report(
    motion: Motion,
    method: str = "salient",
    *,
    keys: int | None = None,
    tolerance_mm: float | None = None,
    auto: bool = False,
    max_keys: int | None = None,
    frames: FrameRange = None,
    **options: Any,
) -> SelectionReport:
    """Return the selection of ``select`` with a report; the ladder is computed once.

    Without ``keys``, ``tolerance_mm`` or ``auto``: the method's own number of keys, or ``auto`` if it has none.
    """
    check_key_count_options(keys, tolerance_mm, auto=auto)
    options["frames"] = frames
    count_source: CountSource
    if tolerance_mm is not None:
        key_ladder, selection = select_within(motion, method, check_tolerance_mm(tolerance_mm), max_keys, options)
        count_source = "tolerance"
    else:
        key_ladder = ladder(motion, method, max_keys=max_keys, **options)
        if keys is not None:
            if max_keys is None and not key_ladder.counts[0] <= keys <= key_ladder.counts[-1]:
                key_ladder = ladder(motion, method, max_keys=max(2, keys), **options)
            selection, count_source = selection_with_keys(key_ladder, keys), "keys"
        elif auto or key_ladder.natural is None:
            selection, count_source = select_automatically(key_ladder, build_error_measure(motion, options)), "auto"
        else:
            selection, count_source = key_ladder.at(key_ladder.natural), "own"
    return SelectionReport(
        selection,
        key_ladder,
        count_source,
        compute_inbetween_errors(motion, selection, frames, _choose_rebuild(options)),
        _span_costs(motion, key_ladder, selection, options),
    )


def _span_costs(motion: Motion, key_ladder: Ladder, selection: Selection, options: Mapping[str, Any]) -> Floats | None:
    method = METHODS[key_ladder.method]
    if method.span_costs is None or options.get("loop"):
        return None
    feature_options = FeatureOptions(**{name: options[name] for name in FeatureOptions._fields if name in options})
    cost_options = {name: options[name] for name in ("cost",) if name in options}
    return method.span_costs(
        build_method_input(method, motion, feature_options, 0, motion.n_frames, options),
        selection.frames,
        **cost_options,
    )


def _choose_rebuild(options: Mapping[str, Any]) -> Rebuild:
    is_fitted = options.get("cost") == "inbetween" and options.get("interpolation", "bezier") == "bezier"
    return _rebuild_fitted if is_fitted else interpolate_linear


def _rebuild_fitted(motion: Motion, keys: Ints) -> Motion:
    return build_keyed_motion(motion, keys).sample()


def compute_inbetween_errors(
    motion: Motion, selection: Selection, frames: FrameRange = None, rebuild: Rebuild = interpolate_linear
) -> InbetweenErrors | None:
    """Return the errors of in-betweens, in total and per key; None for a figure without height."""
    try:
        mm_per_unit = motion.mm_per_unit
    except OptionError:
        return None
    start, stop = parse_frame_range(frames, motion.n_frames)
    part, keys = motion[start:stop], selection.frames - start
    world = motion.world_positions()[start:stop]

    def errors_mm(key_frames: Ints) -> Floats:
        return mm_per_unit * distances(world, rebuild(part, key_frames).world_positions())

    errors = errors_mm(keys)
    return InbetweenErrors(
        mean_mm=float(errors.mean()),
        p95_mm=float(np.percentile(errors, 95.0)),
        max_mm=float(errors.max()),
        span_mm=freeze(np.maximum.reduceat(errors.max(axis=1), np.append(0, keys[1:]))),
        without_mm=freeze(_errors_without_key(keys, len(errors), errors_mm)) if len(keys) > 1 else None,
    )


def _errors_without_key(keys: Ints, n_frames: int, errors_mm: Callable[[Ints], Floats]) -> Floats:
    """Return the largest error around each key if it is removed; every second key is removed at once."""
    bounds = [0, *keys.tolist(), n_frames]
    without = np.zeros(len(keys))
    for first in (0, 1):
        largest = errors_mm(keys[1 - first :: 2]).max(axis=1)
        for k in range(first, len(keys), 2):
            without[k] = largest[bounds[k] : bounds[k + 2]].max()
    return without
