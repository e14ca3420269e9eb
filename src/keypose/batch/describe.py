"""What is in one motion file, in figures: the work that ``keypose info`` maps over its clips."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from keypose.batch.reading import Reading
from keypose.batch.storage_facts import StoredFacts, facts_in, is_stored, sound_part
from keypose.errors import FileError
from keypose.formats import FORMATS
from keypose.formats.base import SNIFF_BYTES
from keypose.formats.files import GZIP_MAGIC
from keypose.model import Motion, Skeleton


@dataclass(frozen=True)
class Question:
    """Which file, and how to read it."""

    path: Path
    reading: Reading = field(default_factory=Reading)
    tree: bool = False  # describe every joint too


@dataclass(frozen=True)
class JointInfo:
    """One joint of the tree."""

    name: str
    parent: int | None  # index in the list of joints
    depth: int  # joints above it
    part: str | None  # of the body, where recognised
    rotation_order: str
    channels: tuple[str, ...]
    offset: tuple[float, ...]  # from the parent, file units
    end_sites: tuple[tuple[float, ...], ...]  # their offsets from this joint


@dataclass(frozen=True)
class ClipInfo:
    """One motion file in figures. Lengths are in file units where the name says nothing else."""

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
    recognised: int
    unrecognised: tuple[str, ...]
    channels: int
    joints_by_channels: dict[int, int]  # how many joints have that many
    rotation_orders: dict[str, int]  # how many joints turn in that order
    notes: tuple[str, ...]
    tree: tuple[JointInfo, ...] = ()
    stored: StoredFacts | None = None  # of a file that was compressed


def describe_clip(question: Question) -> ClipInfo:
    """Reads one file and describes it."""
    if is_stored(question.path):
        return _describe_stored(question)
    motion = question.reading.load(question.path)
    with np.errstate(over="ignore", invalid="ignore"):  # absurd offsets have no height; that is no fault of ours
        return describe(motion, question.path, tree=question.tree)


def _describe_stored(question: Question) -> ClipInfo:
    """A compressed file: what the header says, also where groups are damaged."""
    facts = facts_in(question.path, question.reading.limits)
    if not facts.damage:
        return replace(describe(question.reading.load(question.path), question.path, tree=question.tree), stored=facts)
    info = describe(sound_part(question.path, question.reading.limits), question.path, tree=question.tree)
    return replace(info, frames=facts.n_frames, duration_s=facts.n_frames / info.fps, stored=facts)


def describe(motion: Motion, path: Path, *, tree: bool = False) -> ClipInfo:
    """The figures of a motion that was read from ``path``."""
    s = motion.skeleton
    unit = motion.metres_per_unit
    unrecognised = tuple(name for name, part in zip(s.names, s.anatomy.parts, strict=True) if part is None)
    turning = [order for order, channels in zip(s.rotation_orders, s.channels, strict=True) if channels]
    return ClipInfo(
        path=str(path),
        name=motion.name,
        format=format_name(path),
        bytes=path.stat().st_size,
        frames=motion.n_frames,
        fps=motion.fps,
        duration_s=motion.duration_s,
        first_frame=motion.first_frame,
        reference_pose=motion.reference_pose is not None,
        joints=motion.n_joints,
        end_sites=len(s.end_joints),
        up=motion.up,
        metres_per_unit=unit,
        height=motion.height,
        height_m=None if unit is None else motion.height * unit,
        recognised=s.n_joints - len(unrecognised),
        unrecognised=unrecognised,
        channels=sum(map(len, s.channels)),
        joints_by_channels=dict(Counter(map(len, s.channels)).most_common()),
        rotation_orders=dict(Counter(turning).most_common()),
        notes=motion.notes,
        tree=_tree(s) if tree else (),
    )


def _tree(s: Skeleton) -> tuple[JointInfo, ...]:
    ends: dict[int, list[tuple[float, ...]]] = {}
    for joint, offset in zip(s.end_joints.tolist(), s.end_offsets.tolist(), strict=True):
        ends.setdefault(joint, []).append(tuple(offset))
    joints: list[JointInfo] = []
    for j, (parent, offset) in enumerate(zip(s.parents.tolist(), s.offsets.tolist(), strict=True)):
        joints.append(
            JointInfo(
                name=s.names[j],
                parent=parent if parent >= 0 else None,
                depth=joints[parent].depth + 1 if parent >= 0 else 0,
                part=s.anatomy.parts[j],
                rotation_order=s.rotation_orders[j],
                channels=s.channels[j],
                offset=tuple(offset),
                end_sites=tuple(ends.get(j, ())),
            )
        )
    return tuple(joints)


def format_name(path: Path) -> str:
    """The format that a readable file has by its content."""
    try:
        with path.open("rb") as file:
            head = file.read(SNIFF_BYTES)
        if head.startswith(GZIP_MAGIC):
            with gzip.open(path) as unzipped:
                head = unzipped.read(SNIFF_BYTES)
    except (OSError, EOFError) as error:
        raise FileError(f"{path}: cannot be read ({error})") from None
    return next((format_.name for format_ in FORMATS if format_.sniff(head)), "unknown")
