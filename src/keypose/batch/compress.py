"""Compress one clip into a .kps file within a tolerance: the job of ``keypose compress``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from keypose.batch.file_discovery import load_clip
from keypose.batch.plan import atomic_target, drop_pose_notes, make_folder
from keypose.batch.stored_file import (
    RAW_BYTES,
    CompanionFile,
    Companions,
    check_channel_table,
    check_companions,
    check_motion,
    is_kps_file,
    load_channel_table,
    load_companions,
    load_frameless,
)
from keypose.formats import open_kps, save
from keypose.formats.base import write_atomically
from keypose.formats.kps import format_keys
from keypose.model import KeyedMotion, Motion
from keypose.options import LoadOptions
from keypose.storage import encode_kps
from keypose.storage.blocks import StoredKeys, deflate_text, pack_swings
from keypose.storage.error import LargestError
from keypose.storage.lossless import ChannelTable
from keypose.swings import Swings


@dataclass(frozen=True)
class CompressJob:
    """What to read, the tolerance, and where to write."""

    source: Path
    target: Path
    load_options: LoadOptions = field(default_factory=LoadOptions)
    tolerance_mm: float | None = 1.0  # None: lossless
    keys: CompanionFile | None = None  # stored with the frames
    swings: CompanionFile | None = None
    verify: bool = True  # decode the file before it replaces the target


@dataclass(frozen=True)
class CompressResult:
    """What was written, and how it compares with the source."""

    name: str
    n_frames: int
    fps: float
    n_joints: int
    n_groups: int
    source_bytes: int
    bytes: int
    keys: int | None  # number of keys in the file
    swings: int | None
    companion_bytes: int  # bytes of the file for keys and swings
    has_frames: bool  # False: the file contains only keys or swings
    lossless: bool  # also with a tolerance, if storing every number needs no more bytes
    source_tolerance_mm: float | None  # tolerance of the source, if it was compressed before
    verified: bool
    error: LargestError | None  # None if lossless or not verified
    notes: tuple[str, ...]

    @property
    def duration_s(self) -> float:
        """Return the duration of the motion in seconds."""
        return self.n_frames / self.fps

    @property
    def raw_bytes(self) -> int:
        """Return the size of the motion as plain numbers."""
        return RAW_BYTES * self.n_joints * self.n_frames


def compress_clip(job: CompressJob, progress: Callable[[float], None] | None = None) -> CompressResult:
    """Load one clip, compress it and decode it again; missing folders of the target are created.

    ``progress`` is called with the encoded share, from 0 to 1.
    """
    # Measured first, as the target may replace the file.
    source_bytes = job.source.stat().st_size if job.source.is_file() else 0
    frameless = load_frameless(job.source, job.load_options.limits)
    if frameless is not None:
        return _compress_frameless(job, frameless, source_bytes)
    motion = load_clip(job.source, job.load_options)
    companions = load_companions(motion, job.source, job.keys, job.swings, job.load_options.limits)
    channels = None
    if job.tolerance_mm is None:
        channels = load_channel_table(job.source, motion, job.load_options.limits, is_kps=is_kps_file(job.source))
    make_folder(job.target.parent)
    with atomic_target(job.target) as temp_file:
        write_atomically(temp_file, _encode(job, motion, companions, channels, progress))
        with open_kps(temp_file, limits=job.load_options.limits) as stored:
            error, n_groups, lossless = None, stored.n_groups, stored.lossless
            if job.verify:
                error = check_motion(stored, motion, job.target)
                check_channel_table(stored, channels, job.target)
                check_companions(stored, companions.keys, companions.swings, job.target)
        size = temp_file.stat().st_size
    result = _build_result(job, motion, companions, source_bytes, size)
    return replace(result, n_groups=n_groups, lossless=lossless, error=error)


def _encode(
    job: CompressJob,
    motion: Motion,
    companions: Companions,
    channels: ChannelTable | None,
    progress: Callable[[float], None] | None,
) -> bytes:
    return encode_kps(
        motion,
        tolerance_mm=job.tolerance_mm,
        lossless=job.tolerance_mm is None,
        channels=channels,
        keys=None if companions.keys is None else format_keys(companions.keys),
        swings=companions.swings,
        progress=progress,
    )


def _compress_frameless(job: CompressJob, content: KeyedMotion | Swings, source_bytes: int) -> CompressResult:
    """Store keys or swings without frames."""
    companions = Companions(StoredKeys(content)) if isinstance(content, KeyedMotion) else Companions(None, content)
    make_folder(job.target.parent)
    with atomic_target(job.target) as temp_file:
        save(content, temp_file)
        if job.verify:
            with open_kps(temp_file, limits=job.load_options.limits) as stored:
                check_companions(stored, companions.keys, companions.swings, job.target)
        size = temp_file.stat().st_size
    return _build_result(job, content, companions, source_bytes, size)


def _build_result(
    job: CompressJob, content: Motion | KeyedMotion | Swings, companions: Companions, source_bytes: int, size: int
) -> CompressResult:
    return CompressResult(
        name=content.name,
        n_frames=content.n_frames,
        fps=content.fps,
        n_joints=content.skeleton.n_joints,
        n_groups=0,
        source_bytes=source_bytes,
        bytes=size,
        keys=None if companions.keys is None else companions.keys.keyed.n_keys,
        swings=None if companions.swings is None else companions.swings.n_swings,
        companion_bytes=_companion_bytes(companions),
        has_frames=isinstance(content, Motion),
        lossless=False,
        source_tolerance_mm=content.tolerance_mm,
        verified=job.verify,
        error=None,
        notes=(*drop_pose_notes(content.notes), *companions.notes),
    )


def _companion_bytes(companions: Companions) -> int:
    """Return the size of keys and swings in the file."""
    keys = 0 if companions.keys is None else len(deflate_text(format_keys(companions.keys)))
    return keys + (0 if companions.swings is None else len(pack_swings(companions.swings)))
