"""Batch job of ``keypose report``: one file becomes one section of the page."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keypose.batch.convert import resample
from keypose.batch.load_options import ClipLoadOptions, resolve_frame_range
from keypose.batch.unbake import DEFAULT_METHOD, load_capture, shift_frame_options
from keypose.errors import FileError
from keypose.pictures.report.analysis import analyse_motion
from keypose.pictures.report.sections import ClipReport, build_clip_report
from keypose.pictures.report.settings import ReportSettings, Source

DEFAULT_CURVE_OPTIONS = {
    "interpolation": "bezier",
    "rotation": "quaternion",
    "shared_tangents": False,
    "residual": False,
}


@dataclass(frozen=True)
class ReportJob:
    """Options of a report job."""

    source: Path
    target: Path  # HTML file
    id: str  # of its section
    load_options: ClipLoadOptions = field(default_factory=ClipLoadOptions)
    frames: tuple[int | None, int | None] | None = None  # slice bounds at the clip's own frame rate
    fps: float | None = None
    method: str = DEFAULT_METHOD
    keys: int | None = None
    tolerance_mm: float | None = None
    auto: bool = False
    key_options: Mapping[str, Any] = field(default_factory=dict)  # frame numbers refer to the file
    curve_options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportJobResult:
    """The section of the page, and notes of the reader."""

    clip_report: ClipReport
    notes: tuple[str, ...]


def run_report_job(job: ReportJob) -> ReportJobResult:
    """Load, cut, resample and unbake one clip, and build its section."""
    motion = load_capture(job.source, job.load_options)
    start, stop = resolve_frame_range(job.frames, motion.n_frames)
    clip = motion[start:stop]
    if job.fps is not None and job.fps != clip.fps:
        clip = resample(clip, job.fps, job.source, job.load_options.limits)
    key_options = shift_frame_options(job.key_options, start, clip.n_frames, clip.fps / motion.fps)
    curve_options = {
        name: value for name, value in job.curve_options.items() if DEFAULT_CURVE_OPTIONS.get(name) != value
    }
    settings = ReportSettings(job.method, job.keys, job.tolerance_mm, job.auto, key_options, curve_options)
    source = Source(job.source, _sha256(job.source), job.frames, job.fps, job.key_options, job.load_options)
    return ReportJobResult(build_clip_report(analyse_motion(clip, settings, source), job.id), motion.notes)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from None
