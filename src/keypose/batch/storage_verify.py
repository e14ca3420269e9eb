"""One stored file read to its last byte: the work that ``keypose verify`` maps over its files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from keypose.batch.reading import Reading
from keypose.batch.storage_check import largest_off, read_back
from keypose.batch.storage_damage import told_of
from keypose.batch.storage_facts import StoredFacts, facts_of, is_stored
from keypose.batch.storage_verbatim import check_numbers, numbers_of
from keypose.errors import FormatError
from keypose.storage import StoredMotion, open_kps
from keypose.storage.error import LargestError
from keypose.storage.groups import group_bounds


@dataclass(frozen=True)
class Verifying:
    """Which file to read, and what it is to be held against."""

    path: Path
    against: Path | None = None
    reading: Reading = field(default_factory=Reading)


@dataclass(frozen=True)
class Verified:
    """What was found in it."""

    path: str
    name: str
    bytes: int
    n_frames: int
    fps: float
    n_joints: int
    stored: StoredFacts
    problem: str  # what is wrong with it; empty: nothing
    error: LargestError | None  # against the original; None where there is none, or every number is the same
    same: bool | None  # every number of it is that of the original; None: nothing was compared
    notes: tuple[str, ...]

    @property
    def duration_s(self) -> float:
        """Seconds of motion."""
        return self.n_frames / self.fps


def verify_clip(job: Verifying) -> Verified:
    """Decodes everything that a file holds."""
    with open_kps(job.path, limits=job.reading.limits) as stored:
        facts = facts_of(stored, job.path)
        problem, error, same = "", None, None
        if facts.damage:
            problem = told_of(stored, facts.damage, job.path)
        elif job.against is not None:
            error, problem = _held_against(stored, job)
            same = not problem and error is None
        else:
            _read_all(stored)
        return Verified(
            path=str(job.path),
            name=stored.name,
            bytes=job.path.stat().st_size,
            n_frames=stored.n_frames,
            fps=stored.fps,
            n_joints=stored.skeleton.n_joints,
            stored=facts,
            problem=problem,
            error=error,
            same=same,
            notes=stored.notes,
        )


def _read_all(stored: StoredMotion) -> None:
    """Decodes every frame, one group at a time."""
    if not stored.has_frames:
        stored.motion()
        return
    for start, stop in group_bounds(stored.n_frames, stored.fps):
        stored.frames(start, stop)


def _held_against(stored: StoredMotion, job: Verifying) -> tuple[LargestError | None, str]:
    """The largest error against the original, and what is wrong with it."""
    assert job.against is not None
    original = job.reading.load(job.against)
    try:
        error = read_back(stored, original, job.path)
        if stored.lossless and stored.channels() is not None:
            limits = job.reading.limits
            check_numbers(stored, numbers_of(job.against, original, limits, stored=is_stored(job.against)), job.path)
        return error, ""
    except FormatError as error:
        beyond = stored.n_frames == original.n_frames and stored.skeleton.names == original.skeleton.names
        return largest_off(stored, original) if beyond else None, error.problem
