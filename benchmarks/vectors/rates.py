"""How much a second of real motion brings into a library: of all clips of cmu30 and cmu30-more.

.venv/bin/python -m benchmarks.vectors.rates       # prints the sentences of docs/ten-thousand-hours.md
"""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from benchmarks.search.clips import everything

import keypose as kp
from keypose.library.extra import sa
from keypose.library.near import indexed
from keypose.library.searching.stored import Stored
from keypose.library.tables import clips

HOURS = 10_000


@dataclass(frozen=True)
class Rates:
    """Of each second of motion."""

    n_clips: int  # that were measured
    clip_s: float  # how long a clip is on average
    row_bytes: float  # of all tables
    blob_bytes: float  # of the files as they came: BVH at 30 frames a second, packed
    vectors: dict[str, float]  # rows of each index

    def total(self, hours: int = HOURS) -> int:
        """The vectors of so many hours, in all indexes."""
        return round(3600 * hours * sum(self.vectors.values()))


def rates() -> Rates:
    """Of a library of real clips, made for this."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "clips.db")
        with kp.Library(path) as library:
            library.add([clip.path for clip in everything()])
            stats = library.stats()
            with library._store.database.reading() as connection:
                counts = _counts(connection)
        total_s = stats.duration_s
        return Rates(
            stats.clips,
            total_s / stats.clips,
            path.stat().st_size / total_s,
            stats.bytes / total_s,
            {name: count / total_s for name, count in counts.items()},
        )


def _counts(connection: sa.Connection) -> Counter[str]:
    """Rows that the indexes of PostgreSQL would have."""
    found: Counter[str] = Counter()
    numbers = list(connection.scalars(sa.select(clips.c.id)))
    stored = Stored()
    descriptions, tracks = stored.descriptions(connection, numbers), stored.tracks(connection, numbers)
    poses = stored.poses(connection, numbers)
    for number in numbers:
        vectors = indexed(descriptions.get(number), tracks.get(number), poses.get(number))
        found.update({name: len(rows) for name, rows in vectors.items()})
    return found


def said(got: Rates, hours: int = HOURS) -> str:
    """What was measured, and what follows for so many hours."""
    seconds = 3600 * hours
    rows = ", ".join(
        f"{name} {each:.2f} a second, {each * seconds / 1e6:,.0f} million" for name, each in got.vectors.items()
    )
    return (
        f"Measured on {got.n_clips:,} clips, {got.n_clips * got.clip_s / 3600:.1f} hours. "
        f"{hours:,} hours are {seconds / got.clip_s / 1e6:,.1f} million clips of {got.clip_s:.1f} s. Vectors: {rows}; "
        f"{got.total(hours) / 1e6:,.0f} million together. "
        f"Tables {got.row_bytes:,.0f} bytes a second, {got.row_bytes * seconds / 1e9:,.0f} GB; files as they came "
        f"{got.blob_bytes:,.0f} bytes a second, {got.blob_bytes * seconds / 1e9:,.0f} GB."
    )


if __name__ == "__main__":
    print(said(rates()))
