"""The table of all designs over all corpora, for the terminal and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.storage.clips import CMU30, CMU120, HELD_OUT
from benchmarks.storage.one_clip import (
    ACL,
    GZIP,
    KEYS,
    LOSSLESS,
    OURS,
    PLAIN,
    SWINGS,
    TEXT,
    TOLERANCES_MM,
    XZ,
    ZSTD,
    Stored,
)

COLUMNS = (CMU120, CMU30, HELD_OUT)
ROWS = (TEXT, GZIP, ZSTD, XZ, LOSSLESS, SWINGS, KEYS, ACL, OURS)
KEPT = {LOSSLESS: "none", SWINGS: "of joints only", KEYS: "bounded", ACL: "bounded", OURS: "bounded"}


def ratio(clips: Sequence[Stored], corpus: str, design: str, tolerance_mm: float) -> float:
    """Raw bytes of all clips of a corpus over those that they are stored in."""
    key = design, 0.0 if design in PLAIN else tolerance_mm
    some = [clip for clip in clips if clip.corpus == corpus and key in clip.bytes]
    return sum(clip.raw_bytes for clip in some) / sum(clip.bytes[key] for clip in some) if some else math.nan


def cells(clips: Sequence[Stored]) -> dict[str, list[list[float]]]:
    """For each design, corpus by corpus, the ratios at all tolerances."""
    return {
        design: [[ratio(clips, corpus, design, mm) for mm in TOLERANCES_MM] for corpus in COLUMNS] for design in ROWS
    }


def as_text(clips: Sequence[Stored]) -> str:
    """For the terminal."""
    tolerances = "".join(f"{mm:>7g}" for mm in TOLERANCES_MM)
    lines = [
        f"   {'raw over stored, by largest error in mm':<42}" + "".join(f"{corpus:>21}   " for corpus in COLUMNS),
        f"   {'':<26}{'error':<16}" + f"{tolerances}   " * len(COLUMNS),
    ]
    for design, found in cells(clips).items():
        figures = "".join("".join(f"{_short(value):>7}" for value in some) + "   " for some in found)
        lines.append(f"   {design:<26}{KEPT.get(design, 'none'):<16}{figures}".rstrip())
    return "\n".join(lines)


def as_markdown(clips: Sequence[Stored]) -> str:
    """For a page."""
    lines = [
        "| design | error | " + " | ".join(f"`{corpus}`: {_tolerances()}" for corpus in COLUMNS) + " |",
        "|---" * (2 + len(COLUMNS)) + "|",
    ]
    for design, found in cells(clips).items():
        shown = [
            _short(some[0]) if design in PLAIN or math.isnan(some[0]) else " / ".join(map(_short, some))
            for some in found
        ]
        bold = "**" if design == OURS else ""
        row = [f"{bold}{each}{bold}" for each in (design, KEPT.get(design, "none"), *shown)]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def _tolerances() -> str:
    return " / ".join(f"{mm:g}" for mm in TOLERANCES_MM) + " mm"


def _short(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.1f}"
