"""Comparison: medians, tables, and files that are read back unchanged."""

from __future__ import annotations

import csv
import statistics
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.api.compare import Comparison, Row
from keypose.api.compare.comparison import find_best
from keypose.api.compare.tables import COLUMN_TYPES, format_number
from support.errors import Pattern, raises

EVIL = "=cmd|'calc'!A1,\"quoted\"\n<script>alert(1)</script>\x1b[31m\u202e\ud800"


def other_clip(comparison: Comparison, name: str, factor: float) -> tuple[Row, ...]:
    """Return the same rows for another clip, with other errors."""
    return tuple(
        replace(row, clip=name, sha256=name, **({} if row.mean_mm is None else {"mean_mm": factor * row.mean_mm}))
        for row in comparison
    )


@pytest.fixture(scope="session")
def three(comparison: Comparison) -> Comparison:
    rows = (*comparison.rows, *other_clip(comparison, "worse", 3.0), *other_clip(comparison, "better", 0.5))
    return Comparison(rows, comparison.settings)


def test_medians_are_those_over_clips(three):
    for median in three.medians():
        rows = [
            row
            for row in three
            if (row.method, row.inbetweens, row.series) == (median.method, median.inbetweens, "table")
            and row.target_removed_percent == median.removed_percent
        ]
        assert median.n_clips == len(rows) == 3
        assert median.mean_mm == pytest.approx(statistics.median(row.mean_mm for row in rows))
        assert median.stored_values == statistics.median(row.stored_values for row in rows)


def test_clips_of_one_name_stay_apart(comparison):
    rows = tuple(replace(row, sha256="another") for row in comparison)
    both = Comparison((*comparison.rows, *rows))
    assert len(both.clips) == 2 and [len(one) for one in both.by_clip().values()] == [len(comparison)] * 2


def test_rows_without_figures_do_not_count(comparison):
    without_figures = tuple(
        replace(row, clip="none", sha256="none", mean_mm=None, max_mm=None, note="why")
        if row.method == "farthest"
        else replace(row, clip="none", sha256="none")
        for row in comparison
    )
    both = Comparison((*comparison.rows, *without_figures))
    medians = {(each.method, each.inbetweens, each.removed_percent): each for each in both.medians()}
    assert medians["farthest", "linear", 80.0].n_clips == 1 and medians["uniform", "linear", 80.0].n_clips == 2
    assert both.notes == ("farthest: why",)
    smallest = find_best([each for each in medians.values() if each.removed_percent == 80.0], lambda each: each.mean_mm)
    assert smallest is not None and smallest.method != "farthest"


def test_the_best_row_has_the_requested_number_of_keys(comparison):
    some = [each for each in comparison.medians() if each.removed_percent == 90.0]
    best = find_best(some, lambda each: each.max_mm)
    assert best is not None and (best.method, best.inbetweens) == ("salient-inbetween", "fitted")
    fewer = [replace(each, n_exact=0) if each is best else each for each in some]
    assert find_best(fewer, lambda each: each.max_mm) not in (None, *fewer[2:4])
    only = [replace(each, kind="reference") for each in some]
    assert find_best(only, lambda each: each.max_mm) is None


def test_the_table_has_a_line_for_each_method(three):
    lines = str(three).splitlines()
    assert lines[0].startswith("median over 3 clips") and "80 %" in lines[0] and "90 %" in lines[0]
    assert len(lines) == 1 + len(three.method_pairs) == 11
    median = three.medians()[0]
    assert f"{format_number(median.mean_mm)}/{format_number(median.max_mm)}" in lines[1]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.123, "0.12"), (9.994, "9.99"), (12.34, "12.3"), (99.96, "100"), (1234.5, "1,234"), (None, "-")],
)
def test_figures_have_the_digits_that_matter(value, text):
    assert format_number(value) == text


def test_csv_comes_back(three, tmp_path: Path):
    path = three.to_csv(tmp_path / "rows.csv")
    assert Comparison.from_csv(path).rows == three.rows
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(three) and list(lines[0]) == list(COLUMN_TYPES)
    assert float(lines[0]["mean_mm"]) == three.rows[0].mean_mm


def test_hostile_names_survive_as_text(comparison, tmp_path: Path):
    evil = Comparison(tuple(replace(row, clip=EVIL, source=EVIL, note=EVIL) for row in comparison.rows[:3]))
    path = evil.to_csv(tmp_path / "rows.csv")
    with path.open(newline="", encoding="utf-8") as file:
        (cell,) = {line["clip"] for line in csv.DictReader(file)}
    assert (
        cell.startswith("'=cmd") and "\x1b" not in cell and "\n" not in cell
    )  # neither a formula nor an escape sequence
    assert Comparison.from_csv(path).rows[0].clip.startswith("=cmd|'calc'!A1,\"quoted\" <script>")
    evil.to_parquet(tmp_path / "rows.parquet")
    assert "<script" not in evil._repr_html_()


def test_parquet_has_typed_columns(three, tmp_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(three.to_parquet(tmp_path / "rows.parquet"))
    assert table.column_names == list(COLUMN_TYPES) and table.num_rows == len(three)
    assert str(table.schema.field("keys").type) == "int64" and str(table.schema.field("mean_mm").type) == "double"
    assert table.column("mean_mm").to_pylist() == [row.mean_mm for row in three]
    assert [Row(**row) for row in table.to_pylist()] == list(three)


def test_without_pyarrow_the_error_names_the_extra(comparison, tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with raises(kp.MissingExtra, install_hint="pip install 'keypose[parquet]' (CSV needs nothing)"):
        comparison.to_parquet(tmp_path / "rows.parquet")
    assert not (tmp_path / "rows.parquet").exists()


@pytest.mark.parametrize("name", ["rows.txt", "rows", "rows.csv.gz"])
def test_other_names_are_refused(comparison, tmp_path: Path, name):
    with raises(kp.OptionError, expected="a name that ends in .csv"):
        comparison.to_csv(tmp_path / name)
    assert not (tmp_path / name).exists()


def write_damaged_rows(comparison: Comparison, tmp_path: Path, change: str, to: str) -> Path:
    path = Comparison(comparison.rows[:2]).to_csv(tmp_path / "rows.csv")
    text = path.read_text()
    assert change in text
    path.write_text(text.replace(change, to))
    return path


@pytest.mark.parametrize(
    ("change", "to", "fields"),
    [
        ("clip,source", "clip,origin", {"line": 1, "problem": Pattern("^other columns ")}),
        ("linear", "linear,linear", {"line": 2, "problem": "29 cells", "expected": "28"}),
        (",30.0,", ",fast,", {"line": 2, "problem": "fps 'fast'", "expected": "a number"}),
        (",30.0,", ",nan,", {"line": 2, "problem": "comparison: fps=nan", "expected": "a finite number"}),
        (",30.0,", ",,", {"line": 2, "problem": "fps ''", "expected": "a number"}),
    ],
)
def test_damaged_tables_are_refused_with_their_line(comparison, tmp_path: Path, change, to, fields):
    with raises(kp.FormatError, path=str(tmp_path / "rows.csv"), **fields):
        Comparison.from_csv(write_damaged_rows(comparison, tmp_path, change, to))


def test_empty_and_binary_tables_are_refused(tmp_path: Path):
    for data, fields in (
        (b"", {"code": "inconsistent", "line": 1}),
        (",".join(COLUMN_TYPES).encode() + b"\n", {"code": "missing_data", "expected": "at least one"}),
        (b"\xff\xfe", {"code": "damaged", "byte": 0}),
    ):
        (tmp_path / "rows.csv").write_bytes(data)
        with raises(kp.FormatError, **fields):
            Comparison.from_csv(tmp_path / "rows.csv")


def test_a_comparison_of_nothing_is_refused():
    for rows in ((), (1,), ("row",)):
        with raises(kp.ModelError, subject="comparison", expected="at least one"):
            Comparison(rows)


def test_rows_are_checked(comparison):
    with raises(kp.ModelError, subject="comparison", problem="mean_mm=inf", expected="a finite number"):
        replace(comparison.rows[0], mean_mm=float("inf"))
    with raises(kp.ModelError, subject="comparison", problem="frames='many'", expected="int"):
        replace(comparison.rows[0], frames="many")
    with raises(kp.ModelError, subject="comparison", problem="keys=True", expected="int"):
        replace(comparison.rows[0], keys=True)
