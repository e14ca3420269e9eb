"""Convert one clip from file to file: the job of ``keypose convert``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from keypose.batch.file_discovery import KEYS_SUFFIXES, load_clip, resolve_frame_range
from keypose.batch.plan import drop_pose_notes, make_folder, target_format
from keypose.errors import LimitError
from keypose.formats import Limits, kps, load_keyed, open_kps, save
from keypose.limits import limit_hint
from keypose.model import KeyedMotion, Motion, list_notes
from keypose.options import MAX_FPS, LoadOptions


@dataclass(frozen=True)
class ConvertJob:
    """What to read, how to change it, and where to write it."""

    source: Path
    target: Path
    load_options: LoadOptions = field(default_factory=LoadOptions)
    frames: tuple[int | None, int | None] | None = None  # start and stop as in a slice, at the clip's own rate
    fps: float | None = None  # of the result
    write_reference_pose: bool = False  # as frame 0 again


@dataclass(frozen=True)
class ConvertResult:
    """What was written, and how."""

    n_frames: int
    fps: float
    bytes: int
    notes: tuple[str, ...]
    reference_pose: bool = False  # written as frame 0
    is_reference_pose_lost: bool = False  # the source has one, and the target does not
    tolerance_mm: float | None = None  # maximum error of the frames; None: unchanged


def convert_clip(job: ConvertJob) -> ConvertResult:
    """Load, trim, resample and save one clip; missing folders of the target are created."""
    motion = _load(job)
    make_folder(job.target.parent)
    format_ = target_format(job.target)
    is_kps, has_pose = format_ is kps.FORMAT, motion.reference_pose is not None
    with_pose = job.write_reference_pose and has_pose and not is_kps
    save(motion, job.target, reference_pose=with_pose)
    notes = drop_pose_notes(motion.notes)
    return ConvertResult(
        motion.n_frames + with_pose,
        motion.fps,
        job.target.stat().st_size,
        list_notes(replace(motion, notes=notes)),
        reference_pose=with_pose,
        is_reference_pose_lost=has_pose and not with_pose and not format_.stores_reference_pose,
        tolerance_mm=_load_tolerance_mm(job.target) if is_kps else None,
    )


def _load_tolerance_mm(path: Path) -> float | None:
    with open_kps(path) as stored:
        return stored.tolerance_mm


def _load(job: ConvertJob) -> Motion | KeyedMotion:
    """Return the clip to save; keys are preserved if the target format stores them and the job does not change the
    motion."""
    is_changed = (job.frames, job.fps, job.load_options.fps) != (None, None, None) or job.write_reference_pose
    if job.source.name.lower().endswith(KEYS_SUFFIXES) and target_format(job.target).keeps_keys and not is_changed:
        return load_keyed(job.source, limits=job.load_options.limits)
    motion = load_clip(job.source, job.load_options)
    if job.frames is not None:
        motion = motion[slice(*resolve_frame_range(job.frames, motion.n_frames))]
    if job.fps is not None and job.fps != motion.fps:
        motion = resample(motion, job.fps, job.source, job.load_options.limits)
    return motion


def resample(motion: Motion, fps: float, source: Path, limits: Limits) -> Motion:
    """Return ``motion`` at another rate; raise a LimitError if it would have too many frames."""
    n_frames = motion.n_frames * fps / motion.fps
    if fps <= MAX_FPS and n_frames > limits.frames:  # ``at_fps`` rejects higher rates
        raise LimitError(
            source,
            f"{n_frames:.0f} frames at {fps:g} fps, more than the limit of {limits.frames}",
            hint=limit_hint("frames"),
        )
    return motion.at_fps(fps)
