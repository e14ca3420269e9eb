"""What the benchmarks say: promises are kept, missed or not measured; what is worked out follows from what was."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import measure
from benchmarks.measure import Verdict, not_measured, summed_up, verdict
from benchmarks.vectors.growth import table
from benchmarks.vectors.measuring import Asked, Measured
from benchmarks.vectors.rates import Rates, said

from keypose.library.dialects.postgres_vectors import WIDTH


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
def test_a_figure_is_kept_missed_or_not_measured(claim: str, a: float, b: float, expected: Verdict) -> None:
    assert verdict(claim, {"a": a, "b": b}) == expected


def test_where_data_are_absent_nothing_is_measured(claim: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(claim, not_measured(claim)) == Verdict(0, (), ("a", "b"))
    assert capsys.readouterr().out.count("not measured here") == 2


def test_what_was_not_measured_does_not_count_as_kept() -> None:
    kept, absent, missed = Verdict(3), Verdict(1, (), ("x", "y")), Verdict(2, ("z",), ("x",))
    assert summed_up({"a": kept}) == ("all 3 promises kept", 0)
    assert summed_up({"a": kept, "b": absent}) == ("not measured here: 2 of b; 4 promises kept", 2)
    assert summed_up({"a": kept, "b": absent, "c": missed}) == (
        "promises missed: c (z); not measured here: 2 of b, 1 of c; 6 promises kept",
        1,
    )


def measured(count: int) -> Measured:
    asked = {WIDTH: Asked(0.97, 3.0, 5.0)}
    return Measured(count, 200 * count, 600 * count, 20 * count, 1e-5 * count, 1e-3 * count, 2.0, asked)


def test_ten_thousand_hours_are_worked_out_of_what_was_measured() -> None:
    rates = Rates(10, 8.0, 5000.0, 7000.0, {"clip": 0.125, "parts": 2.0, "poses": 4.375})
    assert rates.total(10_000) == 234_000_000
    sentences = said(rates)
    assert sentences.startswith("Measured on 10 clips, 0.0 hours. 10,000 hours are 4.5 million clips of 8.0 s.")
    assert "234 million together. Tables 5,000 bytes a second, 180 GB" in sentences
    lines = table([measured(100_000), measured(1_000_000)], rates.total()).splitlines()
    assert lines[3] == "| 1,000,000 | 200 MB | 600 MB | 20 MB | 10 s | 1,000 s | 2.0 ms | 0.970 | 3.0 ms |"
    assert lines[5].startswith("At 234 million vectors: graph 140 GB, table 47 GB, rows by clip 5 GB; 2.2 machines")
    assert lines[6].endswith(
        "65 hours on one machine like this; put into graphs that are there, 200 at a time: 130 hours."
    )
    assert lines[7].startswith("From 100,000 to 1,000,000 (10 times) a query grew 1.00 times")
