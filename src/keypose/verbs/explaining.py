"""A selection with what a person wants to know of it: the ladder it stands on, and what each key is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from keypose.arrays import Floats, Frozen, Ints, frozen_floats, give_away
from keypose.errors import OptionError
from keypose.inbetween import linear
from keypose.inbetween.keyed import keyed_motion
from keypose.methods import METHODS
from keypose.metrics import distances
from keypose.model import Ladder, Motion, Selection
from keypose.verbs.budget import automatic, tolerance
from keypose.verbs.frames import FrameRange, frame_range
from keypose.verbs.seeing import Look, seen_by
from keypose.verbs.selecting import check_budget, errors_of, ladder, rung, within

Rebuild: TypeAlias = Callable[[Motion, Ints], Motion]
ChosenBy: TypeAlias = Literal["keys", "tolerance", "auto", "own"]


@dataclass(frozen=True, eq=False)
class InbetweenErrors(Frozen):
    """How far in-betweens leave joints off, in mm on a figure of 1.7 m."""

    mean_mm: float  # over joints and frames of the range
    p95_mm: float
    max_mm: float
    span_mm: Floats  # (K,) largest from each key up to the next one; what lies before the first counts to the first
    without_mm: Floats | None  # (K,) largest around each key if that key is left out; None for an only key

    def __post_init__(self) -> None:
        self._put("span_mm", frozen_floats(self.span_mm, (None,), "span errors"))
        if self.without_mm is not None:
            self._put("without_mm", frozen_floats(self.without_mm, (len(self.span_mm),), "errors without a key"))


@dataclass(frozen=True, eq=False)
class Chosen(Frozen):
    """Keys, the ladder that they stand on, and how well they do."""

    selection: Selection
    ladder: Ladder
    by: ChosenBy  # what set the number of keys
    errors: InbetweenErrors | None  # None for a figure without height, which has no millimetres
    span_costs: Floats | None  # (K - 1,) of which the method's cost is made, where it is


def choose(
    motion: Motion,
    method: str = "salient",
    *,
    keys: int | None = None,
    tolerance_mm: float | None = None,
    auto: bool = False,
    max_keys: int | None = None,
    frames: FrameRange = None,
    **options: Any,
) -> Chosen:
    """What ``select`` selects, explained; the ladder is computed once.

    Without ``keys``, ``tolerance_mm`` or ``auto`` the method's own number of keys, or ``auto`` for one that has none.
    """
    check_budget(keys, tolerance_mm, auto=auto)
    options["frames"] = frames
    by: ChosenBy
    if tolerance_mm is not None:
        found, selection = within(motion, method, tolerance(tolerance_mm), max_keys, options)
        by = "tolerance"
    else:
        found = ladder(motion, method, max_keys=max_keys, **options)
        if keys is not None:
            if max_keys is None and not found.counts[0] <= keys <= found.counts[-1]:
                found = ladder(motion, method, max_keys=max(2, keys), **options)
            selection, by = rung(found, keys), "keys"
        elif auto or found.natural is None:
            selection, by = automatic(found, errors_of(motion, options)), "auto"
        else:
            selection, by = found.at(found.natural), "own"
    return Chosen(
        selection,
        found,
        by,
        inbetween_errors(motion, selection, frames, _rebuilt_by(options)),
        _span_costs(motion, found, selection, options),
    )


def _span_costs(motion: Motion, found: Ladder, selection: Selection, options: Mapping[str, Any]) -> Floats | None:
    row = METHODS[found.method]
    if row.span_costs is None or options.get("loop"):
        return None
    look = Look(**{name: options[name] for name in Look._fields if name in options})
    told = {name: options[name] for name in ("cost",) if name in options}
    return row.span_costs(seen_by(row, motion, look, 0, motion.n_frames, options), selection.frames, **told)


def _rebuilt_by(options: Mapping[str, Any]) -> Rebuild:
    is_fitted = options.get("cost") == "inbetween" and options.get("interpolation", "bezier") == "bezier"
    return _fitted if is_fitted else linear


def _fitted(motion: Motion, keys: Ints) -> Motion:
    return keyed_motion(motion, keys).sample()


def inbetween_errors(
    motion: Motion, selection: Selection, frames: FrameRange = None, rebuilt: Rebuild = linear
) -> InbetweenErrors | None:
    """How far in-betweens stray, in all and key by key; None for a figure without height."""
    try:
        mm_per_unit = motion.mm_per_unit
    except OptionError:
        return None
    start, stop = frame_range(frames, motion.n_frames)
    part, keys = motion[start:stop], selection.frames - start
    world = motion.world_positions()[start:stop]

    def off(kept: Ints) -> Floats:
        return mm_per_unit * distances(world, rebuilt(part, kept).world_positions())

    errors = off(keys)
    return InbetweenErrors(
        mean_mm=float(errors.mean()),
        p95_mm=float(np.percentile(errors, 95.0)),
        max_mm=float(errors.max()),
        span_mm=give_away(np.maximum.reduceat(errors.max(axis=1), np.append(0, keys[1:]))),
        without_mm=give_away(_without(keys, len(errors), off)) if len(keys) > 1 else None,
    )


def _without(keys: Ints, n_frames: int, off: Callable[[Ints], Floats]) -> Floats:
    """The largest error around each key if it is left out. Of every second one at once: their neighbours stay."""
    around = [0, *keys.tolist(), n_frames]
    without = np.zeros(len(keys))
    for first in (0, 1):
        largest = off(keys[1 - first :: 2]).max(axis=1)
        for k in range(first, len(keys), 2):
            without[k] = largest[around[k] : around[k + 2]].max()
    return without
