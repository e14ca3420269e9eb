"""Benchmarks: figures are met, missed or not measured; extrapolated figures follow from measured ones."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from benchmarks import measure
from benchmarks.measure import Verdict, check_figures, summarize, unmeasured_figures
from benchmarks.vectors.growth import format_table
from benchmarks.vectors.index_benchmark import IndexMeasurement, QueryStats
from benchmarks.vectors.rates import Rates, format_rates

from keypose.library.db.postgres_vectors import WIDTH


@pytest.fixture
def claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "speed").mkdir()
    (tmp_path / "speed" / "expected.toml").write_text("a = { at_least = 2.0 }\nb = { at_most = 5.0 }\n")
    monkeypatch.setattr(measure, "HERE", tmp_path)
    return "speed"


@pytest.mark.parametrize(
    "a, b, expected",
    [
        (2.0, 5.0, Verdict(2)),
        (1.9, 5.1, Verdict(0, ("a", "b"))),
        (2.0, math.nan, Verdict(1, (), ("b",))),
        (1.9, math.nan, Verdict(0, ("a",), ("b",))),
    ],
)
def test_a_figure_is_met_missed_or_not_measured(claim: str, a: float, b: float, expected: Verdict) -> None:
    assert check_figures(claim, {"a": a, "b": b}) == expected


def test_where_data_are_absent_nothing_is_measured(claim: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_figures(claim, unmeasured_figures(claim)) == Verdict(0, (), ("a", "b"))
    assert capsys.readouterr().out.count("not measured here") == 2


def test_unmeasured_figures_do_not_count_as_met() -> None:
    n_met, absent, missed = Verdict(3), Verdict(1, (), ("x", "y")), Verdict(2, ("z",), ("x",))
    assert summarize({"a": n_met}) == ("all 3 expectations met", 0)
    assert summarize({"a": n_met, "b": absent}) == ("not measured here: 2 of b; 4 expectations met", 2)
    assert summarize({"a": n_met, "b": absent, "c": missed}) == (
        "expectations missed: c (z); not measured here: 2 of b, 1 of c; 6 expectations met",
        1,
    )


def build_measurement(count: int) -> IndexMeasurement:
    queries = {WIDTH: QueryStats(0.97, 3.0, 5.0)}
    return IndexMeasurement(count, 200 * count, 600 * count, 20 * count, 1e-5 * count, 1e-3 * count, 2.0, queries)


def test_ten_thousand_hours_are_extrapolated_from_measurements() -> None:
    rates = Rates(10, 8.0, 5000.0, 7000.0, {"clip": 0.125, "parts": 2.0, "poses": 4.375})
    assert rates.count_vectors(10_000) == 234_000_000
    sentences = format_rates(rates)
    assert sentences.startswith("Measured on 10 clips, 0.0 hours. 10,000 hours are 4.5 million clips of 8.0 s.")
    assert "234 million together. Tables 5,000 bytes a second, 180 GB" in sentences
    lines = format_table([build_measurement(100_000), build_measurement(1_000_000)], rates.count_vectors()).splitlines()
    assert lines[3] == "| 1,000,000 | 200 MB | 600 MB | 20 MB | 10 s | 1,000 s | 2.0 ms | 0.970 | 3.0 ms |"
    assert lines[5].startswith("At 234 million vectors: graph 140 GB, table 47 GB, rows by clip 5 GB; 2.2 machines")
    assert lines[6].endswith(
        "65 hours on one machine like this; put into graphs that are there, 200 at a time: 130 hours."
    )
    assert lines[7].startswith("From 100,000 to 1,000,000 (10 times) a query grew 1.00 times")
