"""One measurement: a clip, a method, in-betweens and a budget, and the measured figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, get_args, get_type_hints

from keypose.errors import ModelError
from keypose.validation import format_value

OWN = "own"  # the in-betweens of references
CHOICES = {
    "kind": ("method", "baseline", "reference"),
    "inbetweens": ("linear", "fitted", "polished", OWN),
    "series": ("table", "curve"),
}
POSITIVE_COLUMNS = ("frames", "fps", "source_fps", "joints", "target_keys", "keys")
PERCENT_COLUMNS = ("target_removed_percent", "removed_percent")
MAX_INTEGER = 2**63 - 1  # of 64-bit columns in tables


class ClipIdentity(NamedTuple):
    """Identifies a clip."""

    source: str
    name: str
    sha256: str


@dataclass(frozen=True)
class Row:
    """Errors, size and time of one method or reference on one clip at one budget.

    Errors are those of ``kp.score``. If a method cannot give the requested number of keys, the row has the nearest
    smaller number, or no figures; ``note`` has the reason.
    """

    clip: str
    source: str  # the path; empty for a motion without file
    sha256: str  # of the compared frames
    frames: int
    fps: float  # of the comparison
    source_fps: float  # of the source
    joints: int
    method: str
    kind: str  # "method", "baseline" or "reference"
    inbetweens: str  # "linear", "fitted", "polished"; "own" of references
    series: str  # "table": a requested budget; "curve": a budget of the error curve
    target_removed_percent: float
    target_keys: int
    keys: int | None = None  # None for references and without figures
    removed_percent: float | None = None  # of the frames, with the actual keys
    stored_values: int | None = None
    stored_percent: float | None = None  # of the values of every frame
    mean_mm: float | None = None
    p95_mm: float | None = None
    max_mm: float | None = None
    mean_deg: float | None = None
    max_deg: float | None = None
    foot_slide_mm: float | None = None  # None: no foot is ever in contact
    original_foot_slide_mm: float | None = None
    key_acceleration: float | None = None
    selection_s: float | None = None  # of the keys for all budgets together
    fitting_s: float | None = None  # of these in-betweens; 0 for linear ones
    note: str = ""

    def __post_init__(self) -> None:
        for name, kind in COLUMN_TYPES.items():
            value: Any = getattr(self, name)
            if value is None and kind.optional:
                continue
            if type(value) is not kind.type and not (kind.type is float and type(value) is int):
                raise _column_error(name, value, kind.type.__name__)
            if isinstance(value, int | float):
                _check_number(name, value)
            elif name in CHOICES and value not in CHOICES[name]:
                raise _column_error(name, value, f"one of {', '.join(CHOICES[name])}")
        for name in ("target_keys", "keys"):
            if (getattr(self, name) or 0) > self.frames:
                raise _column_error(name, getattr(self, name), f"at most the {self.frames} frames")
        if (self.kind == "reference") != (self.inbetweens == OWN):
            raise _column_error(
                "inbetweens", self.inbetweens, f"{OWN} of references and of nothing else, not of a {self.kind}"
            )

    @property
    def identity(self) -> ClipIdentity:
        """Return the identity of the clip, as several clips may have one name."""
        return ClipIdentity(self.source, self.clip, self.sha256)

    @property
    def has_values(self) -> bool:
        """Return whether the row has figures."""
        return self.mean_mm is not None


def _check_number(name: str, value: float) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise _column_error(name, value, "a finite number")
    if value < 0 or (value == 0 and name in POSITIVE_COLUMNS):
        raise _column_error(name, value, "a number above 0" if name in POSITIVE_COLUMNS else "a number of at least 0")
    max_value = 100 if name in PERCENT_COLUMNS else MAX_INTEGER if isinstance(value, int) else math.inf
    if value > max_value:
        raise _column_error(name, value, f"at most {max_value}")


def _column_error(name: str, value: Any, expected: str) -> ModelError:
    return ModelError(f"comparison: {name}={format_value(value)}, expected {expected}")


@dataclass(frozen=True)
class ColumnType:
    """The type of a column."""

    type: type
    optional: bool


def _column_types() -> dict[str, ColumnType]:
    hints = get_type_hints(Row)
    types = {}
    for field in fields(Row):
        options = get_args(hints[field.name])
        types[field.name] = ColumnType(options[0], True) if options else ColumnType(hints[field.name], False)
    return types


COLUMN_TYPES: Mapping[str, ColumnType] = _column_types()
MEASURED_COLUMNS = (
    *("stored_values", "stored_percent", "mean_mm", "p95_mm", "max_mm", "mean_deg", "max_deg", "foot_slide_mm"),
    *("original_foot_slide_mm", "key_acceleration", "selection_s", "fitting_s"),
)


def parse_row(values: Mapping[str, Any]) -> Row:
    """Return a row from the values of a file; missing columns are an error."""
    missing = [name for name in COLUMN_TYPES if name not in values]
    if missing or len(values) != len(COLUMN_TYPES):
        other = [str(name) for name in values if name not in COLUMN_TYPES]
        problem = f"without {', '.join(missing)}" if missing else f"with {', '.join(other)[:200]}"
        raise ModelError(f"comparison: columns {problem}, expected those of a comparison")
    return Row(**values)
