"""The result of a comparison: all measurements, and medians over clips."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from statistics import median

from keypose.api.compare import tables
from keypose.api.compare.settings import CompareOptions
from keypose.api.compare.tables import MEASURED_COLUMNS, ClipIdentity, Row
from keypose.errors import ModelError, format_count


@dataclass(frozen=True)
class MedianRow:
    """Medians over clips for one method and its in-betweens at one budget; None where no clip has the figure."""

    method: str
    kind: str
    inbetweens: str
    removed_percent: float  # the requested budget
    n_clips: int  # with figures
    n_exact: int  # of these, with exactly the requested number of keys
    stored_values: float | None
    stored_percent: float | None
    mean_mm: float | None
    p95_mm: float | None
    max_mm: float | None
    mean_deg: float | None
    max_deg: float | None
    foot_slide_mm: float | None
    original_foot_slide_mm: float | None
    key_acceleration: float | None
    selection_s: float | None
    fitting_s: float | None

    @property
    def selection_ms(self) -> float | None:
        """Return the time to select keys as shown in tables."""
        return None if self.selection_s is None else 1e3 * self.selection_s

    @property
    def fitting_ms(self) -> float | None:
        """Return the time to fit in-betweens as shown in tables."""
        return None if self.fitting_s is None else 1e3 * self.fitting_s


@dataclass(frozen=True)
class Comparison:
    """Every method at the same budgets on the same clips; ``rows`` are all measurements.

    ``str()`` and ``table()`` show medians over the clips, ``medians()`` returns them as numbers; ``to_csv`` and
    ``to_parquet`` write one line per measurement. ``settings`` is None for a comparison read from a table.
    """

    rows: tuple[Row, ...]
    settings: CompareOptions | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(self.rows))
        if not self.rows or not all(isinstance(row, Row) for row in self.rows):
            raise ModelError("no rows", subject="comparison", expected="at least one")
        if not isinstance(self.settings, CompareOptions | None):
            raise ModelError(
                f"settings are a {type(self.settings).__name__}", subject="comparison", expected="Settings or None"
            )

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        clips, pairs = len(self.clips), len(self.method_pairs)
        counts = f"{format_count(clips, 'clip')}, {format_count(pairs, 'pair')} of method and in-betweens"
        return f"Comparison({counts}, {len(self.rows)} measurements)"

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        from keypose.pictures.comparison import comparison_card

        return comparison_card(self)

    @property
    def clips(self) -> tuple[ClipIdentity, ...]:
        """Return the clips, each with ``source``, ``name`` and ``sha256``, in order."""
        return tuple(dict.fromkeys(row.identity for row in self.rows))

    @property
    def method_pairs(self) -> tuple[tuple[str, str], ...]:
        """Return methods with their in-betweens, and references, in order."""
        return tuple(dict.fromkeys((row.method, row.inbetweens) for row in self.rows))

    @property
    def removed_percent(self) -> tuple[float, ...]:
        """Return the budgets of the table, in order."""
        return tuple(dict.fromkeys(row.target_removed_percent for row in self.rows if row.series == "table"))

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the reasons why rows have another number of keys than requested, or no figures; each once."""
        return tuple(dict.fromkeys(f"{row.method}: {row.note}" for row in self.rows if row.note))

    @property
    def slower_clips(self) -> dict[ClipIdentity, float]:
        """Return the clips slower than the requested rate, with their own rate, at which they were compared."""
        if self.settings is None:
            return {}
        return {row.identity: row.fps for row in self.rows if self.settings.is_slower(row.fps)}

    def by_clip(self) -> dict[ClipIdentity, Comparison]:
        """Return a comparison per clip, in order."""
        rows: dict[ClipIdentity, list[Row]] = {}
        for row in self.rows:
            rows.setdefault(row.identity, []).append(row)
        return {clip: Comparison(tuple(some), self.settings) for clip, some in rows.items()}

    def medians(self) -> tuple[MedianRow, ...]:
        """Return medians over the clips for every method and reference at the budgets of the table."""
        groups: dict[tuple[str, str, float], list[Row]] = {}
        for row in self.rows:
            if row.series == "table":
                groups.setdefault((row.method, row.inbetweens, row.target_removed_percent), []).append(row)
        return tuple(_median_row(rows) for rows in groups.values())

    def table(self) -> str:
        """Return medians of mean and largest error as text, one line per method; a last line mentions slower clips."""
        text, slower = (
            tables.format_table(self.medians(), self.removed_percent, len(self.clips)),
            len(self.slower_clips),
        )
        if self.settings is None or not slower:
            return text
        subject = "1 clip is" if slower == 1 else f"{slower} clips are"
        return f"{text}\n{subject} slower than {self.settings.fps:g} fps, and compared at the own rate"

    def to_csv(self, path: str | PathLike[str]) -> Path:
        """Write one line per measurement, after a line of column names."""
        return tables.write_csv(self.rows, path)

    def to_parquet(self, path: str | PathLike[str]) -> Path:
        """Write one row per measurement; needs the extra ``parquet``."""
        return tables.write_parquet(self.rows, path)

    @staticmethod
    def from_csv(path: str | PathLike[str]) -> Comparison:
        """Load a comparison that ``to_csv`` wrote."""
        return Comparison(tables.read_csv(path))


def find_best(medians: Sequence[MedianRow], measure: Callable[[MedianRow], float | None]) -> MedianRow | None:
    """Return the smallest figure among rows with the requested number of keys on all clips; None if there is none."""
    max_clips = max((each.n_clips for each in medians), default=0)
    comparable = [each for each in medians if each.kind != "reference" and each.n_exact == each.n_clips == max_clips]
    return min(
        (each for each in comparable if measure(each) is not None), key=lambda each: measure(each) or 0.0, default=None
    )


def _median_row(rows: Sequence[Row]) -> MedianRow:
    first, rows_with_values = rows[0], [row for row in rows if row.has_values]
    figures = {}
    for name in MEASURED_COLUMNS:
        values = [value for row in rows_with_values if (value := getattr(row, name)) is not None]
        figures[name] = float(median(values)) if values else None
    return MedianRow(
        method=first.method,
        kind=first.kind,
        inbetweens=first.inbetweens,
        removed_percent=first.target_removed_percent,
        n_clips=len(rows_with_values),
        n_exact=sum(row.keys in (None, row.target_keys) for row in rows_with_values),
        **figures,
    )
