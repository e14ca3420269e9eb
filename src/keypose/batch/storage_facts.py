"""What a stored file tells of itself, damaged or not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from keypose.errors import FormatError
from keypose.formats import Limits, kps
from keypose.formats.base import SNIFF_BYTES
from keypose.model import Motion
from keypose.storage import Damage, StoredMotion, open_kps
from keypose.storage.lasting import NEARNESS

RAW_BYTES = 40  # of one joint in one frame: rotation, translation and scale in float32, as engines count


@dataclass(frozen=True)
class StoredFacts:
    """What is in a stored file besides a motion."""

    tolerance_mm: float | None  # None: lossless, or no frames of its own
    source_tolerance_mm: float | None  # how near to the original what was stored was itself, if compressed before
    lossless: bool
    has_frames: bool
    n_frames: int
    n_groups: int
    group_s: float
    keys: int | None  # that it holds
    swings: int | None
    raw_bytes: int  # of all joints and frames as plain numbers
    ratio: float | None  # of these to the bytes of the file; None: parts of it are missing or damaged
    damage: tuple[Damage, ...]  # groups that cannot be read


def is_stored(path: Path) -> bool:
    """Whether a file is a stored one, by its first bytes; one that cannot be read is none."""
    try:
        with path.open("rb") as file:
            return kps.FORMAT.sniff(file.read(SNIFF_BYTES))
    except (OSError, ValueError):
        return False


def near_before(notes: Iterable[str]) -> float | None:
    """Within how many mm of its original a motion is by its notes, since it was stored before; None: it was not."""
    found = [float(match[1]) for note in notes if (match := NEARNESS.fullmatch(note))]
    return sum(found) if found else None


def without_nearness(notes: Iterable[str]) -> tuple[str, ...]:
    """What readers noticed, but for how near the motion is to its original, which results tell by themselves."""
    return tuple(note for note in notes if not NEARNESS.fullmatch(note))


def facts_of(stored: StoredMotion, path: Path) -> StoredFacts:
    """What the header of a file tells, and which groups are damaged."""
    damage = stored.damage()
    beside_sound = all(each.group is not None or each.loses_nothing for each in damage)
    keyed, swings = (stored.keyed(read_frames=False), stored.swings()) if beside_sound else (None, None)
    raw = RAW_BYTES * stored.skeleton.n_joints * stored.n_frames
    return StoredFacts(
        tolerance_mm=stored.tolerance_mm,
        source_tolerance_mm=near_before(stored.notes),
        lossless=stored.lossless,
        has_frames=stored.has_frames,
        n_frames=stored.n_frames,
        n_groups=stored.n_groups,
        group_s=stored.group_s,
        keys=None if keyed is None else keyed.n_keys,
        swings=None if swings is None else swings.n_swings,
        raw_bytes=raw,
        ratio=None if damage else raw / path.stat().st_size,
        damage=damage,
    )


def facts_in(path: Path, limits: Limits) -> StoredFacts:
    """The facts of a file."""
    with open_kps(path, limits=limits) as stored:
        return facts_of(stored, path)


def sound_part(path: Path, limits: Limits) -> Motion:
    """The longest part of a damaged file that can be read."""
    with open_kps(path, limits=limits) as stored:
        spans = stored.sound()
        if not spans:
            raise FormatError(path, "damaged throughout: nothing of it can be read")
        start, end = max(spans, key=lambda span: span[1] - span[0])
        return replace(stored[start:end], first_frame=stored.first_frame)
