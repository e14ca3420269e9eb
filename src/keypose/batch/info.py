"""Describe one motion file in figures: the job of ``keypose info``."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from keypose.batch.file_discovery import load_clip
from keypose.batch.stored_file import StorageInfo, is_kps_file, load_longest_intact_span, load_storage_info
from keypose.curves.capture_faults import CaptureFault, find_capture_faults
from keypose.errors import FileError
from keypose.formats import FORMATS
from keypose.formats.base import GZIP_MAGIC, SNIFF_BYTES
from keypose.model import Motion, Skeleton, list_notes
from keypose.model.motion import HeightSource
from keypose.options import LoadOptions
from keypose.validation import check_regular_file


@dataclass(frozen=True)
class InfoJob:
    """A file, and how to read it."""

    path: Path
    load_options: LoadOptions = field(default_factory=LoadOptions)
    tree: bool = False  # describe every joint too


@dataclass(frozen=True)
class JointInfo:
    """One joint of the skeleton."""

    name: str
    parent: int | None  # index in the list of joints
    depth: int  # number of ancestors
    body_part: str | None  # None if not recognised
    rotation_order: str
    channels: tuple[str, ...]
    offset: tuple[float, ...]  # from the parent, file units
    end_sites: tuple[tuple[float, ...], ...]  # their offsets from this joint


@dataclass(frozen=True)
class ClipInfo:
    """One motion file in figures. Lengths are in file units unless the name has a unit."""

    path: str
    name: str
    format: str
    bytes: int
    frames: int
    fps: float
    duration_s: float
    first_frame: int
    reference_pose: bool
    joints: int
    end_sites: int
    up: str
    metres_per_unit: float | None
    height: float
    height_m: float | None
    height_source: HeightSource
    recognised: int
    unrecognised: tuple[str, ...]
    channels: int
    joints_by_channels: dict[int, int]  # number of joints by number of channels
    rotation_orders: dict[str, int]  # number of joints by rotation order
    faults: tuple[CaptureFault, ...]  # flips and spikes of the capture
    notes: tuple[str, ...]
    tree: tuple[JointInfo, ...] = ()
    stored: StorageInfo | None = None  # None unless it is a .kps file


def describe_clip(job: InfoJob) -> ClipInfo:
    """Load one file and describe it."""
    if is_kps_file(job.path):
        return _describe_kps(job)
    motion = load_clip(job.path, job.load_options)
    with np.errstate(over="ignore", invalid="ignore"):  # extreme offsets may overflow the height
        return describe(motion, job.path, tree=job.tree)


def _describe_kps(job: InfoJob) -> ClipInfo:
    """Describe a .kps file by its header, which also works if groups are damaged."""
    storage = load_storage_info(job.path, job.load_options.limits)
    if not storage.damage:
        return replace(describe(load_clip(job.path, job.load_options), job.path, tree=job.tree), stored=storage)
    info = describe(load_longest_intact_span(job.path, job.load_options.limits), job.path, tree=job.tree)
    return replace(info, frames=storage.n_frames, duration_s=storage.n_frames / info.fps, stored=storage)


def describe(motion: Motion, path: Path, *, tree: bool = False) -> ClipInfo:
    """Return the figures of a motion that was read from ``path``."""
    skeleton = motion.skeleton
    unit = motion.metres_per_unit
    unrecognised = tuple(
        name for name, part in zip(skeleton.names, skeleton.anatomy.body_parts, strict=True) if part is None
    )
    orders = [order for order, channels in zip(skeleton.rotation_orders, skeleton.channels, strict=True) if channels]
    return ClipInfo(
        path=str(path),
        name=motion.name,
        format=detect_format_name(path),
        bytes=path.stat().st_size,
        frames=motion.n_frames,
        fps=motion.fps,
        duration_s=motion.duration_s,
        first_frame=motion.first_frame,
        reference_pose=motion.reference_pose is not None,
        joints=motion.n_joints,
        end_sites=len(skeleton.end_joints),
        up=motion.up,
        metres_per_unit=unit,
        height=motion.height,
        height_m=None if unit is None else motion.height * unit,
        height_source=motion.height_source,
        recognised=skeleton.n_joints - len(unrecognised),
        unrecognised=unrecognised,
        channels=sum(map(len, skeleton.channels)),
        joints_by_channels=dict(Counter(map(len, skeleton.channels)).most_common()),
        rotation_orders=dict(Counter(orders).most_common()),
        faults=find_capture_faults(motion),
        notes=list_notes(motion),
        tree=_build_tree(skeleton) if tree else (),
    )


def _build_tree(skeleton: Skeleton) -> tuple[JointInfo, ...]:
    ends: dict[int, list[tuple[float, ...]]] = {}
    for joint, offset in zip(skeleton.end_joints.tolist(), skeleton.end_offsets.tolist(), strict=True):
        ends.setdefault(joint, []).append(tuple(offset))
    joints: list[JointInfo] = []
    for j, (parent, offset) in enumerate(zip(skeleton.parents.tolist(), skeleton.offsets.tolist(), strict=True)):
        joints.append(
            JointInfo(
                name=skeleton.names[j],
                parent=parent if parent >= 0 else None,
                depth=joints[parent].depth + 1 if parent >= 0 else 0,
                body_part=skeleton.anatomy.body_parts[j],
                rotation_order=skeleton.rotation_orders[j],
                channels=skeleton.channels[j],
                offset=tuple(offset),
                end_sites=tuple(ends.get(j, ())),
            )
        )
    return tuple(joints)


def detect_format_name(path: Path) -> str:
    """Return the name of the format that the file's first bytes indicate, or ``unknown``."""
    try:
        check_regular_file(path, "a motion file")
        with path.open("rb") as file:
            head = file.read(SNIFF_BYTES)
        if head.startswith(GZIP_MAGIC):
            with gzip.open(path) as unzipped:
                head = unzipped.read(SNIFF_BYTES)
    except FileError:
        raise
    except FileNotFoundError:
        raise FileError("no such file", code="no_such_file", path=path) from None
    except (OSError, EOFError) as error:
        raise FileError(f"cannot be read ({error})", path=path) from None
    return next((format_.name for format_ in FORMATS if format_.sniff(head)), "unknown")
