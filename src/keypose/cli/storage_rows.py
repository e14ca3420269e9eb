"""What makes a file a compressed one, by label."""

from __future__ import annotations

from typing import Protocol

from keypose.batch.storage_facts import RAW_BYTES, StoredFacts

RAW = f"{RAW_BYTES} bytes for each joint and frame"
DAMAGE_SHOWN = 4  # groups


class Near(Protocol):
    """What is known of how near frames are to the original."""

    @property
    def lossless(self) -> bool:
        """Whether every number is kept."""

    @property
    def tolerance_mm(self) -> float | None:
        """How far they may be off; None: lossless, or no frames."""


def nearness(made: Near) -> str:
    """How near frames that were read are to the original."""
    if made.lossless:
        return "every number as it was"
    return "as its keys or swings play" if made.tolerance_mm is None else f"within {made.tolerance_mm:g} mm"


def held(keys: int | None, swings: int | None) -> str:
    """What a file holds besides frames; empty: nothing."""
    return " and ".join(f"{n} {kind}" for kind, n in (("keys", keys), ("swings", swings)) if n is not None)


def stored_rows(stored: StoredFacts) -> list[tuple[str, str]]:
    """How near it is, how small, in how many groups, what else it holds, and what is damaged."""
    rows = [
        ("kept", nearness(stored)),
        ("smaller", f"{stored.ratio:.3g} times than {RAW}"),
        ("groups", f"{stored.n_groups} of about {stored.group_s:.3g} s, each readable alone"),
    ]
    if also := held(stored.keys, stored.swings):
        rows.append(("with", also))
    rows += [("damaged", str(each)) for each in stored.damage[:DAMAGE_SHOWN]]
    if len(stored.damage) > DAMAGE_SHOWN:
        rows.append(("", f"and {len(stored.damage) - DAMAGE_SHOWN} more groups; --json has all"))
    return rows
