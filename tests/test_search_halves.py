"""No query is judged by what was learnt from its own subject: fakes say from whom each thing was learnt."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.search import carry_over, descriptors, parts_run
from benchmarks.search.clips import Clip
from benchmarks.search.parts import Corpus, Query
from benchmarks.search.protocol import evaluate

from keypose.library.descriptors.matching import RANKED_BY

HALVING = {"1": 0, "2": 1, "3": 0, "4": 1}
CLIPS = tuple(
    Clip(f"{subject}_{take:02d}", Path("none.bvh"), subject, label)
    for subject in HALVING
    for take, label in enumerate(("walk", "run"))
)


@dataclass(frozen=True)
class Fake:
    """What one clip is described by, and the subjects that this was learnt from; it stands for all that it is asked."""

    subject: str
    learnt_from: frozenset[str]

    @property
    def all(self) -> dict[str, Fake]:
        return dict.fromkeys(RANKED_BY, self)

    def mirrored(self) -> Fake:
        return self

    def part(self, start_s: float, end_s: float) -> Fake:
        return self


class Asked(list[Fake]):
    """All that was asked for; ``check`` is the point of these tests."""

    def check(self) -> None:
        assert {each.subject for each in self} == set(HALVING)
        for each in self:
            others = {subject for subject, half in HALVING.items() if half != HALVING[each.subject]}
            assert each.learnt_from == others


def subjects_of(clips: Sequence[Clip]) -> frozenset[str]:
    return frozenset(clip.subject for clip in clips)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    found = Asked()

    class Gallery:
        def away(self, ways: Sequence[Fake]) -> np.ndarray:
            found.extend(ways)
            return np.zeros((len(ways), len(CLIPS)))

    fakes: dict[str, Any] = {
        "labelled": lambda: CLIPS,
        "more": lambda: CLIPS,
        "_material": lambda: CLIPS,
        "learn": subjects_of,
        "packed": lambda learnt: learnt,
        "unpacked": lambda learnt: learnt,
        "body_of": lambda clip: clip,
        "describe_body": lambda clip, learnt: Fake(clip.subject, learnt),
        "gallery": lambda clips: dict.fromkeys(RANKED_BY, Gallery()),
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(descriptors, name, fake)
    return found


def test_whole_clips_are_described_by_the_other_half(asked: Asked) -> None:
    descriptors.Halved(HALVING).figures(RANKED_BY)
    asked.check()


def test_neighbouring_takes_are_described_by_the_other_half(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    def unlikeness(own: Fake, galleries: object, mirrored: Fake) -> np.ndarray:
        asked.extend((own, mirrored))
        return np.zeros(2)

    monkeypatch.setattr(carry_over, "everything", lambda: CLIPS)
    monkeypatch.setattr(carry_over, "LEAST_TAKES", 2)
    monkeypatch.setattr(carry_over, "gallery", lambda clips, names: {})
    monkeypatch.setattr(carry_over, "unlikeness", unlikeness)
    halved = descriptors.Halved(HALVING)
    carry_over.neighbours([halved.described(CLIPS, half) for half in (0, 1)], halved, RANKED_BY)
    asked.check()


def test_a_crowd_is_described_by_the_other_half(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    def rank(own: Fake, crowd: list[Fake], **options: object) -> tuple[np.ndarray, np.ndarray]:
        asked.append(own)
        assert {each.learnt_from for each in crowd} == {own.learnt_from}
        return np.arange(len(CLIPS)), np.zeros(len(CLIPS))

    monkeypatch.setattr(carry_over, "everything", lambda: CLIPS)
    monkeypatch.setattr(carry_over, "labelled", lambda: CLIPS)
    monkeypatch.setattr(carry_over, "gallery", lambda clips: clips)
    monkeypatch.setattr(carry_over, "rank", rank)
    halved = descriptors.Halved(HALVING)
    described = [halved.described(CLIPS, half) for half in (0, 1)]
    evaluate(carry_over.crowded(described, halved, 5, own_subject=False), CLIPS)
    asked.check()


def test_parts_are_described_by_the_other_half(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gallery:
        @staticmethod
        def of(tracks: list[Fake]) -> Gallery:
            made = Gallery()
            made.learnt_from = {track.learnt_from for track in tracks}  # type: ignore[attr-defined]
            return made

        def search(self, track: Fake, **options: object) -> list[object]:
            asked.append(track)
            assert self.learnt_from == {track.learnt_from}  # type: ignore[attr-defined]
            return []

    fakes: dict[str, Any] = {
        "to_learn_from": lambda half: [clip for clip in CLIPS if HALVING[clip.subject] == half],
        "half_of": HALVING.__getitem__,
        "learn": lambda numbers: frozenset(each["subject"] for each in numbers),
        "describe_parts": Fake,
        "PartGallery": Gallery,
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(parts_run, name, fake)
    subjects = [clip.subject for clip in CLIPS]
    numbers: Any = [{"subject": subject} for subject in subjects]
    bodies: Any = subjects
    search = parts_run.searcher(parts_run.Material(Corpus(CLIPS, [9.0] * len(CLIPS), ()), bodies, numbers))
    for k in range(len(CLIPS)):
        search(Query("kick", k, 0.0, 1.0, (0,)))
    asked.check()
