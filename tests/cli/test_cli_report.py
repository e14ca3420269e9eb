"""``keypose report``: a page for each readable file, an index of several, and errors for the others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import keypose as kp
from keypose.pictures.report import report
from keypose.pictures.report.build import ReportJob, ReportJobResult, run_report_job
from support.errors import Pattern, check_json_error


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
    assert result.out.startswith(f"{Path('report/index.html')}: 2 of 3 motions, ")
    assert sorted(path.name for path in Path("report").iterdir()) == ["a.bvh.html", "b.bvh.html", "index.html"]
    index = Path("report", "index.html").read_text()
    assert "<h1>2 motions</h1>" in index
    assert "c.bvh" not in index
    for path in (Path("report", "a.bvh.html"), Path("report", "b.bvh.html")):
        assert path.read_text().count("<canvas") == 1


def test_each_of_several_files_gets_a_page_that_the_index_lists(keypose, clip, work_folder):
    clip("takes/walk.bvh"), clip("takes/sub 1/index.bvh", frames=12)
    kp.save(kp.load(clip("takes/walk.bvh")), clip("takes/walk.glb"))
    result = keypose("report", "../takes", "-o", "pages", "--keys", 3, "--title", "All <takes>", "--json")
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    files = [path for path in Path("pages").rglob("*") if path.is_file()]
    names = {path.relative_to("pages").as_posix() for path in files}
    assert names == {"index.html", "walk.bvh.html", "walk.glb.html", "sub 1/index.bvh.html"}
    assert document["bytes"] == sum(path.stat().st_size for path in files)
    index = Path("pages", "index.html").read_text()
    assert "<h1>All &lt;takes&gt;</h1>" in index
    rows = re.findall(r'<a href="([^"]*)">([^<]*)</a></th><td class="number">([^<]*)</td>', index)
    assert rows == [
        ("sub%201/index.bvh.html", "sub 1/index.bvh", "12"),
        ("walk.bvh.html", "walk.bvh", "8"),
        ("walk.glb.html", "walk.glb", "8"),
    ]
    assert '<a href="../index.html">All motions</a>' in Path("pages/sub 1/index.bvh.html").read_text()
    assert len(index) < 40_000


def test_an_interrupted_run_continues(keypose, clip, work_folder, monkeypatch):
    files = [clip(f"takes/{name}.bvh") for name in "abc"]

    def interrupt_second(job: ReportJob) -> ReportJobResult:
        if job.source == files[1]:
            raise KeyboardInterrupt
        return run_report_job(job)

    monkeypatch.setattr("keypose.cli.report.run_report_job", interrupt_second)
    arguments = ("report", files[0].parent, "--keys", 3, "--jobs", 1)
    result = keypose(*arguments)
    assert result.code == 130
    assert "interrupted with 2 files to go; --skip-existing continues from here" in result.err
    monkeypatch.undo()
    monkeypatch.chdir(work_folder)
    first = Path("report", "a.bvh.html").stat()
    assert "<h1>1 motion</h1>" in Path("report", "index.html").read_text()
    assert keypose(*arguments).code == 1
    result = keypose(*arguments, "--skip-existing")
    assert result.code == 0
    assert "2 of 2 motions" in result.out and result.out.endswith(", 1 existing skipped\n")
    assert Path("report", "a.bvh.html").stat().st_mtime_ns == first.st_mtime_ns
    index = Path("report", "index.html").read_text()
    assert "<h1>3 motions</h1>" in index
    assert re.findall(r'<a href="(.)\.bvh.html', index) == ["a", "b", "c"]
    assert keypose(*arguments, "--skip-existing").out == f"{Path('report/index.html')}: 3 existing skipped\n"
    assert Path("report", "index.html").read_text() == index
    assert keypose(*arguments, "--overwrite").code == 0


@pytest.mark.parametrize("name", ["index.html", "a.bvh.html"])
def test_pages_of_others_are_neither_listed_nor_replaced(keypose, clip, work_folder, name):
    clip("takes/a.bvh"), clip("takes/b.bvh")
    Path("report").mkdir()
    Path("report", name).write_text('<meta name="keypose-report" content="none">mine')
    for option, message in (([], "exists already"), (["--skip-existing"], "is no page of a report")):
        result = keypose("report", "../takes", "--keys", 3, *option)
        assert result.code == 1
        assert f"{Path('report', name)}: {message}" in result.err
        assert [path.name for path in Path("report").iterdir()] == [name]
    assert keypose("report", "../takes", "--keys", 3, "--overwrite").code == 0
    assert "mine" not in Path("report", name).read_text()


def test_a_single_file_into_a_folder(keypose, clip, work_folder):
    assert keypose("report", clip(), "-o", "pages/", "--keys", 3).code == 0
    assert keypose("report", clip("run.bvh"), "-o", "pages", "--keys", 3, "--skip-existing").code == 0
    assert sorted(path.name for path in Path("pages").iterdir()) == ["index.html", "run.bvh.html", "walk.bvh.html"]


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
    assert payload["report"] == str(Path("report/index.html"))
    page = Path("report", "a.bvh.html")
    assert payload["bytes"] == Path("report", "index.html").stat().st_size + page.stat().st_size
    (each,) = payload["clips"]
    assert (each["target"], each["n_keys"], each["n_frames"]) == (str(page), 3, 8)
    assert each["bytes"] == page.stat().st_size
    assert each["score"]["mean_mm"] >= 0
    assert [Path(each["source"]).name for each in payload["failed"]] == ["c.bvh"]


def test_several_workers_make_the_same_pages(keypose, clip, tmp_path):
    files = [clip(f"in/{name}.bvh", frames=9 + n) for n, name in enumerate("abc")]
    for jobs in (1, 2):
        result = keypose("report", files[0].parent, "-o", tmp_path / f"out{jobs}", "--jobs", jobs)
        assert result.code == 0
    for path in (tmp_path / "out1").iterdir():
        assert path.read_bytes() == (tmp_path / "out2" / path.name).read_bytes()


def test_open_option_opens_the_page(keypose, clip, work_folder, monkeypatch):
    opened_urls: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened_urls.append)
    keypose("report", clip("a.bvh"))
    assert opened_urls == []
    keypose("report", clip("a.bvh"), "--open", "--overwrite")
    assert opened_urls == [(work_folder / "a.html").as_uri()]


@pytest.mark.parametrize(
    ("arguments", "code", "fields"),
    [
        ([], 2, {"code": "missing_argument", "expected": "what to report on", "hint": "keypose report FILES..."}),
        (
            ["walk.bvh", "--keys", "3", "--auto"],
            2,
            {"code": "conflicting_options", "option": "keys", "error": Pattern("cannot be combined with --auto")},
        ),
        (
            ["walk.bvh", "--method", "farthest", "--tolerance-mm", "3"],
            2,
            {"option": "tolerance_mm", "expected": "--keys with --method farthest"},
        ),
        (
            ["walk.bvh", "-o", "page.pdf"],
            1,
            {"code": "unwritable", "error": Pattern("^page.pdf: a report is written as one of .html")},
        ),
        (["walk.bvh", "-o", "none/page.html"], 1, {"code": "file", "error": "none: no such folder"}),
        (["walk.bvh", "-o", "folder.html"], 1, {"code": "file", "expected": "the name of a page"}),
        (["page.html", "-o", "page.html"], 1, {"expected": "another name for the page"}),
        (
            ["walk.bvh", "walk2.bvh", "-o", "both.html"],
            2,
            {
                "error": Pattern("both.html is one page, but each of 2 motions gets its own"),
                "expected": "a folder for them, such as -o both-pages/",
            },
        ),
        (["walk.bvh", "walk2.bvh", "-o", "walk.bvh"], 1, {"code": "file", "expected": Pattern("^a folder")}),
        (["nothing/*.bvh"], 1, {"code": "no_such_file", "error": Pattern("no motion file matches")}),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(keypose, clip, work_folder, arguments, code, fields):
    for name in ("walk.bvh", "walk2.bvh"):
        (work_folder / name).write_text(clip().read_text())
    (work_folder / "folder.html").mkdir()
    result, as_json = keypose("report", *arguments), keypose("report", *arguments, "--json")
    assert (result.code, result.out) == (as_json.code, "") == (code, "")
    assert check_json_error(as_json.out, **fields) in result.err
    assert sorted(path.name for path in work_folder.iterdir()) == ["folder.html", "walk.bvh", "walk2.bvh"]
