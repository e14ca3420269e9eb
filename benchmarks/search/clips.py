"""The clips that search is measured on: what they are, who moves in them, and what may be learnt from."""

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
from keypose.library.canonical import Canonical

LABELS = DATA / "cmu30" / "labels.csv"
DUPLICATES = DATA / "cmu30" / "CMU_EXACT_DUPLICATES.csv"
MORE = DATA / "cmu30-more"
N_LIBRARY = 2500  # clips that a query is timed on: these, their mirror images, and some at other speeds


@dataclass(frozen=True)
class Clip:
    """One clip. ``label`` is for judging alone, never for searching."""

    name: str  # 135_07
    path: Path
    subject: str  # one person, whatever the number in the name
    label: str = ""  # its class; none in cmu30-more

    def motion(self) -> kp.Motion:
        """The clip, read anew."""
        return kp.load(self.path)


def are_here() -> bool:
    """Whether the data are on this machine."""
    return LABELS.exists() and DUPLICATES.exists() and MORE.is_dir()


@cache
def labelled() -> tuple[Clip, ...]:
    """The 76 clips of 8 classes, by path."""
    people = _people()
    with LABELS.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    clips = [
        Clip(Path(row["path"]).stem, DATA / row["path"], people.get(row["subject"], row["subject"]), row["class"])
        for row in rows
    ]
    return tuple(sorted(clips, key=lambda clip: clip.path))


@cache
def more() -> tuple[Clip, ...]:
    """The 1,047 clips without labels, by name."""
    people = _people()
    paths = sorted(MORE.glob("*.bvh.gz"))
    names = [path.name.removesuffix(".bvh.gz") for path in paths]
    return tuple(
        Clip(name, path, people.get(number_of(name), number_of(name))) for name, path in zip(names, paths, strict=True)
    )


def everything() -> tuple[Clip, ...]:
    """The clips of both, each name once: those with labels first."""
    seen = {clip.name for clip in labelled()}
    return (*labelled(), *(clip for clip in more() if clip.name not in seen))


@cache
def halves() -> tuple[frozenset[str], frozenset[str]]:
    """All subjects in two halves of about as many clips: the largest first, each to the half that has fewer."""
    counts = Counter(clip.subject for clip in everything())
    parts: tuple[set[str], set[str]] = (set(), set())
    sizes = [0, 0]
    for subject, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
        smaller = int(sizes[1] < sizes[0])
        parts[smaller].add(subject)
        sizes[smaller] += count
    return frozenset(parts[0]), frozenset(parts[1])


def half_of(subject: str) -> int:
    """Which half a subject is in."""
    return int(subject in halves()[1])


def to_learn_from(half: int) -> tuple[Clip, ...]:
    """The clips of ``cmu30-more`` whose subjects are in this half: for queries of subjects in the other one."""
    return tuple(clip for clip in more() if clip.subject in halves()[half])


def retimed(body: Canonical, speed: float) -> Canonical:
    """A clip played at another speed, its first frame and, if it fits, its last one included."""
    last = body.n_frames - 1
    at = np.arange(0.0, last + 1e-9, speed)
    before = np.minimum(at.astype(int), max(last - 1, 0))
    share = (at - before)[:, None, None]
    positions = (1.0 - share) * body.positions[before] + share * body.positions[np.minimum(before + 1, last)]
    return Canonical(positions, body.missing)


def number_of(name: str) -> str:
    """135_07 -> 135."""
    return name.split("_")[0]


def merged(groups: Iterable[Sequence[str]]) -> dict[str, str]:
    """For each subject of the groups of identical clips one name of that person: the first, as text, of all joined."""
    person: dict[str, str] = {}
    members: dict[str, set[str]] = {}
    for group in groups:
        numbers = {number_of(name) for name in group}
        together = set(numbers).union(*(members[person[number]] for number in numbers if number in person))
        first = min(together)
        members[first] = together
        person.update(dict.fromkeys(together, first))
    return person


@cache
def _people() -> dict[str, str]:
    with DUPLICATES.open(newline="") as lines:
        return merged([row["motions_with_identical_bytes"].split() for row in csv.DictReader(lines)])
