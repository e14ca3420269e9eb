"""Runs of ``keypose compare`` that fail in part or overlap: measurements are never lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import keypose as kp
from keypose.api.compare import Comparison
from keypose.batch import compare as compare_module
from keypose.cli import compare
from keypose.formats import base
from keypose.formats.base import write_atomically
from support.errors import raises

QUICK = ("--methods", "uniform", "--removed-percent", "80", "--no-curves", "--inbetweens", "linear", "--jobs", "1")


@pytest.fixture
def takes(tmp_path: Path) -> Path:
    folder = tmp_path / "takes"
    folder.mkdir()
    demo = kp.demo_motion(fps=20)
    for n in range(3):
        kp.save(demo[20 * n : 20 * n + 30], folder / f"take{n}.bvh")
    return folder


def test_failed_clip_keeps_cached_rows_of_others(keypose, takes: Path, tmp_path: Path):
    """A second run without the failed file, or with other clips, reuses all finished clips."""
    arguments = ("compare", takes, *QUICK, "--csv", tmp_path / "rows.csv", "--overwrite", "--json")
    assert keypose(*arguments).code == 0
    good = (takes / "take1.bvh").read_text()
    for broken in ("a file", "a name", "a pattern"):
        (takes / "take1.bvh").unlink()
        if broken == "a file":
            (takes / "take1.bvh").write_text("HIERARCHY\nnothing")
        named = {"a file": (), "a name": (takes / "take1.bvh",), "a pattern": (takes / "take1*.bvh",)}[broken]
        result = keypose(*arguments[:2], *named, *arguments[2:])
        assert result.code == 1 and len(list((tmp_path / ".rows.compare").iterdir())) == 3, broken
        (takes / "take1.bvh").write_text(good)
        again = json.loads(keypose(*arguments).out)
        assert [clip["from_cache"] for clip in again["clips"]] == [True, True, True]


def meanwhile(monkeypatch: pytest.MonkeyPatch, write) -> None:
    """Call a function while the last clip is compared."""
    really = compare_module.compare_clip

    def slow(job, report_progress=None):
        compared = really(job, report_progress)
        if job.source.name == "take2.bvh":
            write()
        return compared

    monkeypatch.setattr(compare, "compare_clip", slow)


@pytest.mark.parametrize("suffix", [".html", ".csv", ".parquet"])
def test_what_another_run_wrote_meanwhile_stays(keypose, takes: Path, tmp_path: Path, monkeypatch, suffix):
    page = tmp_path / "r.html"
    theirs = page.with_suffix(suffix)

    def other_run() -> None:
        theirs.write_text("theirs")
        for file in (tmp_path / ".r.compare").iterdir():
            file.unlink()  # like a run on other clips that prunes the cache

    with monkeypatch.context() as patched:
        meanwhile(patched, other_run)
        result = keypose("compare", takes, *QUICK, "--report", page)
    assert (
        result.code == 1
        and f"{theirs.name}: was written by another run meanwhile; --overwrite replaces it" in result.err
    )
    assert "the measurements are cached" in result.err
    assert theirs.read_text() == "theirs" and [f.name for f in tmp_path.glob("r.*")] == [theirs.name]
    payload = json.loads(keypose("compare", takes, *QUICK, "--report", page, "--overwrite", "--json").out)
    assert [clip["from_cache"] for clip in payload["clips"]] == [True, True, True]
    assert len(Comparison.from_csv(tmp_path / "r.csv").clips) == 3


def test_with_overwrite_the_last_run_wins(keypose, takes: Path, tmp_path: Path, monkeypatch):
    meanwhile(monkeypatch, lambda: (tmp_path / "rows.csv").write_text("theirs"))
    assert keypose("compare", takes, *QUICK, "--csv", tmp_path / "rows.csv", "--overwrite").code == 0
    assert len(Comparison.from_csv(tmp_path / "rows.csv").clips) == 3


def test_unwritable_results_are_cached(keypose, takes: Path, tmp_path: Path, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setattr(compare, "_write", fail_to_write)
    result = keypose("compare", takes, *QUICK, "--csv", out / "rows.csv")
    assert result.code == 1 and "no room; the measurements are cached" in result.err
    assert len(list((out / ".rows.compare").iterdir())) == 3


def fail_to_write(*_: object) -> None:
    raise kp.FileError("rows.csv: no room")


@pytest.mark.parametrize("links", [True, False])
def test_exclusive_writing_takes_no_place_that_is_taken(tmp_path: Path, monkeypatch, links):
    def refuse_link(*_: object) -> None:
        raise PermissionError("no hard links here")

    if not links:
        monkeypatch.setattr(base.os, "link", refuse_link)
    path = tmp_path / "rows.csv"
    write_atomically(path, b"first", overwrite=False)
    with raises(kp.FileError, code="exists", path=str(path)):
        write_atomically(path, b"second", overwrite=False)
    assert path.read_bytes() == b"first" and [each.name for each in tmp_path.iterdir()] == ["rows.csv"]
    write_atomically(path, b"third")
    assert path.read_bytes() == b"third"


@pytest.mark.parametrize(
    "arguments",
    [
        ("convert", "take0.bvh", "out.xyz"),
        ("report", "take0.bvh", "-o", "out.xyz"),
        ("compare", "take0.bvh", "--report", "out.xyz"),
        ("compare", "take0.bvh", "--csv", "out.xyz"),
        ("compare", "take0.bvh", "--parquet", "out.xyz"),
        ("strip", "take0.bvh", "out.xyz"),
        ("timeline", "take0.bvh", "out.xyz"),
        ("curves", "take0.bvh", "out.xyz"),
        ("error-curve", "take0.bvh", "out.xyz"),
    ],
)
def test_a_wrong_suffix_has_one_exit_code_everywhere(keypose, takes: Path, monkeypatch, arguments):
    monkeypatch.chdir(takes)
    result = keypose(*arguments)
    assert result.code == 1 and "out.xyz" in result.err and result.out == ""
    if arguments[0] == "compare":
        suffix = {"--report": ".html"}.get(arguments[2], f".{arguments[2][2:]}")
        assert f"{arguments[2]} out.xyz, expected a name that ends in {suffix}" in result.err


@pytest.mark.parametrize("verb", ["timeline", "curves", "path", "error-curve", "strip"])
@pytest.mark.parametrize(
    ("option", "value"), [("--width-px", "nan"), ("--width-px", "-1"), ("--scale", "1000"), ("--scale", "nan")]
)
def test_sizes_are_checked_before_the_file_is_read(keypose, tmp_path: Path, verb, option, value):
    (tmp_path / "broken.bvh").write_text("nothing")
    result = keypose(verb, tmp_path / "broken.bvh", tmp_path / "out.png", option, value)
    assert result.code == 2 and f"{option} {float(value):g}" in result.err.replace(".0,", ",")
    assert "expected a number from" in result.err and "broken.bvh" not in result.err and result.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("timeline", "--row-px", "1"),
        ("curves", "--panel-px", "9999"),
        ("error-curve", "--height-px", "nan"),
        ("path", "--height-px", "1"),
        ("strip", "--height-px", "nan"),
        ("strip", "--ghosts", "1000000000"),
        ("strip", "--size-px", "1x1"),
    ],
)
def test_sizes_of_one_picture_are_checked_before_the_file_is_read(keypose, tmp_path: Path, arguments):
    (tmp_path / "broken.bvh").write_text("nothing")
    verb, option, value = arguments
    result = keypose(verb, tmp_path / "broken.bvh", tmp_path / "out.png", option, value)
    assert result.code == 2 and f"error: {option} " in result.err and "broken.bvh" not in result.err
