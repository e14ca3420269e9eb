"""The list of notes in a ``.kps`` file, which also holds the tolerance of a motion that came from a lossy file.

Version 1 of the layout has no number for it; outside of the file it is a field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_TOLERANCE_TEXT = re.compile(r"within (\d+(?:\.\d+)?) mm of the original, by .*\.kps", re.DOTALL)


def pack_notes(notes: tuple[str, ...], tolerance_mm: float | None, name: str) -> tuple[str, ...]:
    """Return the texts to store for the notes and the tolerance of the motion ``name``."""
    return notes if tolerance_mm is None else (*notes, f"within {tolerance_mm:g} mm of the original, by {name}.kps")


def unpack_notes(texts: Iterable[str]) -> tuple[tuple[str, ...], float | None]:
    """Return the notes and the tolerance in stored texts; None: exact."""
    notes, tolerances_mm = [], []
    for text in texts:
        match = _TOLERANCE_TEXT.fullmatch(text)
        notes.append(text) if match is None else tolerances_mm.append(float(match[1]))
    return tuple(notes), sum(tolerances_mm) if tolerances_mm else None
