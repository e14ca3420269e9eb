"""Whole clips ranked by descriptors: what is learnt comes from the half of the subjects in which the query's is not.

.venv/bin/python -m benchmarks.search.descriptors       # the figures of each descriptor and of all together
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache

import numpy as np
from benchmarks.search.clips import Clip, half_of, labelled, to_learn_from
from benchmarks.search.learn import learn, measured
from benchmarks.search.protocol import Indices, Rank, evaluate

from keypose.arrays import Floats
from keypose.library.canonical import canonical
from keypose.library.descriptors import Description, describe, describe_body, gallery, unlikeness
from keypose.library.descriptors.covariance import SCALES
from keypose.library.descriptors.learnt import packed, unpacked

TOGETHER = ("clip", *SCALES)


@cache
def described(half: int) -> list[tuple[Description, Description]]:
    """The labelled clips and their mirror images, by what was learnt from this half, as precise as is shipped."""
    learnt = unpacked(packed(learn(measured(to_learn_from(half)))))
    bodies = [body for clip in labelled() if (body := canonical(clip.motion())) is not None]
    if len(bodies) != len(labelled()):
        raise ValueError("a labelled clip without a body")
    return [(describe_body(body, learnt), describe_body(body.mirrored(), learnt)) for body in bodies]


def rank_by(names: Sequence[str], clips: Sequence[Clip]) -> Rank:
    """The ranking of the labelled ``clips`` by these descriptors together."""

    @cache
    def to_all(query: int) -> Floats:
        found = described(1 - half_of(clips[query].subject))
        galleries = gallery([own for own, _ in found], names)
        own, mirrored = found[query]
        return -unlikeness(own, galleries, mirrored=mirrored)

    def rank(query: int, among: Indices) -> Floats:
        return to_all(query)[among]

    return rank


def seconds_to_describe() -> tuple[float, float]:
    """What it takes to describe a clip, read already: the median of seconds, and seconds of motion in a second."""
    motions = [clip.motion() for clip in labelled()]
    describe(motions[0])
    took = []
    for motion in motions:
        start = time.perf_counter()
        describe(motion)
        took.append(time.perf_counter() - start)
    return float(np.median(took)), sum(motion.duration_s for motion in motions) / sum(took)


def main() -> None:
    clips = labelled()
    for names in (*((name,) for name in TOGETHER), tuple(SCALES), TOGETHER):
        rank = rank_by(names, clips)
        print(" + ".join(names))
        print(f"   other subjects: {evaluate(rank, clips)}\n   other clips: {evaluate(rank, clips, 'clip')}")
    median, rate = seconds_to_describe()
    print(f"described in {1000 * median:.1f} ms (median of {len(clips)} clips), {rate:.0f} s of motion in a second")


if __name__ == "__main__":
    main()
