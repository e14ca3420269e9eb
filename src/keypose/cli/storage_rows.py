"""Properties of compressed files as labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from keypose.batch.storage_info import RAW_BYTES, StorageInfo

RAW_SIZE_TEXT = f"{RAW_BYTES} bytes for each joint and frame"
MAX_DAMAGE = 4  # damaged groups listed
MAX_BLOCK_NAMES = 4


class StoredAccuracy(Protocol):
    """How accurate stored frames are."""

    @property
    def lossless(self) -> bool:
        """Return whether all numbers are exact."""

    @property
    def tolerance_mm(self) -> float | None:
        """Return the maximum error; None: lossless, or no frames."""

    @property
    def source_tolerance_mm(self) -> float | None:
        """Return the maximum error of the compressed source; None if the source was not compressed."""


def format_accuracy(stored: StoredAccuracy) -> str:
    """Return the accuracy as text; errors of files compressed twice add up."""
    before = stored.source_tolerance_mm
    if stored.lossless:
        return "every number as it was" if before is None else f"every number, of what was within {before:g} mm"
    if stored.tolerance_mm is None:
        return "as its keys or swings play"
    return f"within {stored.tolerance_mm + (before or 0.0):g} mm"


def _source_suffix(stored: StoredAccuracy) -> str:
    """Return the two errors of a file compressed twice as text; empty otherwise."""
    before, own = stored.source_tolerance_mm, stored.tolerance_mm
    if before is None or own is None:
        return ""
    return f" of the original: {own:g} mm, of what was itself within {before:g} mm"


def format_paths(paths: Sequence[Path]) -> str:
    """Return the first paths and the number of others as text."""
    more = len(paths) - MAX_BLOCK_NAMES
    return ", ".join(map(str, paths[:MAX_BLOCK_NAMES])) + (f" and {more} more" if more > 0 else "")


def format_contents(keys: int | None, swings: int | None) -> str:
    """Return the keys and swings in a file as text; empty if none."""
    return " and ".join(f"{n} {kind}" for kind, n in (("keys", keys), ("swings", swings)) if n is not None)


def stored_rows(stored: StorageInfo) -> list[tuple[str, str]]:
    """Return rows for accuracy, ratio, groups, contents and damage."""
    rows = [
        ("kept", format_accuracy(stored) + _source_suffix(stored)),
        ("groups", f"{stored.n_groups} of about {stored.group_s:.3g} s, each readable alone"),
    ]
    if stored.ratio is not None:
        rows.insert(1, ("smaller", f"{stored.ratio:.3g} times than {RAW_SIZE_TEXT}"))
    if contents := format_contents(stored.keys, stored.swings):
        rows.append(("with", contents))
    rows += [("damaged", str(each)) for each in stored.damage[:MAX_DAMAGE]]
    if len(stored.damage) > MAX_DAMAGE:
        rows.append(("", f"and {len(stored.damage) - MAX_DAMAGE} more groups; --json has all"))
    return rows
