"""Existing outputs that --skip-existing skips, and whether they match the requested tolerance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keypose.batch.plan import Target
from keypose.cli.storage_rows import format_paths
from keypose.errors import KeyposeError
from keypose.storage import open_kps

LOSSLESS = "lossless"


@dataclass(frozen=True)
class ExistingFile:
    """A compressed file that exists already."""

    path: Path
    tolerance_mm: float | None
    lossless: bool
    difference: str  # from the requested tolerance; empty: none

    def document(self) -> dict[str, Any]:
        """Return JSON fields."""
        return {"tolerance_mm": self.tolerance_mm, "lossless": self.lossless, "matches_options": not self.difference}


def read_existing(target: Target, tolerance_mm: float | None) -> ExistingFile:
    """Read the header of an existing file; ``tolerance_mm`` is the requested tolerance, None: lossless."""
    try:
        with open_kps(target.target) as stored:
            found_tolerance_mm, lossless, has_frames = stored.tolerance_mm, stored.lossless, stored.has_frames
    except (KeyposeError, OSError):
        return ExistingFile(target.target, None, lossless=False, difference="not to be read")
    # a file is also lossless if exact numbers take no more bytes than the tolerance would
    matches = not has_frames or lossless or found_tolerance_mm == tolerance_mm
    return ExistingFile(
        target.target,
        found_tolerance_mm,
        lossless,
        "" if matches else f"{_format_tolerance(found_tolerance_mm)}, not {_format_tolerance(tolerance_mm)}",
    )


def _format_tolerance(tolerance_mm: float | None) -> str:
    return LOSSLESS if tolerance_mm is None else f"within {tolerance_mm:g} mm"


def difference_messages(files: Iterable[ExistingFile]) -> list[str]:
    """Return a sentence for each difference between skipped files and the requested tolerance."""
    paths_by_difference: dict[str, list[Path]] = {}
    for each in files:
        if each.difference:
            paths_by_difference.setdefault(each.difference, []).append(each.path)
    return [
        f"{len(paths)} of those left out {'is' if len(paths) == 1 else 'are'} {unlike}: {format_paths(paths)}; "
        f"--overwrite instead of --skip-existing makes {'it' if len(paths) == 1 else 'them'} anew"
        for unlike, paths in paths_by_difference.items()
    ]
