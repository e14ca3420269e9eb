"""What a library says about its clips."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

FaultKind = Literal["database", "row", "words", "analysis", "missing blob", "damaged blob", "orphan blob", "leftover"]


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
class Facets:
    """What some clips have in common: by what one may choose among them, each with its number of clips."""

    tags: tuple[tuple[str, int], ...]  # the most used first
    durations: tuple[tuple[float, float | None, int], ...]  # from seconds, below seconds (None: no end)
    parts: tuple[tuple[str, int], ...]  # limbs that swing widely


@dataclass(frozen=True)
class Draft:
    """An edit that somebody is at."""

    clip: str  # the hash of what is edited
    revision: int  # rises with every change; none comes twice
    changed_at: datetime  # UTC
    data: str


@dataclass(frozen=True)
class Fault:
    """Something that ``verify`` found wrong."""

    kind: FaultKind
    where: str  # the clip's name, the blob's hash or the file
    says: str
    fixed: bool = False

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.says}{' (fixed)' if self.fixed else ''}"


@dataclass(frozen=True)
class NotAdded:
    """A file that could not be taken in."""

    path: str
    says: str  # why

    def __str__(self) -> str:
        return self.says


@dataclass(frozen=True)
class Tally:
    """How many files became what."""

    total: int  # files
    added: int
    known: int  # content that was there already
    failed: int
    motion_s: float  # that was added
    elapsed_s: float


@dataclass(frozen=True)
class Ingested:
    """What became of many files."""

    clips: tuple[Clip, ...]  # new ones
    known: tuple[Clip, ...]  # of files whose content was there already
    failures: tuple[NotAdded, ...]
    warnings: tuple[str, ...] = ()  # what was repaired or guessed, each with its file
    notes: tuple[str, ...] = ()  # what else is worth knowing, each with its file


@dataclass(frozen=True)
class RebuildProgress:
    """How far a library is that is made anew, told after each clip."""

    name: str  # of the clip
    total: int  # clips, and bytes that become some
    done: int
    elapsed_s: float
    warnings: tuple[str, ...] = ()  # what was repaired or guessed when it was read; each begins with its name

    @property
    def left_s(self) -> float:
        """About how many seconds the rest will take, if its clips are like those before."""
        return self.elapsed_s / max(self.done, 1) * (self.total - self.done)


@dataclass(frozen=True)
class IngestProgress:
    """How far an ingest is, told after each file, when it is safe on the disk."""

    path: str  # of the file
    clip: Clip | None  # that it is; None: it could not be taken in
    says: str  # why not
    total: int  # files
    added: int
    known: int
    failed: int
    motion_s: float  # that was added
    elapsed_s: float
    is_new: bool = False  # the clip
    is_changed: bool = False  # it was known, and got a name, a tag or a remark
    is_mended: bool = False  # its bytes were lost, damaged or not quite those that came
    warnings: tuple[str, ...] = ()  # what was repaired or guessed when the file was read; each begins with its path
    notes: tuple[str, ...] = ()  # what else is worth knowing about the file

    @property
    def done(self) -> int:
        """Files that need no more work."""
        return self.added + self.known + self.failed

    @property
    def motion_s_per_s(self) -> float:
        """Seconds of motion added in a second."""
        return self.motion_s / max(self.elapsed_s, 1e-9)

    @property
    def left_s(self) -> float:
        """About how many seconds the rest will take, if its files are like those before."""
        return self.elapsed_s / max(self.done, 1) * (self.total - self.done)
