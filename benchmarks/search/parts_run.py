"""Part search measured: whether what it returns holds what happens in the query, and how long it takes.

.venv/bin/python -m benchmarks.search.parts_run       # the figures, of six more kinds of events too

Axes are learnt from the half of the subjects in which the query's is not.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.search.clips import N_LIBRARY, everything, half_of, retimed, to_learn_from
from benchmarks.search.events import KINDS, events_of
from benchmarks.search.learn_parts import learn
from benchmarks.search.more_events import MORE_KINDS, more_events_of
from benchmarks.search.parts import FIRST_FEW, Corpus, Query, Search, Span, counts, evaluate_parts, queries_of

from keypose.arrays import Floats
from keypose.library.canonical import Canonical, canonical
from keypose.library.descriptors.posture import posture
from keypose.library.parts import PartGallery, describe_parts
from keypose.library.parts.measure import group_numbers

RETIMED = 1.15  # how much faster the clips are that fill it
QUERIES_S = (1.0, 2.0, 4.0)
N_TIMED, SEED = 20, 1  # queries of each length


@dataclass(frozen=True)
class Material:
    """All clips: what happens in them, their bodies, and what is measured of them."""

    corpus: Corpus
    bodies: Sequence[Canonical]
    numbers: Sequence[dict[str, Floats]]


def read() -> Material:
    """Both folders once."""
    durations, events, bodies = [], [], []
    for clip in everything():
        motion = clip.motion()
        if (body := canonical(motion)) is None:
            raise ValueError(f"{clip.name} has no body")
        durations.append(motion.duration_s)
        events.append((*events_of(motion), *more_events_of(body)))
        bodies.append(body)
    numbers = [group_numbers(posture(body)) for body in bodies]
    return Material(Corpus(everything(), durations, events), bodies, numbers)


def searcher(material: Material) -> Search:
    """Part search as the library does it, by axes that the query's subject had no part in."""
    clips = material.corpus.clips
    of_name = {clip.name: numbers for clip, numbers in zip(clips, material.numbers, strict=True)}
    bases = [learn([of_name[clip.name] for clip in to_learn_from(half)]) for half in (0, 1)]
    tracks = [[describe_parts(body, basis) for body in material.bodies] for basis in bases]
    galleries = [PartGallery.of(each) for each in tracks]

    def search(query: Query) -> list[Span]:
        other = 1 - half_of(clips[query.clip].subject)
        asked = tracks[other][query.clip].part(query.start_s, query.end_s)
        among = np.isin(np.arange(len(clips)), query.gallery)
        found = galleries[other].search(asked, mirrored=asked.mirrored(), among=among, limit=FIRST_FEW)
        return [Span(match.clip, match.start_s, match.end_s) for match in found]

    return search


def figures(material: Material, kinds: Sequence[str] = KINDS) -> dict[str, float]:
    """How much more often than by chance spans hold the event: the first ones, and the first five."""
    search = searcher(material)
    found = {}
    for kind in kinds:
        for among_holders, where in ((False, "all clips"), (True, "clips with one")):
            got = evaluate_parts(
                search, material.corpus, queries_of(material.corpus, kind, among_holders=among_holders)
            )
            print(f"   parts, {kind} in {where}: {got}")
            key = f"parts_{kind}_{'among_holders' if among_holders else 'anywhere'}"
            found[f"{key}_over_chance"] = got.held_1 / got.chance_1
            found[f"{key}_first_five_over_chance"] = got.held_5 / got.chance_5
    return found


def speed(material: Material) -> dict[str, float]:
    """Milliseconds of a query, mirrored too, over a library of real, mirrored and retimed clips; the worst length."""
    own = [describe_parts(body) for body in material.bodies]
    tracks = [*own, *(track.mirrored() for track in own)]
    tracks += [describe_parts(retimed(body, RETIMED)) for body in material.bodies[: N_LIBRARY - len(tracks)]]
    library = PartGallery.of(tracks)
    draw = random.Random(SEED)
    worst = 0.0
    for length_s in QUERIES_S:
        long_enough = [track for track in own if track.duration_s > length_s]
        took = []
        for track in draw.sample(long_enough, N_TIMED + 1):
            start_s = draw.uniform(0.0, track.duration_s - length_s)
            asked = track.part(start_s, start_s + length_s)
            start = time.perf_counter(), time.process_time()
            library.search(asked, mirrored=asked.mirrored())
            took.append((time.perf_counter() - start[0], time.process_time() - start[1]))
        first, _ = took[0]  # prepares what the others use
        median, busy = np.median(took[1:], axis=0)
        worst = max(worst, 1000 * float(median))
        print(
            f"   parts: {length_s:g} s of a clip in {N_LIBRARY} clips: {1000 * median:.0f} ms, the first "
            f"{1000 * first:.0f} ms; {1000 * busy:.0f} ms of one core's time"
        )
    hours = sum(track.duration_s for track in tracks) / 3600
    stored = sum(track.vectors.nbytes for track in tracks) / (3600 * hours)
    print(f"   parts: {hours:.1f} hours, {stored:.0f} bytes for a second of motion")
    return {"parts_query_ms": worst, "parts_bytes_per_s": stored}


def main() -> None:
    material = read()
    for kind, (n, in_clips, of_subjects) in counts(material.corpus).items():
        print(f"   {kind}: {n} events in {in_clips} clips of {of_subjects} subjects")
    found = figures(material, (*KINDS, *MORE_KINDS)) | speed(material)
    for name, value in found.items():
        print(f"   {name} {value:.2f}")


if __name__ == "__main__":
    main()
