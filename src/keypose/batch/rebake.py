"""Add the captured detail to one edited file: the job of ``keypose rebake``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from keypose.api.rebake import rebake
from keypose.api.timing import Timing, build_timing_map
from keypose.batch.convert import make_folder
from keypose.batch.info import detect_format_name
from keypose.batch.load_options import ClipLoadOptions
from keypose.batch.pose_match import match_poses
from keypose.batch.rebake_plan import DetailSources, is_same_clip_name
from keypose.errors import FileError, FormatError, OptionError
from keypose.formats import FORMATS, load_keyed, save
from keypose.formats.base import warn_caller
from keypose.metrics import position_errors_mm
from keypose.model import KeyedMotion, Motion

ResolvedTiming = Literal["keys", "frames", "own"]
SAME_ROTATION_RAD = 1e-6
MIN_MATCH_RATIO = 0.25  # share of the keys: an edit leaves most of them unchanged


@dataclass(frozen=True)
class RebakeJob:
    """The edited file, where its detail comes from, how much of it to add, and where to write the result."""

    source: Path
    target: Path
    detail_sources: DetailSources
    residual: float
    timing: Timing = "auto"
    load_options: ClipLoadOptions = field(default_factory=ClipLoadOptions)


@dataclass(frozen=True)
class RebakeResult:
    """What was written, and from what."""

    original: str  # the file that the detail comes from, possibly the edit itself
    timing: ResolvedTiming  # "keys": some were moved; "own": as the edit itself moved it
    frames: int
    fps: float
    keys: int | None  # of the edit; None if it was read frame by frame
    original_keys: int | None  # None if the edit has its own detail
    mean_mm: float | None  # displacement of joints by the detail, on a figure of 1.7 m; None without height
    max_mm: float | None
    bytes: int
    notes: tuple[str, ...]


def rebake_clip(job: RebakeJob) -> RebakeResult:
    """Load both files, add the detail and save the result; missing folders of the target are created."""
    keyed, problem = _load_keyed_edit(job)
    original, path = _load_original(job, keyed)
    has_own_detail = original is keyed
    if keyed is not None and not has_own_detail and not _same_detail(keyed, original):
        keyed = replace(keyed, residual=None)  # use the detail of the named file, not that of the edit
    edited = keyed or _load_dense_edit(job, original, problem)
    _warn_if_unrelated(job, edited, original, path)
    if has_own_detail and job.timing == "frames":
        original = _reset_residual_timing(original)
    result = rebake(edited, original, job.residual, timing=job.timing)
    make_folder(job.target.parent)
    save(result, job.target)
    edited_motion = edited if isinstance(edited, Motion) else edited.sample()
    displacements_mm = position_errors_mm(edited_motion, result) if edited_motion.height > 0 else None
    return RebakeResult(
        original=str(path),
        timing=resolve_timing(edited, original, job.timing),
        frames=result.n_frames,
        fps=result.fps,
        keys=None if keyed is None else keyed.n_keys,
        original_keys=None if has_own_detail else original.n_keys,
        mean_mm=None if displacements_mm is None else float(displacements_mm.mean()),
        max_mm=None if displacements_mm is None else float(displacements_mm.max()),
        bytes=job.target.stat().st_size,
        notes=result.notes,
    )


def resolve_timing(edited: KeyedMotion | Motion, original: KeyedMotion, timing: Timing) -> ResolvedTiming:
    """Return how the detail of ``original`` is timed in a rebake of ``edited``."""
    if timing != "auto":
        return timing
    if not isinstance(edited, KeyedMotion):
        return "frames"
    if edited.residual is not None:
        return "frames" if edited.residual.frames is None else "own"
    assert original.residual is not None
    return "keys" if build_timing_map(edited, original, original.residual, "auto").n_moved_keys else "frames"


def _load_keyed_edit(job: RebakeJob) -> tuple[KeyedMotion | None, str]:
    """Return the edit with its keys, or None and the reason for a note (empty if its format has no keys)."""
    load_options = job.load_options
    keyed_formats = {format_.name for format_ in FORMATS if format_.read_keyed is not None}
    if not job.source.exists() or detect_format_name(job.source) not in keyed_formats:
        return None, ""
    try:
        return load_keyed(
            job.source, animation=load_options.animation, fps=load_options.fps, limits=load_options.limits
        ), ""
    except FormatError as error:  # keys of an animation program may be at fractional frames
        if job.timing == "keys":
            raise
        return None, error.problem.split(";")[0]


def _load_dense_edit(job: RebakeJob, original: KeyedMotion, problem: str) -> Motion:
    if not problem:
        return job.load_options.load(job.source)
    motion = replace(job.load_options, fps=job.load_options.fps or original.fps).load(job.source)
    return replace(motion, notes=(*motion.notes, f"read frame by frame: {problem}"))


def _load_original(job: RebakeJob, edited: KeyedMotion | None) -> tuple[KeyedMotion, Path]:
    """Return the original and its path: the named file, else the edit itself if it has detail, else the keys beside."""
    path = job.detail_sources.explicit
    if path is None and edited is not None and edited.residual is not None:
        return edited, job.source
    if path is not None and job.detail_sources.expected is not None and not path.is_file():
        raise FileError(f"{path}: no such file, expected the keys that {job.source.name} was made from")
    path = path or job.detail_sources.companion
    if path is None:
        missing = f", and there is no {job.detail_sources.expected}" if job.detail_sources.expected else ""
        raise OptionError(f"{job.source}: brings no detail of its own{missing}; what was it made from? "
                          "Expected --from NAME.keys.json, which unbake wrote")  # fmt: skip
    return load_keyed(path, limits=job.load_options.limits), path


def _same_detail(first: KeyedMotion, second: KeyedMotion) -> bool:
    """Return whether both have the same residual rotations, at any frames."""
    first_residual, second_residual = first.residual, second.residual
    return (
        first_residual is not None
        and second_residual is not None
        and first_residual.rotations.shape == second_residual.rotations.shape
        and np.allclose(first_residual.rotations, second_residual.rotations, rtol=0.0, atol=SAME_ROTATION_RAD)
    )


def _reset_residual_timing(original: KeyedMotion) -> KeyedMotion:
    """Return the original with the detail at its captured frames, although keys were moved since."""
    assert original.residual is not None
    return replace(original, residual=replace(original.residual, frames=None, sources=None))


def _warn_if_unrelated(job: RebakeJob, edited: KeyedMotion | Motion, original: KeyedMotion, path: Path) -> None:
    """Warn if the edit has another name than the original and few of its key poses."""
    if original is edited or is_same_clip_name(job.source, path):
        return
    pose_match = match_poses(edited, original)
    if pose_match is not None and pose_match.n_matches < MIN_MATCH_RATIO * pose_match.n_keys:
        warn_caller(
            f"{job.source}: was it made from {path}? Of {pose_match.n_keys} key poses there, {pose_match.n_matches} "
            f"are still the same here; --from names the .keys.json of the edit"
        )
