"""``keypose reduce-curves``: reduce plain curves in a CSV file to keys."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import numpy as np
from cyclopts import Parameter

from keypose.api.reduce_curves import reduce_curves as reduce
from keypose.arrays import MAX_MAGNITUDE, Floats
from keypose.cli import output
from keypose.cli.options import Flags, Json, check_fps, check_output_file, with_flags
from keypose.cli.output import Column, UsageError
from keypose.cli.picture_options import option_errors_as_usage
from keypose.curves.reduce import OTHERS, ReducedCurves
from keypose.errors import FormatError, Hint, OptionError, format_count, format_value
from keypose.formats.base import read_bytes, write_atomically
from keypose.limits import Limits
from keypose.options import CurveReductionOptions

DELIMITERS = ",;\t"
FRAME_HEADINGS = ("frame", "frames")
COLUMNS = ("curve", "time_s", "value", "in_tangent", "out_tangent")
SUFFIXES = (".csv", ".json")

Amount = TypeVar("Amount", int, float)


def parse_amounts(flag: str, texts: Sequence[str]) -> float | dict[str, float]:
    """Parse ``0.01`` for all or all others, and ``jaw=0.02``."""
    return _parse_by_name(flag, texts, _parse_amount, "NUMBER, or NAME=NUMBER for a curve or group, such as jaw=0.02")


def parse_counts(flag: str, texts: Sequence[str]) -> int | dict[str, int]:
    """Parse ``12`` for all or all others, and ``jaw=12``."""
    return _parse_by_name(flag, texts, _parse_count, "NUMBER, or NAME=NUMBER for a curve or group, such as jaw=12")


def _parse_by_name(
    flag: str, texts: Sequence[str], parse: Callable[[str], Amount | None], expected: str
) -> Amount | dict[str, Amount]:
    by_name: dict[str, Amount] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        value, name = parse(number), name if equals else OTHERS
        if value is None or not name or name in by_name:
            raise UsageError(option=flag, value=text, expected=expected)
        by_name[name] = value
    return by_name[OTHERS] if list(by_name) == [OTHERS] else by_name


def _parse_amount(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _parse_count(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def parse_groups(flag: str, texts: Sequence[str]) -> dict[str, tuple[str, ...]] | Literal["all"]:
    """Parse ``face=jaw,brow`` into groups, and the word ``all``."""
    if list(texts) == ["all"]:
        return "all"
    groups: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, _, members = text.partition("=")
        names = tuple(part.strip() for part in members.split(","))
        if not name.strip() or "" in names or name.strip() in groups:
            raise UsageError(option=flag, value=text, expected="NAME=CURVE,CURVE, such as face=jaw,brow, or all")
        groups[name.strip()] = names
    return groups


@with_flags(list_parsers={"tolerance": parse_amounts, "keys": parse_counts, "groups": parse_groups})
class ReductionFlags(Flags, CurveReductionOptions):
    """How curves are reduced."""


DEFAULT_REDUCTION = ReductionFlags()


def reduce_curves(
    file: Annotated[
        str, Parameter(help="A CSV file: a row of names, then rows of numbers; first the time in seconds.")
    ],
    out: Annotated[str | None, Parameter(help="The keys with tangents: NAME.csv or NAME.json.")] = None,
    /,
    *,
    reduction: ReductionFlags = DEFAULT_REDUCTION,
    fps: Annotated[
        float | None, Parameter(help="The first column holds frames, of which a second has this many.")
    ] = None,
    overwrite: Annotated[
        bool, Parameter(negative="--no-overwrite", help="Replace the file of keys if it exists. Default: refuse.")
    ] = False,
    json: Json = False,
    quiet: Annotated[bool, Parameter(negative="", alias="-q", help="Print nothing but errors.")] = False,
) -> int:
    """Reduce plain curves in a CSV file to keys with tangents.

    The curves are any named numbers over time: rig controls, blend shapes, scales.
    Each gets the fewest keys with which it is within the tolerance of all its
    samples, or the best ones of a given number. Without OUT the keys are
    counted and nothing is written.

    For example:
      keypose reduce-curves face.csv keys.csv --tolerance 0.01
      keypose reduce-curves face.csv keys.json --tolerance 1 --tolerance jaw=0.2
      keypose reduce-curves rig.csv keys.csv --keys 12 --group hand=thumb,index,ring
      keypose reduce-curves rig.csv keys.csv --tolerance 0.1 --group all --fps 30
    """
    path, fps = Path(file), check_fps(fps)
    target = None if out is None else _check_target(out, path, overwrite=overwrite)
    table = read_curve_table(path, fps)
    with option_errors_as_usage():
        reduced = reduce(table.times, table.values, names=table.names, **reduction.typed_options())
    if target is not None:
        write_atomically(target, encode_keys(reduced, target), overwrite=overwrite)
    if json:
        output.print_json(_build_document(reduced, path, target))
    elif not quiet:
        _print_summary(reduced, target)
    return 0


def _check_target(out: str, source: Path, *, overwrite: bool) -> Path:
    target = check_keys_path(out)
    if target.exists() and source.exists() and target.samefile(source):
        raise OptionError("is the input file", path=target, expected="another name for the keys")
    return check_output_file(target, "the name of a file of keys", overwrite=overwrite)


def _build_document(reduced: ReducedCurves, source: Path, target: Path | None) -> dict[str, Any]:
    groups = {column: group for group in reduced.source.groups for column in group.columns}
    return {
        "source": str(source),
        "target": None if target is None else str(target),
        "n_samples": reduced.source.n_samples,
        "n_keys": reduced.n_keys,
        "interpolation": reduced.interpolation,
        "curves": [
            {"name": curve.name, "group": groups[column].name, "n_keys": len(curve), "max_error": curve.max_error}
            for column, curve in enumerate(reduced.curves)
        ],
    }


def _print_summary(reduced: ReducedCurves, target: Path | None) -> None:
    curves, source = reduced.curves, reduced.source
    groups = {column: group for group in source.groups for column in group.columns if len(group.columns) > 1}
    columns = [
        Column("keys", [str(len(curve)) for curve in curves], right_aligned=True),
        Column("max error", [f"{curve.max_error:.3g}" for curve in curves], right_aligned=True),
    ]
    if groups:
        columns.append(Column("group", [groups[c].name if c in groups else "" for c in range(len(curves))]))
    names = Column("curve", [output.escape_unprintable(curve.name) for curve in curves])
    output.print_renderable(output.build_table(names, columns, output.stdout_console().width))
    total = (
        f"{format_count(reduced.n_keys, 'key')} for {format_count(len(curves), 'curve')} of "
        f"{format_count(source.n_samples, 'sample')}"
    )
    output.print_line(total if target is None else f"{target}: {total}")


class CurveTable(NamedTuple):
    """The samples of named curves."""

    times: Floats  # (N,) seconds
    names: tuple[str, ...]  # (C,)
    values: Floats  # (N, C)


def read_curve_table(path: Path, fps: float | None = None, limits: Limits | None = None) -> CurveTable:
    """Return the curves of a CSV file: a row of names, the first of which is that of the times, then rows of numbers.

    The times are seconds, or with ``fps`` frames.
    """
    try:
        text = read_bytes(path, limits or Limits(), unzip=False).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(path, "no text in UTF-8", code="syntax", byte=error.start) from None
    first_line = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(DELIMITERS, key=first_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    headings: list[str] = []
    rows: list[list[float]] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if not headings:
                headings = _parse_headings(path, reader.line_num, cells, fps)
            else:
                rows.append(_parse_row(path, reader.line_num, cells, headings))
                if len(rows) > 1 and rows[-1][0] <= rows[-2][0]:
                    raise FormatError(
                        path,
                        f"{headings[0]} {rows[-1][0]:g} follows {rows[-2][0]:g}",
                        code="inconsistent",
                        line=reader.line_num,
                        expected="increasing ones",
                    )
    except csv.Error as error:
        raise FormatError(path, f"no CSV: {error}", code="syntax", line=reader.line_num) from None
    if not rows:
        found = "has no rows of numbers" if headings else "is empty"
        raise FormatError(path, found, code="missing_data", expected="a row of names, then rows of numbers")
    table = np.array(rows)
    return CurveTable(table[:, 0] / (fps or 1.0), tuple(headings[1:]), table[:, 1:])


def _parse_headings(path: Path, line: int, cells: list[str], fps: float | None) -> list[str]:
    headings = [cell.strip() for cell in cells]
    if any(_parse_number(heading) is not None for heading in headings):
        raise FormatError(
            path, "numbers in the first row", code="syntax", line=line, expected="names, such as time,jaw,brow"
        )
    if len(headings) < 2:
        raise FormatError(
            path, "a single column", code="missing_data", line=line, expected="the times and at least one curve"
        )
    for column, heading in enumerate(headings[1:], 2):
        if not heading or heading in headings[1 : column - 1]:
            problem = (
                f"column {column} is another {format_value(heading)}" if heading else f"column {column} has no name"
            )
            raise FormatError(
                path, problem, code="inconsistent", line=line, expected="a name for every curve, each once"
            )
    if headings[0].lower() in FRAME_HEADINGS and fps is None:
        raise FormatError(
            path,
            f"the first column is {headings[0]!r}",
            code="missing_data",
            line=line,
            expected="seconds",
            hint=Hint("fps= says how many frames a second has", "--fps says how many frames a second has"),
        )
    return headings


def _parse_row(path: Path, line: int, cells: list[str], headings: list[str]) -> list[float]:
    if len(cells) != len(headings):
        raise FormatError(
            path, format_count(len(cells), "value"), code="inconsistent", line=line, expected=str(len(headings))
        )
    row = []
    for heading, cell in zip(headings, cells, strict=True):
        number = _parse_number(cell)
        if number is None or not abs(number) <= MAX_MAGNITUDE:
            what = format_value(cell.strip()) if cell.strip() else "nothing"
            raise FormatError(
                path, f"{what} in column {heading!r}", code="bad_number", line=line, expected="a finite number"
            )
        row.append(number)
    return row


def _parse_number(text: str) -> float | None:
    """Return the number in ``text``, which may be infinite or NaN; None if it is none."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def check_keys_path(name: str) -> Path:
    """Return the path of a file of keys; raise OptionError if its suffix is neither .csv nor .json."""
    path = Path(name)
    if path.suffix.lower() not in SUFFIXES:
        raise OptionError(
            "cannot be written", code="unwritable", path=path, expected="a name that ends in .csv or .json"
        )
    return path


def encode_keys(reduced: ReducedCurves, path: Path) -> bytes:
    """Return the keys of all curves as the content of ``path``, CSV or JSON; every number is exact."""
    if path.suffix.lower() == ".json":
        return (json.dumps(build_keys_document(reduced), indent=1, ensure_ascii=False) + "\n").encode()
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for curve in reduced.curves:
        columns = (curve.times, curve.values, curve.in_tangents, curve.out_tangents)
        writer.writerows((curve.name, *map(repr, row)) for row in zip(*(c.tolist() for c in columns), strict=True))
    return text.getvalue().encode()


def build_keys_document(reduced: ReducedCurves) -> dict[str, object]:
    """Return the keys of all curves as a JSON document."""
    group_of = {column: group.name for group in reduced.source.groups for column in group.columns}
    curves = [
        {
            "name": curve.name,
            "group": group_of[column],
            "max_error": curve.max_error,
            "times_s": curve.times.tolist(),
            "values": curve.values.tolist(),
            "in_tangents": curve.in_tangents.tolist(),
            "out_tangents": curve.out_tangents.tolist(),
        }
        for column, curve in enumerate(reduced.curves)
    ]
    return {"interpolation": reduced.interpolation, "curves": curves}
