"""``keypose library search``: by example, part, pose and words; tables, documents, pages."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.library.library import Library
from support.errors import Pattern, check_json_error, check_usage_error
from support.html_pages import Page

SPANS = {"walk": (20, 80), "kick": (180, 240), "turn_left": (100, 130), "stroll": (30, 90)}


@pytest.fixture(scope="session")
def search_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library of four clips and another file with a kick."""
    folder = tmp_path_factory.mktemp("searched")
    demo = kp.demo_motion(fps=20)
    with Library(folder / "clips.db") as library:
        for name, (start, end) in SPANS.items():
            library.add(
                replace(demo[start:end], name=name), tags=("studio", "short" if name == "turn_left" else "long")
            )
    kp.save(kp.demo_motion(fps=30)[275:355], folder / "query.bvh")
    return folder


@pytest.fixture(autouse=True)
def work_folder(search_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEYPOSE_LIBRARY", str(search_folder / "clips.db"))
    return tmp_path


@pytest.fixture
def query(search_folder: Path) -> Path:
    return search_folder / "query.bvh"


@pytest.fixture
def search_hits(keypose: Callable) -> Callable[..., list[dict]]:
    """Return the hits of a search from its JSON."""

    def call(*arguments: object) -> list[dict]:
        result = keypose("library", "search", *arguments, "--json")
        assert (result.code, result.err) == (0, "")
        return json.loads(result.out)["hits"]

    return call


def names(hits: list[dict]) -> list[str]:
    return [hit["clip"]["name"] for hit in hits]


def test_the_nearest_comes_first(search_hits: Callable, query: Path) -> None:
    assert names(search_hits(query)) == ["kick", "turn_left"]  # a walk has nothing in common with it
    hits = search_hits(query, "--joints", "legs")
    assert names(hits)[0] == "kick" and sorted(names(hits)) == ["kick", "stroll", "turn_left"]
    also = {hit["clip"]["name"]: [copy["name"] for copy in hit["duplicates"]] for hit in hits}
    assert also == {"kick": [], "turn_left": [], "stroll": ["walk"]}
    assert sorted(names(search_hits(query, "--joints", "legs", "--no-deduplicate"))) == sorted(SPANS)
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)
    assert 0 <= hits[0]["start"] < hits[0]["end"] <= 60
    assert hits[0]["explanation"].startswith("seconds ")


def test_the_same_as_the_library_finds(search_hits: Callable, search_folder: Path, query: Path) -> None:
    motion = kp.load(query)
    with Library(search_folder / "clips.db") as library:
        for options, hits in (
            ([], library.search(motion)),
            (["--part", "10:40"], library.search_part(motion, 10, 40)),
            (["--part", "10:40", "--multiple", "--no-mirror"], library.search_part(motion, 10, 40, multiple=True, mirrored=False)),
            (["--pose", "25", "--joints", "legs,left_arm"], library.search_pose(motion, 25, joints=("legs", "left_arm"))),
            (["--ranker", "swings", "--no-deduplicate"], library.search(motion, ranker="swings", deduplicate=False)),
            (["--limit", "2", "--tag", "long", "--words", "st"], library.search(motion, limit=2, tags=("long",), words="st")),
            (["--max-duration-s", "2"], library.search(motion, max_duration_s=2.0)),
            (["--action", "turn left"], library.search(motion, action="turn left")),
        ):  # fmt: skip
            spans = [(h["clip"]["hash"], h["start"], h["end"], h["mirrored"]) for h in search_hits(query, *options)]
            assert spans == [(h.clip.hash, h.start, h.end, h.mirrored) for h in hits] and spans, options


def test_a_clip_of_the_library_is_not_its_own_hit(search_hits: Callable, keypose: Callable) -> None:
    assert "kick" not in names(search_hits("kick"))
    document = json.loads(keypose("library", "search", "kick", "--part", ":30", "--json").out)
    assert document["query"]["part"] == [0, 30] and document["query"]["name"] == "kick"
    assert len(document["query"]["hash"]) == 64
    Path("kick").mkdir()  # a folder is no query
    assert "kick" not in names(search_hits("kick"))


def test_a_part_is_found_where_it_is(search_hits: Callable, query: Path) -> None:
    first = search_hits(query, "--part", "20:50")[0]  # frames 295 to 325 of the demo at 30 fps
    assert first["clip"]["name"] == "kick"
    start, end = 295 / 30 - 9, 325 / 30 - 9  # seconds in the clip, which starts at frame 180 of 20 fps
    assert first["start_s"] == pytest.approx(start, abs=0.2) and first["end_s"] == pytest.approx(end, abs=0.2)


def test_words_alone_find_clips(keypose: Callable, search_hits: Callable) -> None:
    assert names(search_hits("--words", "turn")) == ["turn_left"]
    assert names(search_hits("--tag", "long", "--limit", 2)) == ["kick", "stroll"]
    assert search_hits("--words", "turn")[0]["score"] is None
    assert "turn_left" in keypose("library", "search", "--words", "LEFT").out
    nothing = keypose("library", "search", "--words", "nothing")
    assert (nothing.code, nothing.out.startswith("nothing found in ")) == (0, True)


def test_the_table(keypose: Callable, query: Path) -> None:
    result = keypose("library", "search", query, "--part", "20:50")
    assert result.code == 0
    row = re.search(r"^ kick +0\.\d\d +0\.\d\d to 1\.\d\d +\d+:\d+ +3.00 s +long, studio +\w.*$", result.out, re.M)
    assert row, result.out
    assert "score: 1 is the same motion" in result.out and "why: parts that swing alike" in result.out
    pose = keypose("library", "search", query, "--pose", 25).out
    assert re.search(r"^ kick +\d\.\d\d +\d\.\d\d +\d+ .* cm apart", pose, re.M), pose


def test_a_page_is_written_once(keypose: Callable, query: Path) -> None:
    result = keypose("library", "search", query, "--part", "20:50", "--html", "results.html")
    assert result.code == 0 and re.search(r"^results.html: 3 hits, \d+ kB$", result.out, re.M)
    page = Page(Path("results.html").read_text())
    assert page.faults == []
    titles = [title for _, title in page.headings]
    assert titles[:4] == ["Clips like query.bvh, frames 20:50", "Query", "Hits", "1 kick"]
    assert len([e for e in page.find_all("div") if (e.attributes.get("class") or "").startswith("strip")]) == 1 + 2 * 3
    assert "1 more of the same take" in page.find_all("main")[0].text
    assert "no picture" not in page.find_all("main")[0].text
    frames = [int(e.text) for e in page.find_all("text") if e.text.isdigit()][:8]
    assert frames[0] == 20 and frames == sorted(frames) and frames[-1] < 50  # frame numbers of the file
    assert "--part 20:50 --html results.html" in page.find_all("pre")[0].text
    again = keypose("library", "search", query, "--html", "results.html")
    assert (again.code, again.err) == (1, "error: results.html: exists already; --overwrite replaces it\n")
    assert keypose("library", "search", "kick", "--html", "results.html", "--overwrite").code == 0
    for options in (["kick", "--pose", "3"], ["kick", "--part", "3:9"], ["--words", "studio"], ["--words", "nothing"]):
        assert keypose("library", "search", *options, "--html", "results.html", "--overwrite").code == 0
        assert Page(Path("results.html").read_text()).faults == []


def test_the_part_itself_is_drawn(keypose: Callable, query: Path, search_hits: Callable) -> None:
    hit = search_hits(query, "--pose", 25, "--limit", 1)[0]
    assert keypose("library", "search", query, "--pose", 25, "--limit", 1, "--html", "results.html").code == 0
    page = Page(Path("results.html").read_text())
    frames = [int(e.text) for e in page.find_all("text") if e.text.isdigit()]
    assert frames == [25, hit["start"]]
    assert "Poses beside a coloured line are those of the part itself." in page.find_all("main")[0].text
    keypose("library", "search", query, "--html", "results.html", "--overwrite")
    assert "coloured line" not in Path("results.html").read_text()


def test_damaged_bytes_cost_one_picture(
    keypose: Callable, search_folder: Path, work_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(search_folder, work_folder / "copy")
    monkeypatch.setenv("KEYPOSE_LIBRARY", str(work_folder / "copy" / "clips.db"))
    with Library(work_folder / "copy" / "clips.db") as library:
        blob = library.clip("walk").blob
    (file,) = [path for path in (work_folder / "copy").rglob("*") if path.name.startswith(blob)]
    file.unlink()
    result = keypose("library", "search", "kick", "--part", "10:40", "--no-deduplicate", "--html", "results.html")
    assert result.code == 0
    assert result.err.startswith("warning: walk: ") and result.err.count("\n") == 1
    assert Path("results.html").read_text().count('class="matching-span"') == 2
    result = keypose(
        "library", "search", "walk", "--no-mirror", "--html", "results.html", "--overwrite"
    )  # its thumbnail is still there
    assert result.code == 0 and result.err.startswith("warning: walk: ")
    assert "no picture" not in Path("results.html").read_text()


def test_a_page_opens_in_the_browser(keypose: Callable, query: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened_urls: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened_urls.append)
    assert keypose("library", "search", query, "--html", "results.html", "--open").code == 0
    assert opened_urls == [Path("results.html").resolve().as_uri()]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "nothing to search for, expected a motion file, a clip of the library, or a filter such as --words"),
        ("kick --part 1:2 --pose 3", "--part cannot be combined with --pose"),
        ("kick --part 5", "--part 5, expected START:END in frames, such as 30:90, 30: or :90"),
        ("kick --multiple", "--multiple is for --part and --pose, expected one of them, such as --part 30:90"),
        ("kick --pose 3 --ranker swings", "--ranker swings compares whole clips, expected neither --part nor --pose"),
        ("--words x --joints arms", "--joints is about a motion, expected a query: a motion file or a clip of the library"),
        ("--words x --no-mirror", "--no-mirror is about a motion, expected a query: a motion file or a clip of the library"),
        ("kick --limit 0", "--limit 0, expected at least 1"),
        ("kick --limit 1001 --html x.html", "--limit 1001 with --html, expected at most 1000"),
        ("kick --open", "--open is for a page, expected --html too, such as --html results.html"),
        ("kick --min-duration-s nan", "--min-duration-s nan, expected a number of at least 0"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_is_exit_code_2(keypose: Callable, line: str, message: str) -> None:
    result = keypose("library", "search", *line.split())
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[0] == f"error: {message}"
    check_usage_error("library search", json.loads(keypose("library", "search", *line.split(), "--json").out), message)


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (
            "kuck",
            {
                "code": "unknown_clip",
                "error": Pattern("^no clip 'kuck' in the library"),
                "hint": "did you mean 'kick'?",
            },
        ),
        (
            "nobody",
            {"code": "unknown_clip", "error": Pattern("no clip 'nobody' in the library, nor is there such a file")},
        ),
        (
            ".",
            {
                "code": "not_a_file",
                "error": Pattern("is a folder"),
                "expected": "a motion file or a clip of the library",
            },
        ),
        ("pipe.bvh", {"code": "not_a_file", "error": "pipe.bvh: is not a regular file"}),
        (
            "kick --part 9:9",
            {"option": "part", "value": "9:9", "expected": "frames within 0:60, the first before the last"},
        ),
        (
            "kick --part 50:61",
            {"option": "part", "value": "50:61", "expected": "frames within 0:60, the first before the last"},
        ),
        ("kick --pose 60", {"option": "pose", "value": 60, "expected": "a frame from 0 to 59"}),
        ("kick --html no/x.html", {"code": "file", "error": "no: no such folder"}),
        ("kick --html x.txt", {"code": "unwritable", "error": Pattern("^x.txt: a report is written as one of .html")}),
    ],
)
def test_what_cannot_be_done_is_exit_code_1(keypose: Callable, line: str, fields: dict[str, Any]) -> None:
    os.mkfifo("pipe.bvh")
    arguments = ("library", "search", *line.split())
    result, as_json = keypose(*arguments), keypose(*arguments, "--json")
    error = check_json_error(as_json.out, **fields)
    assert (result.code, result.out, result.err) == (1, "", f"error: {error}\n")
    assert not Path("x.html").exists()


def test_motion_without_a_body_has_a_suggestion(keypose: Callable, clip: Callable) -> None:
    result = keypose("library", "search", clip())
    assert result.code == 1
    assert "words" in result.err


def test_a_query_that_cannot_be_read(keypose: Callable) -> None:
    Path("bad.bvh").write_text("HIERARCHY nonsense")
    result = keypose("library", "search", "bad.bvh")
    assert (result.code, result.err) == (1, "error: bad.bvh:1: no MOTION section, expected one after the hierarchy\n")
    assert json.loads(keypose("library", "search", "bad.bvh", "--json").out)["error_kind"] == "FormatError"


def test_reader_warnings_are_printed(keypose: Callable, query: Path) -> None:
    text = query.read_text()
    Path("short.bvh").write_text(text.replace("Frames: 80", "Frames: 81"))
    result = keypose("library", "search", "short.bvh", "--limit", 1)
    assert result.code == 0
    assert result.err.startswith("warning: short.bvh")
