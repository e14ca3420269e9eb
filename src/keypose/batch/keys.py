"""Select the keys of one motion file and report them in figures: the jobs of ``keypose keys``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keypose.api.select import refine_table
from keypose.api.selection_report import CountSource, select_with_report
from keypose.batch.file_discovery import load_clip, resolve_frame_range
from keypose.curves.capture_faults import repair_capture
from keypose.methods.refine import RefineTable
from keypose.metrics import Score
from keypose.model import list_notes
from keypose.options import LoadOptions


@dataclass(frozen=True)
class KeysJob:
    """A file, how to read it, and which keys to select."""

    path: Path
    load_options: LoadOptions = field(default_factory=LoadOptions)
    method: str = "salient"
    keys: int | None = None
    tolerance_mm: float | None = None
    auto: bool = False
    frames: tuple[int | None, int | None] | None = None  # start and stop as in a slice
    options: Mapping[str, Any] = field(default_factory=dict)  # of ``ladder``
    repair: bool = False  # the capture


@dataclass(frozen=True)
class KeysResult:
    """The keys of one motion file. Frames count from 0 in the loaded motion."""

    path: str
    name: str
    n_frames: int
    fps: float
    first_frame: int  # number of frame 0 in the source
    start: int  # of the analysed range
    stop: int
    method: str
    count_source: CountSource
    frames: tuple[int, ...]
    order: tuple[int, ...] | None  # the same frames, most important first; None if the method does not rank them
    cost: float
    cost_unit: str  # "mm", or empty: units of the features
    counts: tuple[int, ...]  # numbers of keys on the ladder
    costs: tuple[float, ...]  # cost of each of them
    cliffs: tuple[int, ...]  # numbers of keys at which the cost drops, strongest first
    score: Score | None  # of the in-betweens, positions only; None, like the errors below, for a figure without height
    span_costs: tuple[float, ...] | None  # per key but the last, the cost of the span up to the next key
    span_mm: tuple[float, ...] | None  # per key, the largest error up to the next key
    without_mm: tuple[float, ...] | None  # per key, the largest error around it if it is removed
    extreme_parts: tuple[tuple[str, ...], ...]  # per key, the parts of the body at the end of their travel
    notes: tuple[str, ...]


def select_clip_keys(job: KeysJob) -> KeysResult:
    """Load one file and select its keys."""
    motion = load_clip(job.path, job.load_options)
    motion = repair_capture(motion) if job.repair else motion
    start, stop = resolve_frame_range(job.frames, motion.n_frames)
    report = select_with_report(
        motion,
        job.method,
        keys=job.keys,
        tolerance_mm=job.tolerance_mm,
        auto=job.auto,
        frames=(start, stop),
        **job.options,
    )
    selection = report.selection
    return KeysResult(
        path=str(job.path),
        name=motion.name,
        n_frames=motion.n_frames,
        fps=motion.fps,
        first_frame=motion.first_frame,
        start=start,
        stop=stop,
        method=job.method,
        count_source=report.count_source,
        frames=tuple(selection),
        order=None if selection.order is None else tuple(selection.order.tolist()),
        cost=report.cost,
        cost_unit=report.cost_unit,
        counts=tuple(report.ladder.counts.tolist()),
        costs=tuple(report.ladder.cost_values.tolist()),
        cliffs=tuple(cliff.keys for cliff in report.ladder.cliffs()),
        score=None if report.score is None else report.score.without_arrays(),
        span_costs=None if report.span_costs is None else tuple(report.span_costs.tolist()),
        span_mm=None if report.span_mm is None else tuple(report.span_mm.tolist()),
        without_mm=None if report.without_mm is None else tuple(report.without_mm.tolist()),
        extreme_parts=report.extreme_parts,
        notes=list_notes(motion),
    )


@dataclass(frozen=True)
class RefineTableJob:
    """A file, how to read it, and the options of the table of Matsuda & Kondo."""

    path: Path
    load_options: LoadOptions = field(default_factory=LoadOptions)
    frames: tuple[int | None, int | None] | None = None  # start and stop as in a slice
    options: Mapping[str, Any] = field(default_factory=dict)  # of ``refine_table``


@dataclass(frozen=True)
class RefineTableResult:
    """The keys of each joint of one motion file. Frames count from 0 in the loaded motion."""

    path: str
    n_frames: int
    fps: float
    start: int  # of the analysed range
    stop: int
    table: RefineTable
    notes: tuple[str, ...]


def compute_clip_table(job: RefineTableJob) -> RefineTableResult:
    """Load one file and compute its table."""
    motion = load_clip(job.path, job.load_options)
    start, stop = resolve_frame_range(job.frames, motion.n_frames)
    table = refine_table(motion, frames=(start, stop), **job.options)
    return RefineTableResult(str(job.path), motion.n_frames, motion.fps, start, stop, table, list_notes(motion))
