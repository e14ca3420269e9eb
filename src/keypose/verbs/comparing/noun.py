"""What was compared: every measurement, and what they say together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from statistics import median

from keypose.errors import ModelError
from keypose.verbs.comparing import tables
from keypose.verbs.comparing.rows import FIGURES, ClipIdentity, Row
from keypose.verbs.comparing.settings import Settings


@dataclass(frozen=True)
class Middle:
    """What one way does at one budget, as medians over clips; None where no clip has the figure."""

    method: str
    kind: str
    inbetweens: str
    removed_percent: float  # as it was asked for
    clips: int  # that have figures
    exact: int  # those of them with exactly as many keys as were asked for
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
    choosing_s: float | None
    fitting_s: float | None

    @property
    def choosing_ms(self) -> float | None:
        """What tables show of the time to choose keys."""
        return None if self.choosing_s is None else 1e3 * self.choosing_s

    @property
    def fitting_ms(self) -> float | None:
        """The same of the time to fit what goes between them."""
        return None if self.fitting_s is None else 1e3 * self.fitting_s


@dataclass(frozen=True)
class Comparison:
    """Every method at the same budgets on the same clips; ``rows`` holds every measurement.

    ``str()`` and ``table()`` show medians over the clips, ``middles()`` gives them as numbers; ``to_csv`` and
    ``to_parquet`` write one line for each measurement. ``settings`` are None for a comparison read from a table.
    """

    rows: tuple[Row, ...]
    settings: Settings | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(self.rows))
        if not self.rows or not all(isinstance(row, Row) for row in self.rows):
            raise ModelError("comparison: no rows, expected at least one")
        if not isinstance(self.settings, Settings | None):
            raise ModelError(f"comparison: settings are a {type(self.settings).__name__}, expected Settings or None")

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        clips, ways = len(self.clips), len(self.ways)
        return f"Comparison({clips} clip{'s' * (clips != 1)}, {ways} ways, {len(self.rows)} measurements)"

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        from keypose.pictures.comparison import comparison_card

        return comparison_card(self)

    @property
    def clips(self) -> tuple[ClipIdentity, ...]:
        """The clips, each with ``source``, ``name`` and ``sha256``, in order."""
        return tuple(dict.fromkeys(row.identity for row in self.rows))

    @property
    def ways(self) -> tuple[tuple[str, str], ...]:
        """Methods with in-betweens, and references, in order."""
        return tuple(dict.fromkeys((row.method, row.inbetweens) for row in self.rows))

    @property
    def removed_percent(self) -> tuple[float, ...]:
        """The budgets of the table, in order."""
        return tuple(dict.fromkeys(row.removed_percent_asked for row in self.rows if row.part == "table"))

    @property
    def notes(self) -> tuple[str, ...]:
        """Why some rows have other numbers of keys than were asked for, or no figures; each once."""
        return tuple(dict.fromkeys(f"{row.method}: {row.note}" for row in self.rows if row.note))

    @property
    def slower(self) -> dict[ClipIdentity, float]:
        """The clips that are slower than the rate that was asked for, and stand here at their own, which is told."""
        if self.settings is None:
            return {}
        return {row.identity: row.fps for row in self.rows if self.settings.is_slower(row.fps)}

    def by_clip(self) -> dict[ClipIdentity, Comparison]:
        """Each clip alone, in order."""
        rows: dict[ClipIdentity, list[Row]] = {}
        for row in self.rows:
            rows.setdefault(row.identity, []).append(row)
        return {clip: Comparison(tuple(some), self.settings) for clip, some in rows.items()}

    def middles(self) -> tuple[Middle, ...]:
        """Medians over the clips, way by way, for the budgets of the table."""
        groups: dict[tuple[str, str, float], list[Row]] = {}
        for row in self.rows:
            if row.part == "table":
                groups.setdefault((row.method, row.inbetweens, row.removed_percent_asked), []).append(row)
        return tuple(_middle(rows) for rows in groups.values())

    def table(self) -> str:
        """Medians over the clips of mean and largest error, one line for each way; a last line where clips are slow."""
        text, slower = tables.as_text(self.middles(), self.removed_percent, len(self.clips)), len(self.slower)
        if self.settings is None or not slower:
            return text
        which = "1 clip is" if slower == 1 else f"{slower} clips are"
        return f"{text}\n{which} slower than {self.settings.fps:g} fps, and compared at the own rate"

    def to_csv(self, path: str | PathLike[str]) -> Path:
        """Writes one line for each measurement, with a line of names before them."""
        return tables.write_csv(self.rows, path)

    def to_parquet(self, path: str | PathLike[str]) -> Path:
        """Writes one row for each measurement; needs the extra ``parquet``."""
        return tables.write_parquet(self.rows, path)

    @staticmethod
    def from_csv(path: str | PathLike[str]) -> Comparison:
        """A comparison that ``to_csv`` wrote."""
        return Comparison(tables.read_csv(path))


def best_of(middles: Sequence[Middle], of: Callable[[Middle], float | None]) -> Middle | None:
    """The least figure of those that have keys, and as many of them as were asked for, on all clips; None: no such."""
    most = max((each.clips for each in middles), default=0)
    fair = [each for each in middles if each.kind != "reference" and each.exact == each.clips == most]
    return min((each for each in fair if of(each) is not None), key=lambda each: of(each) or 0.0, default=None)


def _middle(rows: Sequence[Row]) -> Middle:
    first, measured = rows[0], [row for row in rows if row.has_figures]
    figures = {}
    for name in FIGURES:
        known = [value for row in measured if (value := getattr(row, name)) is not None]
        figures[name] = float(median(known)) if known else None
    return Middle(
        method=first.method,
        kind=first.kind,
        inbetweens=first.inbetweens,
        removed_percent=first.removed_percent_asked,
        clips=len(measured),
        exact=sum(row.keys in (None, row.keys_asked) for row in measured),
        **figures,
    )
