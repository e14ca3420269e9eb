"""Search times in a library of 2,500 clips, with SQLite, warm, one thread.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.search.speed [clips.db]

The clips are those of cmu30 and cmu30-more, then the same mirrored, then some at other speeds. They are written to
the real tables without their files, which no search reads. With a path the library is saved for later runs.

``whole`` starts with the descriptions of the query and its mirror image, and includes preselection, comparison,
deduplication, explanations and the rows of the hits. ``whole_with_description`` starts with a motion in memory.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from benchmarks.search.clips import N_LIBRARY, Clip, all_clips, labelled_clips, retime

import keypose as kp
from keypose.library.analysis import Analysis, Facts, PreparedClip, compute_swing_table, sample_poses
from keypose.library.canonical import FPS, CanonicalBody, canonical_body
from keypose.library.clip_insert import insert_clips
from keypose.library.descriptors import Description, describe, describe_body
from keypose.library.descriptors.description import posture
from keypose.library.library import Library
from keypose.library.listing import Filters
from keypose.library.metadata import ClipMetadata, clean_fields
from keypose.library.search.memory_index import MemoryIndex, TableReader
from keypose.library.search.part_gallery import build_part_track
from keypose.library.search.query import Query
from keypose.library.search.rankers import DescriptorRanker
from keypose.library.search.search import NO_FILTERS, run_ranker, search, search_part, search_pose
from keypose.library.search.swing_overlap import SwingTable
from keypose.library.store import Store

N_QUERIES = 60
CLIPS_PER_TRANSACTION = 50
SPEEDS = (0.85, 1.2)  # of the retimed clips
PART_S = 2.0
DESCRIPTIONS = {
    "whole": "`search`, without the time to describe the query",
    "whole_with_duplicates": "... `deduplicate=False`",
    "whole_tagged": "... among the clips of a tag",
    "whole_with_description": "`search` by a motion in memory, with the time to describe it",
    "part": f"`search_part`, {PART_S:g} s",
    "pose": "`search_pose`",
    "text": "`clips` by text",
}


@dataclass(frozen=True, eq=False)
class SearchClip:
    """The data of a clip that search uses."""

    name: str
    label: str
    body: CanonicalBody
    swing_table: SwingTable

    def mirror(self) -> SearchClip:
        """Return the mirror image."""
        return SearchClip(f"{self.name}_mirrored", self.label, self.body.mirror(), self.swing_table.mirror())

    def retime(self, speed: float) -> SearchClip:
        """Return the clip at another speed."""
        swing_table, body = self.swing_table, retime(self.body, speed)
        starts, ends = swing_table.starts_s / speed, swing_table.ends_s / speed
        swing_table = replace(swing_table, duration_s=body.duration_s, starts_s=starts, ends_s=ends)
        return SearchClip(f"{self.name}_at_{speed}", self.label, body, swing_table)

    def prepare(self) -> PreparedClip:
        """Return the clip as prepared for insertion into a library."""
        n = self.body.n_frames
        analysis = Analysis(
            facts=Facts(FPS, n, n / FPS, 17, "0" * 64),
            key_frames=(0,),
            strip="",
            swing_table=self.swing_table,
            description=describe_body(self.body),
            track=build_part_track(self.body),
            poses=sample_poses(posture(self.body)),
        )
        data = self.name.encode()
        return PreparedClip(data, hashlib.sha256(data).hexdigest(), ".kps", analysis)


def load_search_clip(clip: Clip) -> SearchClip | None:
    motion = clip.motion()
    body = canonical_body(motion)
    return None if body is None else SearchClip(clip.name, clip.label or "more", body, compute_swing_table(motion))


def iter_search_clips() -> Iterator[SearchClip]:
    """Yield the real clips, their mirror images, then some of them at other speeds."""
    real = [body for body in map(load_search_clip, all_clips()) if body is not None]
    yield from real
    yield from (body.mirror() for body in real)
    for k, speed in enumerate(SPEEDS):
        yield from (body.retime(speed) for body in real[4 * k :: 8])


def fill_library(store: Store) -> None:
    """Fill a library with N_LIBRARY clips."""
    batch: list[tuple[PreparedClip, ClipMetadata]] = []
    for k, body in zip(range(N_LIBRARY), iter_search_clips(), strict=False):
        batch.append((body.prepare(), ClipMetadata(body.name, (body.label,), clean_fields("", "", ""))))
        if len(batch) == CLIPS_PER_TRANSACTION or k + 1 == N_LIBRARY:
            insert_clips(store, batch)
            batch.clear()


def time_searches(run_search: Callable[[kp.Motion], object], queries: list[kp.Motion]) -> tuple[float, float, float]:
    """Return median and 95th percentile of milliseconds, and the median processor time, for busy machines."""
    times_ms, cpu_times_ms = [], []
    for query in queries:
        start, start_cpu = time.perf_counter(), time.process_time()
        run_search(query)
        times_ms.append(1e3 * (time.perf_counter() - start))
        cpu_times_ms.append(1e3 * (time.process_time() - start_cpu))
    return float(np.median(times_ms)), float(np.percentile(times_ms, 95)), float(np.median(cpu_times_ms))


def describe_query(query: kp.Motion) -> tuple[Description, Description]:
    """Return the descriptions of a clip and its mirror image."""
    own = describe(query)
    assert own is not None
    return own, own.mirror()


def measure(library: Library) -> dict[str, float]:
    """Return milliseconds by kind of search; ``first_..._s`` are seconds of the first one, which reads the library."""
    store, index = library._store, MemoryIndex(TableReader())
    motions = [clip.motion() for clip in labelled_clips()]
    queries = [motion for motion in motions if motion.duration_s > PART_S][:N_QUERIES]
    descriptions = {id(query): describe_query(query) for query in queries}
    n_frames = {id(query): round(PART_S * query.fps) for query in queries}

    def search_whole(motion: kp.Motion, filters: Filters = NO_FILTERS, deduplicate: bool = True) -> object:
        clip_query = Query(store, motion)
        return run_ranker(
            clip_query,
            DescriptorRanker(clip_query, True, list(descriptions[id(motion)])),
            index,
            filters,
            10,
            deduplicate=deduplicate,
        )

    searches: dict[str, Callable[[kp.Motion], object]] = {
        "whole": search_whole,
        "whole_with_duplicates": lambda m: search_whole(m, deduplicate=False),
        "whole_tagged": lambda m: search_whole(m, Filters.parse(tags=("more",))),
        "whole_with_description": lambda m: search(store, index, m),
        "part": lambda m: search_part(store, index, m, 0, n_frames[id(m)]),
        "pose": lambda m: search_pose(store, index, m, m.n_frames // 2),
        "text": lambda _: library.clips("13 mirrored", limit=10),
    }
    figures: dict[str, float] = {}
    rows = ["| search | median | 95 of 100 within | the first, which reads the library |", "|---|--:|--:|--:|"]
    for kind, run_search in searches.items():
        start = time.perf_counter()
        run_search(queries[0])
        first_s = time.perf_counter() - start
        median_ms, p95_ms, cpu_ms = time_searches(run_search, queries)
        figures |= {
            f"{kind}_ms": median_ms,
            f"{kind}_95_ms": p95_ms,
            f"{kind}_cpu_ms": cpu_ms,
            f"first_{kind}_s": first_s,
        }
        rows.append(f"| {DESCRIPTIONS[kind]} | {median_ms:.1f} ms | {p95_ms:.1f} ms | {first_s:.2f} s |")
        print(
            f"   {kind}: {median_ms:.1f} ms ({cpu_ms:.1f} ms of work), 95 % within {p95_ms:.1f} ms; "
            f"first {first_s:.2f} s"
        )
    swing_queries = queries[::20]
    search(store, index, swing_queries[0], ranker="swings")
    median_ms, _, _ = time_searches(lambda m: search(store, index, m, ranker="swings"), swing_queries)
    print(f"   swings: {median_ms:.0f} ms")
    print("\n".join(rows))
    return figures | {"swings_ms": median_ms}


def measure_library(path: Path) -> dict[str, float]:
    """Create the library if it does not exist, and measure searches in it."""
    exists = path.exists()
    with Library(path) as library:
        if not exists:
            start = time.perf_counter()
            fill_library(library._store)
            print(f"   made in {time.perf_counter() - start:.0f} s")
        stats = library.stats()
        print(f"   {stats.clips} clips, {stats.duration_s / 3600:.1f} hours, {path.stat().st_size / 1e6:.0f} MB")
        return measure(library)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure_library(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            measure_library(Path(folder) / "clips.db")
