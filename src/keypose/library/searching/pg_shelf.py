"""What the index of PostgreSQL finds near: candidates by HNSW, then read and ranked as everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from keypose.arrays import Floats
from keypose.library import near
from keypose.library.descriptors import Description, gallery
from keypose.library.descriptors.noun import Singles
from keypose.library.dialects.postgres_vectors import Nearness, VectorIndex
from keypose.library.extra import sa
from keypose.library.parts import PartGallery, PartTrack
from keypose.library.rankers.sheets import Sheet
from keypose.library.searching.shelf import Chosen, Numbers, Parts, PoseFound, Wholes, spread_out
from keypose.library.searching.stored import Stored
from keypose.library.tables import clips

MOST_ASKED = 6  # windows of a part that are looked for, evenly over it
FEWEST_CLIPS = 64  # near to each window: benchmarks/vectors/candidates.py
ROWS_EACH = 4  # rows asked for, for each clip that is wanted: several may be of one clip
FEW = 2  # times ``keep``: so few clips are all taken, without asking which are near


class _Row(NamedTuple):
    """A vector of the index, and from which of the asked ones."""

    clip: int
    part: int
    way: int


class PgShelf:
    """A shelf that holds nothing: every search asks the database, and reads the clips that are worth ranking."""

    def __init__(self, readers: Stored, vectors: VectorIndex) -> None:
        self._readers = readers
        self._vectors = vectors

    def whole(self, connection: sa.Connection, ways: Sequence[Description], chosen: Chosen, keep: int) -> Wholes:
        """The nearest by each vector of the whole clip."""
        asked = [(name, whole.vectors[0]) for way in ways for name, whole in way.clip.items()]
        found = self._near(connection, asked, chosen, keep, rows=keep)
        read = self._readers.descriptions(connection, found)
        ids = np.array(sorted(read), np.int64)
        them = [read[number] for number in ids.tolist()]
        return Wholes(ids, gallery(them, tuple(them[0].all)) if them else {})

    def parts(self, connection: sa.Connection, ways: Sequence[PartTrack], chosen: Chosen, keep: int) -> Parts:
        """Clips that have a second near to one of the query's."""
        asked = [(near.PARTS, window) for way in ways for window in some_windows(near.part_windows(way))]
        keep = max(keep, FEWEST_CLIPS)
        found = self._near(connection, asked, chosen, keep, rows=ROWS_EACH * keep)
        read = self._readers.tracks(connection, found)
        ids = np.array(sorted(read), np.int64)
        return Parts(ids, PartGallery.of([read[number] for number in ids.tolist()]) if read else None)

    def poses(
        self,
        connection: sa.Connection,
        ways: Sequence[Singles],
        scales: Floats,
        chosen: Chosen,
        limit: int,
        apart_s: float = math.inf,
    ) -> tuple[PoseFound, ...]:
        """The nearest in half precision; how near they are is then measured in full."""
        among = self._readers.searched(connection, chosen)
        rows = ROWS_EACH * limit + 16
        while True:
            found, all_there = self._pose_rows(connection, ways, scales, among, rows)
            kept = spread_out(self._measured(connection, found, ways, scales), limit, apart_s)
            if len(kept) == limit or all_there:
                return kept
            rows *= 4

    def sheets(self, connection: sa.Connection, chosen: Chosen) -> tuple[Numbers, tuple[Sheet, ...]]:
        """Read anew for every search."""
        among = self._readers.searched(connection, chosen)
        read = self._readers.sheets(connection, _numbers(connection, among))
        return np.array(sorted(read), np.int64), tuple(read[number] for number in sorted(read))

    def descriptions(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, Description]:
        """Read anew."""
        return dict(self._readers.descriptions(connection, ids))

    def tracks(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, PartTrack]:
        """Read anew."""
        return dict(self._readers.tracks(connection, ids))

    def some_sheets(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, Sheet]:
        """Read anew."""
        return dict(self._readers.some_sheets(connection, ids))

    def _few(self, connection: sa.Connection, chosen: Chosen, keep: int) -> list[int] | None:
        """All that may be found, if they are so few that there is nothing to choose."""
        most = FEW * keep
        found = _numbers(connection, chosen, most + 1)
        return found if len(found) <= most else None

    def _near(
        self, connection: sa.Connection, asked: Sequence[tuple[str, Singles]], chosen: Chosen, keep: int, rows: int
    ) -> list[int]:
        """The clips of the nearest rows to each of ``asked``: at least ``keep``, where there are as many."""
        among = self._readers.searched(connection, chosen)
        few = self._few(connection, among, keep)
        if few is not None:
            return few
        found: set[int] = set()
        for name, vector in asked:
            wanted = rows
            while True:
                got = self._vectors.nearest(connection, name, vector, Nearness(wanted, among))
                found.update(clip for clip, _ in got)
                if len({clip for clip, _ in got}) >= keep or len(got) < wanted:
                    break
                wanted *= 4
        return sorted(found)

    def _pose_rows(
        self, connection: sa.Connection, ways: Sequence[Singles], scales: Floats, chosen: Chosen, rows: int
    ) -> tuple[list[_Row], bool]:
        """The nearest rows to each way, and whether these are all that there are."""
        asked = Nearness(rows, chosen, None if np.all(scales == scales[0]) and scales[0] else scales)
        found = [self._vectors.nearest(connection, near.POSES, way, asked) for way in ways]
        them = [_Row(clip, part, way) for way, got in enumerate(found) for clip, part in got]
        return them, all(len(got) < rows for got in found)

    def _measured(
        self, connection: sa.Connection, rows: Sequence[_Row], ways: Sequence[Singles], scales: Floats
    ) -> Iterator[PoseFound]:
        """Each stored pose once, by the way that it is nearest to; the nearest first."""
        read = self._readers.poses(connection, sorted({row.clip for row in rows}))
        best: dict[tuple[int, int], PoseFound] = {}
        for clip, part, way in rows:
            poses = read.get(clip)
            if poses is None or part >= len(poses):
                continue  # written anew between the two questions
            distance = float(np.sqrt((((poses.vectors[part] - ways[way]) * scales) ** 2).sum()))
            known = best.get((clip, part))
            if known is None or distance < known.distance:
                time_s = float(poses.starts_s[part])
                best[clip, part] = PoseFound(clip, time_s, distance, way, poses.vectors[part])
        return iter(sorted(best.values(), key=lambda pose: (pose.distance, pose.clip, pose.time_s)))


def some_windows(windows: Singles) -> Singles:
    """At most so many windows, evenly over all."""
    at = np.unique(np.linspace(0, len(windows) - 1, min(len(windows), MOST_ASKED)).round().astype(int))
    few: Singles = windows[at]
    return few


def _numbers(connection: sa.Connection, chosen: Chosen, limit: int | None = None) -> list[int]:
    them = sa.select(clips.c.id).limit(limit)
    if chosen is not None:
        them = them.where(clips.c.id.in_(chosen))
    return list(connection.scalars(them))
