"""Rows and bytes that a second of real motion adds to a library, for all clips of cmu30 and cmu30-more.

.venv/bin/python -m benchmarks.vectors.rates       # prints the figures of docs/ten-thousand-hours.md
"""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.search.clips import all_clips

import keypose as kp
from keypose.library.extra import sa
from keypose.library.search.memory_index import TableReader
from keypose.library.search_vectors import build_search_vectors
from keypose.library.tables import clips

HOURS = 10_000


@dataclass(frozen=True)
class Rates:
    """Rows and bytes per second of motion."""

    n_clips: int  # measured
    clip_s: float  # mean duration of a clip
    row_bytes: float  # of all tables
    blob_bytes: float  # of the source files: BVH at 30 frames a second, gzipped
    vectors: dict[str, float]  # rows per second, by index

    def count_vectors(self, hours: int = HOURS) -> int:
        """Return the number of vectors of ``hours`` of motion in all indexes."""
        return round(3600 * hours * sum(self.vectors.values()))


def measure_rates() -> Rates:
    """Measure a new library of real clips."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "clips.db")
        with kp.Library(path) as library:
            library.add([clip.path for clip in all_clips()])
            stats = library.stats()
            with library._store.database.begin_read() as connection:
                counts = count_rows(connection)
        total_s = stats.duration_s
        return Rates(
            stats.clips,
            total_s / stats.clips,
            path.stat().st_size / total_s,
            stats.bytes / total_s,
            {name: count / total_s for name, count in counts.items()},
        )


def count_rows(connection: sa.Connection) -> Counter[str]:
    """Return the number of rows of each PostgreSQL index."""
    counts: Counter[str] = Counter()
    clip_ids = list(connection.scalars(sa.select(clips.c.id)))
    reader = TableReader()
    descriptions, tracks = reader.descriptions(connection, clip_ids), reader.tracks(connection, clip_ids)
    poses = reader.poses(connection, clip_ids)
    for clip_id in clip_ids:
        vectors = build_search_vectors(descriptions.get(clip_id), tracks.get(clip_id), poses.get(clip_id))
        counts.update({name: len(rows) for name, rows in vectors.items()})
    return counts


def format_rates(rates: Rates, hours: int = HOURS) -> str:
    """Return the measured rates and their extrapolation to ``hours`` as text."""
    seconds = 3600 * hours
    rows = ", ".join(
        f"{name} {per_second:.2f} a second, {per_second * seconds / 1e6:,.0f} million"
        for name, per_second in rates.vectors.items()
    )
    return (
        f"Measured on {rates.n_clips:,} clips, {rates.n_clips * rates.clip_s / 3600:.1f} hours. "
        f"{hours:,} hours are {seconds / rates.clip_s / 1e6:,.1f} million clips of {rates.clip_s:.1f} s. "
        f"Vectors: {rows}; {rates.count_vectors(hours) / 1e6:,.0f} million together. "
        f"Tables {rates.row_bytes:,.0f} bytes a second, {rates.row_bytes * seconds / 1e9:,.0f} GB; files as they came "
        f"{rates.blob_bytes:,.0f} bytes a second, {rates.blob_bytes * seconds / 1e9:,.0f} GB."
    )


if __name__ == "__main__":
    print(format_rates(measure_rates()))
