"""One clip from file to file: the work that ``keypose convert`` maps over its clips."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from keypose.batch.inputs import KEYS_SUFFIXES
from keypose.batch.keeping import format_of, keeps_keys
from keypose.batch.reading import Reading, frames_meant
from keypose.errors import FileError, LimitError
from keypose.formats import Limits, kps, load_keyed, save
from keypose.model import KeyedMotion, Motion
from keypose.model.motion import GREATEST_FPS
from keypose.storage import open_kps

STORED = kps.FORMAT.name


@dataclass(frozen=True)
class Conversion:
    """What to read, what to make of it, and where to write it."""

    source: Path
    target: Path
    reading: Reading = field(default_factory=Reading)
    frames: tuple[int | None, int | None] | None = None  # start and end as in a slice, at the clip's own rate
    fps: float | None = None  # of the result
    write_reference_pose: bool = False  # as frame 0 again


@dataclass(frozen=True)
class Converted:
    """What was written."""

    frames: int
    fps: float
    bytes: int
    notes: tuple[str, ...]
    reference_pose: bool = False  # written as frame 0
    pose_in_its_place: bool = False  # the format keeps it apart from the frames
    tolerance_mm: float | None = None  # how far frames may be off; None: they are as they were


def convert_clip(job: Conversion) -> Converted:
    """Reads, cuts, resamples and writes one clip; the folders that its target needs are made."""
    motion = _read(job)
    make_folder(job.target.parent)
    stored = format_of(job.target).name == STORED
    with_pose = job.write_reference_pose and motion.reference_pose is not None and not stored
    save(motion, job.target, reference_pose=with_pose)
    return Converted(
        motion.n_frames + with_pose,
        motion.fps,
        job.target.stat().st_size,
        motion.notes,
        reference_pose=with_pose,
        pose_in_its_place=stored,
        tolerance_mm=_tolerance_of(job.target) if stored else None,
    )


def _tolerance_of(path: Path) -> float | None:
    with open_kps(path) as stored:
        return stored.tolerance_mm


def _read(job: Conversion) -> Motion | KeyedMotion:
    """The clip as it is to be written; keys stay keys where the target has a place for them and nothing is changed."""
    changed = (job.frames, job.fps, job.reading.fps) != (None, None, None) or job.write_reference_pose
    if job.source.name.lower().endswith(KEYS_SUFFIXES) and keeps_keys(format_of(job.target)) and not changed:
        return load_keyed(job.source, limits=job.reading.limits)
    motion = job.reading.load(job.source)
    if job.frames is not None:
        motion = motion[slice(*frames_meant(job.frames, motion.n_frames))]
    if job.fps is not None and job.fps != motion.fps:
        motion = resampled(motion, job.fps, job.source, job.reading.limits)
    return motion


def resampled(motion: Motion, fps: float, source: Path, limits: Limits) -> Motion:
    """``motion`` at another rate, within the limits on frames."""
    frames = motion.n_frames * fps / motion.fps
    if fps <= GREATEST_FPS and frames > limits.frames:  # other rates are refused as such
        raise LimitError(
            source,
            f"{frames:.0f} frames at {fps:g} fps, more than the limit of {limits.frames}; "
            f"to allow it: limits=Limits(frames=...)",
        )
    return motion.at_fps(fps)


def make_folder(folder: Path) -> None:
    """Makes a folder and those above it, where they are not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: the folder cannot be made ({error.strerror})") from None
