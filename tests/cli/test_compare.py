"""``keypose compare``: output, written files, and second runs."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

import keypose as kp
from keypose.api.compare import Comparison
from keypose.batch import compare as compare_module
from keypose.cli import compare
from support.errors import Pattern, check_json_error

QUICK = ("--methods", "uniform,salient-inbetween,pca", "--removed-percent", "80,90", "--no-curves")


@pytest.fixture
def takes(tmp_path: Path) -> Path:
    folder = tmp_path / "takes"
    folder.mkdir()
    demo = kp.demo_motion(fps=20)
    for n in range(3):
        kp.save(demo[20 * n : 20 * n + 40], folder / f"take{n}.bvh")
    return folder


def test_medians_are_printed_without_files(keypose, takes, tmp_path: Path):
    result = keypose("compare", takes, *QUICK)
    assert (result.code, result.err.count("error")) == (0, 0)
    assert "3 clips: medians" in result.out and "80 %" in result.out and "97.5 %" not in result.out
    table = [line for line in result.out.splitlines() if line.startswith(" salient-inbetween  fitted")]
    assert len(table) == 2 and "/<" in table[0]  # errors with the best marked, then the rest
    assert "3 of 3 clips compared" in result.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["takes"]


def test_one_clip_is_named(keypose, takes):
    result = keypose("compare", takes / "take0.bvh", *QUICK, "--range", "0:30", "--fps", "10")
    assert result.code == 0 and "take0: 15 frames at 10 fps" in result.out


def test_a_report_has_its_tables_beside_it(keypose, takes, tmp_path: Path):
    page = tmp_path / "report.html"
    result = keypose("compare", takes, *QUICK, "--report", page)
    assert result.code == 0
    for suffix in (".html", ".csv", ".parquet"):
        assert f"{page.with_suffix(suffix)}: " in result.out and page.with_suffix(suffix).stat().st_size > 0
    comparison = Comparison.from_csv(page.with_suffix(".csv"))
    assert len(comparison.clips) == 3 and len(comparison) == 3 * 2 * (2 * 2 + 1)
    text = page.read_text()
    assert "take2" in text and "keypose compare" in text and "--no-curves" in text


def test_without_pyarrow_a_report_has_csv_alone(keypose, takes, tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = keypose("compare", takes, *QUICK, "--report", tmp_path / "report.html")
    assert result.code == 0 and (tmp_path / "report.csv").exists() and not (tmp_path / "report.parquet").exists()
    command_result = keypose("compare", takes, *QUICK, "--parquet", tmp_path / "rows.parquet")
    assert (
        command_result.code == 1 and "pip install 'keypose[parquet]'" in command_result.err and command_result.out == ""
    )


def test_json_has_every_measurement(keypose, takes, tmp_path: Path):
    result = keypose("compare", takes, *QUICK, "--csv", tmp_path / "rows.csv", "--json")
    payload = json.loads(result.out)
    assert result.code == 0 and payload["interrupted"] is False and payload["failed"] == []
    assert payload["settings"]["removed_percent"] == [80.0, 90.0] and payload["settings"]["references"] == ["pca"]
    assert [Path(clip["source"]).name for clip in payload["clips"]] == ["take0.bvh", "take1.bvh", "take2.bvh"]
    with (tmp_path / "rows.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [row["mean_mm"] for row in payload["rows"]] == [float(line["mean_mm"]) for line in lines]
    assert payload["written"] == [str(tmp_path / "rows.csv")]


def test_a_second_run_measures_only_what_is_new(keypose, takes, tmp_path: Path):
    arguments = ("compare", takes, *QUICK, "--csv", tmp_path / "rows.csv", "--json", "--overwrite")

    def cached_clips() -> list[bool]:
        return [clip["from_cache"] for clip in json.loads(keypose(*arguments).out)["clips"]]

    assert cached_clips() == [False, False, False]
    assert cached_clips() == [True, True, True]
    kp.save(kp.demo_motion(fps=20)[100:130], takes / "take1.bvh")
    assert cached_clips() == [True, False, True]
    assert len(list((tmp_path / ".rows.compare").iterdir())) == 3  # unneeded cache entries are removed
    arguments = (*arguments, "--fresh")
    assert cached_clips() == [False, False, False]
    arguments = (*arguments, "--fps", "10")
    assert cached_clips() == [False, False, False]


def test_an_interrupted_run_goes_on(keypose, takes, tmp_path: Path, monkeypatch):
    def interrupt(job, report_progress=None):
        if job.source.name == "take2.bvh":
            raise KeyboardInterrupt
        return compare_module.compare_clip(job, report_progress)

    page = tmp_path / "report.html"
    arguments = ("compare", takes, *QUICK, "--report", page, "--jobs", "1")
    with monkeypatch.context() as patched:
        patched.setattr(compare, "compare_clip", interrupt)
        result = keypose(*arguments)
    assert result.code == 130 and "interrupted with 1 clip to go; the same command continues from here" in result.err
    assert not page.exists() and not page.with_suffix(".csv").exists()
    result = keypose(*arguments)
    assert result.code == 0 and "2 of them by an earlier run" in result.out and page.exists()


def test_bad_file_is_reported_and_skipped(keypose, takes, tmp_path: Path):
    (takes / "take1.bvh").write_text("HIERARCHY\nnothing")
    result = keypose("compare", takes, tmp_path / "none.bvh", *QUICK, "--csv", tmp_path / "rows.csv")
    assert result.code == 1 and "2 of 4 clips compared" in result.out
    assert "take1.bvh:2" in result.err and "none.bvh: no such file" in result.err
    assert {row.clip for row in Comparison.from_csv(tmp_path / "rows.csv")} == {"take0", "take2"}


def test_slow_clips_keep_their_rate_with_a_note(keypose, takes, tmp_path: Path):
    kp.save(kp.demo_motion(fps=40)[:60], takes / "fast.bvh")
    page = tmp_path / "report.html"
    result = keypose("compare", takes, *QUICK, "--fps", "30", "--report", page)
    assert result.code == 0 and "3 clips: 20 fps, slower than 30: compared at its own rate" in result.err
    comparison = Comparison.from_csv(page.with_suffix(".csv"))
    assert {(row.clip, row.fps, row.source_fps) for row in comparison} == {
        ("fast", 30.0, 40.0), *((f"take{n}", 20.0, 20.0) for n in range(3))
    }  # fmt: skip
    text = page.read_text()
    assert "Slower than 30 frames a second" in text and "<li>take1: 20 fps</li>" in text and "<li>fast" not in text
    again = keypose("compare", takes, *QUICK, "--fps", "30", "--report", page, "--overwrite")
    assert "4 of them by an earlier run" in again.out and "3 clips: 20 fps, slower" in again.err
    assert Comparison.from_csv(page.with_suffix(".csv")).rows == comparison.rows


def test_the_page_lists_what_was_left_out(keypose, takes, tmp_path: Path):
    (takes / "take1.bvh").write_text("HIERARCHY\n<b>nothing</b>")
    page = tmp_path / "report.html"
    result = keypose("compare", takes, tmp_path / "none.bvh", *QUICK, "--report", page)
    assert result.code == 1
    text = page.read_text()
    part = text[text.index('<section id="left-out"') :]
    part = part[: part.index("</section>")]
    assert part.count("<li>") == 2 and "take1.bvh:2" in part and "none.bvh: no such file" in part
    assert "<b>nothing" not in text and "2, see below" in text
    (takes / "take1.bvh").unlink()
    assert keypose("compare", takes, *QUICK, "--report", page, "--overwrite").code == 0
    assert "left-out" not in page.read_text()


def test_when_nothing_can_be_read_nothing_is_written(keypose, tmp_path: Path):
    result = keypose("compare", tmp_path / "none.bvh", "--report", tmp_path / "report.html")
    assert result.code == 1 and result.out == "" and not (tmp_path / "report.html").exists()


def test_method_with_fewer_keys_is_marked(keypose, takes):
    kp.save(kp.concatenate([kp.demo_motion(fps=20)[:1]] * 30), takes / "still.bvh")
    result = keypose("compare", takes / "still.bvh", "--methods", "farthest", "--removed-percent", "80", "--no-curves")
    assert result.code == 0 and "0.00/0.00*" in result.out
    assert "farthest: 1 key in place of 6: farthest has 1 key here" in result.out


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (
            ("--methods", "salien"),
            {"option": "methods", "value": "salien", "hint": Pattern("^did you mean 'salient'.")},
        ),
        (
            ("--removed-percent", "80,100"),
            {"option": "removed_percent", "value": "100", "expected": "numbers from 0 to below 100, such as 80,90"},
        ),
        (
            ("--removed-percent", "most"),
            {"option": "removed_percent", "value": "most", "expected": "numbers from 0 to below 100, such as 80,90"},
        ),
        (
            ("--inbetweens", "cubic"),
            {"option": "inbetweens", "value": "cubic", "expected": "one of linear, fitted, polished"},
        ),
        (("--fps", "0"), {"option": "fps", "value": 0.0, "expected": "a number above 0"}),
        (("--jobs", "0"), {"option": "jobs", "value": 0, "expected": "at least 1"}),
    ],
)
def test_contradictory_options_are_refused(keypose, takes, arguments, fields):
    result, as_json = keypose("compare", takes, *arguments), keypose("compare", takes, *arguments, "--json")
    assert (result.code, result.out, as_json.code) == (2, "", 2)
    assert result.err.startswith(f"error: {check_json_error(as_json.out, **fields)}\n")


def test_files_that_are_there_stay(keypose, takes, tmp_path: Path):
    (tmp_path / "report.csv").write_text("mine")
    result = keypose("compare", takes, *QUICK, "--report", tmp_path / "report.html")
    assert result.code == 1 and "report.csv: exists already; --overwrite replaces it" in result.err
    assert (tmp_path / "report.csv").read_text() == "mine"
    result = keypose("compare", takes, *QUICK, "--csv", tmp_path / "none" / "rows.csv")
    assert result.code == 1 and "none: no such folder" in result.err


def test_hostile_names_are_escaped(keypose, takes, tmp_path: Path):
    evil = takes / "<b>\x1b[31m\u202eevil.bvh"
    (takes / "take0.bvh").rename(evil)
    page = tmp_path / "report.html"
    result = keypose("compare", evil, *QUICK, "--report", page)
    assert result.code == 0 and "\x1b" not in result.out and "\\x1b[31m" in result.out
    assert "\x1b" not in page.read_text() and "<b>" not in page.read_text()
