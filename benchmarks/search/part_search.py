"""Part search: how often returned spans contain the event of the query, and how long a search takes.

.venv/bin/python -m benchmarks.search.part_search       # also for six more kinds of events

Axes are learned from the half of the subjects without that of the query.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.search.clips import N_LIBRARY, all_clips, half_of, retime, to_learn_from
from benchmarks.search.events import KINDS, find_events
from benchmarks.search.learn_parts import learn
from benchmarks.search.more_events import MORE_KINDS, find_more_events
from benchmarks.search.part_protocol import (
    FIRST_FEW,
    Corpus,
    Query,
    Search,
    Span,
    count_events,
    draw_queries,
    evaluate_part_search,
)

from keypose.arrays import Floats
from keypose.library.canonical import CanonicalBody, canonical_body
from keypose.library.descriptors.description import posture
from keypose.library.search.part_features import group_features
from keypose.library.search.part_gallery import PartGallery, build_part_track

FILLER_SPEED = 1.15  # speed of the clips that fill up the library
QUERY_LENGTHS_S = (1.0, 2.0, 4.0)
N_TIMED_QUERIES, SEED = 20, 1  # queries of each length


@dataclass(frozen=True)
class Inputs:
    """All clips: their events, bodies and features."""

    corpus: Corpus
    bodies: Sequence[CanonicalBody]
    features: Sequence[dict[str, Floats]]


def read_inputs() -> Inputs:
    """Read all clips of both folders."""
    durations, events, bodies = [], [], []
    for clip in all_clips():
        motion = clip.motion()
        if (body := canonical_body(motion)) is None:
            raise ValueError(f"{clip.name} has no body")
        durations.append(motion.duration_s)
        events.append((*find_events(motion), *find_more_events(body)))
        bodies.append(body)
    features = [group_features(posture(body)) for body in bodies]
    return Inputs(Corpus(all_clips(), durations, events), bodies, features)


def build_search(inputs: Inputs) -> Search:
    """Return the part search of the library, with axes learned without the subject of the query."""
    clips = inputs.corpus.clips
    features_by_name = {clip.name: numbers for clip, numbers in zip(clips, inputs.features, strict=True)}
    bases = [learn([features_by_name[clip.name] for clip in to_learn_from(half)]) for half in (0, 1)]
    tracks = [[build_part_track(body, basis) for body in inputs.bodies] for basis in bases]
    galleries = [PartGallery.build(half_tracks) for half_tracks in tracks]

    def search(query: Query) -> list[Span]:
        other_half = 1 - half_of(clips[query.clip].subject)
        query_track = tracks[other_half][query.clip].span(query.start_s, query.end_s)
        is_allowed = np.isin(np.arange(len(clips)), query.gallery)
        matches = galleries[other_half].search(
            query_track, mirrored=query_track.mirror(), is_allowed=is_allowed, limit=FIRST_FEW
        )
        return [Span(match.clip, match.start_s, match.end_s) for match in matches]

    return search


def measure_hits(inputs: Inputs, kinds: Sequence[str] = KINDS) -> dict[str, float]:
    """Return hit rates over chance, of the first hit and of the first five."""
    search = build_search(inputs)
    results = {}
    for kind in kinds:
        for only_with_event, scope in ((False, "all clips"), (True, "clips with one")):
            part_figures = evaluate_part_search(
                search, inputs.corpus, draw_queries(inputs.corpus, kind, only_with_event=only_with_event)
            )
            print(f"   parts, {kind} in {scope}: {part_figures}")
            key = f"parts_{kind}_{'in_clips_with_event' if only_with_event else 'anywhere'}"
            results[f"{key}_over_chance"] = part_figures.hit_1 / part_figures.chance_1
            results[f"{key}_first_five_over_chance"] = part_figures.hit_5 / part_figures.chance_5
    return results


def measure_speed(inputs: Inputs) -> dict[str, float]:
    """Return milliseconds of a query (mirrored too) over real, mirrored and retimed clips, for the slowest length."""
    own_tracks = [build_part_track(body) for body in inputs.bodies]
    tracks = [*own_tracks, *(track.mirror() for track in own_tracks)]
    tracks += [build_part_track(retime(body, FILLER_SPEED)) for body in inputs.bodies[: N_LIBRARY - len(tracks)]]
    library = PartGallery.build(tracks)
    draw = random.Random(SEED)
    worst = 0.0
    for length_s in QUERY_LENGTHS_S:
        long_enough = [track for track in own_tracks if track.duration_s > length_s]
        times = []
        for track in draw.sample(long_enough, N_TIMED_QUERIES + 1):
            start_s = draw.uniform(0.0, track.duration_s - length_s)
            query_track = track.span(start_s, start_s + length_s)
            start = time.perf_counter(), time.process_time()
            library.search(query_track, mirrored=query_track.mirror())
            times.append((time.perf_counter() - start[0], time.process_time() - start[1]))
        first, _ = times[0]  # builds caches that the others use
        median, cpu_median = np.median(times[1:], axis=0)
        worst = max(worst, 1000 * float(median))
        print(
            f"   parts: {length_s:g} s of a clip in {N_LIBRARY} clips: {1000 * median:.0f} ms, the first "
            f"{1000 * first:.0f} ms; {1000 * cpu_median:.0f} ms of one core's time"
        )
    hours = sum(track.duration_s for track in tracks) / 3600
    bytes_per_s = sum(track.vectors.nbytes for track in tracks) / (3600 * hours)
    print(f"   parts: {hours:.1f} hours, {bytes_per_s:.0f} bytes for a second of motion")
    return {"parts_query_ms": worst, "parts_bytes_per_s": bytes_per_s}


def main() -> None:
    inputs = read_inputs()
    for kind, (n, in_clips, of_subjects) in count_events(inputs.corpus).items():
        print(f"   {kind}: {n} events in {in_clips} clips of {of_subjects} subjects")
    results = measure_hits(inputs, (*KINDS, *MORE_KINDS)) | measure_speed(inputs)
    for name, value in results.items():
        print(f"   {name} {value:.2f}")


if __name__ == "__main__":
    main()
