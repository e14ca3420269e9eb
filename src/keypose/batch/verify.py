"""Decode one .kps file completely: the job of ``keypose verify``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from keypose.batch.file_discovery import load_clip
from keypose.batch.stored_file import (
    StorageInfo,
    build_storage_info,
    check_channel_table,
    check_motion,
    compute_largest_error,
    describe_damage,
    is_kps_file,
    load_channel_table,
)
from keypose.errors import FormatError
from keypose.formats import open_kps
from keypose.options import LoadOptions
from keypose.storage import StoredMotion
from keypose.storage.error import LargestError
from keypose.storage.groups import group_bounds


@dataclass(frozen=True)
class VerifyJob:
    """The file to verify, and the original to compare it with."""

    path: Path
    original: Path | None = None
    load_options: LoadOptions = field(default_factory=LoadOptions)


@dataclass(frozen=True)
class VerifyResult:
    """The figures and problems of one file."""

    path: str
    name: str
    bytes: int
    n_frames: int
    fps: float
    n_joints: int
    storage: StorageInfo
    problem: str  # empty: none
    error: LargestError | None  # None if nothing was compared or every number is equal
    is_identical: bool | None  # every number equals the original's; None: nothing was compared
    notes: tuple[str, ...]

    @property
    def duration_s(self) -> float:
        """Return the duration of the motion in seconds."""
        return self.n_frames / self.fps


def verify_clip(job: VerifyJob) -> VerifyResult:
    """Decode everything that a file contains, and compare it with the original if there is one."""
    with open_kps(job.path, limits=job.load_options.limits) as stored:
        storage = build_storage_info(stored, job.path)
        problem, error, is_identical = "", None, None
        if storage.damage:
            problem = describe_damage(stored, storage.damage, job.path)
        elif job.original is not None:
            error, problem = _compare_with_original(stored, job)
            is_identical = not problem and error is None
        else:
            _decode_all(stored)
        return VerifyResult(
            path=str(job.path),
            name=stored.name,
            bytes=job.path.stat().st_size,
            n_frames=stored.n_frames,
            fps=stored.fps,
            n_joints=stored.skeleton.n_joints,
            storage=storage,
            problem=problem,
            error=error,
            is_identical=is_identical,
            notes=stored.notes,
        )


def _decode_all(stored: StoredMotion) -> None:
    """Decode every frame, one group at a time."""
    if not stored.has_frames:
        stored.motion()
        return
    for start, stop in group_bounds(stored.n_frames, stored.fps):
        stored.frames(start, stop)


def _compare_with_original(stored: StoredMotion, job: VerifyJob) -> tuple[LargestError | None, str]:
    """Return the largest error and the problem (empty: none)."""
    assert job.original is not None
    original = load_clip(job.original, job.load_options)
    try:
        error = check_motion(stored, original, job.path)
        if stored.lossless and stored.channels() is not None:
            limits = job.load_options.limits
            check_channel_table(
                stored, load_channel_table(job.original, original, limits, is_kps=is_kps_file(job.original)), job.path
            )
        return error, ""
    except FormatError as error:
        is_comparable = stored.n_frames == original.n_frames and stored.skeleton.names == original.skeleton.names
        return compute_largest_error(stored, original) if is_comparable else None, error.summary
