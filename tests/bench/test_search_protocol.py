"""The measures of search, on cases that can be worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.search.clips import (
    Clip,
    is_data_present,
    labelled_clips,
    merge_subjects,
    more,
    split_subjects,
    to_learn_from,
)
from benchmarks.search.events import KINDS, Event, find_events
from benchmarks.search.part_protocol import Corpus, Query, Span, draw_queries, evaluate_part_search
from benchmarks.search.protocol import evaluate, evaluate_by_class, gallery_indices, rank_queries

import keypose as kp


def clip(name: str, subject: str, label: str = "") -> Clip:
    return Clip(name, Path(f"{name}.bvh"), subject, label)


SIX = (
    clip("a", "1", "walk"),
    clip("b", "1", "walk"),
    clip("c", "2", "walk"),
    clip("d", "2", "run"),
    clip("e", "3", "run"),
    clip("f", "3", "golf"),
)


def test_a_gallery_holds_other_subjects_or_other_clips() -> None:
    assert gallery_indices(SIX, 0).tolist() == [2, 3, 4, 5]
    assert gallery_indices(SIX, 0, "clip").tolist() == [1, 2, 3, 4, 5]


def test_clips_without_another_of_their_class_are_no_queries() -> None:
    ranked = rank_queries(lambda query, gallery: -gallery.astype(float), SIX)
    assert [each.query for each in ranked] == [0, 1, 2, 3, 4]  # not f, the only golf
    assert all(len(each.is_relevant) == 4 for each in ranked)  # f is there to be mistaken for others


def test_figures_by_hand() -> None:
    # a: c d e f -> 1 0 0 0; b the same; c: a b e f -> 1 1 0 0; d: a b e f -> 0 0 1 0; e: a b c d -> 0 0 0 1
    result = evaluate(lambda query, gallery: -gallery.astype(float), SIX)
    assert result.n_queries == 5
    assert result.precision_1 == pytest.approx(3 / 5)
    assert result.precision_5 == pytest.approx(np.mean([1, 1, 2, 1, 1]) / 4)  # of the four that there are
    assert result.mean_average_precision == pytest.approx(np.mean([1, 1, 1, 1 / 3, 1 / 4]))


def test_average_precision_is_the_mean_over_relevant_ranks() -> None:
    clips = [clip("q", "0", "x"), *(clip(str(k), str(k + 1), "x" if k in (0, 2, 5) else "y") for k in range(7))]
    ranked = rank_queries(lambda query, gallery: -gallery.astype(float), clips)
    assert ranked[0].average_precision == pytest.approx((1 / 1 + 2 / 3 + 3 / 6) / 3)
    assert ranked[0].precision_5 == pytest.approx(2 / 5)


def test_of_equal_scores_the_irrelevant_come_first() -> None:
    result = evaluate(lambda query, gallery: np.zeros(len(gallery)), SIX)
    assert result.precision_1 == 0
    c = rank_queries(lambda query, gallery: np.zeros(len(gallery)), SIX)[2]
    assert c.average_precision == pytest.approx((1 / 3 + 2 / 4) / 2)


def test_leave_one_out_finds_the_same_subject_too() -> None:
    labels = [each.label for each in SIX]
    perfect = evaluate(lambda query, gallery: [labels[k] == labels[query] for k in gallery], SIX, "clip")
    assert (perfect.precision_1, perfect.mean_average_precision, perfect.n_queries) == (1.0, 1.0, 5)
    assert evaluate_by_class(lambda query, gallery: -gallery.astype(float), SIX)["run"].precision_1 == 0


@pytest.mark.parametrize("bad", [[np.nan] * 4, [1.0] * 3])
def test_scores_that_are_none_are_an_error(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="expected 4 finite numbers"):
        evaluate(lambda query, gallery: bad, SIX)


def test_subjects_that_share_clips_are_one_person_also_in_a_chain() -> None:
    groups = [["70_01", "73_01"], ["14_31", "14_36"], ["90_02", "121_02"], ["123_05", "73_09"]]
    assert merge_subjects(groups) == {"14": "14", "70": "123", "73": "123", "123": "123", "90": "121", "121": "121"}


# Parts


def corpus() -> Corpus:
    clips = [clip("a", "1"), clip("b", "2"), clip("c", "3")]
    return Corpus(clips, (10.0, 4.0, 1.0), ((Event("kick", 9.5, 10.0),), (Event("kick", 1.0, 2.0),), ()))


def test_a_span_holds_an_event_when_half_of_the_shorter_is_shared() -> None:
    assert corpus().contains_event(Span(1, 1.5, 3.5), "kick")
    assert not corpus().contains_event(Span(1, 1.51, 3.5), "kick")
    assert corpus().contains_event(Span(1, 1.9, 2.1), "kick")  # half of the span
    assert not corpus().contains_event(Span(1, 1.0, 2.0), "flight")
    assert not corpus().contains_event(Span(2, 0.0, 1.0), "kick")


def test_chance_is_the_share_of_all_spans_of_that_length() -> None:
    made_corpus = corpus()
    for length in (0.5, 1.0, 2.0, 7.0):
        holds = []
        for k in (1, 2):
            own = min(length, made_corpus.durations_s[k])
            starts = np.arange(round((made_corpus.durations_s[k] - own) * 30) + 1) / 30
            holds += [made_corpus.contains_event(Span(k, start, start + own), "kick") for start in starts]
        assert made_corpus.chance((1, 2), "kick", length) == pytest.approx(np.mean(holds))


def test_queries_stay_in_their_clip_and_look_at_other_subjects() -> None:
    queries = {query.clip: query for query in draw_queries(corpus(), "kick", only_with_event=False)}
    assert queries[0] == Query("kick", 0, 9.0, 10.0, (1, 2))
    assert queries[1] == Query("kick", 1, 1.0, 2.0, (0, 2))
    assert draw_queries(corpus(), "kick", only_with_event=True)[0].gallery in ((0,), (1,))
    assert draw_queries(corpus(), "flight", only_with_event=False) == []


def test_part_figures_by_hand() -> None:
    query = Query("kick", 0, 9.0, 10.0, (1, 2))
    result = evaluate_part_search(lambda _: [Span(1, 1.0, 2.0), Span(2, 0.0, 1.0)], corpus(), [query])
    assert (result.hit_1, result.hit_5, result.n_queries) == (1.0, 0.5, 1)
    assert result.chance_1 == corpus().chance((1, 2), "kick", 1.0)
    full_result = evaluate_part_search(lambda _: [Span(1, 0.0, 4.0)], corpus(), [query])
    assert full_result.chance_1 == 0.5  # a whole clip is as likely as the other


@pytest.mark.parametrize("spans", [[], [Span(0, 0.0, 1.0)], [Span(1, 0.0, 1.0), Span(1, 2.0, 3.0)]])
def test_spans_must_be_of_different_clips_of_the_gallery(spans: list[Span]) -> None:
    with pytest.raises(ValueError, match="different clips of the gallery"):
        evaluate_part_search(lambda _: spans, corpus(), [Query("kick", 0, 9.0, 10.0, (1, 2))])


# Real clips


@pytest.mark.data
def test_the_clips_are_those_of_the_benchmark(data_dir: Path) -> None:
    assert is_data_present()
    clips = labelled_clips()
    queries = rank_queries(lambda query, gallery: np.zeros(len(gallery)), clips)
    assert (len(clips), len({each.label for each in clips}), len(queries), len(more())) == (76, 8, 58, 1047)
    relevant = [each.is_relevant.sum() for each in queries]
    assert min(relevant) >= 5  # so that all of the first five can be right


@pytest.mark.data
def test_no_subject_is_in_both_halves(data_dir: Path) -> None:
    first, second = split_subjects()
    assert not first & second
    sizes = [len(to_learn_from(half)) for half in (0, 1)]
    assert sum(sizes) == 1047
    assert min(sizes) > 0.45 * 1047
    assert all({each.subject for each in to_learn_from(half)} <= split_subjects()[half] for half in (0, 1))


@pytest.mark.data
@pytest.mark.parametrize(
    "path, kinds",
    [
        ("jumping/13_11", {"flight"}),
        ("ball_kick/74_03", {"kick"}),
        ("golf_swing/64_01", {"arm_overhead"}),
        ("stylized_walk/120_02", {"hand_to_floor", "arm_overhead"}),  # a gorilla
        ("running/09_01", set()),
        ("basketball/06_02", set()),
    ],
)
def test_geometry_tells_what_happens(data_dir: Path, path: str, kinds: set[str]) -> None:
    motion = kp.load(data_dir / "cmu30" / f"{path}.bvh")
    events = find_events(motion)
    assert {event.kind for event in events} == kinds <= set(KINDS)
    assert all(0 <= event.start_s < event.end_s <= motion.duration_s + 1e-9 for event in events)
