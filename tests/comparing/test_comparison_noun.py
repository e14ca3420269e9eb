"""The noun: medians, tables, files that come back as they went."""

from __future__ import annotations

import csv
import statistics
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.verbs.comparing import Comparison, Row
from keypose.verbs.comparing.noun import best_of
from keypose.verbs.comparing.rows import KINDS
from keypose.verbs.comparing.tables import figure

EVIL = "=cmd|'calc'!A1,\"quoted\"\n<script>alert(1)</script>\x1b[31m\u202e\ud800"


def other_clip(compared: Comparison, name: str, factor: float) -> tuple[Row, ...]:
    """The same rows as those of another clip, with other errors."""
    return tuple(
        replace(row, clip=name, sha256=name, **({} if row.mean_mm is None else {"mean_mm": factor * row.mean_mm}))
        for row in compared
    )


@pytest.fixture(scope="session")
def three(compared: Comparison) -> Comparison:
    rows = (*compared.rows, *other_clip(compared, "worse", 3.0), *other_clip(compared, "better", 0.5))
    return Comparison(rows, compared.settings)


def test_medians_are_those_over_clips(three):
    for middle in three.middles():
        rows = [
            row
            for row in three
            if (row.method, row.inbetweens, row.part) == (middle.method, middle.inbetweens, "table")
            and row.removed_percent_asked == middle.removed_percent
        ]
        assert middle.clips == len(rows) == 3
        assert middle.mean_mm == pytest.approx(statistics.median(row.mean_mm for row in rows))
        assert middle.stored_values == statistics.median(row.stored_values for row in rows)


def test_clips_of_one_name_stay_apart(compared):
    rows = tuple(replace(row, sha256="another") for row in compared)
    both = Comparison((*compared.rows, *rows))
    assert len(both.clips) == 2 and [len(one) for one in both.by_clip().values()] == [len(compared)] * 2


def test_rows_without_figures_do_not_count(compared):
    gone = tuple(
        replace(row, clip="none", sha256="none", mean_mm=None, max_mm=None, note="why")
        if row.method == "farthest"
        else replace(row, clip="none", sha256="none")
        for row in compared
    )
    both = Comparison((*compared.rows, *gone))
    middles = {(each.method, each.inbetweens, each.removed_percent): each for each in both.middles()}
    assert middles["farthest", "linear", 80.0].clips == 1 and middles["uniform", "linear", 80.0].clips == 2
    assert both.notes == ("farthest: why",)
    least = best_of([each for each in middles.values() if each.removed_percent == 80.0], lambda each: each.mean_mm)
    assert least is not None and least.method != "farthest"


def test_the_best_has_as_many_keys_as_were_asked_for(compared):
    some = [each for each in compared.middles() if each.removed_percent == 90.0]
    best = best_of(some, lambda each: each.max_mm)
    assert best is not None and (best.method, best.inbetweens) == ("salient-inbetween", "fitted")
    fewer = [replace(each, exact=0) if each is best else each for each in some]
    assert best_of(fewer, lambda each: each.max_mm) not in (None, *fewer[2:4])
    only = [replace(each, kind="reference") for each in some]
    assert best_of(only, lambda each: each.max_mm) is None


def test_the_table_has_a_line_for_each_way(three):
    lines = str(three).splitlines()
    assert lines[0].startswith("median over 3 clips") and "80 %" in lines[0] and "90 %" in lines[0]
    assert len(lines) == 1 + len(three.ways) == 11
    middle = three.middles()[0]
    assert f"{figure(middle.mean_mm)}/{figure(middle.max_mm)}" in lines[1]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.123, "0.12"), (9.994, "9.99"), (12.34, "12.3"), (99.96, "100"), (1234.5, "1,234"), (None, "-")],
)
def test_figures_have_the_digits_that_matter(value, text):
    assert figure(value) == text


def test_csv_comes_back(three, tmp_path: Path):
    path = three.to_csv(tmp_path / "rows.csv")
    assert Comparison.from_csv(path).rows == three.rows
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(three) and list(lines[0]) == list(KINDS)
    assert float(lines[0]["mean_mm"]) == three.rows[0].mean_mm


def test_hostile_names_survive_as_text(compared, tmp_path: Path):
    evil = Comparison(tuple(replace(row, clip=EVIL, source=EVIL, note=EVIL) for row in compared.rows[:3]))
    path = evil.to_csv(tmp_path / "rows.csv")
    with path.open(newline="", encoding="utf-8") as file:
        (cell,) = {line["clip"] for line in csv.DictReader(file)}
    assert cell.startswith("'=cmd") and "\x1b" not in cell and "\n" not in cell  # no formula, no escape
    assert Comparison.from_csv(path).rows[0].clip.startswith("=cmd|'calc'!A1,\"quoted\" <script>")
    evil.to_parquet(tmp_path / "rows.parquet")
    assert "<script" not in evil._repr_html_()


def test_parquet_has_typed_columns(three, tmp_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(three.to_parquet(tmp_path / "rows.parquet"))
    assert table.column_names == list(KINDS) and table.num_rows == len(three)
    assert str(table.schema.field("keys").type) == "int64" and str(table.schema.field("mean_mm").type) == "double"
    assert table.column("mean_mm").to_pylist() == [row.mean_mm for row in three]
    assert [Row(**row) for row in table.to_pylist()] == list(three)


def test_without_pyarrow_the_line_to_type_is_said(compared, tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(kp.MissingExtra, match=r"pip install 'keypose\[parquet\]'"):
        compared.to_parquet(tmp_path / "rows.parquet")
    assert not (tmp_path / "rows.parquet").exists()


@pytest.mark.parametrize("name", ["rows.txt", "rows", "rows.csv.gz"])
def test_other_names_are_refused(compared, tmp_path: Path, name):
    with pytest.raises(kp.OptionError, match=r"ends in \.csv"):
        compared.to_csv(tmp_path / name)
    assert not (tmp_path / name).exists()


def damaged(compared: Comparison, tmp_path: Path, change: str, to: str) -> Path:
    path = Comparison(compared.rows[:2]).to_csv(tmp_path / "rows.csv")
    text = path.read_text()
    assert change in text
    path.write_text(text.replace(change, to))
    return path


@pytest.mark.parametrize(
    ("change", "to", "message"),
    [
        ("clip,source", "clip,origin", "rows.csv:1: other columns"),
        ("linear", "linear,linear", "rows.csv:2: 29 cells, expected 28"),
        (",30.0,", ",fast,", "rows.csv:2: fps 'fast', expected a number"),
        (",30.0,", ",nan,", "rows.csv:2: comparison: fps=nan, expected a finite number"),
        (",30.0,", ",,", "rows.csv:2: fps '', expected a number"),
    ],
)
def test_damaged_tables_are_refused_with_their_line(compared, tmp_path: Path, change, to, message):
    with pytest.raises(kp.FormatError) as refused:
        Comparison.from_csv(damaged(compared, tmp_path, change, to))
    assert message in str(refused.value)


def test_empty_and_binary_tables_are_refused(tmp_path: Path):
    for data, message in (
        (b"", "other columns"),
        (",".join(KINDS).encode() + b"\n", "no rows"),
        (b"\xff\xfe", "UTF-8"),
    ):
        (tmp_path / "rows.csv").write_bytes(data)
        with pytest.raises(kp.FormatError, match=message):
            Comparison.from_csv(tmp_path / "rows.csv")


def test_a_comparison_of_nothing_is_refused():
    for rows in ((), (1,), ("row",)):
        with pytest.raises(kp.ModelError, match="expected at least one"):
            Comparison(rows)


def test_rows_are_checked(compared):
    with pytest.raises(kp.ModelError, match="mean_mm=inf"):
        replace(compared.rows[0], mean_mm=float("inf"))
    with pytest.raises(kp.ModelError, match="frames='many', expected int"):
        replace(compared.rows[0], frames="many")
    with pytest.raises(kp.ModelError, match="keys=True"):
        replace(compared.rows[0], keys=True)
