"""The stored clips: two corpora with expected figures, and held-out clips that were not used in development."""

from __future__ import annotations

import random
from pathlib import Path

from benchmarks.measure import DATA

CMU120, CMU30, HELD_OUT = "cmu120", "cmu30", "held out"
CORPORA = (CMU120, CMU30)
N_HELD_OUT, SEED = 60, 1


def corpus_clips(corpus: str) -> list[Path]:
    """Return all clips of a corpus, by path; empty if the data are absent."""
    return _draw_held_out() if corpus == HELD_OUT else sorted((DATA / corpus).rglob("*.bvh"))


def _draw_held_out() -> list[Path]:
    """Return a fixed random sample of ``cmu30-more``, of subjects in neither corpus."""
    subjects = {_subject(path) for corpus in CORPORA for path in corpus_clips(corpus)}
    others = sorted(path for path in (DATA / "cmu30-more").glob("*.bvh.gz") if _subject(path) not in subjects)
    return sorted(random.Random(SEED).sample(others, min(N_HELD_OUT, len(others))))


def _subject(path: Path) -> str:
    """Return the subject of a file: 135_07_kicking.bvh -> 135."""
    return path.name.split("_")[0]
