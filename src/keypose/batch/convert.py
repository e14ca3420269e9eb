"""Convert one clip from file to file: the job of ``keypose convert``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from keypose.batch.file_discovery import KEYS_SUFFIXES, ClipLoadOptions, resolve_frame_range
from keypose.errors import FileError, LimitError
from keypose.formats import FORMATS, Format, Limits, kps, load_keyed, save
from keypose.model import KeyedMotion, Motion
from keypose.model.motion import MAX_FPS
from keypose.storage import open_kps

KPS = kps.FORMAT.name


@dataclass(frozen=True)
class ConvertJob:
    """What to read, how to change it, and where to write it."""

    source: Path
    target: Path
    load_options: ClipLoadOptions = field(default_factory=ClipLoadOptions)
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
    keeps_reference_pose: bool = False  # the format stores it apart from the frames
    tolerance_mm: float | None = None  # maximum error of the frames; None: unchanged


def convert_clip(job: ConvertJob) -> ConvertResult:
    """Load, trim, resample and save one clip; missing folders of the target are created."""
    motion = _load(job)
    make_folder(job.target.parent)
    is_kps = find_format(job.target).name == KPS
    with_pose = job.write_reference_pose and motion.reference_pose is not None and not is_kps
    save(motion, job.target, reference_pose=with_pose)
    return ConvertResult(
        motion.n_frames + with_pose,
        motion.fps,
        job.target.stat().st_size,
        motion.notes,
        reference_pose=with_pose,
        keeps_reference_pose=is_kps,
        tolerance_mm=_load_tolerance_mm(job.target) if is_kps else None,
    )


def _load_tolerance_mm(path: Path) -> float | None:
    with open_kps(path) as stored:
        return stored.tolerance_mm


def _load(job: ConvertJob) -> Motion | KeyedMotion:
    """Return the clip to save; keys stay keys if the target format stores them and the job changes nothing."""
    is_changed = (job.frames, job.fps, job.load_options.fps) != (None, None, None) or job.write_reference_pose
    if job.source.name.lower().endswith(KEYS_SUFFIXES) and keeps_keys(find_format(job.target)) and not is_changed:
        return load_keyed(job.source, limits=job.load_options.limits)
    motion = job.load_options.load(job.source)
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
            f"{n_frames:.0f} frames at {fps:g} fps, more than the limit of {limits.frames}; "
            f"to allow it: limits=Limits(frames=...)",
        )
    return motion.at_fps(fps)


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: the folder cannot be made ({error.strerror})") from None


# Maximum displacement of a joint by a format's rounding, in mm on a figure of 1.7 m within 30 m of the origin; formats
# that do not round are absent. glTF, USD, FBX and Blender store 32-bit numbers, BVH six decimals.
ROUNDING_MM = {"BVH": 0.001, "glTF": 0.01, "GLB": 0.01, "USD": 0.01, "FBX": 0.02, "Blender": 0.02}
KEYS_AS_NOTES = ("USD",)  # stores every frame, and which of them are keys as metadata


def keeps_keys(format_: Format) -> bool:
    """Return whether files of this format store keys and curves."""
    return format_.write_keyed is not None and format_.name not in KEYS_AS_NOTES


def find_format(path: Path) -> Format:
    """Return the format in which a file of this name is written."""
    name = path.name.lower().removesuffix(".gz")
    return next(format_ for format_ in FORMATS if name.endswith(format_.suffixes))
