"""Comparisons as tables: for people, as CSV, as Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keypose.errors import FormatError, MissingExtra, ModelError, OptionError
from keypose.formats import Limits
from keypose.formats.files import read_bytes, write_atomically
from keypose.verbs.comparing.rows import KINDS, Row, row_of

if TYPE_CHECKING:
    from keypose.verbs.comparing.noun import Middle

PARQUET_NEEDS = "Parquet files need: pip install 'keypose[parquet]' (CSV needs nothing)"
# What a spreadsheet would take for a formula if a name began with it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_text(middles: Sequence[Middle], percents: Sequence[float], clips: int) -> str:
    """One line for each way: median mean and largest error at each budget."""
    by = {(each.method, each.inbetweens, each.removed_percent): each for each in middles}
    over = f"median over {clips} clips of " if clips > 1 else ""
    head = f"{f'{over}mean/max mm, % of frames removed':<52}"
    lines = [head + "".join(f"{percent:>11g} %" for percent in percents)]
    for method, inbetweens in dict.fromkeys((each.method, each.inbetweens) for each in middles):
        cells = [errors(by.get((method, inbetweens, percent))) for percent in percents]
        lines.append(f"{method:<20}{inbetweens:<32}" + "".join(f"{cell:>13}" for cell in cells))
    return "\n".join(lines)


def errors(middle: Middle | None) -> str:
    """Mean and largest error; an asterisk where some clips have fewer keys than were asked for."""
    if middle is None or middle.mean_mm is None or middle.max_mm is None:
        return "-"
    return f"{figure(middle.mean_mm)}/{figure(middle.max_mm)}" + "*" * (middle.exact < middle.clips)


def figure(value: float | None) -> str:
    """As many decimals as matter."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"


def table_path(path: str | PathLike[str], suffix: str) -> Path:
    """``path``, if it ends as such a table does; to be asked before any work is done."""
    target = Path(fspath(path))
    if target.suffix.lower() != suffix:
        raise OptionError(f"{target}: expected a name that ends in {suffix}")
    return target


def write_csv(rows: Sequence[Row], path: str | PathLike[str], *, overwrite: bool = True) -> Path:
    """One line for each row, with a line of names before them; all of it or nothing.

    Names that a spreadsheet would take for a formula get an apostrophe, which ``read_csv`` takes off again.
    """
    target = table_path(path, ".csv")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(KINDS)
    writer.writerows([_told(value) for value in astuple(row)] for row in rows)
    write_atomically(target, text.getvalue().encode("utf-8", "backslashreplace"), overwrite=overwrite)
    return target


def _told(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        shown = "".join(c if c.isprintable() else " " for c in value)
        return f"'{shown}" if shown.startswith((*_FORMULA, "'")) else shown
    return repr(value)


def read_csv(path: str | PathLike[str]) -> tuple[Row, ...]:
    """The rows of a file that ``write_csv`` wrote."""
    target = table_path(path, ".csv")
    try:
        text = read_bytes(target, Limits()).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(target, "not UTF-8", byte=error.start) from None
    lines = csv.reader(io.StringIO(text))
    try:
        head = next(lines, [])
        if head != list(KINDS):
            raise FormatError(target, "other columns than a comparison has", line=1)
        rows = tuple(_row(target, lines.line_num, cells) for cells in lines if cells)
    except csv.Error as error:
        raise FormatError(target, str(error), line=lines.line_num) from None
    if not rows:
        raise FormatError(target, "no rows, expected at least one")
    return rows


def _row(path: Path, line: int, cells: Sequence[str]) -> Row:
    if len(cells) != len(KINDS):
        raise FormatError(path, f"{len(cells)} cells, expected {len(KINDS)}", line=line)
    told: dict[str, Any] = {}
    for (name, kind), cell in zip(KINDS.items(), cells, strict=True):
        try:
            if kind.type is str:
                told[name] = cell.removeprefix("'")
            else:
                told[name] = None if cell == "" and kind.optional else kind.type(cell)
        except ValueError:
            raise FormatError(path, f"{name} {cell[:40]!r}, expected a number", line=line) from None
    try:
        return row_of(told)
    except ModelError as error:
        raise FormatError(path, str(error), line=line) from None


def check_parquet() -> None:
    """Says what to install where Parquet files cannot be written; to be asked before any work is done."""
    _arrow()


def has_parquet() -> bool:
    """Whether Parquet files can be written here."""
    try:
        check_parquet()
    except MissingExtra:
        return False
    return True


def write_parquet(rows: Sequence[Row], path: str | PathLike[str], *, overwrite: bool = True) -> Path:
    """One row for each; all of it or nothing."""
    target = table_path(path, ".parquet")
    arrow, parquet = _arrow()
    types: Mapping[type, Any] = {str: arrow.string(), int: arrow.int64(), float: arrow.float64()}
    schema = arrow.schema([arrow.field(name, types[k.type], nullable=k.optional) for name, k in KINDS.items()])
    columns = zip(*(map(_storable, astuple(row)) for row in rows), strict=True)
    table = arrow.table([arrow.array(column, f.type) for column, f in zip(columns, schema, strict=True)], schema=schema)
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    write_atomically(target, sink.getvalue(), overwrite=overwrite)
    return target


def _storable(value: Any) -> Any:
    """Texts without lone surrogates, which UTF-8 has not."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra(PARQUET_NEEDS) from None
    return pyarrow, parquet
