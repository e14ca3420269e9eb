"""The keys of one motion file, in figures: the work that ``keypose keys`` maps over its clips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keypose.batch.reading import Reading, frames_meant
from keypose.verbs.explaining import ChosenBy, choose


@dataclass(frozen=True)
class KeysWanted:
    """Which file, how to read it, and which keys to choose."""

    path: Path
    reading: Reading = field(default_factory=Reading)
    method: str = "salient"
    keys: int | None = None
    tolerance_mm: float | None = None
    auto: bool = False
    frames: tuple[int | None, int | None] | None = None  # start and end as in a slice
    options: Mapping[str, Any] = field(default_factory=dict)  # of ``ladder``


@dataclass(frozen=True)
class ErrorFigures:
    """How far straight in-betweens leave joints off, on a figure of 1.7 m."""

    mean_mm: float
    p95_mm: float
    max_mm: float


@dataclass(frozen=True)
class ClipKeys:
    """The keys of one motion file. Frames count from 0 in the motion as it was read."""

    path: str
    name: str
    n_frames: int
    fps: float
    first_frame: int  # the number that the source gave to frame 0
    start: int  # of the range that was looked at
    stop: int
    method: str
    by: ChosenBy
    frames: tuple[int, ...]
    order: tuple[int, ...] | None  # the same frames, most important first, where the method ranks them
    cost: float
    counts: tuple[int, ...]  # every number of keys on the ladder,
    costs: tuple[float, ...]  # and what it costs
    cliffs: tuple[int, ...]  # numbers of keys worth stopping at, strongest first
    error: ErrorFigures | None  # None, as the errors below, for a figure without height
    span_cost: tuple[float, ...] | None  # for each key but the last, what the span up to the next one costs
    span_mm: tuple[float, ...] | None  # for each key, the largest error up to the next one
    without_mm: tuple[float, ...] | None  # for each key, the largest error around it if it is left out
    notes: tuple[str, ...]


def keys_of_clip(wanted: KeysWanted) -> ClipKeys:
    """Reads one file and chooses its keys."""
    motion = wanted.reading.load(wanted.path)
    start, stop = frames_meant(wanted.frames, motion.n_frames)
    chosen = choose(
        motion,
        wanted.method,
        keys=wanted.keys,
        tolerance_mm=wanted.tolerance_mm,
        auto=wanted.auto,
        frames=(start, stop),
        **wanted.options,
    )
    selection, errors = chosen.selection, chosen.errors
    return ClipKeys(
        path=str(wanted.path),
        name=motion.name,
        n_frames=motion.n_frames,
        fps=motion.fps,
        first_frame=motion.first_frame,
        start=start,
        stop=stop,
        method=wanted.method,
        by=chosen.by,
        frames=tuple(selection),
        order=None if selection.order is None else tuple(selection.order.tolist()),
        cost=chosen.ladder.costs[len(selection)],
        counts=tuple(chosen.ladder.counts.tolist()),
        costs=tuple(chosen.ladder.cost_values.tolist()),
        cliffs=tuple(cliff.keys for cliff in chosen.ladder.cliffs()),
        error=None if errors is None else ErrorFigures(errors.mean_mm, errors.p95_mm, errors.max_mm),
        span_cost=None if chosen.span_costs is None else tuple(chosen.span_costs.tolist()),
        span_mm=None if errors is None else tuple(errors.span_mm.tolist()),
        without_mm=None if errors is None or errors.without_mm is None else tuple(errors.without_mm.tolist()),
        notes=motion.notes,
    )
