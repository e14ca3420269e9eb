"""Whole clips ranked by descriptors: what is learnt comes from the half of the subjects in which the query's is not.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.search.descriptors

Each descriptor, and all together, over seven halvings of the subjects. ``carry_over.py`` asks the same of clips
without labels and of a crowd.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial

import numpy as np
from benchmarks.search.clips import Clip, everything, half_of, labelled, more
from benchmarks.search.learn import Measured, learn, measured
from benchmarks.search.protocol import Indices, Rank, by_class, evaluate

from keypose.arrays import Floats
from keypose.library.canonical import Canonical, canonical
from keypose.library.descriptors import Description, Gallery, describe, describe_body, gallery
from keypose.library.descriptors.learnt import Learnt, packed, unpacked
from keypose.library.descriptors.matching import RANKED_BY

N_DRAWN = 6  # halvings beside the fixed one
N_REPEATS = 3  # of what is timed
TOGETHER = (("upper_1s", "lower_1s"), ("upper_4s", "lower_4s"), RANKED_BY[1:], RANKED_BY)

Halving = Mapping[str, int]  # 0 or 1 by subject
Both = tuple[Description, Description]  # of a clip and of its mirror image


def fixed() -> Halving:
    """The halving of README.md."""
    return {clip.subject: half_of(clip.subject) for clip in everything()}


def drawn(seed: int) -> Halving:
    """Another one: subjects in random order, each to the half with fewer clips."""
    counts = Counter(clip.subject for clip in everything())
    subjects, sizes = sorted(counts), [0, 0]
    halving: dict[str, int] = {}
    for k in np.random.default_rng(seed).permutation(len(subjects)):
        half = halving[subjects[k]] = int(sizes[1] < sizes[0])
        sizes[half] += counts[subjects[k]]
    return halving


class Halved:
    """What was learnt from either half of the subjects, and how it describes clips."""

    def __init__(self, halving: Halving) -> None:
        self.halving = halving

    @cached_property
    def learnt(self) -> tuple[Learnt, Learnt]:
        """From the clips of ``cmu30-more`` of each half; as precise as is shipped."""
        return self._learnt_from(0), self._learnt_from(1)

    def _learnt_from(self, half: int) -> Learnt:
        here = [found for clip, found in zip(more(), _material(), strict=True) if self.halving[clip.subject] == half]
        return unpacked(packed(learn(here)))

    @cached_property
    def labelled(self) -> tuple[list[Both], list[Both]]:
        """The labelled clips, by what each half taught."""
        return self.described(labelled(), 0), self.described(labelled(), 1)

    def described(self, clips: Sequence[Clip], half: int) -> list[Both]:
        """Clips and their mirror images, by what this half taught."""
        found = [describe_body(body_of(clip), self.learnt[half]) for clip in clips]
        return [(own, own.mirrored()) for own in found]

    @cached_property
    def _galleries(self) -> list[dict[str, Gallery]]:
        return [gallery([own for own, _ in found]) for found in self.labelled]

    @cache  # noqa: B019  an object for each halving, all of them wanted to the end
    def _away(self, query: int) -> Floats:
        """(2, names, C): how far the labelled clips are from a query and from its mirror image, by each descriptor."""
        half = 1 - self.halving[labelled()[query].subject]
        ways, galleries = self.labelled[half][query], self._galleries[half]
        return np.stack([galleries[name].away([way.all[name] for way in ways]) for name in RANKED_BY], axis=1)

    def rank_by(self, names: Sequence[str]) -> Rank:
        """The ranking of the labelled clips by these descriptors together, as ``unlikeness`` has it."""
        columns = [RANKED_BY.index(name) for name in names]

        def rank(query: int, among: Indices) -> Floats:
            return -self._away(query)[:, columns].sum(axis=1).min(axis=0)[among]

        return rank

    def figures(self, names: Sequence[str]) -> tuple[float, float, float, float]:
        """precision@1, @5 and mean average precision of other subjects, precision@1 of other clips."""
        rank = self.rank_by(names)
        apart = evaluate(rank, labelled())
        one_out = evaluate(rank, labelled(), "clip").precision_1
        return apart.precision_1, apart.precision_5, apart.mean_average_precision, one_out


@cache
def body_of(clip: Clip) -> Canonical:
    body = canonical(clip.motion())
    if body is None:
        raise ValueError(f"{clip.name} has no body, expected one in every clip of both folders")
    return body


@cache
def _material() -> list[Measured]:
    return measured(more())


def quickest_ms(work: Callable[[], object]) -> float:
    """Milliseconds of processor time, the least of a few: what other programs do at the time counts for little."""
    took = []
    for _ in range(N_REPEATS):
        start = time.process_time()
        work()
        took.append(1000 * (time.process_time() - start))
    return min(took)


def describing() -> str:
    """What it takes to describe a clip, read already."""
    motions = [clip.motion() for clip in labelled()]
    took = [quickest_ms(partial(describe, motion)) for motion in motions]
    rate = 1000 * sum(motion.duration_s for motion in motions) / sum(took)
    median = np.median(took)
    return f"described in {median:.1f} ms (median of {len(took)} clips), {rate:.0f} s of motion in a second"


def main() -> None:
    halvings = [fixed(), *map(drawn, range(N_DRAWN))]
    combinations = [*((name,) for name in RANKED_BY), *TOGETHER]
    found = np.empty((len(halvings), len(combinations), 4))
    for k, halving in enumerate(halvings):
        halved = Halved(halving)
        found[k] = [halved.figures(names) for names in combinations]
    print("precision@1, @5, mean average precision (other subjects), precision@1 (other clips)")
    for names, figures in zip(combinations, found.swapaxes(0, 1), strict=True):
        print(" + ".join(names))
        for what, row in (("fixed", figures[0]), ("mean", figures.mean(axis=0)), ("least", figures.min(axis=0))):
            print(f"   {what:6}" + " ".join(f"{value:.3f}" for value in row))
    classes = by_class(Halved(fixed()).rank_by(RANKED_BY), labelled())
    print("fixed, of each class: " + ", ".join(f"{of} {got.precision_1:.2f}" for of, got in classes.items()))
    print(describing())


if __name__ == "__main__":
    main()
