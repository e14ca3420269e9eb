"""Search by example: how often what is found is of the query's kind, whole clips and parts."""

from __future__ import annotations

import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np
from benchmarks.measure import not_measured
from benchmarks.search import carry_over, copies, parts_run, speed
from benchmarks.search.clips import N_LIBRARY, are_here, everything, labelled
from benchmarks.search.descriptors import N_DRAWN, Halved, drawn, fixed
from benchmarks.search.events import KINDS, events_of
from benchmarks.search.parts import Corpus, Query, Span, counts, evaluate_parts, queries_of
from benchmarks.search.protocol import Figures, Indices, Rank, by_class, evaluate, figures_of, gallery_of, rankings

import keypose as kp
from keypose.arrays import Floats
from keypose.library.descriptors.matching import RANKED_BY
from keypose.library.rankers.sheets import Sheet, sheet_of
from keypose.library.rankers.swings import overlap, scores

N_DRAWS = 100  # of random scores
WHOLE = {"swings": True, "swings_times": False}  # whether axes count


def run() -> dict[str, float]:
    if not are_here():
        print("   NOT MEASURED: cmu30 or cmu30-more absent, set KEYPOSE_TEST_DATA")
        return not_measured("search")
    clips = labelled()
    n_queries = sum(any(clips[k].label == clip.label for k in gallery_of(clips, q)) for q, clip in enumerate(clips))
    print(f"   {len(clips)} clips, {n_queries} with another subject in their class")
    print(f"   drawn at random, {N_DRAWS} times, other subjects: {_at_random()}")
    corpus, sheets = _read()
    figures = _descriptors() | carry_over.figures() | copies.figures()
    for name, axes in WHOLE.items():
        figures |= _whole(name, _by_swings(sheets[: len(clips)], axes))
    figures |= _speed(sheets)
    for kind, (n, in_clips, of_subjects) in counts(corpus).items():
        print(f"   {kind}: {n} events in {in_clips} clips of {of_subjects} subjects")
    figures |= _parts("swings", corpus, sheets)
    material = parts_run.read()
    figures |= parts_run.figures(material) | parts_run.speed(material)
    with tempfile.TemporaryDirectory() as folder:
        return figures | {f"library_{what}": took for what, took in speed.of_library(Path(folder) / "clips.db").items()}


def _descriptors() -> dict[str, float]:
    """The ranking that ships, learnt from the other half of the subjects; then the least over other halvings."""
    kinds = ("precision_1", "precision_5", "mean_average_precision", "leave_one_out_precision_1")
    rows = [Halved(halving).figures(RANKED_BY) for halving in (fixed(), *map(drawn, range(N_DRAWN)))]
    named = {"descriptors": rows[0], "descriptors_least": np.min(rows, axis=0)}
    for name, row in named.items():
        print(f"   {name}: " + ", ".join(f"{kind} {value:.3f}" for kind, value in zip(kinds, row, strict=True)))
    return {f"{name}_{kind}": value for name, row in named.items() for kind, value in zip(kinds, row, strict=True)}


def _read() -> tuple[Corpus, list[Sheet]]:
    """All clips once: how long they are, what happens in them, and their swings."""
    durations, events, sheets = [], [], []
    for clip in everything():
        motion = clip.motion()
        durations.append(motion.duration_s)
        events.append(events_of(motion))
        sheets.append(sheet_of(kp.swings(motion)))
    return Corpus(everything(), durations, events), sheets


def _at_random() -> Figures:
    """What scores that know nothing get."""
    random = np.random.default_rng(1)
    draws = [ranked for _ in range(N_DRAWS) for ranked in rankings(lambda _, to: random.random(len(to)), labelled())]
    return figures_of(draws)


def _by_swings(sheets: list[Sheet], axes: bool) -> Rank:
    @cache
    def to_all(query: int) -> Floats:
        return scores(sheets[query], sheets, axes=axes)

    def rank(query: int, gallery: Indices) -> Floats:
        return to_all(query)[gallery]

    return rank


def _whole(name: str, rank: Rank) -> dict[str, float]:
    """Whole clips, both protocols."""
    apart, one_out = evaluate(rank, labelled()), evaluate(rank, labelled(), "clip")
    print(f"   {name}, other subjects: {apart}\n   {name}, other clips: {one_out}")
    print(
        "   of each class: "
        + ", ".join(f"{of} {got.precision_1:.2f}" for of, got in by_class(rank, labelled()).items())
    )
    return {
        f"{name}_precision_1": apart.precision_1,
        f"{name}_precision_5": apart.precision_5,
        f"{name}_mean_average_precision": apart.mean_average_precision,
        f"{name}_leave_one_out_precision_1": one_out.precision_1,
    }


def _parts(name: str, corpus: Corpus, sheets: list[Sheet]) -> dict[str, float]:
    """Parts, in all clips of other subjects and in those where it happens at all."""

    def search(query: Query) -> list[Span]:
        asked = sheets[query.clip].part(query.start_s, query.end_s)
        best = np.argsort(-scores(asked, [sheets[k] for k in query.gallery]), kind="stable")[:5]
        found = [(query.gallery[k], overlap(asked, sheets[query.gallery[k]])) for k in best]
        return [Span(clip, match.start_s, match.end_s) for clip, match in found]

    figures = {}
    for kind in KINDS:
        for among_holders, where in ((False, "all clips"), (True, "clips with one")):
            got = evaluate_parts(search, corpus, queries_of(corpus, kind, among_holders=among_holders))
            print(f"   {name}, {kind} in {where}: {got}")
            key = f"{name}_{kind}_{'among_holders' if among_holders else 'anywhere'}_over_chance"
            figures[key] = got.held_1 / got.chance_1
    return figures


def _speed(sheets: list[Sheet]) -> dict[str, float]:
    """Seconds of one query of median length over a library that repeats the real clips."""
    query = sorted(sheets, key=lambda sheet: sheet.duration_s)[len(sheets) // 2]
    library = [sheets[k % len(sheets)] for k in range(N_LIBRARY)]
    start = time.perf_counter()
    scores(query, library)
    seconds = time.perf_counter() - start
    print(f"   swings: a clip of {query.duration_s:.1f} s against {N_LIBRARY} in {seconds:.2f} s")
    return {"swings_query_s": seconds}
