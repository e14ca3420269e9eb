"""What a run that goes on finds in place, and whether that is what was asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keypose.batch.plan import Target
from keypose.cli.storage_rows import some_of
from keypose.errors import KeyposeError
from keypose.storage import open_kps

LOSSLESS = "lossless"


@dataclass(frozen=True)
class Kept:
    """A compressed file that was there already."""

    path: Path
    tolerance_mm: float | None
    lossless: bool
    unlike: str  # how it differs from what was asked for; empty: it does not

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {"tolerance_mm": self.tolerance_mm, "lossless": self.lossless, "as_asked": not self.unlike}


def kept_at(place: Target, tolerance_mm: float | None) -> Kept:
    """The file in a place, by its header; ``tolerance_mm``: what was asked for, None: lossless."""
    try:
        with open_kps(place.target) as stored:
            found, lossless, has_frames = stored.tolerance_mm, stored.lossless, stored.has_frames
    except (KeyposeError, OSError):
        return Kept(place.target, None, lossless=False, unlike="not to be read")
    # a file is lossless too where every number takes no more bytes than the tolerance would
    as_asked = not has_frames or lossless or found == tolerance_mm
    return Kept(place.target, found, lossless, "" if as_asked else f"{_words(found)}, not {_words(tolerance_mm)}")


def _words(tolerance_mm: float | None) -> str:
    return LOSSLESS if tolerance_mm is None else f"within {tolerance_mm:g} mm"


def differing(kept: Iterable[Kept]) -> list[str]:
    """A sentence for each way in which files that were left out are not what was asked for."""
    ways: dict[str, list[Path]] = {}
    for each in kept:
        if each.unlike:
            ways.setdefault(each.unlike, []).append(each.path)
    return [
        f"{len(paths)} of those left out {'is' if len(paths) == 1 else 'are'} {unlike}: {some_of(paths)}; "
        f"--overwrite instead of --skip-existing makes {'it' if len(paths) == 1 else 'them'} anew"
        for unlike, paths in ways.items()
    ]
