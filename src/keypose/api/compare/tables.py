"""Comparisons as tables: text, CSV and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keypose.api.compare.rows import COLUMN_TYPES, Row, parse_row
from keypose.errors import FormatError, MissingExtra, ModelError, OptionError
from keypose.formats import Limits
from keypose.formats.files import read_bytes, write_atomically

if TYPE_CHECKING:
    from keypose.api.compare.comparison import MedianRow

PARQUET_NEEDS = "Parquet files need: pip install 'keypose[parquet]' (CSV needs nothing)"
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
    """Return a number with as many decimals as matter."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"


def check_table_path(path: str | PathLike[str], suffix: str) -> Path:
    """Return ``path`` if it has the suffix of such a table; call it before any work is done."""
    target = Path(fspath(path))
    if target.suffix.lower() != suffix:
        raise OptionError(f"{target}: expected a name that ends in {suffix}")
    return target


def write_csv(rows: Sequence[Row], path: str | PathLike[str], *, overwrite: bool = True) -> Path:
    """Write one line per row, after a line of column names, atomically.

    Names that a spreadsheet would treat as a formula get an apostrophe, which ``read_csv`` removes.
    """
    target = check_table_path(path, ".csv")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMN_TYPES)
    writer.writerows([_format_cell(value) for value in astuple(row)] for row in rows)
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
        raise FormatError(target, "not UTF-8", byte=error.start) from None
    lines = csv.reader(io.StringIO(text))
    try:
        head = next(lines, [])
        if head != list(COLUMN_TYPES):
            raise FormatError(target, "other columns than a comparison has", line=1)
        rows = tuple(_parse_cells(target, lines.line_num, cells) for cells in lines if cells)
    except csv.Error as error:
        raise FormatError(target, str(error), line=lines.line_num) from None
    if not rows:
        raise FormatError(target, "no rows, expected at least one")
    return rows


def _parse_cells(path: Path, line: int, cells: Sequence[str]) -> Row:
    if len(cells) != len(COLUMN_TYPES):
        raise FormatError(path, f"{len(cells)} cells, expected {len(COLUMN_TYPES)}", line=line)
    values: dict[str, Any] = {}
    for (name, kind), cell in zip(COLUMN_TYPES.items(), cells, strict=True):
        try:
            if kind.type is str:
                values[name] = cell.removeprefix("'")
            else:
                values[name] = None if cell == "" and kind.optional else kind.type(cell)
        except ValueError:
            raise FormatError(path, f"{name} {cell[:40]!r}, expected a number", line=line) from None
    try:
        return parse_row(values)
    except ModelError as error:
        raise FormatError(path, str(error), line=line) from None


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
        raise MissingExtra(PARQUET_NEEDS) from None
    return pyarrow, parquet
