"""The note of how far frames are off that were stored within a tolerance: it stays with them, into every other file."""

from __future__ import annotations

import re

NEARNESS = re.compile(r"within (\d+(?:\.\d+)?) mm of the original, by .*\.kps", re.DOTALL)


def with_nearness(notes: tuple[str, ...], tolerance_mm: float, name: str) -> tuple[str, ...]:
    """``notes`` with how near the clip ``name`` is to its original.

    What was stored within 1 mm and then within 0.1 mm is within 1.1 mm: errors add up, and one note says so.
    """
    before = [float(found[1]) for note in notes if (found := NEARNESS.fullmatch(note))]
    own = f"within {tolerance_mm + sum(before):g} mm of the original, by {name}.kps"
    return (*(note for note in notes if not NEARNESS.fullmatch(note)), own)
