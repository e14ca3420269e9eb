"""One file into one part of a report: the work that ``keypose report`` maps over its clips."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keypose.batch.convert import resampled
from keypose.batch.reading import Reading, frames_meant
from keypose.batch.unbake import BEST, capture, in_part
from keypose.errors import FileError
from keypose.pictures.report.sections import ReportedTake, reported
from keypose.pictures.report.settings import Settings, Source
from keypose.pictures.report.take import take_of

USUAL = {"interpolation": "bezier", "rotation": "quaternion", "shared_tangents": False, "residual": False}


@dataclass(frozen=True)
class Reporting:
    """What to read, how to unbake it, and which part of the page it becomes."""

    source: Path
    target: Path  # the page
    id: str  # of its section
    reading: Reading = field(default_factory=Reading)
    frames: tuple[int | None, int | None] | None = None  # start and end as in a slice, at the clip's own rate
    fps: float | None = None
    method: str = BEST
    keys: int | None = None
    tolerance_mm: float | None = None
    auto: bool = False
    choosing: Mapping[str, Any] = field(default_factory=dict)  # frames are those of the file
    fitting: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportedClip:
    """A part of the page, and what the reader noticed."""

    take: ReportedTake
    notes: tuple[str, ...]


def report_clip(job: Reporting) -> ReportedClip:
    """Reads, cuts, resamples and unbakes one clip, and draws all there is to see of it."""
    motion = capture(job.source, job.reading)
    start, stop = frames_meant(job.frames, motion.n_frames)
    part = motion[start:stop]
    if job.fps is not None and job.fps != part.fps:
        part = resampled(part, job.fps, job.source, job.reading.limits)
    choosing = in_part(job.choosing, start, part.n_frames, part.fps / motion.fps)
    fitting = {name: value for name, value in job.fitting.items() if USUAL.get(name) != value}
    settings = Settings(job.method, job.keys, job.tolerance_mm, job.auto, choosing, fitting)
    source = Source(job.source, _sha256(job.source), job.frames, job.fps, job.choosing, job.reading)
    return ReportedClip(reported(take_of(part, settings, source), job.id), motion.notes)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from None
