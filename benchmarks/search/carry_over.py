"""Whether the ranking of whole clips carries over to what has no labels, to a crowd, and to 2,500 clips.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.search.carry_over

*Takes.* Neighbouring takes of a subject (135_06, 135_07) often show the same thing. So each clip of a subject with at
least eight is a query among the others of that subject, and the takes next to it are relevant: no label is needed, and
who moves says nothing. The mean average precision, first over the clips of a subject, then over subjects.

*A crowd.* The labelled queries among all clips of both folders; only labelled ones count in the ranks. The clip vector
chooses ``keep`` clips first: a labelled one that it leaves out comes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

import numpy as np
from benchmarks.search.clips import N_LIBRARY, Clip, everything, labelled, number_of
from benchmarks.search.descriptors import TOGETHER, Both, Halved, fixed, quickest_ms
from benchmarks.search.protocol import Indices, Rank, Ranked, evaluate

from keypose.arrays import Floats
from keypose.library.descriptors import gallery, rank, unlikeness
from keypose.library.descriptors.matching import KEEP, RANKED_BY

LEAST_TAKES = 8
KEEPS = (64, 128, 256, 384, 512, 768, 1024, 1114)


def takes() -> list[list[int]]:
    """The clips, by place among all, of each number that has enough of them, in the order of takes."""
    of: dict[str, list[int]] = {}
    for k, clip in enumerate(everything()):
        of.setdefault(number_of(clip.name), []).append(k)
    return [sorted(group, key=lambda k: _take(everything()[k])) for group in of.values() if len(group) >= LEAST_TAKES]


def _take(clip: Clip) -> int:
    return int(clip.name.split("_")[1])


def neighbours(described: Sequence[Sequence[Both]], halved: Halved, names: Sequence[str]) -> float:
    """How well neighbouring takes are found; ``described`` holds all clips by what each half taught."""
    means = []
    for group in takes():
        clips = [everything()[k] for k in group]
        here = [described[1 - halved.halving[clips[0].subject]][k] for k in group]
        galleries = gallery([own for own, _ in here], names)
        numbers = np.array([_take(clip) for clip in clips])
        precisions = []
        for query, (own, mirrored) in enumerate(here):
            others = np.flatnonzero(np.arange(len(group)) != query)
            order = others[np.argsort(unlikeness(own, galleries, mirrored=mirrored)[others], kind="stable")]
            relevant = np.abs(numbers[order] - numbers[query]) == 1
            if relevant.any():
                precisions.append(Ranked(query, relevant).average_precision)
        if precisions:
            means.append(float(np.mean(precisions)))
    return float(np.mean(means))


def crowded(described: Sequence[Sequence[Both]], halved: Halved, keep: int, *, own_subject: bool) -> Rank:
    """The ranking of labelled clips as they come out of a search among all."""
    subjects = np.array([clip.subject for clip in everything()])
    galleries = [gallery([own for own, _ in here]) for here in described]

    @cache
    def places(query: int) -> Floats:
        subject = labelled()[query].subject
        half = 1 - halved.halving[subject]
        own, mirrored = described[half][query]
        among = np.arange(len(subjects)) != query if own_subject else subjects != subject
        found, _ = rank(own, galleries[half], mirrored=mirrored, among=among, keep=keep)
        scores = np.full(len(subjects), -float(len(subjects)))
        scores[found] = -np.arange(float(len(found)))
        return scores

    def scores(query: int, among: Indices) -> Floats:
        return places(query)[among]  # the labelled clips come first in everything()

    return scores


def query_ms(described: Sequence[Both], keep: int) -> tuple[float, float]:
    """Median and 95th percentile of milliseconds of processor time of the labelled queries among 2,500 clips."""
    every = [own for own, _ in described] + [mirrored for _, mirrored in described]
    galleries = gallery([every[k % len(every)] for k in range(N_LIBRARY)])
    queries = described[: len(labelled())]
    took = [quickest_ms(partial(rank, own, galleries, mirrored=mirrored, keep=keep)) for own, mirrored in queries]
    return float(np.median(took)), float(np.percentile(took, 95))


def figures() -> dict[str, float]:
    """Those that are promised: of the ranking that ships, learnt from the other half of the subjects."""
    halved = Halved(fixed())
    described = [halved.described(everything(), half) for half in (0, 1)]
    crowd = evaluate(crowded(described, halved, KEEP, own_subject=False), labelled())
    found = neighbours(described, halved, RANKED_BY)
    print(f"   neighbouring takes: mean average precision {found:.3f}")
    print(f"   among all {len(everything())} clips, {KEEP} kept: {crowd}")
    return {
        "takes_mean_average_precision": found,
        "crowd_precision_1": crowd.precision_1,
        "crowd_precision_5": crowd.precision_5,
        "crowd_mean_average_precision": crowd.mean_average_precision,
    }


def main() -> None:
    halved = Halved(fixed())
    described = [halved.described(everything(), half) for half in (0, 1)]
    groups = takes()
    print(f"neighbouring takes, {sum(map(len, groups))} clips of {len(groups)} numbers: mean average precision")
    for names in (*((name,) for name in RANKED_BY), *TOGETHER):
        print(f"   {neighbours(described, halved, names):.3f} {' + '.join(names)}")
    print(f"among all {len(everything())} clips, only labelled ones counted")
    for keep in KEEPS:
        apart = evaluate(crowded(described, halved, keep, own_subject=False), labelled())
        one_out = evaluate(crowded(described, halved, keep, own_subject=True), labelled(), "clip")
        median, late = query_ms(described[0], keep)
        print(f"   keep {keep}: {apart}; other clips @1 {one_out.precision_1:.3f}")
        print(f"      a query of {N_LIBRARY} clips: {median:.1f} ms, 95th percentile {late:.1f} ms")


if __name__ == "__main__":
    main()
