"""The list of notes in a ``.kps`` file, which also holds two facts that version 1 of the layout has no other place for.

They are the tolerance of a motion that came from a lossy file, for which the header has no number, and, in the notes
of keys, that their detail is in the frames. Files of version 1 must decode to the same bits, so these texts stay until
the layout has another version. Only this module knows them; outside of a file both are fields. Notes with a type of
their own are stored as texts too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from keypose.arrays import MAX_MAGNITUDE
from keypose.model import parse_notes

_TOLERANCE_TEXT = re.compile(
    r"within (\d{1,20}(?:\.\d{1,20})?(?:e[+-]\d{1,3})?) mm of the original, by .*\.kps", re.ASCII | re.DOTALL
)
_DETAIL_TEXT = "the captured detail of these keys is in the frames beside them"


def pack_notes(notes: tuple[str, ...], tolerance_mm: float | None, name: str) -> tuple[str, ...]:
    """Return the texts to store for the notes and the tolerance of the motion ``name``."""
    if tolerance_mm is None:
        return notes
    short = f"{tolerance_mm:g}"
    number = short if float(short) == tolerance_mm else repr(tolerance_mm)
    return (*notes, f"within {number} mm of the original, by {name}.kps")


def unpack_notes(texts: Iterable[str]) -> tuple[tuple[str, ...], float | None]:
    """Return the notes and the tolerance in stored texts; None: exact."""
    notes, tolerances_mm = [], []
    for text in texts:
        match = _TOLERANCE_TEXT.fullmatch(text)
        if match is not None and float(match[1]) <= MAX_MAGNITUDE:
            tolerances_mm.append(float(match[1]))
        else:
            notes.append(text)
    return parse_notes(notes), sum(tolerances_mm) if tolerances_mm else None


def pack_keys_notes(notes: tuple[str, ...], *, is_detail_in_frames: bool) -> tuple[str, ...]:
    """Return the notes of keys to store, before their tolerance is packed."""
    return (*notes, _DETAIL_TEXT) if is_detail_in_frames else notes


def unpack_keys_notes(notes: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Return the notes of keys without residual, and whether their detail is in the frames."""
    return tuple(note for note in notes if note != _DETAIL_TEXT), _DETAIL_TEXT in notes
