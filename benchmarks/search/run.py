"""Search by example: precision for whole clips and parts, and speed."""

from __future__ import annotations

import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np
from benchmarks.measure import unmeasured_figures
from benchmarks.search import carry_over, copies, part_search, speed
from benchmarks.search.clips import N_LIBRARY, all_clips, is_data_present, labelled_clips
from benchmarks.search.descriptors import N_RANDOM_SPLITS, HalfSplit, fixed_split, random_split
from benchmarks.search.events import KINDS, find_events
from benchmarks.search.part_protocol import Corpus, Query, Span, count_events, draw_queries, evaluate_part_search
from benchmarks.search.protocol import (
    Figures,
    Indices,
    Rank,
    evaluate,
    evaluate_by_class,
    gallery_indices,
    mean_figures,
    rank_queries,
)

import keypose as kp
from keypose.arrays import Floats
from keypose.library.descriptors.gallery_ranking import RANKING_DESCRIPTORS
from keypose.library.search.swing_overlap import SwingTable, build_swing_table, overlap, overlap_scores

N_RANDOM_RANKINGS = 100
USES_AXES = {"swings": True, "swings_times": False}  # whether axes are compared


def run() -> dict[str, float]:
    if not is_data_present():
        print("   NOT MEASURED: cmu30 or cmu30-more absent, set KEYPOSE_TEST_DATA")
        return unmeasured_figures("search")
    clips = labelled_clips()
    n_queries = sum(
        any(clips[k].label == clip.label for k in gallery_indices(clips, q)) for q, clip in enumerate(clips)
    )
    print(f"   {len(clips)} clips, {n_queries} with another subject in their class")
    print(f"   drawn at random, {N_RANDOM_RANKINGS} times, other subjects: {_random_figures()}")
    corpus, swing_tables = _read_clips()
    figures = _measure_descriptors() | carry_over.figures() | copies.figures()
    for name, axes in USES_AXES.items():
        figures |= _measure_whole_clips(name, _rank_by_swings(swing_tables[: len(clips)], axes))
    figures |= _measure_speed(swing_tables)
    for kind, (n, in_clips, of_subjects) in count_events(corpus).items():
        print(f"   {kind}: {n} events in {in_clips} clips of {of_subjects} subjects")
    figures |= _measure_parts("swings", corpus, swing_tables)
    part_inputs = part_search.read_inputs()
    figures |= part_search.measure_hits(part_inputs) | part_search.measure_speed(part_inputs)
    with tempfile.TemporaryDirectory() as folder:
        return figures | {
            f"library_{key}": value for key, value in speed.measure_library(Path(folder) / "clips.db").items()
        }


def _measure_descriptors() -> dict[str, float]:
    """Return figures of the default ranking, learned from the other half of the subjects; and minima over splits."""
    kinds = ("precision_1", "precision_5", "mean_average_precision", "leave_one_out_precision_1")
    rows = [
        HalfSplit(split).figures(RANKING_DESCRIPTORS)
        for split in (fixed_split(), *map(random_split, range(N_RANDOM_SPLITS)))
    ]
    named_rows = {"descriptors": rows[0], "descriptors_min": np.min(rows, axis=0)}
    for name, row in named_rows.items():
        print(f"   {name}: " + ", ".join(f"{kind} {value:.3f}" for kind, value in zip(kinds, row, strict=True)))
    return {f"{name}_{kind}": value for name, row in named_rows.items() for kind, value in zip(kinds, row, strict=True)}


def _read_clips() -> tuple[Corpus, list[SwingTable]]:
    """Read all clips; return their durations and events, and their swing tables."""
    durations, events, swing_tables = [], [], []
    for clip in all_clips():
        motion = clip.motion()
        durations.append(motion.duration_s)
        events.append(find_events(motion))
        swing_tables.append(build_swing_table(kp.swings(motion)))
    return Corpus(all_clips(), durations, events), swing_tables


def _random_figures() -> Figures:
    """Return the figures of random scores."""
    random = np.random.default_rng(1)
    ranked_queries = [
        ranked_query
        for _ in range(N_RANDOM_RANKINGS)
        for ranked_query in rank_queries(lambda _, to: random.random(len(to)), labelled_clips())
    ]
    return mean_figures(ranked_queries)


def _rank_by_swings(swing_tables: list[SwingTable], axes: bool) -> Rank:
    @cache
    def all_scores(query: int) -> Floats:
        return overlap_scores(swing_tables[query], swing_tables, axes=axes)

    def rank(query: int, gallery: Indices) -> Floats:
        return all_scores(query)[gallery]

    return rank


def _measure_whole_clips(name: str, rank: Rank) -> dict[str, float]:
    """Return figures of whole clips by both protocols."""
    other_subjects, other_clips = evaluate(rank, labelled_clips()), evaluate(rank, labelled_clips(), "clip")
    print(f"   {name}, other subjects: {other_subjects}\n   {name}, other clips: {other_clips}")
    print(
        "   of each class: "
        + ", ".join(f"{of} {got.precision_1:.2f}" for of, got in evaluate_by_class(rank, labelled_clips()).items())
    )
    return {
        f"{name}_precision_1": other_subjects.precision_1,
        f"{name}_precision_5": other_subjects.precision_5,
        f"{name}_mean_average_precision": other_subjects.mean_average_precision,
        f"{name}_leave_one_out_precision_1": other_clips.precision_1,
    }


def _measure_parts(name: str, corpus: Corpus, swing_tables: list[SwingTable]) -> dict[str, float]:
    """Return hit rates over chance in all clips of other subjects, and in those with such an event."""

    def search(query: Query) -> list[Span]:
        query_table = swing_tables[query.clip].span(query.start_s, query.end_s)
        best = np.argsort(-overlap_scores(query_table, [swing_tables[k] for k in query.gallery]), kind="stable")[:5]
        matches = [(query.gallery[k], overlap(query_table, swing_tables[query.gallery[k]])) for k in best]
        return [Span(clip, match.start_s, match.end_s) for clip, match in matches]

    figures = {}
    for kind in KINDS:
        for only_with_event, scope in ((False, "all clips"), (True, "clips with one")):
            part_figures = evaluate_part_search(
                search, corpus, draw_queries(corpus, kind, only_with_event=only_with_event)
            )
            print(f"   {name}, {kind} in {scope}: {part_figures}")
            key = f"{name}_{kind}_{'in_clips_with_event' if only_with_event else 'anywhere'}_over_chance"
            figures[key] = part_figures.hit_1 / part_figures.chance_1
    return figures


def _measure_speed(swing_tables: list[SwingTable]) -> dict[str, float]:
    """Return the seconds of a query of median length over a library that repeats the real clips."""
    query = sorted(swing_tables, key=lambda sheet: sheet.duration_s)[len(swing_tables) // 2]
    library = [swing_tables[k % len(swing_tables)] for k in range(N_LIBRARY)]
    start = time.perf_counter()
    overlap_scores(query, library)
    seconds = time.perf_counter() - start
    print(f"   swings: a clip of {query.duration_s:.1f} s against {N_LIBRARY} in {seconds:.2f} s")
    return {"swings_query_s": seconds}
