"""The clips that are stored: the two corpora of the promise, and others that the coder was not made with."""

from __future__ import annotations

import random
from pathlib import Path

from benchmarks.measure import DATA

CMU120, CMU30, HELD_OUT = "cmu120", "cmu30", "held out"
CORPORA = (CMU120, CMU30)
N_HELD_OUT, SEED = 60, 1


def clips_of(corpus: str) -> list[Path]:
    """All clips of a corpus, by path; none where the data are absent."""
    return _held_out() if corpus == HELD_OUT else sorted((DATA / corpus).rglob("*.bvh"))


def _held_out() -> list[Path]:
    """So many clips of ``cmu30-more``, drawn once, of subjects that are in neither corpus."""
    seen = {_subject(path) for corpus in CORPORA for path in clips_of(corpus)}
    others = sorted(path for path in (DATA / "cmu30-more").glob("*.bvh.gz") if _subject(path) not in seen)
    return sorted(random.Random(SEED).sample(others, min(N_HELD_OUT, len(others))))


def _subject(path: Path) -> str:
    """135_07_kicking.bvh -> 135."""
    return path.name.split("_")[0]
