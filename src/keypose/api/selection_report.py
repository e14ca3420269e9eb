"""A report on selected keys: their ladder, and the errors of their in-betweens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from keypose.api.method_input import (
    FeatureOptions,
    FrameRange,
    build_method_input,
    find_method,
    measures_fitted_inbetweens,
    measures_inbetweens,
    parse_frame_range,
)
from keypose.api.select import (
    auto_options,
    check_extremes_first,
    check_key_count_options,
    check_tolerance_mm,
    ladder,
    put_extremes_first,
    select_auto,
    select_within,
    selection_with_keys,
)
from keypose.arrays import Floats, Frozen, Ints, freeze
from keypose.curves import interpolate_linear
from keypose.curves.capture_faults import flag_flips, remove_flips, warn_of_spikes
from keypose.curves.keyed_motion import build_keyed_motion
from keypose.errors import OptionError
from keypose.extremes import find_extremes, list_parts_at_keys
from keypose.kinematics import distances
from keypose.methods import METHODS
from keypose.metrics import Score, score_distances
from keypose.model import Ladder, Motion, Selection
from keypose.options import LeadingPart

Rebuild: TypeAlias = Callable[[Motion, Ints], Motion]
CountSource: TypeAlias = Literal["keys", "tolerance", "auto", "own"]


@dataclass(frozen=True, eq=False)
class SelectionReport(Frozen):
    """Keys, their ladder, and the errors of their in-betweens."""

    selection: Selection
    ladder: Ladder
    count_source: CountSource  # how the number of keys was chosen
    cost_unit: Literal["mm", ""]  # of the ladder; empty: units of the features
    score: Score | None  # position errors in the range; None, like the next two, for a figure without height
    span_mm: Floats | None  # (K,) largest error from each key to the next; the first one includes frames before its key
    without_mm: Floats | None  # (K,) largest error around each key if it is removed; None also for a single key
    span_costs: Floats | None  # (K - 1,) if the method's cost is a sum or maximum over spans
    extreme_parts: tuple[tuple[str, ...], ...]  # per key, the parts of the body at the end of their travel

    @property
    def cost(self) -> float:
        """Cost of the selection; with keys moved to extremes up to 5 % above that of the ladder."""
        in_ladder = self.ladder.at(len(self.selection)).frames
        if self.span_costs is None or np.array_equal(self.selection.frames, in_ladder):
            return self.ladder.costs[len(self.selection)]
        return float(self.span_costs.max())


def select_with_report(
    motion: Motion,
    method: str = "salient",
    *,
    keys: int | None = None,
    tolerance_mm: float | None = None,
    auto: bool = False,
    extremes_first: bool | None = None,
    leading: LeadingPart | None = None,
    max_keys: int | None = None,
    frames: FrameRange = None,
    **options: Any,
) -> SelectionReport:
    """Return the selection of ``select`` with a report on the in-betweens that its number of keys is for.

    These are fitted curves for ``auto``. Without ``keys``, ``tolerance_mm`` or ``auto``: the method's own number of
    keys, or ``auto`` if it has none.
    """
    check_key_count_options(keys, tolerance_mm, auto=auto)
    options["frames"] = frames
    count_source: CountSource
    has_no_count = keys is None and tolerance_mm is None
    preference = check_extremes_first(extremes_first, leading, motion, method, options, auto=has_no_count)
    own = None if auto or not has_no_count else _select_own(motion, method, max_keys, options)
    if tolerance_mm is not None:
        tolerance = check_tolerance_mm(tolerance_mm)
        key_ladder, selection = select_within(motion, method, tolerance, max_keys, options, preference)
        count_source = "tolerance"
    elif keys is not None:
        key_ladder = ladder(motion, method, max_keys=max_keys, **options)
        if max_keys is None and not key_ladder.counts[0] <= keys <= key_ladder.counts[-1]:
            key_ladder = ladder(motion, method, max_keys=max(2, keys), **options)
        selection, count_source = selection_with_keys(key_ladder, keys), "keys"
    elif own is not None:
        (key_ladder, selection), count_source = own, "own"
    else:
        options = auto_options(motion, method, options)
        key_ladder, selection = select_auto(motion, method, max_keys, options, preference)
        count_source = "auto"
    if preference is not None and count_source in ("keys", "own"):
        selection = put_extremes_first(motion, selection, options, preference)
    warn_of_spikes(motion, selection.frames)
    is_auto = count_source == "auto"
    rebuild = _rebuild_fitted if is_auto else _choose_rebuild(options)
    return SelectionReport(
        selection,
        key_ladder,
        count_source,
        "mm" if measures_inbetweens(options) and motion.height > 0 else "",
        *score_inbetweens(motion, selection, frames, rebuild, omit_flips=is_auto),
        _span_costs(remove_flips(motion) if is_auto else motion, key_ladder, selection, options),
        list_parts_at_keys(selection.frames, find_extremes(motion), motion.fps),
    )


def _select_own(
    motion: Motion, method: str, max_keys: int | None, options: Mapping[str, Any]
) -> tuple[Ladder, Selection] | None:
    """Return the ladder, and its selection with the method's own number of keys; None if there is none."""
    if not find_method(method).has_own_count:
        return None
    key_ladder = ladder(motion, method, max_keys=max_keys, **options)
    return None if key_ladder.natural is None else (key_ladder, key_ladder.at(key_ladder.natural))


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
    return _rebuild_fitted if measures_fitted_inbetweens(options) else interpolate_linear


def _rebuild_fitted(motion: Motion, keys: Ints) -> Motion:
    return build_keyed_motion(motion, keys).sample()


def score_inbetweens(
    motion: Motion,
    selection: Selection,
    frames: FrameRange = None,
    rebuild: Rebuild = interpolate_linear,
    *,
    omit_flips: bool = False,
) -> tuple[Score | None, Floats | None, Floats | None]:
    """Return ``score``, ``span_mm`` and ``without_mm`` of a selection report.

    With ``omit_flips``, in-betweens are those of the motion without its flips, and so are the last two.
    """
    try:
        mm_per_unit = motion.mm_per_unit
    except OptionError:
        return None, None, None
    start, stop = parse_frame_range(frames, motion.n_frames)
    capture = motion[start:stop]
    part = remove_flips(motion)[start:stop] if omit_flips else capture
    keys = selection.frames - start

    def errors_mm(key_frames: Ints, original: Motion = part) -> Floats:
        return mm_per_unit * distances(original.world_positions(), rebuild(part, key_frames).world_positions())

    errors = errors_mm(keys)
    capture_errors = errors_mm(keys, capture) if omit_flips else errors
    is_moved = flag_flips(motion).is_moved[start:stop]
    return (
        score_distances(capture_errors, motion.skeleton.names, start, is_moved=is_moved),
        freeze(np.maximum.reduceat(errors.max(axis=1), np.append(0, keys[1:]))),
        freeze(_errors_without_key(keys, len(errors), errors_mm)) if len(keys) > 1 else None,
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
