"""The clips for measuring search, their subjects, and the clips for learning."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from benchmarks.measure import DATA

import keypose as kp
from keypose.library.canonical import CanonicalBody

LABELS = DATA / "cmu30" / "labels.csv"
DUPLICATES = DATA / "cmu30" / "CMU_EXACT_DUPLICATES.csv"
MORE = DATA / "cmu30-more"
# Clips of the library in which queries are timed: these, their mirror images, and some at other speeds.
N_LIBRARY = 2500


@dataclass(frozen=True)
class Clip:
    """One clip. ``label`` is for evaluation only, never for searching."""

    name: str  # 135_07
    path: Path
    subject: str  # one person, possibly under several numbers
    label: str = ""  # its class; empty in cmu30-more

    def motion(self) -> kp.Motion:
        """Load the clip."""
        return kp.load(self.path)


def is_data_present() -> bool:
    """Return whether the data are present on this machine."""
    return LABELS.exists() and DUPLICATES.exists() and MORE.is_dir()


@cache
def labelled_clips() -> tuple[Clip, ...]:
    """Return the 76 clips of 8 classes, by path."""
    people = _load_subject_aliases()
    with LABELS.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    clips = [
        Clip(Path(row["path"]).stem, DATA / row["path"], people.get(row["subject"], row["subject"]), row["class"])
        for row in rows
    ]
    return tuple(sorted(clips, key=lambda clip: clip.path))


@cache
def more() -> tuple[Clip, ...]:
    """Return the 1,047 clips without labels, by name."""
    people = _load_subject_aliases()
    paths = sorted(MORE.glob("*.bvh.gz"))
    names = [path.name.removesuffix(".bvh.gz") for path in paths]
    return tuple(
        Clip(name, path, people.get(subject_number(name), subject_number(name)))
        for name, path in zip(names, paths, strict=True)
    )


def all_clips() -> tuple[Clip, ...]:
    """Return the clips of both folders, each name once, labelled clips first."""
    labelled_names = {clip.name for clip in labelled_clips()}
    return (*labelled_clips(), *(clip for clip in more() if clip.name not in labelled_names))


@cache
def split_subjects() -> tuple[frozenset[str], frozenset[str]]:
    """Split all subjects into halves of similar clip counts: largest first, each to the half with fewer clips."""
    clip_counts = Counter(clip.subject for clip in all_clips())
    subject_sets: tuple[set[str], set[str]] = (set(), set())
    sizes = [0, 0]
    for subject, count in sorted(clip_counts.items(), key=lambda each: (-each[1], each[0])):
        smaller = int(sizes[1] < sizes[0])
        subject_sets[smaller].add(subject)
        sizes[smaller] += count
    return frozenset(subject_sets[0]), frozenset(subject_sets[1])


def half_of(subject: str) -> int:
    """Return the half (0 or 1) of a subject."""
    return int(subject in split_subjects()[1])


def to_learn_from(half: int) -> tuple[Clip, ...]:
    """Return the clips of ``cmu30-more`` of this half, to learn from for queries of the other half."""
    return tuple(clip for clip in more() if clip.subject in split_subjects()[half])


def retime(body: CanonicalBody, speed: float) -> CanonicalBody:
    """Return a clip at another speed, including its first frame and, if it fits, its last."""
    last = body.n_frames - 1
    at = np.arange(0.0, last + 1e-9, speed)
    before = np.minimum(at.astype(int), max(last - 1, 0))
    share = (at - before)[:, None, None]
    positions = (1.0 - share) * body.positions[before] + share * body.positions[np.minimum(before + 1, last)]
    return CanonicalBody(positions, body.missing)


def subject_number(name: str) -> str:
    """Return the subject number of a clip name: 135_07 -> 135."""
    return name.split("_")[0]


def merge_subjects(groups: Iterable[Sequence[str]]) -> dict[str, str]:
    """Map each subject number in groups of identical clips to one number per person: the first, as text."""
    aliases: dict[str, str] = {}
    members: dict[str, set[str]] = {}
    for group in groups:
        numbers = {subject_number(name) for name in group}
        joined = set(numbers).union(*(members[aliases[number]] for number in numbers if number in aliases))
        first = min(joined)
        members[first] = joined
        aliases.update(dict.fromkeys(joined, first))
    return aliases


@cache
def _load_subject_aliases() -> dict[str, str]:
    with DUPLICATES.open(newline="") as lines:
        return merge_subjects([row["motions_with_identical_bytes"].split() for row in csv.DictReader(lines)])
