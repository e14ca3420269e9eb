"""The records that a library returns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from keypose.errors import Audience, FormatWarning, Hint, KeyposeError, choose_text, format_count

REPR_HASH_DIGITS = 8  # enough to name the clip
FaultKind = Literal["database", "row", "words", "analysis", "missing blob", "damaged blob", "orphan blob", "leftover"]


@dataclass(frozen=True)
class Clip:
    """One clip of a library with its metadata."""

    hash: str  # sha256 of its content, unzipped: the clip's identity
    name: str
    other_names: tuple[str, ...]  # other names under which the same content was added
    tags: tuple[str, ...]
    source: str  # origin
    licence: str
    note: str
    fps: float
    n_frames: int
    duration_s: float
    n_joints: int
    skeleton: str  # sha256 of joint names and hierarchy: the same for all clips of one rig
    suffix: str  # of its bytes: ".bvh", ".bvh.gz"; ".kps" for a Motion or a file that needs others
    bytes: int  # of the blob
    blob: str  # sha256 of the stored bytes
    added_at: datetime  # UTC
    tolerance_mm: float | None = None  # of lossy storage; None: the original bytes are stored
    # Name and note were set by rebuild; those of the next file with this content replace them.
    is_placeholder: bool = False

    def __repr__(self) -> str:
        return (f"Clip({self.name!r}, {format_count(self.n_frames, 'frame')} at {self.fps:g} fps, "
                f"{self.duration_s:.2f} s, hash {self.hash[:REPR_HASH_DIGITS]})")  # fmt: skip


@dataclass(frozen=True)
class Stats:
    """Totals of a library."""

    clips: int
    duration_s: float
    n_frames: int
    bytes: int  # of all blobs
    skeletons: int
    tags: tuple[tuple[str, int], ...]  # each with its number of clips, the most used first


@dataclass(frozen=True)
class Facets:
    """Counts of clips by tag, duration, body part and action, for narrowing a list."""

    tags: tuple[tuple[str, int], ...]  # the most used first
    durations: tuple[tuple[float, float | None, int], ...]  # from seconds, below seconds (None: no limit), clips
    body_parts: tuple[tuple[str, int], ...]  # body parts with a wide swing
    actions: tuple[tuple[str, int], ...]  # kinds of actions, the most frequent first


@dataclass(frozen=True)
class Draft:
    """An unsaved edit of a clip."""

    clip: str  # hash
    revision: int  # increases with every change; never reused
    changed_at: datetime  # UTC
    data: str


ADD_AGAIN = "adding the file again mends it"  # hint of faults


@dataclass(frozen=True)
class Fault:
    """A fault that ``verify`` or ``rebuild`` found."""

    kind: FaultKind
    subject: str  # the clip's name, the blob's hash or the file
    message: str
    fixed: bool = False
    hint: Hint | str | None = None  # what the user can do

    def render(self, audience: Audience) -> str:
        """Return the fault as a line of text for users of Python or of the command line."""
        hint = "" if self.hint is None else f"; {choose_text(self.hint, audience)}"
        return f"{self.kind}: {self.subject}: {self.message}{hint}{' (fixed)' if self.fixed else ''}"

    def __str__(self) -> str:
        return self.render("python")


def rebuild_hint(effect: str) -> Hint:
    """Return the hint that rebuilding the library has this effect."""
    return Hint(python=f"rebuild() {effect}", command=f"keypose library rebuild {effect}")


EMPTY_PLACE_HINT = rebuild_hint("accepts an empty place, if they are lost for good")  # where no bytes are left


def verify_hint(effect: str) -> Hint:
    """Return the hint that repairing the library has this effect."""
    return Hint(python=f"verify(fix=True) {effect}", command=f"keypose library verify --fix {effect}")


@dataclass(frozen=True)
class IngestFailure:
    """A file that could not be ingested."""

    path: str
    message: str  # reason

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class IngestCounts:
    """Counts of the files of an ingest."""

    total: int  # files
    added: int
    existing: int  # files with existing content
    failed: int
    motion_s: float  # of added clips
    elapsed_s: float


@dataclass(frozen=True)
class IngestReport:
    """The result of ingesting many files."""

    added: tuple[Clip, ...]  # new clips
    existing: tuple[Clip, ...]  # clips of files with existing content
    failures: tuple[IngestFailure, ...]
    warnings: tuple[FormatWarning, ...] = ()  # repairs and assumptions
    notes: tuple[str, ...] = ()  # other remarks, each with its file


@dataclass(frozen=True)
class RebuildProgress:
    """Progress of a rebuild after each clip."""

    name: str  # of the clip
    total: int  # clips and orphan blobs
    done: int
    elapsed_s: float
    warnings: tuple[FormatWarning, ...] = ()  # repairs and assumptions of the reader; the path is the name of the clip

    @property
    def remaining_s(self) -> float:
        """Estimated seconds until the end, assuming that the remaining clips take as long as those so far."""
        return self.elapsed_s / max(self.done, 1) * (self.total - self.done)


@dataclass(frozen=True)
class IngestProgress:
    """Progress of an ingest after each file, once it is durable."""

    path: str  # of the file
    clip: Clip | None  # None: it could not be ingested
    message: str  # reason of a failure
    total: int  # files
    added: int
    existing: int
    failed: int
    motion_s: float  # of added clips
    elapsed_s: float
    is_new: bool = False  # the clip
    is_changed: bool = False  # existed, and got a new name, tag or field
    is_repaired: bool = False  # its lost, damaged or lossy bytes were replaced
    warnings: tuple[FormatWarning, ...] = ()  # repairs and assumptions of the reader
    notes: tuple[str, ...] = ()  # other remarks about the file
    error: KeyposeError | None = None  # the failure with its fields, if it is an error of Keypose

    @property
    def done(self) -> int:
        """Number of processed files."""
        return self.added + self.existing + self.failed

    @property
    def motion_s_per_s(self) -> float:
        """Seconds of motion added per second."""
        return self.motion_s / max(self.elapsed_s, 1e-9)

    @property
    def remaining_s(self) -> float:
        """Estimated seconds until the end, assuming that the remaining files take as long as those so far."""
        return self.elapsed_s / max(self.done, 1) * (self.total - self.done)
