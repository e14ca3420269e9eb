"""Table of all designs over all corpora, as text and as Markdown."""

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
    SWINGS,
    TEXT,
    TOLERANCES_MM,
    WITHOUT_TOLERANCE,
    XZ,
    ZSTD,
    ClipSizes,
)

COLUMNS = (CMU120, CMU30, HELD_OUT)
ROWS = (TEXT, GZIP, ZSTD, XZ, LOSSLESS, SWINGS, KEYS, ACL, OURS)
ERROR_KINDS = {LOSSLESS: "none", SWINGS: "of joints only", KEYS: "bounded", ACL: "bounded", OURS: "bounded"}


def stored_ratio(clips: Sequence[ClipSizes], corpus: str, design: str, tolerance_mm: float) -> float:
    """Return raw bytes over stored bytes of all clips of a corpus; NaN if none was measured."""
    key = design, 0.0 if design in WITHOUT_TOLERANCE else tolerance_mm
    measured_clips = [clip for clip in clips if clip.corpus == corpus and key in clip.bytes]
    return (
        sum(clip.raw_bytes for clip in measured_clips) / sum(clip.bytes[key] for clip in measured_clips)
        if measured_clips
        else math.nan
    )


def ratio_table(clips: Sequence[ClipSizes]) -> dict[str, list[list[float]]]:
    """Return the ratios by design, corpus and tolerance."""
    return {
        design: [[stored_ratio(clips, corpus, design, mm) for mm in TOLERANCES_MM] for corpus in COLUMNS]
        for design in ROWS
    }


def format_text(clips: Sequence[ClipSizes]) -> str:
    """Return the table for the terminal."""
    tolerances = "".join(f"{mm:>7g}" for mm in TOLERANCES_MM)
    lines = [
        f"   {'raw over stored, by largest error in mm':<42}" + "".join(f"{corpus:>21}   " for corpus in COLUMNS),
        f"   {'':<26}{'error':<16}" + f"{tolerances}   " * len(COLUMNS),
    ]
    for design, ratios in ratio_table(clips).items():
        figures = "".join("".join(f"{_format_ratio(value):>7}" for value in some) + "   " for some in ratios)
        lines.append(f"   {design:<26}{ERROR_KINDS.get(design, 'none'):<16}{figures}".rstrip())
    return "\n".join(lines)


def format_markdown(clips: Sequence[ClipSizes]) -> str:
    """Return the table as Markdown."""
    lines = [
        "| design | error | " + " | ".join(f"`{corpus}`: {_format_tolerances()}" for corpus in COLUMNS) + " |",
        "|---" * (2 + len(COLUMNS)) + "|",
    ]
    for design, ratios in ratio_table(clips).items():
        texts = [
            _format_ratio(some[0])
            if design in WITHOUT_TOLERANCE or math.isnan(some[0])
            else " / ".join(map(_format_ratio, some))
            for some in ratios
        ]
        bold = "**" if design == OURS else ""
        row = [f"{bold}{text}{bold}" for text in (design, ERROR_KINDS.get(design, "none"), *texts)]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def _format_tolerances() -> str:
    return " / ".join(f"{mm:g}" for mm in TOLERANCES_MM) + " mm"


def _format_ratio(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.1f}"
