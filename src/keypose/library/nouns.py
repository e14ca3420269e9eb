"""What a library says about its clips."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

FaultKind = Literal["database", "row", "words", "missing blob", "damaged blob", "orphan blob", "leftover"]


@dataclass(frozen=True)
class Clip:
    """One clip of a library: what it is, and what people said about it."""

    hash: str  # sha256 of its content, unpacked: the clip's identity
    name: str
    also_named: tuple[str, ...]  # other names under which the same content came
    tags: tuple[str, ...]
    source: str  # where it came from
    licence: str
    note: str
    fps: float
    n_frames: int
    duration_s: float
    n_joints: int
    skeleton: str  # sha256 of joint names and hierarchy: the same for all clips of one rig
    suffix: str  # of its bytes: ".bvh", ".bvh.gz"; ".kps" for what came as a Motion or needed files beside it
    bytes: int  # as they are kept
    blob: str  # sha256 of the bytes as they are kept
    added_at: datetime  # UTC
    within_mm: float | None = None  # how far the kept bytes may be from those that came; None: the very same bytes


@dataclass(frozen=True)
class Stats:
    """How much a library holds."""

    clips: int
    duration_s: float
    n_frames: int
    bytes: int  # of all blobs that belong to clips
    skeletons: int
    tags: tuple[tuple[str, int], ...]  # each with its number of clips, the most used first


@dataclass(frozen=True)
class Fault:
    """Something that ``verify`` found wrong."""

    kind: FaultKind
    where: str  # the clip's name, the blob's hash or the file
    says: str
    fixed: bool = False

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.says}{' (fixed)' if self.fixed else ''}"
