"""How long searches take in a library of 2,500 clips, with SQLite, warm, one thread.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.search.speed [clips.db]

The clips are those of cmu30 and cmu30-more, then the same mirrored, then some played faster or slower. They go through
the real tables; their bytes are left out, since no search reads them. A path keeps the library for another time.

``whole`` starts with the query's description and that of its mirror image: choosing, comparing, folding copies, saying
what is alike, and the rows of the hits are all counted. ``whole_and_describing`` starts with a motion in memory.
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
from benchmarks.search.clips import N_LIBRARY, Clip, everything, labelled, retimed

import keypose as kp
from keypose.library.adding import keep_all
from keypose.library.analysis import Analysis, Facts, poses_of_body, sheet_of_motion
from keypose.library.canonical import FPS, Canonical, canonical
from keypose.library.descriptors import Description, describe, describe_body
from keypose.library.descriptors.posture import posture
from keypose.library.filters import Filters
from keypose.library.library import Library
from keypose.library.parts import describe_parts
from keypose.library.preparing import Prepared
from keypose.library.rankers.sheets import Sheet
from keypose.library.said import Words, about
from keypose.library.searching.asking import Asked
from keypose.library.searching.finders import ByDescriptors
from keypose.library.searching.memory_shelf import MemoryShelf
from keypose.library.searching.search import ANY, hits, search, search_part, search_pose
from keypose.library.searching.stored import Stored
from keypose.library.store import Store

N_QUERIES = 60
TOGETHER = 50  # clips of a transaction
SPEEDS = (0.85, 1.2)  # of the retimed clips
PART_S = 2.0
SAID = {
    "whole": "`search`, after the query's own description",
    "whole_unfolded": "... `fold=False`",
    "whole_tagged": "... among the clips of a tag",
    "whole_and_describing": "`search` by a motion in memory, its description included",
    "part": f"`search_part`, {PART_S:g} s",
    "pose": "`search_pose`",
    "words": "`clips` by words",
}


@dataclass(frozen=True, eq=False)
class Body:
    """A clip, as far as search is concerned."""

    name: str
    label: str
    body: Canonical
    sheet: Sheet

    def mirrored(self) -> Body:
        """In a mirror."""
        return Body(f"{self.name}_mirrored", self.label, self.body.mirrored(), self.sheet.mirrored())

    def faster(self, speed: float) -> Body:
        """Played at another speed."""
        sheet, body = self.sheet, retimed(self.body, speed)
        starts, ends = sheet.starts_s / speed, sheet.ends_s / speed
        sheet = replace(sheet, duration_s=body.duration_s, starts_s=starts, ends_s=ends)
        return Body(f"{self.name}_at_{speed}", self.label, body, sheet)

    def prepared(self) -> Prepared:
        """As a library takes it."""
        n = self.body.n_frames
        analysis = Analysis(
            facts=Facts(FPS, n, n / FPS, 17, "0" * 64),
            key_frames=(0,),
            strip="",
            sheet=self.sheet,
            description=describe_body(self.body),
            track=describe_parts(self.body),
            poses=poses_of_body(posture(self.body)),
        )
        data = self.name.encode()
        return Prepared(data, hashlib.sha256(data).hexdigest(), ".kps", analysis)


def _body(clip: Clip) -> Body | None:
    motion = clip.motion()
    body = canonical(motion)
    return None if body is None else Body(clip.name, clip.label or "more", body, sheet_of_motion(motion))


def _bodies() -> Iterator[Body]:
    """The real clips, then their mirror images, then some of them at other speeds."""
    real = [body for body in map(_body, everything()) if body is not None]
    yield from real
    yield from (body.mirrored() for body in real)
    for k, speed in enumerate(SPEEDS):
        yield from (body.faster(speed) for body in real[4 * k :: 8])


def build(store: Store) -> None:
    """Fills a library."""
    waiting: list[tuple[Prepared, Words]] = []
    for k, body in zip(range(N_LIBRARY), _bodies(), strict=False):
        waiting.append((body.prepared(), Words(body.name, (body.label,), about("", "", ""))))
        if len(waiting) == TOGETHER or k + 1 == N_LIBRARY:
            keep_all(store, waiting)
            waiting.clear()


def _milliseconds(question: Callable[[kp.Motion], object], queries: list[kp.Motion]) -> tuple[float, float, float]:
    """The median and the 95th percentile, then the median of the processor's time, for machines that are busy."""
    taken, worked = [], []
    for query in queries:
        start, start_work = time.perf_counter(), time.process_time()
        question(query)
        taken.append(1e3 * (time.perf_counter() - start))
        worked.append(1e3 * (time.process_time() - start_work))
    return float(np.median(taken)), float(np.percentile(taken, 95)), float(np.median(worked))


def _ways(query: kp.Motion) -> tuple[Description, Description]:
    """What a search by this clip has when its time starts."""
    own = describe(query)
    assert own is not None
    return own, own.mirrored()


def measure(library: Library) -> dict[str, float]:
    """Milliseconds by kind of search; ``first_..._s`` is how long the first one takes, which reads the library."""
    store, shelf = library._store, MemoryShelf(Stored())
    motions = [clip.motion() for clip in labelled()]
    queries = [motion for motion in motions if motion.duration_s > PART_S][:N_QUERIES]
    ways = {id(query): _ways(query) for query in queries}
    length = {id(query): round(PART_S * query.fps) for query in queries}

    def whole(motion: kp.Motion, filters: Filters = ANY, fold: bool = True) -> object:
        asked = Asked(store, motion)
        return hits(asked, ByDescriptors(asked, True, list(ways[id(motion)])), shelf, filters, 10, fold=fold)

    questions: dict[str, Callable[[kp.Motion], object]] = {
        "whole": whole,
        "whole_unfolded": lambda m: whole(m, fold=False),
        "whole_tagged": lambda m: whole(m, Filters.of(tags=("more",))),
        "whole_and_describing": lambda m: search(store, shelf, m),
        "part": lambda m: search_part(store, shelf, m, 0, length[id(m)]),
        "pose": lambda m: search_pose(store, shelf, m, m.n_frames // 2),
        "words": lambda _: library.clips("13 mirrored", limit=10),
    }
    figures: dict[str, float] = {}
    rows = ["| search | median | 95 of 100 within | the first, which reads the library |", "|---|--:|--:|--:|"]
    for kind, question in questions.items():
        start = time.perf_counter()
        question(queries[0])
        first_s = time.perf_counter() - start
        middle, most, work = _milliseconds(question, queries)
        figures |= {f"{kind}_ms": middle, f"{kind}_95_ms": most, f"{kind}_cpu_ms": work, f"first_{kind}_s": first_s}
        rows.append(f"| {SAID[kind]} | {middle:.1f} ms | {most:.1f} ms | {first_s:.2f} s |")
        print(f"   {kind}: {middle:.1f} ms ({work:.1f} ms of work), 95 % within {most:.1f} ms; first {first_s:.2f} s")
    few = queries[::20]
    search(store, shelf, few[0], ranker="swings")
    middle, _, _ = _milliseconds(lambda m: search(store, shelf, m, ranker="swings"), few)
    print(f"   swings: {middle:.0f} ms")
    print("\n".join(rows))
    return figures | {"swings_ms": middle}


def of_library(path: Path) -> dict[str, float]:
    """Makes the library if it is not there, and measures."""
    there = path.exists()
    with Library(path) as library:
        if not there:
            start = time.perf_counter()
            build(library._store)
            print(f"   made in {time.perf_counter() - start:.0f} s")
        stats = library.stats()
        print(f"   {stats.clips} clips, {stats.duration_s / 3600:.1f} hours, {path.stat().st_size / 1e6:.0f} MB")
        return measure(library)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        of_library(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            of_library(Path(folder) / "clips.db")
