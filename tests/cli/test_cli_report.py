"""``keypose report``: one page of whatever can be read, and what is said of the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import keypose as kp
from keypose.pictures.report import report


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_one_file_becomes_a_page_of_its_name_in_the_current_folder(keypose, clip, here):
    ran = keypose("report", clip("takes/walk.bvh"))
    assert (ran.code, ran.err) == (0, "")
    assert [path.name for path in here.iterdir()] == ["walk.html"]
    assert ran.out.startswith("walk.html: 1 motion, ")
    assert "keys of 8 frames, mean error" in ran.out
    text = (here / "walk.html").read_text()
    assert "<h1>walk</h1>" in text
    assert "keypose unbake " in text


def test_keys_and_curves_are_those_of_the_verb(keypose, walk, tmp_path):
    ran = keypose(
        "report", walk, "-o", tmp_path / "a.html", "--keys", 7, "--interpolation", "linear", "--title", "Mine"
    )
    assert ran.code == 0
    report(kp.load(walk), tmp_path / "b.html", keys=7, interpolation="linear", title="Mine")
    typed, called = ((tmp_path / name).read_text() for name in ("a.html", "b.html"))
    end = 'id="clip-1-settings"'  # which file it was is known here, not there
    assert typed[: typed.index(end)] == called[: called.index(end)]


def test_what_is_there_is_kept_unless_told_otherwise(keypose, clip, here):
    (here / "walk.html").write_text("mine")
    file = clip()
    ran = keypose("report", file)
    assert ran.code == 1
    assert "walk.html: exists already; --overwrite replaces it" in ran.err
    assert (here / "walk.html").read_text() == "mine"
    assert keypose("report", file, "--overwrite", "--quiet").out == ""
    assert "<h1>" in (here / "walk.html").read_text()


def test_bad_files_are_left_out_of_the_page_and_said(keypose, clip, here):
    good, other, bad = clip("a.bvh"), clip("b.bvh", frames=12), clip("c.bvh")
    bad.write_text("HIERARCHY\nnothing")
    ran = keypose("report", good, bad, other, "--jobs", 1)
    assert ran.code == 1
    assert "c.bvh" in ran.err
    assert "report.html: 2 of 3 motions" in ran.out
    text = (here / "report.html").read_text()
    assert "<h1>2 motions</h1>" in text
    assert text.count("<canvas") == 2


def test_where_nothing_can_be_read_there_is_no_page(keypose, clip, here):
    bad = clip("c.bvh")
    bad.write_text("HIERARCHY\nnothing")
    ran = keypose("report", bad)
    assert ran.code == 1
    assert ran.out == ""
    assert list(here.iterdir()) == []


def test_as_json(keypose, clip, here):
    bad = clip("c.bvh")
    bad.write_text("HIERARCHY\nnothing")
    ran = keypose("report", clip("a.bvh"), bad, "--json", "--keys", 3, "--jobs", 1)
    told = json.loads(ran.out)
    assert ran.code == 1
    assert told["report"] == "report.html"
    assert told["bytes"] == (here / "report.html").stat().st_size
    assert [(each["id"], each["n_keys"], each["n_frames"]) for each in told["clips"]] == [("clip-1", 3, 8)]
    assert told["clips"][0]["mean_mm"] >= 0
    assert [Path(each["source"]).name for each in told["failed"]] == ["c.bvh"]


def test_several_workers_make_the_same_page(keypose, clip, tmp_path):
    files = [clip(f"in/{name}.bvh", frames=9 + n) for n, name in enumerate("abc")]
    for jobs in (1, 2):
        ran = keypose("report", files[0].parent, "-o", tmp_path / f"{jobs}.html", "--jobs", jobs)
        assert ran.code == 0
    assert (tmp_path / "1.html").read_bytes() == (tmp_path / "2.html").read_bytes()


def test_it_opens_the_page_when_asked(keypose, clip, here, monkeypatch):
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    keypose("report", clip("a.bvh"))
    assert shown == []
    keypose("report", clip("a.bvh"), "--open", "--overwrite")
    assert shown == [(here / "a.html").as_uri()]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "expected what to report on"),
        (["walk.bvh", "--keys", "3", "--auto"], 2, "cannot both be meant"),
        (["walk.bvh", "--method", "farthest", "--tolerance-mm", "3"], 2, "--tolerance-mm is for --method salient"),
        (["walk.bvh", "-o", "page.pdf"], 1, "page.pdf: a report is written as one of .html"),
        (["walk.bvh", "-o", "none/page.html"], 1, "none: no such folder"),
        (["walk.bvh", "-o", "folder.html"], 1, "is a folder"),
        (["page.html", "-o", "page.html"], 1, "is to be read"),
        (["nothing/*.bvh"], 1, "no motion file matches"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(keypose, clip, here, arguments, code, message):
    (here / "walk.bvh").write_text(clip().read_text())
    (here / "folder.html").mkdir()
    ran = keypose("report", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert sorted(path.name for path in here.iterdir()) == ["folder.html", "walk.bvh"]
