"""The captured detail back on one edited file: the work of ``keypose rebake``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from keypose.batch.convert import make_folder
from keypose.batch.describe import format_name
from keypose.batch.reading import Reading
from keypose.errors import FormatError
from keypose.formats import FORMATS, load_keyed, save
from keypose.metrics import position_errors_mm
from keypose.model import KeyedMotion, Motion
from keypose.verbs.rebaking import Timing, rebake


@dataclass(frozen=True)
class Rebaking:
    """The edited file, what it was made from, how much detail to put back, and where to write it."""

    source: Path
    target: Path
    original: Path  # the keys that ``unbake`` wrote
    residual: float
    timing: Timing = "auto"
    reading: Reading = field(default_factory=Reading)


@dataclass(frozen=True)
class Rebaked:
    """What was written."""

    frames: int
    fps: float
    keys: int | None  # of the edit; None where it was read frame by frame
    original_keys: int
    mean_mm: float | None  # how far the detail moves joints, on a figure of 1.7 m; None for one without height
    max_mm: float | None
    bytes: int
    notes: tuple[str, ...]


def rebake_clip(job: Rebaking) -> Rebaked:
    """Reads both files, puts the detail back, and writes the result; the folder that it needs is made."""
    original = load_keyed(job.original, limits=job.reading.limits)
    edited = _edited(job, original)
    result = rebake(edited, original, job.residual, timing=job.timing)
    make_folder(job.target.parent)
    save(result, job.target)
    dense = edited if isinstance(edited, Motion) else edited.sample()
    moved = position_errors_mm(dense, result) if dense.height > 0 else None
    return Rebaked(
        frames=result.n_frames,
        fps=result.fps,
        keys=edited.n_keys if isinstance(edited, KeyedMotion) else None,
        original_keys=original.n_keys,
        mean_mm=None if moved is None else float(moved.mean()),
        max_mm=None if moved is None else float(moved.max()),
        bytes=job.target.stat().st_size,
        notes=result.notes,
    )


def _edited(job: Rebaking, original: KeyedMotion) -> KeyedMotion | Motion:
    """The edit with its keys, where its format has such; else frame by frame, and then a note says why."""
    reading = job.reading
    keyed = {format_.name for format_ in FORMATS if format_.read_keyed is not None}
    if not job.source.exists() or format_name(job.source) not in keyed:
        return reading.load(job.source)
    try:
        return load_keyed(job.source, animation=reading.animation, fps=reading.fps, limits=reading.limits)
    except FormatError as error:  # keys of an animation program may stand anywhere
        if job.timing == "keys":
            raise
        motion = replace(reading, fps=reading.fps or original.fps).load(job.source)
        return replace(motion, notes=(*motion.notes, f"read frame by frame: {error.problem.split(';')[0]}"))
