"""Forged comparisons: impossible rows, cells with formulas, cached clips with missing rows."""

from __future__ import annotations

import csv
import gzip
import json
import re
from dataclasses import astuple, replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.api.compare import CompareOptions, Comparison, Row
from keypose.api.compare.tables import COLUMN_TYPES
from keypose.batch.compare import SUFFIX, CompareCache, CompareJob, compare, compare_clip
from keypose.pictures.report import report
from support.errors import Pattern, raises, warns

SETTINGS = CompareOptions(("uniform", "farthest"), ("pca",), (80.0, 90.0), ("linear", "fitted"), curves=False)
KEYWORDS = {"removed_percent": 80.0, "inbetweens": "linear", "curves": False}


@pytest.fixture(scope="module")
def row(comparison: Comparison) -> Row:
    return next(row for row in comparison if row.kind == "baseline" and row.series == "table")


IMPOSSIBLE = [
    ("kind", "winner", "one of method, baseline, reference"),
    ("inbetweens", "cubic", "one of linear, fitted, polished, own"),
    ("inbetweens", "own", "own of references and of nothing else, not of a baseline"),
    ("kind", "reference", "own of references and of nothing else"),
    ("series", "chair", "one of table, curve"),
    ("fps", 0.0, "a number above 0"),
    ("fps", -30.0, "a number above 0"),
    ("source_fps", 0.0, "a number above 0"),
    ("frames", 0, "a number above 0"),
    ("frames", 3, "at most the 3 frames"),
    ("joints", -1, "a number above 0"),
    ("target_keys", 0, "a number above 0"),
    ("keys", 91, "at most the 90 frames"),
    ("target_removed_percent", 101.0, "at most 100"),
    ("removed_percent", -1.0, "a number of at least 0"),
    ("stored_values", 10**400, "at most 9223372036854775807"),
    ("stored_values", -1, "a number of at least 0"),
    ("mean_mm", -0.1, "a number of at least 0"),
    ("max_deg", float("nan"), "a finite number"),
    ("selection_s", -1e-9, "a number of at least 0"),
]


@pytest.mark.parametrize(("name", "value", "expected"), IMPOSSIBLE)
def test_impossible_rows_are_rejected(row: Row, name, value, expected):
    with raises(kp.ModelError, subject="comparison", expected=Pattern(re.escape(expected))):
        replace(row, **{name: value})


@pytest.mark.parametrize(("name", "value", "expected"), IMPOSSIBLE)
def test_tables_of_impossible_rows_are_rejected_with_line_and_column(row: Row, tmp_path: Path, name, value, expected):
    path = Comparison((row, row)).to_csv(tmp_path / "rows.csv")
    with path.open(newline="") as file:
        head, first, second = csv.reader(file)
    second[head.index(name)] = str(value)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows((head, first, second))
    column = {"frames": "target_keys", "kind": "inbetweens"}.get(name, name)
    fields = {"problem": Pattern(f"^comparison: ({name}|{column})="), "expected": Pattern(re.escape(expected))}
    with raises(kp.FormatError, path=str(path), line=3, **fields):
        Comparison.from_csv(path)


def test_extreme_rows_can_be_rendered(row: Row, tmp_path: Path):
    smallest = replace(row, fps=5e-324, source_fps=5e-324, mean_mm=0.0, max_mm=0.0, stored_values=0, stored_percent=0.0)
    largest = replace(row, fps=1e308, mean_mm=1e308, max_mm=1e308, stored_values=2**63 - 1, sha256="other")
    for rows in ((smallest,), (largest,), (smallest, largest)):
        page = report(Comparison(rows), tmp_path / "r.html").read_text()
        assert "Methods compared" in page


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_no_name_is_a_formula_of_a_spreadsheet(row: Row, tmp_path: Path, sign):
    name = f"{sign}SUM(1+1)*cmd|' /C calc'!A0"
    evil = replace(row, clip=name, source=name, note=name, sha256=name, method=name)
    path = Comparison((evil,)).to_csv(tmp_path / "rows.csv")
    with path.open(newline="") as file:
        (line,) = csv.DictReader(file)
    for column in ("clip", "source", "note", "sha256", "method"):
        assert not line[column].lstrip(" ").startswith(("=", "+", "-", "@")), column
        assert not set("\t\r") & set(line[column])
    back = Comparison.from_csv(path).rows[0]
    assert back.clip == name.replace("\t", " ").replace("\r", " ") == back.note


@pytest.fixture
def cache(tmp_path: Path) -> CompareCache:
    return CompareCache(tmp_path / "cache")


def forge(cache: CompareCache, key: str, rows: tuple[Row, ...]) -> None:
    """Write a cache file with a correct checksum."""
    cache.save_rows(key, rows)
    document = json.loads(gzip.decompress((cache.folder / f"{key}{SUFFIX}").read_bytes()))
    assert len(document["rows"]) == len(rows) and len(document["rows"][0]) == len(COLUMN_TYPES)


FORGERIES = {
    "fewer": lambda rows: rows[:-1],
    "one": lambda rows: rows[:1],
    "twice": lambda rows: (*rows, rows[-1]),
    "one in place of another": lambda rows: (*rows[:-1], rows[0]),
    "another clip": lambda rows: tuple(replace(row, sha256="0" * 64) for row in rows),
    "another rate": lambda rows: tuple(replace(row, fps=1.0) for row in rows),
    "another order": lambda rows: rows[::-1],
    "another budget": lambda rows: tuple(replace(row, target_keys=1) for row in rows),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_incomplete_cached_rows_are_measured_again(short: kp.Motion, cache: CompareCache, forgery):
    job = CompareJob(short[:40], SETTINGS, cache=cache)
    first = compare_clip(job)
    assert not first.is_cached and compare_clip(job).is_cached
    forge(cache, first.cache_key, FORGERIES[forgery](first.rows))
    again = compare_clip(job)
    assert not again.is_cached and len(again.rows) == len(first.rows) == 10
    assert [astuple(row)[:20] for row in again.rows] == [astuple(row)[:20] for row in first.rows]
    assert compare_clip(job).is_cached


def test_a_clip_that_cannot_be_cached_is_not_lost(short: kp.Motion, tmp_path: Path):
    (tmp_path / "cache").write_text("a file")
    problem = Pattern("^compared, but not cached for another run: .*: the folder cannot be made ")
    with warns(kp.FormatWarning, code="not_cached", subject="demo", value=str(tmp_path / "cache"), problem=problem):
        result = compare(short[:30], "uniform", cache_folder=tmp_path / "cache", **KEYWORDS)
    assert len(result) == 1 and result.rows[0].has_values


@pytest.mark.parametrize("folder", ["a\0b", 5, b"kept"])
def test_invalid_cache_folder_is_rejected_before_any_work(short: kp.Motion, folder):
    with raises(kp.OptionError, option="cache_folder"):
        compare(short[:30], "uniform", cache_folder=folder, **KEYWORDS)
