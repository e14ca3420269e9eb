"""What makes a file a compressed one, by label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from keypose.batch.storage_facts import RAW_BYTES, StoredFacts

RAW = f"{RAW_BYTES} bytes for each joint and frame"
DAMAGE_SHOWN = 4  # groups
NAMES_SHOWN = 4


class Near(Protocol):
    """What is known of how near frames are to the original."""

    @property
    def lossless(self) -> bool:
        """Whether every number is kept."""

    @property
    def tolerance_mm(self) -> float | None:
        """How far they may be off; None: lossless, or no frames."""

    @property
    def source_tolerance_mm(self) -> float | None:
        """How far what was stored may have been off already; None: it was not compressed before."""


def nearness(made: Near) -> str:
    """How near frames that were read are to the original; what was compressed twice has both errors."""
    before = made.source_tolerance_mm
    if made.lossless:
        return "every number as it was" if before is None else f"every number, of what was within {before:g} mm"
    if made.tolerance_mm is None:
        return "as its keys or swings play"
    return f"within {made.tolerance_mm + (before or 0.0):g} mm"


def _since(made: Near) -> str:
    """How that comes about where a file was compressed twice."""
    before, own = made.source_tolerance_mm, made.tolerance_mm
    if before is None or own is None:
        return ""
    return f" of the original: {own:g} mm, of what was itself within {before:g} mm"


def some_of(paths: Sequence[Path]) -> str:
    """The first few of many files, and how many more there are."""
    more = len(paths) - NAMES_SHOWN
    return ", ".join(map(str, paths[:NAMES_SHOWN])) + (f" and {more} more" if more > 0 else "")


def held(keys: int | None, swings: int | None) -> str:
    """What a file holds besides frames; empty: nothing."""
    return " and ".join(f"{n} {kind}" for kind, n in (("keys", keys), ("swings", swings)) if n is not None)


def stored_rows(stored: StoredFacts) -> list[tuple[str, str]]:
    """How near it is, how small, in how many groups, what else it holds, and what is damaged."""
    rows = [
        ("kept", nearness(stored) + _since(stored)),
        ("groups", f"{stored.n_groups} of about {stored.group_s:.3g} s, each readable alone"),
    ]
    if stored.ratio is not None:
        rows.insert(1, ("smaller", f"{stored.ratio:.3g} times than {RAW}"))
    if also := held(stored.keys, stored.swings):
        rows.append(("with", also))
    rows += [("damaged", str(each)) for each in stored.damage[:DAMAGE_SHOWN]]
    if len(stored.damage) > DAMAGE_SHOWN:
        rows.append(("", f"and {len(stored.damage) - DAMAGE_SHOWN} more groups; --json has all"))
    return rows
