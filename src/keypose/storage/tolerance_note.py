"""The note of a decoded motion that states its error bound; it is passed on to every other file."""

from __future__ import annotations

import re

TOLERANCE_NOTE = re.compile(r"within (\d+(?:\.\d+)?) mm of the original, by .*\.kps", re.DOTALL)


def add_tolerance_note(notes: tuple[str, ...], tolerance_mm: float, name: str) -> tuple[str, ...]:
    """Return ``notes`` with the error bound of the clip ``name``.

    A motion stored within 1 mm and then within 0.1 mm is within 1.1 mm: tolerances add up to one note.
    """
    earlier_tolerances_mm = [float(match[1]) for note in notes if (match := TOLERANCE_NOTE.fullmatch(note))]
    note_text = f"within {tolerance_mm + sum(earlier_tolerances_mm):g} mm of the original, by {name}.kps"
    return (*(note for note in notes if not TOLERANCE_NOTE.fullmatch(note)), note_text)
