"""Whole clips ranked by descriptors, which are learned from the half of the subjects without that of the query.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.search.descriptors

Each descriptor, and combinations, over seven splits of the subjects. ``carry_over.py`` measures the same on clips
without labels and among all clips.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial

import numpy as np
from benchmarks.search.clips import Clip, all_clips, half_of, labelled_clips, more
from benchmarks.search.learn import Sample, learn, measure_clips
from benchmarks.search.protocol import Indices, Rank, evaluate, evaluate_by_class

from keypose.arrays import Floats
from keypose.library.canonical import CanonicalBody, canonical_body
from keypose.library.descriptors import Description, Gallery, build_galleries, describe, describe_body
from keypose.library.descriptors.description import LearnedSpaces, pack_spaces, unpack_spaces
from keypose.library.descriptors.gallery_ranking import RANKING_DESCRIPTORS

N_RANDOM_SPLITS = 6  # besides the fixed split
N_REPEATS = 3  # of timed tasks
COMBINATIONS = (("upper_1s", "lower_1s"), ("upper_4s", "lower_4s"), RANKING_DESCRIPTORS[1:], RANKING_DESCRIPTORS)

SubjectSplit = Mapping[str, int]  # 0 or 1 by subject
DescriptionPair = tuple[Description, Description]  # of a clip and of its mirror image


def fixed_split() -> SubjectSplit:
    """Return the split described in README.md."""
    return {clip.subject: half_of(clip.subject) for clip in all_clips()}


def random_split(seed: int) -> SubjectSplit:
    """Return a random split: subjects in random order, each to the half with fewer clips."""
    counts = Counter(clip.subject for clip in all_clips())
    subjects, sizes = sorted(counts), [0, 0]
    split: dict[str, int] = {}
    for k in np.random.default_rng(seed).permutation(len(subjects)):
        half = split[subjects[k]] = int(sizes[1] < sizes[0])
        sizes[half] += counts[subjects[k]]
    return split


class HalfSplit:
    """Spaces learned from each half of the subjects, and the descriptions of clips by them."""

    def __init__(self, split: SubjectSplit) -> None:
        self.split = split

    @cached_property
    def spaces(self) -> tuple[LearnedSpaces, LearnedSpaces]:
        """Spaces learned from ``cmu30-more`` of each half, at the precision of the packaged file."""
        return self._learn_half(0), self._learn_half(1)

    def _learn_half(self, half: int) -> LearnedSpaces:
        samples = [sample for clip, sample in zip(more(), _material(), strict=True) if self.split[clip.subject] == half]
        return unpack_spaces(pack_spaces(learn(samples)))

    @cached_property
    def labelled_descriptions(self) -> tuple[list[DescriptionPair], list[DescriptionPair]]:
        """Descriptions of the labelled clips by the spaces of each half."""
        return self.describe(labelled_clips(), 0), self.describe(labelled_clips(), 1)

    def describe(self, clips: Sequence[Clip], half: int) -> list[DescriptionPair]:
        """Describe clips and their mirror images by the spaces of a half."""
        descriptions = [describe_body(body_of(clip), self.spaces[half]) for clip in clips]
        return [(own, own.mirror()) for own in descriptions]

    @cached_property
    def _galleries(self) -> list[dict[str, Gallery]]:
        return [build_galleries([own for own, _ in pairs]) for pairs in self.labelled_descriptions]

    @cache  # noqa: B019  one object per split, all used until the end
    def _distances(self, query: int) -> Floats:
        """Return distances (2, names, C) of the labelled clips from a query and its mirror image, by descriptor."""
        half = 1 - self.split[labelled_clips()[query].subject]
        pair, galleries = self.labelled_descriptions[half][query], self._galleries[half]
        return np.stack(
            [
                galleries[name].distances([description.all[name] for description in pair])
                for name in RANKING_DESCRIPTORS
            ],
            axis=1,
        )

    def rank_by(self, names: Sequence[str]) -> Rank:
        """Return a ranking of the labelled clips by the sum of these descriptors, as in ``clip_distances``."""
        columns = [RANKING_DESCRIPTORS.index(name) for name in names]

        def rank(query: int, among: Indices) -> Floats:
            return -self._distances(query)[:, columns].sum(axis=1).min(axis=0)[among]

        return rank

    def figures(self, names: Sequence[str]) -> tuple[float, float, float, float]:
        """Return precision@1, @5 and mean average precision (other subjects), and precision@1 (other clips)."""
        rank = self.rank_by(names)
        other_subjects = evaluate(rank, labelled_clips())
        other_clips = evaluate(rank, labelled_clips(), "clip").precision_1
        return (
            other_subjects.precision_1,
            other_subjects.precision_5,
            other_subjects.mean_average_precision,
            other_clips,
        )


@cache
def body_of(clip: Clip) -> CanonicalBody:
    body = canonical_body(clip.motion())
    if body is None:
        raise ValueError(f"{clip.name} has no body, expected one in every clip of both folders")
    return body


@cache
def _material() -> list[Sample]:
    return measure_clips(more())


def min_cpu_ms(task: Callable[[], object]) -> float:
    """Return the minimum processor time of a few runs in milliseconds, on which other programs have little effect."""
    times_ms = []
    for _ in range(N_REPEATS):
        start = time.process_time()
        task()
        times_ms.append(1000 * (time.process_time() - start))
    return min(times_ms)


def measure_description() -> str:
    """Return a text about the time to describe a loaded clip."""
    motions = [clip.motion() for clip in labelled_clips()]
    times_ms = [min_cpu_ms(partial(describe, motion)) for motion in motions]
    rate = 1000 * sum(motion.duration_s for motion in motions) / sum(times_ms)
    median = np.median(times_ms)
    return f"described in {median:.1f} ms (median of {len(times_ms)} clips), {rate:.0f} s of motion in a second"


def main() -> None:
    splits = [fixed_split(), *map(random_split, range(N_RANDOM_SPLITS))]
    combinations = [*((name,) for name in RANKING_DESCRIPTORS), *COMBINATIONS]
    results = np.empty((len(splits), len(combinations), 4))
    for k, split in enumerate(splits):
        half_split = HalfSplit(split)
        results[k] = [half_split.figures(names) for names in combinations]
    print("precision@1, @5, mean average precision (other subjects), precision@1 (other clips)")
    for names, figures in zip(combinations, results.swapaxes(0, 1), strict=True):
        print(" + ".join(names))
        for label, row in (("fixed", figures[0]), ("mean", figures.mean(axis=0)), ("min", figures.min(axis=0))):
            print(f"   {label:6}" + " ".join(f"{value:.3f}" for value in row))
    classes = evaluate_by_class(HalfSplit(fixed_split()).rank_by(RANKING_DESCRIPTORS), labelled_clips())
    print("fixed, of each class: " + ", ".join(f"{of} {got.precision_1:.2f}" for of, got in classes.items()))
    print(measure_description())


if __name__ == "__main__":
    main()
