"""Figures of a .kps file, damaged or not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from keypose.errors import FormatError
from keypose.formats import Limits, kps
from keypose.formats.base import SNIFF_BYTES
from keypose.model import Motion
from keypose.storage import Damage, StoredMotion, open_kps
from keypose.storage.tolerance_note import TOLERANCE_NOTE

RAW_BYTES = 40  # per joint and frame: rotation, translation and scale in float32, as engines count


@dataclass(frozen=True)
class StorageInfo:
    """Figures of a .kps file besides those of its motion."""

    tolerance_mm: float | None  # None: lossless, or without frames
    source_tolerance_mm: float | None  # tolerance of the source, if it was compressed before
    lossless: bool
    has_frames: bool
    n_frames: int
    n_groups: int
    group_s: float
    keys: int | None  # number of keys; None without keys
    swings: int | None
    raw_bytes: int  # all joints and frames as plain numbers
    ratio: float | None  # raw bytes to file bytes; None if the file is damaged
    damage: tuple[Damage, ...]  # groups that cannot be read


def is_kps_file(path: Path) -> bool:
    """Return whether a file is a .kps file, by its first bytes; False if it cannot be read."""
    try:
        with path.open("rb") as file:
            return kps.FORMAT.sniff(file.read(SNIFF_BYTES))
    except (OSError, ValueError):
        return False


def parse_source_tolerance_mm(notes: Iterable[str]) -> float | None:
    """Return the summed tolerance of earlier compressions, from the notes; None if there was none."""
    tolerances_mm = [float(match[1]) for note in notes if (match := TOLERANCE_NOTE.fullmatch(note))]
    return sum(tolerances_mm) if tolerances_mm else None


def drop_tolerance_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes without those about the tolerance, which results have as a field."""
    return tuple(note for note in notes if not TOLERANCE_NOTE.fullmatch(note))


def build_storage_info(stored: StoredMotion, path: Path) -> StorageInfo:
    """Return the figures from the header of a file, and its damaged groups."""
    damage = stored.damage()
    are_companions_intact = all(each.group is not None or each.is_harmless for each in damage)
    keyed, swings = (stored.keyed(read_frames=False), stored.swings()) if are_companions_intact else (None, None)
    raw_bytes = RAW_BYTES * stored.skeleton.n_joints * stored.n_frames
    return StorageInfo(
        tolerance_mm=stored.tolerance_mm,
        source_tolerance_mm=parse_source_tolerance_mm(stored.notes),
        lossless=stored.lossless,
        has_frames=stored.has_frames,
        n_frames=stored.n_frames,
        n_groups=stored.n_groups,
        group_s=stored.group_s,
        keys=None if keyed is None else keyed.n_keys,
        swings=None if swings is None else swings.n_swings,
        raw_bytes=raw_bytes,
        ratio=None if damage else raw_bytes / path.stat().st_size,
        damage=damage,
    )


def load_storage_info(path: Path, limits: Limits) -> StorageInfo:
    """Open a file and return its figures."""
    with open_kps(path, limits=limits) as stored:
        return build_storage_info(stored, path)


def load_longest_intact_span(path: Path, limits: Limits) -> Motion:
    """Return the longest readable span of a damaged file."""
    with open_kps(path, limits=limits) as stored:
        spans = stored.intact_spans()
        if not spans:
            raise FormatError(path, "damaged throughout: nothing of it can be read")
        start, end = max(spans, key=lambda span: span[1] - span[0])
        return replace(stored[start:end], first_frame=stored.first_frame)
