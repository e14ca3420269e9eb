"""No query is described by what was learned from its own subject: fakes record from whom each was learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.search import carry_over, descriptors, part_search
from benchmarks.search.clips import Clip
from benchmarks.search.part_protocol import Corpus, Query
from benchmarks.search.protocol import evaluate

from keypose.library.descriptors.gallery_ranking import RANKING_DESCRIPTORS

HALVING = {"1": 0, "2": 1, "3": 0, "4": 1}
CLIPS = tuple(
    Clip(f"{subject}_{take:02d}", Path("none.bvh"), subject, label)
    for subject in HALVING
    for take, label in enumerate(("walk", "run"))
)


@dataclass(frozen=True)
class Fake:
    """The description of one clip, and the subjects that it was learned from; stands for all library objects."""

    subject: str
    learnt_from: frozenset[str]

    @property
    def all(self) -> dict[str, Fake]:
        return dict.fromkeys(RANKING_DESCRIPTORS, self)

    def mirror(self) -> Fake:
        return self

    def span(self, start_s: float, end_s: float) -> Fake:
        return self


class QueryLog(list[Fake]):
    """All queries that were used; ``check`` asserts from whom each was learned."""

    def check(self) -> None:
        assert {each.subject for each in self} == set(HALVING)
        for each in self:
            others = {subject for subject, half in HALVING.items() if half != HALVING[each.subject]}
            assert each.learnt_from == others


def subjects_of(clips: Sequence[Clip]) -> frozenset[str]:
    return frozenset(clip.subject for clip in clips)


@pytest.fixture
def query_log(monkeypatch: pytest.MonkeyPatch) -> QueryLog:
    queries = QueryLog()

    class Gallery:
        def distances(self, variants: Sequence[Fake]) -> np.ndarray:
            queries.extend(variants)
            return np.zeros((len(variants), len(CLIPS)))

    fakes: dict[str, Any] = {
        "labelled_clips": lambda: CLIPS,
        "more": lambda: CLIPS,
        "_material": lambda: CLIPS,
        "learn": subjects_of,
        "pack_spaces": lambda spaces: spaces,
        "unpack_spaces": lambda spaces: spaces,
        "body_of": lambda clip: clip,
        "describe_body": lambda clip, spaces: Fake(clip.subject, spaces),
        "build_galleries": lambda clips: dict.fromkeys(RANKING_DESCRIPTORS, Gallery()),
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(descriptors, name, fake)
    return queries


def test_whole_clips_are_described_by_the_other_half(query_log: QueryLog) -> None:
    descriptors.HalfSplit(HALVING).figures(RANKING_DESCRIPTORS)
    query_log.check()


def test_neighbouring_takes_are_described_by_the_other_half(
    query_log: QueryLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def clip_distances(own: Fake, galleries: object, mirrored: Fake) -> np.ndarray:
        query_log.extend((own, mirrored))
        return np.zeros(2)

    monkeypatch.setattr(carry_over, "all_clips", lambda: CLIPS)
    monkeypatch.setattr(carry_over, "MIN_TAKES", 2)
    monkeypatch.setattr(carry_over, "build_galleries", lambda clips, names: {})
    monkeypatch.setattr(carry_over, "clip_distances", clip_distances)
    halved = descriptors.HalfSplit(HALVING)
    carry_over.neighbour_precision([halved.describe(CLIPS, half) for half in (0, 1)], halved, RANKING_DESCRIPTORS)
    query_log.check()


def test_a_crowd_is_described_by_the_other_half(query_log: QueryLog, monkeypatch: pytest.MonkeyPatch) -> None:
    def rank(own: Fake, crowd: list[Fake], **options: object) -> tuple[np.ndarray, np.ndarray]:
        query_log.append(own)
        assert {each.learnt_from for each in crowd} == {own.learnt_from}
        return np.arange(len(CLIPS)), np.zeros(len(CLIPS))

    monkeypatch.setattr(carry_over, "all_clips", lambda: CLIPS)
    monkeypatch.setattr(carry_over, "labelled_clips", lambda: CLIPS)
    monkeypatch.setattr(carry_over, "build_galleries", lambda clips: clips)
    monkeypatch.setattr(carry_over, "rank", rank)
    halved = descriptors.HalfSplit(HALVING)
    described = [halved.describe(CLIPS, half) for half in (0, 1)]
    evaluate(carry_over.rank_among_all(described, halved, 5, own_subject=False), CLIPS)
    query_log.check()


def test_parts_are_described_by_the_other_half(query_log: QueryLog, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gallery:
        @staticmethod
        def build(tracks: list[Fake]) -> Gallery:
            gallery = Gallery()
            gallery.learnt_from = {track.learnt_from for track in tracks}  # type: ignore[attr-defined]
            return gallery

        def search(self, track: Fake, **options: object) -> list[object]:
            query_log.append(track)
            assert self.learnt_from == {track.learnt_from}  # type: ignore[attr-defined]
            return []

    fakes: dict[str, Any] = {
        "to_learn_from": lambda half: [clip for clip in CLIPS if HALVING[clip.subject] == half],
        "half_of": HALVING.__getitem__,
        "learn": lambda numbers: frozenset(each["subject"] for each in numbers),
        "build_part_track": Fake,
        "PartGallery": Gallery,
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(part_search, name, fake)
    subjects = [clip.subject for clip in CLIPS]
    numbers: Any = [{"subject": subject} for subject in subjects]
    bodies: Any = subjects
    search = part_search.build_search(part_search.Inputs(Corpus(CLIPS, [9.0] * len(CLIPS), ()), bodies, numbers))
    for k in range(len(CLIPS)):
        search(Query("kick", k, 0.0, 1.0, (0,)))
    query_log.check()
