"""``keypose report``: one page for all readable files, and errors for the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import keypose as kp
from keypose.pictures.report import report


@pytest.fixture
def work_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_one_file_becomes_a_page_of_its_name_in_the_current_folder(keypose, clip, work_folder):
    result = keypose("report", clip("takes/walk.bvh"))
    assert (result.code, result.err) == (0, "")
    assert [path.name for path in work_folder.iterdir()] == ["walk.html"]
    assert result.out.startswith("walk.html: 1 motion, ")
    assert "keys of 8 frames, mean error" in result.out
    text = (work_folder / "walk.html").read_text()
    assert "<h1>walk</h1>" in text
    assert "keypose unbake " in text


def test_keys_and_curves_match_unbake(keypose, walk, tmp_path):
    result = keypose(
        "report", walk, "-o", tmp_path / "a.html", "--keys", 7, "--interpolation", "linear", "--title", "Mine"
    )
    assert result.code == 0
    report(kp.load(walk), tmp_path / "b.html", keys=7, interpolation="linear", title="Mine")
    arguments, called = ((tmp_path / name).read_text() for name in ("a.html", "b.html"))
    end = 'id="clip-1-settings"'  # the file name is known here, not there
    assert arguments[: arguments.index(end)] == called[: called.index(end)]


def test_existing_page_needs_overwrite(keypose, clip, work_folder):
    (work_folder / "walk.html").write_text("mine")
    file = clip()
    result = keypose("report", file)
    assert result.code == 1
    assert "walk.html: exists already; --overwrite replaces it" in result.err
    assert (work_folder / "walk.html").read_text() == "mine"
    assert keypose("report", file, "--overwrite", "--quiet").out == ""
    assert "<h1>" in (work_folder / "walk.html").read_text()


def test_bad_files_are_skipped_and_reported(keypose, clip, work_folder):
    good, other, bad = clip("a.bvh"), clip("b.bvh", frames=12), clip("c.bvh")
    bad.write_text("HIERARCHY\nnothing")
    result = keypose("report", good, bad, other, "--jobs", 1)
    assert result.code == 1
    assert "c.bvh" in result.err
    assert "report.html: 2 of 3 motions" in result.out
    text = (work_folder / "report.html").read_text()
    assert "<h1>2 motions</h1>" in text
    assert text.count("<canvas") == 2


def test_where_nothing_can_be_read_there_is_no_page(keypose, clip, work_folder):
    bad = clip("c.bvh")
    bad.write_text("HIERARCHY\nnothing")
    result = keypose("report", bad)
    assert result.code == 1
    assert result.out == ""
    assert list(work_folder.iterdir()) == []


def test_as_json(keypose, clip, work_folder):
    bad = clip("c.bvh")
    bad.write_text("HIERARCHY\nnothing")
    result = keypose("report", clip("a.bvh"), bad, "--json", "--keys", 3, "--jobs", 1)
    payload = json.loads(result.out)
    assert result.code == 1
    assert payload["report"] == "report.html"
    assert payload["bytes"] == (work_folder / "report.html").stat().st_size
    assert [(each["id"], each["n_keys"], each["n_frames"]) for each in payload["clips"]] == [("clip-1", 3, 8)]
    assert payload["clips"][0]["score"]["mean_mm"] >= 0
    assert [Path(each["source"]).name for each in payload["failed"]] == ["c.bvh"]


def test_several_workers_make_the_same_page(keypose, clip, tmp_path):
    files = [clip(f"in/{name}.bvh", frames=9 + n) for n, name in enumerate("abc")]
    for jobs in (1, 2):
        result = keypose("report", files[0].parent, "-o", tmp_path / f"{jobs}.html", "--jobs", jobs)
        assert result.code == 0
    assert (tmp_path / "1.html").read_bytes() == (tmp_path / "2.html").read_bytes()


def test_open_option_opens_the_page(keypose, clip, work_folder, monkeypatch):
    opened_urls: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened_urls.append)
    keypose("report", clip("a.bvh"))
    assert opened_urls == []
    keypose("report", clip("a.bvh"), "--open", "--overwrite")
    assert opened_urls == [(work_folder / "a.html").as_uri()]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "expected what to report on"),
        (["walk.bvh", "--keys", "3", "--auto"], 2, "cannot be combined with"),
        (["walk.bvh", "--method", "farthest", "--tolerance-mm", "3"], 2, "--tolerance-mm is for --method salient"),
        (["walk.bvh", "-o", "page.pdf"], 1, "page.pdf: a report is written as one of .html"),
        (["walk.bvh", "-o", "none/page.html"], 1, "none: no such folder"),
        (["walk.bvh", "-o", "folder.html"], 1, "is a folder"),
        (["page.html", "-o", "page.html"], 1, "is an input file"),
        (["nothing/*.bvh"], 1, "no motion file matches"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(keypose, clip, work_folder, arguments, code, message):
    (work_folder / "walk.bvh").write_text(clip().read_text())
    (work_folder / "folder.html").mkdir()
    result = keypose("report", *arguments)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert sorted(path.name for path in work_folder.iterdir()) == ["folder.html", "walk.bvh"]
