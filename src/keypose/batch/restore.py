"""Restore one .kps file to any format: the job of ``keypose restore``."""

from __future__ import annotations

import os
import shlex
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from keypose.arrays import Floats, freeze
from keypose.batch.file_discovery import KEYS_SUFFIXES, SWINGS_SUFFIXES
from keypose.batch.plan import atomic_target, drop_pose_notes, make_folder, target_format
from keypose.batch.stored_file import (
    describe_damage,
    save_channel_table,
)
from keypose.errors import FileError, FormatError, LimitError, OptionError
from keypose.formats import Limits, open_kps, save
from keypose.model import KeyedMotion, Motion
from keypose.model.skeleton import POSITION_CHANNELS
from keypose.rotations import from_euler, to_euler
from keypose.storage import StoredMotion
from keypose.storage.error import ARM_MM, tolerance_mm_per_unit
from keypose.swings import Swings


@dataclass(frozen=True)
class RestoreJob:
    """What to read, which span of it, and where to write it."""

    source: Path
    target: Path
    from_s: float | None = None
    to_s: float | None = None
    write_companions: bool = True  # write keys and swings to own files if the target cannot store them
    write_reference_pose: bool = True  # whether it is written as frame 0 if the format has no other place for it
    overwrite: bool = False  # existing files of keys and swings
    limits: Limits = field(default_factory=Limits)

    @property
    def is_whole_clip(self) -> bool:
        """Return whether the job restores the whole clip."""
        return self.from_s is None and self.to_s is None


@dataclass(frozen=True)
class RestoreResult:
    """What was written, and how exact it is."""

    n_frames: int
    fps: float
    start_s: float  # start of the span in the clip
    bytes: int
    lossless: bool
    tolerance_mm: float | None
    source_tolerance_mm: float | None  # tolerance of the stored source, if it was compressed before
    reference_pose: bool  # written as frame 0
    keys_file: str | None
    swings_file: str | None
    notes: tuple[str, ...]


def restore_clip(job: RestoreJob) -> RestoreResult:
    """Load one .kps file, or a span of it, and save it; missing folders of the target are created."""
    with open_kps(job.source, limits=job.limits) as stored:
        try:
            content = _load_content(stored, job)
            companions = _load_companions(stored, content, job)
            channels = stored.channels() if job.is_whole_clip and target_format(job.target).has_channels else None
        except LimitError:
            raise
        except FormatError:
            if damage := stored.damage():
                raise FormatError(job.source, describe_damage(stored, damage, job.source, job.target)) from None
            raise
        kps = stored
    has_pose_frame = _needs_pose_frame(content, job)
    make_folder(job.target.parent)
    with ExitStack() as stack:  # write all files or none
        for companion, path in companions:
            save(companion, stack.enter_context(atomic_target(path)))
        temp_file = stack.enter_context(atomic_target(job.target))
        if channels is not None and isinstance(content, Motion):
            save_channel_table(content, channels, temp_file, reference_pose=has_pose_frame)
        else:
            save(content, temp_file, reference_pose=has_pose_frame)
    companion_paths = {type(beside): str(path) for beside, path in companions}
    return RestoreResult(
        n_frames=content.n_frames + has_pose_frame,
        fps=content.fps,
        start_s=(content.first_frame - kps.first_frame) / content.fps,
        bytes=job.target.stat().st_size,
        lossless=kps.lossless,
        tolerance_mm=kps.tolerance_mm,
        source_tolerance_mm=kps.source_tolerance_mm,
        reference_pose=has_pose_frame,
        keys_file=companion_paths.get(KeyedMotion),
        swings_file=companion_paths.get(Swings),
        notes=(
            *drop_pose_notes(content.notes),
            *_omission_notes(kps, content, companions, job, has_pose_frame=has_pose_frame),
        ),
    )


def _load_content(stored: StoredMotion, job: RestoreJob) -> Motion | KeyedMotion | Swings:
    """Return the content of the target: frames, or keys or swings if its format stores them."""
    name = job.target.name.lower()
    if name.endswith(SWINGS_SUFFIXES):
        swings = stored.swings()
        if swings is None or not job.is_whole_clip:
            reason = "holds no swings" if swings is None else "its swings cannot be cut in time"
            raise OptionError(
                reason, path=job.source, hint="expected a format of motions, in which keypose swings finds some"
            )
        return swings
    is_keys_file = name.endswith(KEYS_SUFFIXES)
    takes_keys = is_keys_file or (not stored.has_frames and target_format(job.target).keeps_keys)
    keyed = stored.keyed() if takes_keys and job.is_whole_clip else None
    if keyed is not None:
        return keyed
    if is_keys_file:  # a file with a key on every frame would be large and useless
        reason = "its keys cannot be cut in time" if stored.has_keys else "holds no keys"
        unbake = f"keypose unbake {shlex.quote(str(job.source))} {shlex.quote(str(job.target))}"
        raise OptionError(reason, path=job.source, hint=f"expected a format of motions, or to find keys: {unbake}")
    motion = stored.motion() if job.is_whole_clip else stored[job.from_s : job.to_s]
    if stored.tolerance_mm is None or not target_format(job.target).has_channels:
        return motion
    return snap_to_channels(motion, stored.tolerance_mm)


def _load_companions(
    stored: StoredMotion, content: Motion | KeyedMotion | Swings, job: RestoreJob
) -> list[tuple[KeyedMotion | Swings, Path]]:
    """Return the keys and swings that the target does not contain, with their paths."""
    if not job.write_companions or not job.is_whole_clip:
        return []
    keyed = None if isinstance(content, KeyedMotion) else stored.keyed()
    swings = None if isinstance(content, Swings) else stored.swings()
    name = job.target.name.removesuffix(".gz")
    candidates = [(keyed, job.target.with_name(name + KEYS_SUFFIXES[0])),
             (swings, job.target.with_name(name + SWINGS_SUFFIXES[0]))]  # fmt: skip
    companions = [(companion, path) for companion, path in candidates if companion is not None]
    for _, path in companions:
        if os.path.lexists(path) and not job.overwrite:
            raise FileError(
                "exists already", path=path, hint="--overwrite replaces it, --no-keys writes none", code="exists"
            )
    return companions


def _needs_pose_frame(content: Motion | KeyedMotion | Swings, job: RestoreJob) -> bool:
    """Return whether the reference pose is written as frame 0."""
    return (
        job.write_reference_pose
        and job.is_whole_clip
        and content.reference_pose is not None
        and not target_format(job.target).stores_reference_pose
    )


def _omission_notes(
    stored: StoredMotion,
    content: Motion | KeyedMotion | Swings,
    companions: list[tuple[KeyedMotion | Swings, Path]],
    job: RestoreJob,
    *,
    has_pose_frame: bool,
) -> list[str]:
    """Return notes about stored content that was not written."""
    written_types = {type(content), *(type(beside) for beside, _ in companions)}
    stored_kinds = ((stored.has_keys, KeyedMotion, "keys"), (stored.has_swings, Swings, "swings"))
    omitted = [name for is_stored, kind, name in stored_kinds if is_stored and kind not in written_types]
    reason = "not written, as --no-keys says" if job.is_whole_clip else "of a part they are not written"
    notes = [f"the file holds {' and '.join(omitted)} too: {reason}"] if omitted else []
    if (
        content.reference_pose is not None
        and not has_pose_frame
        and not target_format(job.target).stores_reference_pose
    ):
        notes.append("the reference pose (T-pose) that is stored separately is not written")
    return notes


def snap_to_channels(motion: Motion, tolerance_mm: float) -> Motion:
    """Return ``motion`` without movement outside of its joints' channels, where that is within the tolerance."""
    translations = _snap_translations(motion, tolerance_mm / tolerance_mm_per_unit(motion))
    rotations = _snap_rotations(motion, tolerance_mm / ARM_MM)
    if translations is None and rotations is None:
        return motion
    return replace(
        motion,
        translations=motion.translations if translations is None else freeze(translations),
        rotations=motion.rotations if rotations is None else freeze(rotations),
    )


def _snap_translations(motion: Motion, tolerance: float) -> Floats | None:
    """Return translations equal to the offset along axes without a position channel; None if nothing changes."""
    skeleton = motion.skeleton
    is_fixed = np.array(
        [[channel not in channels for channel in POSITION_CHANNELS] for channels in skeleton.channels]
    )  # (J, 3)
    max_offsets = np.abs(motion.translations - skeleton.offsets).max(axis=0)
    is_snapped = is_fixed & (max_offsets > 0) & (max_offsets <= tolerance)
    return np.where(is_snapped, skeleton.offsets, motion.translations) if is_snapped.any() else None


def _snap_rotations(motion: Motion, tolerance_rad: float) -> Floats | None:
    """Return rotations about the axes of each joint's rotation channels only; None if nothing changes."""
    rotations: Floats | None = None
    for j, (channels, order) in enumerate(zip(motion.skeleton.channels, motion.skeleton.rotation_orders, strict=True)):
        missing = [f"{axis}rotation" not in channels for axis in order]
        if not any(missing):
            continue
        angles = to_euler(motion.rotations[:, j], order)
        max_angle = np.abs(angles[:, missing]).max()
        if not 0 < max_angle <= tolerance_rad:
            continue
        angles[:, missing] = 0.0
        rotations = motion.rotations.copy() if rotations is None else rotations
        rotations[:, j] = from_euler(angles, order)
    return rotations
