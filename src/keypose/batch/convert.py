"""One clip from file to file: the work that ``keypose convert`` maps over its clips."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from keypose.batch.reading import Reading
from keypose.errors import FileError, LimitError
from keypose.formats import save
from keypose.model import Motion


@dataclass(frozen=True)
class Conversion:
    """What to read, what to make of it, and where to write it."""

    source: Path
    target: Path
    reading: Reading = field(default_factory=Reading)
    frames: tuple[int | None, int | None] | None = None  # start and end as in a slice, at the clip's own rate
    fps: float | None = None  # of the result
    make_folders: bool = False  # those that the target needs


@dataclass(frozen=True)
class Converted:
    """What was written."""

    frames: int
    fps: float
    bytes: int
    notes: tuple[str, ...]


def convert_clip(job: Conversion) -> Converted:
    """Reads, cuts, resamples and writes one clip."""
    motion = job.reading.load(job.source)
    if job.frames is not None:
        motion = motion[slice(*job.frames)]
    if job.fps is not None and job.fps != motion.fps:
        motion = _resampled(motion, job.fps, job)
    if job.make_folders:
        _make_folder(job.target.parent)
    save(motion, job.target)
    return Converted(motion.n_frames, motion.fps, job.target.stat().st_size, motion.notes)


def _resampled(motion: Motion, fps: float, job: Conversion) -> Motion:
    frames = motion.n_frames * fps / motion.fps
    if frames > job.reading.limits.frames:
        raise LimitError(
            job.source, f"{frames:.0f} frames at {fps:g} fps, more than the limit of {job.reading.limits.frames}"
        )
    return motion.at_fps(fps)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: the folder cannot be made ({error.strerror})") from None
