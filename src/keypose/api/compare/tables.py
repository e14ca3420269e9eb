"""Measurements of a comparison: rows, and tables of them as text, CSV and Parquet."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_type_hints

from keypose.errors import FormatError, MissingExtra, ModelError, OptionError, format_value
from keypose.formats import Limits
from keypose.formats.base import read_bytes, write_atomically

if TYPE_CHECKING:
    from keypose.api.compare.comparison import MedianRow


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

    Errors are those of ``kp.score``. If a method cannot select the requested number of keys, the row has the nearest
    smaller number, or no figures; ``note`` is the reason.
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
    foot_slide_mm: float | None = None  # also None if no foot is ever in contact
    original_foot_slide_mm: float | None = None
    key_acceleration: float | None = None
    selection_s: float | None = None  # of the keys for all budgets in total
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
    return ModelError(f"{name}={format_value(value)}", subject="comparison", value=value, expected=expected)


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
        raise ModelError(f"columns {problem}", subject="comparison", expected="those of a comparison")
    return Row(**values)


INSTALL_PARQUET = "pip install 'keypose[parquet]' (CSV needs nothing)"
# Leading characters that make a spreadsheet treat a cell as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def format_table(medians: Sequence[MedianRow], percents: Sequence[float], clips: int) -> str:
    """Return one line per method: median mean and largest error at each budget."""
    by_method = {(each.method, each.inbetweens, each.removed_percent): each for each in medians}
    over = f"median over {clips} clips of " if clips > 1 else ""
    head = f"{f'{over}mean/max mm, % of frames removed':<52}"
    lines = [head + "".join(f"{percent:>11g} %" for percent in percents)]
    for method, inbetweens in dict.fromkeys((each.method, each.inbetweens) for each in medians):
        cells = [format_errors(by_method.get((method, inbetweens, percent))) for percent in percents]
        lines.append(f"{method:<20}{inbetweens:<32}" + "".join(f"{cell:>13}" for cell in cells))
    return "\n".join(lines)


def format_errors(median: MedianRow | None) -> str:
    """Return mean and largest error as text, with an asterisk if some clips have fewer keys than requested."""
    if median is None or median.mean_mm is None or median.max_mm is None:
        return "-"
    return f"{format_number(median.mean_mm)}/{format_number(median.max_mm)}" + "*" * (median.n_exact < median.n_clips)


def format_number(value: float | None) -> str:
    """Return a number with as many decimals as are significant."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"


def check_table_path(path: str | PathLike[str], suffix: str) -> Path:
    """Return ``path`` if it has the suffix of such a table; call it before any work is done."""
    target = Path(fspath(path))
    if target.suffix.lower() != suffix:
        raise OptionError(f"{target}", expected=f"a name that ends in {suffix}")
    return target


def write_csv(rows: Sequence[Row], path: str | PathLike[str], *, overwrite: bool = True) -> Path:
    """Write the rows of a comparison, which ``read_csv`` reads."""
    return write_csv_table(tuple(COLUMN_TYPES), map(astuple, rows), path, overwrite=overwrite)


def write_csv_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], path: str | PathLike[str], *, overwrite: bool = True
) -> Path:
    """Write one line per row, after a line of column names, atomically; None is an empty cell.

    Names that a spreadsheet would treat as a formula get an apostrophe.
    """
    target = check_table_path(path, ".csv")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_format_cell(value) for value in row] for row in rows)
    write_atomically(target, text.getvalue().encode("utf-8", "backslashreplace"), overwrite=overwrite)
    return target


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        text = "".join(c if c.isprintable() else " " for c in value)
        return f"'{text}" if text.startswith((*_FORMULA, "'")) else text
    return repr(value)


def read_csv(path: str | PathLike[str]) -> tuple[Row, ...]:
    """Return the rows of a file that ``write_csv`` wrote."""
    target = check_table_path(path, ".csv")
    try:
        text = read_bytes(target, Limits()).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(target, "not UTF-8", code="damaged", byte=error.start) from None
    lines = csv.reader(io.StringIO(text))
    try:
        head = next(lines, [])
        if head != list(COLUMN_TYPES):
            raise FormatError(target, "other columns than a comparison has", code="inconsistent", line=1)
        rows = tuple(_parse_cells(target, lines.line_num, cells) for cells in lines if cells)
    except csv.Error as error:
        raise FormatError(target, str(error), line=lines.line_num) from None
    if not rows:
        raise FormatError(target, "no rows", code="missing_data", expected="at least one")
    return rows


def _parse_cells(path: Path, line: int, cells: Sequence[str]) -> Row:
    if len(cells) != len(COLUMN_TYPES):
        raise FormatError(path, f"{len(cells)} cells", code="inconsistent", line=line, expected=f"{len(COLUMN_TYPES)}")
    values: dict[str, Any] = {}
    for (name, kind), cell in zip(COLUMN_TYPES.items(), cells, strict=True):
        try:
            if kind.type is str:
                values[name] = cell.removeprefix("'")
            else:
                values[name] = None if cell == "" and kind.optional else kind.type(cell)
        except ValueError:
            raise FormatError(
                path, f"{name} {cell[:40]!r}", code="bad_number", line=line, expected="a number"
            ) from None
    try:
        return parse_row(values)
    except ModelError as error:
        raise FormatError(
            path, f"{error.subject}: {error.problem}", line=line, value=error.value, expected=error.expected
        ) from None


def check_parquet() -> None:
    """Raise MissingExtra if Parquet files cannot be written; call it before any work is done."""
    _import_arrow()


def has_parquet() -> bool:
    """Return whether Parquet files can be written."""
    try:
        check_parquet()
    except MissingExtra:
        return False
    return True


def write_parquet(rows: Sequence[Row], path: str | PathLike[str], *, overwrite: bool = True) -> Path:
    """Write one row per measurement, atomically."""
    target = check_table_path(path, ".parquet")
    arrow, parquet = _import_arrow()
    types: Mapping[type, Any] = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    schema = arrow.schema([arrow.field(name, types[k.type], nullable=k.optional) for name, k in COLUMN_TYPES.items()])
    columns = zip(*(map(_encode_text, astuple(row)) for row in rows), strict=True)
    table = arrow.table([arrow.array(column, f.type) for column, f in zip(columns, schema, strict=True)], schema=schema)
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    write_atomically(target, sink.getvalue(), overwrite=overwrite)
    return target


def _encode_text(value: Any) -> Any:
    """Return the text with lone surrogates replaced, which UTF-8 cannot encode."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _import_arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("Parquet files need", INSTALL_PARQUET) from None
    return pyarrow, parquet
