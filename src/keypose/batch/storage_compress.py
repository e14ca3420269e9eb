"""One clip into a small file within a promised error: the work that ``keypose compress`` maps over its clips."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from keypose.batch.convert import make_folder
from keypose.batch.reading import Reading
from keypose.batch.storage_along import Along, Beside, held_alone, taken_along
from keypose.batch.storage_check import check_along, read_back
from keypose.batch.storage_facts import RAW_BYTES, is_stored, near_before, without_nearness
from keypose.batch.storage_place import in_place_when_done, without_pose_note
from keypose.batch.storage_verbatim import check_numbers, numbers_of
from keypose.formats import save
from keypose.formats.base import WriteOptions
from keypose.formats.files import write_atomically
from keypose.formats.keys_json.write import write_keyed
from keypose.model import KeyedMotion, Motion
from keypose.storage import open_kps, stored_bytes
from keypose.storage.blocks import deflated
from keypose.storage.error import LargestError
from keypose.storage.lossless import ChannelTable
from keypose.swings import Swings
from keypose.swings.packed import pack


@dataclass(frozen=True)
class Compression:
    """What to read, how near to keep it, and where to write it."""

    source: Path
    target: Path
    reading: Reading = field(default_factory=Reading)
    tolerance_mm: float | None = 1.0  # None: lossless
    keys: Beside | None = None  # that go along
    swings: Beside | None = None
    verify: bool = True  # read the file back before it takes its place


@dataclass(frozen=True)
class Compressed:
    """What was written."""

    name: str
    n_frames: int
    fps: float
    n_joints: int
    n_groups: int
    source_bytes: int
    bytes: int
    keys: int | None  # that are in the file
    swings: int | None
    beside_bytes: int  # of the file that are for these
    has_frames: bool  # False: it holds keys or swings alone
    lossless: bool  # also where a tolerance was asked for and every number takes no more bytes
    source_tolerance_mm: float | None  # how near what was read is to its own original, if it was compressed before
    verified: bool
    error: LargestError | None  # None where every number is kept, or nothing was read back
    notes: tuple[str, ...]

    @property
    def duration_s(self) -> float:
        """Seconds of motion."""
        return self.n_frames / self.fps

    @property
    def raw_bytes(self) -> int:
        """What the motion takes as plain numbers."""
        return RAW_BYTES * self.n_joints * self.n_frames


def compress_clip(job: Compression, progress: Callable[[float], None] | None = None) -> Compressed:
    """Reads one clip, writes it, and reads it back; the folders that its target needs are made.

    ``progress`` is told which part of it is coded, from 0 to 1.
    """
    source_bytes = job.source.stat().st_size if job.source.is_file() else 0  # a target may be in its place
    alone = held_alone(job.source, job.reading.limits)
    if alone is not None:
        return _keep(job, alone, source_bytes)
    motion = job.reading.load(job.source)
    along = taken_along(motion, job.source, job.keys, job.swings, job.reading.limits)
    channels = None
    if job.tolerance_mm is None:
        channels = numbers_of(job.source, motion, job.reading.limits, stored=is_stored(job.source))
    make_folder(job.target.parent)
    with in_place_when_done(job.target) as waiting:
        write_atomically(waiting, _coded(job, motion, along, channels, progress))
        with open_kps(waiting, limits=job.reading.limits) as stored:
            error, n_groups, lossless = None, stored.n_groups, stored.lossless
            if job.verify:
                error = read_back(stored, motion, job.target)
                check_numbers(stored, channels, job.target)
                check_along(stored, along.keyed, along.swings, job.target)
        size = waiting.stat().st_size
    made = _made(job, motion, along, source_bytes, size)
    return replace(made, n_groups=n_groups, lossless=lossless, error=error)


def _coded(
    job: Compression,
    motion: Motion,
    along: Along,
    channels: ChannelTable | None,
    progress: Callable[[float], None] | None,
) -> bytes:
    return stored_bytes(
        motion,
        tolerance_mm=job.tolerance_mm,
        lossless=job.tolerance_mm is None,
        channels=channels,
        keys=None if along.keyed is None else _text_of(along.keyed),
        swings=along.swings,
        progress=progress,
    )


def _text_of(keyed: KeyedMotion) -> bytes:
    return write_keyed(keyed, ".keys.json", WriteOptions())


def _bytes_of(along: Along) -> int:
    """What keys and swings take in a file."""
    keys = 0 if along.keyed is None else len(deflated(_text_of(along.keyed)))
    return keys + (0 if along.swings is None else len(pack(along.swings)))


def _keep(job: Compression, alone: KeyedMotion | Swings, source_bytes: int) -> Compressed:
    """Keys or swings, of which there are no frames to be coded."""
    along = Along(alone, None) if isinstance(alone, KeyedMotion) else Along(None, alone)
    make_folder(job.target.parent)
    with in_place_when_done(job.target) as waiting:
        save(alone, waiting)
        if job.verify:
            with open_kps(waiting, limits=job.reading.limits) as stored:
                check_along(stored, along.keyed, along.swings, job.target)
        size = waiting.stat().st_size
    return _made(job, alone, along, source_bytes, size)


def _made(
    job: Compression, what: Motion | KeyedMotion | Swings, along: Along, source_bytes: int, size: int
) -> Compressed:
    return Compressed(
        name=what.name,
        n_frames=what.n_frames,
        fps=what.fps,
        n_joints=what.skeleton.n_joints,
        n_groups=0,
        source_bytes=source_bytes,
        bytes=size,
        keys=None if along.keyed is None else along.keyed.n_keys,
        swings=None if along.swings is None else along.swings.n_swings,
        beside_bytes=_bytes_of(along),
        has_frames=isinstance(what, Motion),
        lossless=False,
        source_tolerance_mm=near_before(what.notes),
        verified=job.verify,
        error=None,
        notes=(*without_nearness(without_pose_note(what.notes)), *along.notes),
    )
