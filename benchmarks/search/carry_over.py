"""Quality of the ranking of whole clips on clips without labels and among all clips, and its speed with 2,500.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.search.carry_over

*Takes.* Neighbouring takes of a subject (135_06, 135_07) often show the same action. Each clip of a subject with at
least eight clips is a query among the others of that subject, and the adjacent takes are relevant: no label is needed,
and the subject is no hint. Mean average precision, first over the clips of a subject, then over subjects.

*All clips.* The labelled queries among all clips of both folders; only labelled clips are ranked. The clip vector
preselects ``keep`` clips: a labelled clip that it omits ranks last.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

import numpy as np
from benchmarks.search.clips import N_LIBRARY, Clip, all_clips, labelled_clips, subject_number
from benchmarks.search.descriptors import COMBINATIONS, DescriptionPair, HalfSplit, fixed_split, min_cpu_ms
from benchmarks.search.protocol import Indices, Rank, RankedQuery, evaluate

from keypose.arrays import Floats
from keypose.library.descriptors import build_galleries, clip_distances, rank
from keypose.library.descriptors.gallery_ranking import DEFAULT_CANDIDATES, RANKING_DESCRIPTORS

MIN_TAKES = 8
KEEPS = (64, 128, 256, 384, 512, 768, 1024, 1114)


def take_groups() -> list[list[int]]:
    """Return, for each subject number with enough clips, their indices among all clips in the order of takes."""
    groups: dict[str, list[int]] = {}
    for k, clip in enumerate(all_clips()):
        groups.setdefault(subject_number(clip.name), []).append(k)
    return [
        sorted(group, key=lambda k: take_number(all_clips()[k])) for group in groups.values() if len(group) >= MIN_TAKES
    ]


def take_number(clip: Clip) -> int:
    return int(clip.name.split("_")[1])


def neighbour_precision(
    descriptions: Sequence[Sequence[DescriptionPair]], split: HalfSplit, names: Sequence[str]
) -> float:
    """Return the mean average precision of neighbouring takes; ``descriptions`` are by the spaces of each half."""
    means = []
    for group in take_groups():
        clips = [all_clips()[k] for k in group]
        own_descriptions = [descriptions[1 - split.split[clips[0].subject]][k] for k in group]
        galleries = build_galleries([own for own, _ in own_descriptions], names)
        numbers = np.array([take_number(clip) for clip in clips])
        precisions = []
        for query, (own, mirrored) in enumerate(own_descriptions):
            others = np.flatnonzero(np.arange(len(group)) != query)
            order = others[np.argsort(clip_distances(own, galleries, mirrored=mirrored)[others], kind="stable")]
            relevant = np.abs(numbers[order] - numbers[query]) == 1
            if relevant.any():
                precisions.append(RankedQuery(query, relevant).average_precision)
        if precisions:
            means.append(float(np.mean(precisions)))
    return float(np.mean(means))


def rank_among_all(
    descriptions: Sequence[Sequence[DescriptionPair]], split: HalfSplit, keep: int, *, own_subject: bool
) -> Rank:
    """Return a ranking of the labelled clips by a search among all clips."""
    subjects = np.array([clip.subject for clip in all_clips()])
    galleries = [build_galleries([own for own, _ in half_descriptions]) for half_descriptions in descriptions]

    @cache
    def rank_scores(query: int) -> Floats:
        subject = labelled_clips()[query].subject
        half = 1 - split.split[subject]
        own, mirrored = descriptions[half][query]
        among = np.arange(len(subjects)) != query if own_subject else subjects != subject
        ranking, _ = rank(own, galleries[half], mirrored=mirrored, is_allowed=among, n_candidates=keep)
        scores = np.full(len(subjects), -float(len(subjects)))
        scores[ranking] = -np.arange(float(len(ranking)))
        return scores

    def scores(query: int, among: Indices) -> Floats:
        return rank_scores(query)[among]  # the labelled clips come first in all_clips()

    return scores


def query_ms(descriptions: Sequence[DescriptionPair], keep: int) -> tuple[float, float]:
    """Return median and 95th percentile of processor milliseconds of the labelled queries among 2,500 clips."""
    every = [own for own, _ in descriptions] + [mirrored for _, mirrored in descriptions]
    galleries = build_galleries([every[k % len(every)] for k in range(N_LIBRARY)])
    queries = descriptions[: len(labelled_clips())]
    times_ms = [
        min_cpu_ms(partial(rank, own, galleries, mirrored=mirrored, n_candidates=keep)) for own, mirrored in queries
    ]
    return float(np.median(times_ms)), float(np.percentile(times_ms, 95))


def figures() -> dict[str, float]:
    """Return the expected figures of the default ranking, learned from the other half of the subjects."""
    split = HalfSplit(fixed_split())
    descriptions = [split.describe(all_clips(), half) for half in (0, 1)]
    among_all = evaluate(rank_among_all(descriptions, split, DEFAULT_CANDIDATES, own_subject=False), labelled_clips())
    neighbour_map = neighbour_precision(descriptions, split, RANKING_DESCRIPTORS)
    print(f"   neighbouring takes: mean average precision {neighbour_map:.3f}")
    print(f"   among all {len(all_clips())} clips, {DEFAULT_CANDIDATES} preselected: {among_all}")
    return {
        "takes_mean_average_precision": neighbour_map,
        "all_clips_precision_1": among_all.precision_1,
        "all_clips_precision_5": among_all.precision_5,
        "all_clips_mean_average_precision": among_all.mean_average_precision,
    }


def main() -> None:
    split = HalfSplit(fixed_split())
    descriptions = [split.describe(all_clips(), half) for half in (0, 1)]
    groups = take_groups()
    print(f"neighbouring takes, {sum(map(len, groups))} clips of {len(groups)} numbers: mean average precision")
    for names in (*((name,) for name in RANKING_DESCRIPTORS), *COMBINATIONS):
        print(f"   {neighbour_precision(descriptions, split, names):.3f} {' + '.join(names)}")
    print(f"among all {len(all_clips())} clips, only labelled ones counted")
    for keep in KEEPS:
        other_subjects = evaluate(rank_among_all(descriptions, split, keep, own_subject=False), labelled_clips())
        other_clips = evaluate(rank_among_all(descriptions, split, keep, own_subject=True), labelled_clips(), "clip")
        median, late = query_ms(descriptions[0], keep)
        print(f"   keep {keep}: {other_subjects}; other clips @1 {other_clips.precision_1:.3f}")
        print(f"      a query of {N_LIBRARY} clips: {median:.1f} ms, 95th percentile {late:.1f} ms")


if __name__ == "__main__":
    main()
