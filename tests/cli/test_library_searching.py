"""``keypose library search``: by example, part, pose and words; tables, documents, pages."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.library.library import Library
from pictures.html_pages import Page

SPANS = {"walk": (20, 80), "kick": (180, 240), "turn_left": (100, 130), "stroll": (30, 90)}


@pytest.fixture(scope="session")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library of four clips and the file of a kick that is none of them."""
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
def here(searched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEYPOSE_LIBRARY", str(searched / "clips.db"))
    return tmp_path


@pytest.fixture
def query(searched: Path) -> Path:
    return searched / "query.bvh"


@pytest.fixture
def found(keypose: Callable) -> Callable[..., list[dict]]:
    """The hits of a search, from its document."""

    def call(*arguments: object) -> list[dict]:
        ran = keypose("library", "search", *arguments, "--json")
        assert (ran.code, ran.err) == (0, "")
        return json.loads(ran.out)["hits"]

    return call


def names(hits: list[dict]) -> list[str]:
    return [hit["clip"]["name"] for hit in hits]


def test_the_nearest_comes_first(found: Callable, query: Path) -> None:
    hits = found(query)
    assert names(hits)[0] == "kick" and sorted(names(hits)) == ["kick", "turn_left", "walk"]
    also = {hit["clip"]["name"]: [copy["name"] for copy in hit["also"]] for hit in hits}
    assert also == {"kick": [], "turn_left": [], "walk": ["stroll"]}
    assert sorted(names(found(query, "--no-fold"))) == sorted(SPANS)
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)
    assert 0 <= hits[0]["start"] < hits[0]["end"] <= 60
    assert hits[0]["says"].startswith("seconds ")


def test_the_same_as_the_library_finds(found: Callable, searched: Path, query: Path) -> None:
    motion = kp.load(query)
    with Library(searched / "clips.db") as library:
        for options, hits in (
            ([], library.search(motion)),
            (["--part", "10:40"], library.search_part(motion, 10, 40)),
            (["--part", "10:40", "--several", "--no-mirror"], library.search_part(motion, 10, 40, several=True, mirrored=False)),
            (["--pose", "25", "--joints", "legs,left_arm"], library.search_pose(motion, 25, joints=("legs", "left_arm"))),
            (["--ranker", "swings", "--no-fold"], library.search(motion, ranker="swings", fold=False)),
            (["--limit", "2", "--tag", "long", "--words", "st"], library.search(motion, limit=2, tags=("long",), words="st")),
            (["--most-duration-s", "2"], library.search(motion, most_duration_s=2.0)),
        ):  # fmt: skip
            told = [(h["clip"]["hash"], h["start"], h["end"], h["mirrored"]) for h in found(query, *options)]
            assert told == [(h.clip.hash, h.start, h.end, h.mirrored) for h in hits] and told, options


def test_a_clip_of_the_library_is_not_its_own_hit(found: Callable, keypose: Callable) -> None:
    assert "kick" not in names(found("kick"))
    document = json.loads(keypose("library", "search", "kick", "--part", ":30", "--json").out)
    assert document["query"]["part"] == [0, 30] and document["query"]["name"] == "kick"
    assert len(document["query"]["hash"]) == 64
    Path("kick").mkdir()  # a folder is no query
    assert "kick" not in names(found("kick"))


def test_a_part_is_found_where_it_is(found: Callable, query: Path) -> None:
    first = found(query, "--part", "20:50")[0]  # frames 295 to 325 of the demo at 30 fps
    assert first["clip"]["name"] == "kick"
    start, end = 295 / 30 - 9, 325 / 30 - 9  # seconds in the clip, which starts at frame 180 of 20 fps
    assert first["start_s"] == pytest.approx(start, abs=0.2) and first["end_s"] == pytest.approx(end, abs=0.2)


def test_words_alone_find_clips(keypose: Callable, found: Callable) -> None:
    assert names(found("--words", "turn")) == ["turn_left"]
    assert names(found("--tag", "long", "--limit", 2)) == ["kick", "stroll"]
    assert found("--words", "turn")[0]["score"] is None
    assert "turn_left" in keypose("library", "search", "--words", "LEFT").out
    nothing = keypose("library", "search", "--words", "nothing")
    assert (nothing.code, nothing.out.startswith("nothing found in ")) == (0, True)


def test_the_table(keypose: Callable, query: Path) -> None:
    ran = keypose("library", "search", query, "--part", "20:50")
    assert ran.code == 0
    row = re.search(r"^ kick +0\.\d\d +0\.\d\d to 1\.\d\d +\d+:\d+ +3.00 s +long, studio +\w.*$", ran.out, re.M)
    assert row, ran.out
    assert "score: 1 is the same motion" in ran.out and "why: parts that swing alike" in ran.out
    pose = keypose("library", "search", query, "--pose", 25).out
    assert re.search(r"^ kick +\d\.\d\d +\d\.\d\d +\d+ .* cm apart", pose, re.M), pose


def test_a_page_is_written_once(keypose: Callable, query: Path) -> None:
    ran = keypose("library", "search", query, "--part", "20:50", "--html", "results.html")
    assert ran.code == 0 and re.search(r"^results.html: 3 hits, \d+ kB$", ran.out, re.M)
    page = Page(Path("results.html").read_text())
    assert page.faults == []
    titles = [title for _, title in page.headings]
    assert titles[:4] == ["Clips like query.bvh, frames 20:50", "Searched for", "Found", "1 kick"]
    assert len([e for e in page.of("div") if (e.attributes.get("class") or "").startswith("strip")]) == 1 + 2 * 3
    assert "1 more of the same take" in page.of("main")[0].text
    assert "no picture" not in page.of("main")[0].text
    frames = [int(e.text) for e in page.of("text") if e.text.isdigit()][:8]
    assert frames[0] == 20 and frames == sorted(frames) and frames[-1] < 50  # as the file counts them
    assert "--part 20:50 --html results.html" in page.of("pre")[0].text
    again = keypose("library", "search", query, "--html", "results.html")
    assert (again.code, again.err) == (1, "error: results.html: exists already; --overwrite replaces it\n")
    assert keypose("library", "search", "kick", "--html", "results.html", "--overwrite").code == 0
    for options in (["kick", "--pose", "3"], ["kick", "--part", "3:9"], ["--words", "studio"], ["--words", "nothing"]):
        assert keypose("library", "search", *options, "--html", "results.html", "--overwrite").code == 0
        assert Page(Path("results.html").read_text()).faults == []


def test_the_part_itself_is_drawn(keypose: Callable, query: Path, found: Callable) -> None:
    hit = found(query, "--pose", 25, "--limit", 1)[0]
    assert keypose("library", "search", query, "--pose", 25, "--limit", 1, "--html", "results.html").code == 0
    page = Page(Path("results.html").read_text())
    frames = [int(e.text) for e in page.of("text") if e.text.isdigit()]
    assert frames == [25, hit["start"]]
    assert "Poses beside a coloured line are those of the part itself." in page.of("main")[0].text
    keypose("library", "search", query, "--html", "results.html", "--overwrite")
    assert "coloured line" not in Path("results.html").read_text()


def test_damaged_bytes_cost_one_picture(
    keypose: Callable, searched: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(searched, here / "copy")
    monkeypatch.setenv("KEYPOSE_LIBRARY", str(here / "copy" / "clips.db"))
    with Library(here / "copy" / "clips.db") as library:
        blob = library.clip("walk").blob
    (file,) = [path for path in (here / "copy").rglob("*") if path.name.startswith(blob)]
    file.unlink()
    ran = keypose("library", "search", "kick", "--part", "10:40", "--no-fold", "--html", "results.html")
    assert ran.code == 0
    assert ran.err.startswith("warning: walk: ") and ran.err.count("\n") == 1
    assert Path("results.html").read_text().count('class="part"') == 2
    ran = keypose(
        "library", "search", "walk", "--no-mirror", "--html", "results.html", "--overwrite"
    )  # its thumbnail is still there
    assert ran.code == 0 and ran.err.startswith("warning: walk: ")
    assert "no picture" not in Path("results.html").read_text()


def test_a_page_opens_in_the_browser(keypose: Callable, query: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    assert keypose("library", "search", query, "--html", "results.html", "--open").code == 0
    assert shown == [Path("results.html").resolve().as_uri()]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "nothing to search for, expected a motion file, a clip of the library, or --words"),
        ("kick --part 1:2 --pose 3", "--part and --pose cannot both be meant"),
        ("kick --part 5", "--part 5: expected START:END in frames, such as 30:90, 30: or :90"),
        ("kick --several", "--several is for --part and --pose, expected one of them, such as --part 30:90"),
        ("kick --pose 3 --ranker swings", "--ranker swings compares whole clips, expected neither --part nor --pose"),
        ("--words x --joints arms", "--joints is about a motion, expected a query: a motion file or a clip of the library"),
        ("--words x --no-mirror", "--no-mirror is about a motion, expected a query: a motion file or a clip of the library"),
        ("kick --limit 0", "--limit 0: expected at least 1"),
        ("kick --limit 1001 --html x.html", "--limit 1001 with --html: expected at most 1000"),
        ("kick --open", "--open is for a page: expected --html too, such as --html results.html"),
        ("kick --least-duration-s nan", "--least-duration-s nan: expected a number of at least 0"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_is_exit_code_2(keypose: Callable, line: str, says: str) -> None:
    ran = keypose("library", "search", *line.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[0] == f"error: {says}"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("kuck", "no clip 'kuck' in the library, nor is there such a file; did you mean 'kick'?"),
        ("nobody", "no clip 'nobody' in the library, nor is there such a file"),
        (".", ".: is a folder, expected a motion file or a clip of the library"),
        ("kick --part 9:9", "--part 9:9, expected frames within 0:60, the first before the last"),
        ("kick --part 50:61", "--part 50:61, expected frames within 0:60, the first before the last"),
        ("kick --pose 60", "--pose 60, expected a frame from 0 to 59"),
        ("kick --html no/x.html", "no: no such folder"),
        ("kick --html x.txt", "x.txt: a report is written as one of .html, .htm"),
    ],
)
def test_what_cannot_be_done_is_exit_code_1(keypose: Callable, line: str, says: str) -> None:
    ran = keypose("library", "search", *line.split())
    assert (ran.code, ran.out, ran.err) == (1, "", f"error: {says}\n")
    assert not Path("x.html").exists()


def test_a_motion_without_a_body_says_what_to_use_instead(keypose: Callable, clip: Callable) -> None:
    ran = keypose("library", "search", clip())
    assert ran.code == 1
    assert "words" in ran.err


def test_a_query_that_cannot_be_read(keypose: Callable) -> None:
    Path("bad.bvh").write_text("HIERARCHY nonsense")
    ran = keypose("library", "search", "bad.bvh")
    assert (ran.code, ran.err) == (1, "error: bad.bvh:1: no MOTION section, expected one after the hierarchy\n")
    assert json.loads(keypose("library", "search", "bad.bvh", "--json").out)["error_kind"] == "FormatError"


def test_what_the_reader_noticed_is_said(keypose: Callable, query: Path) -> None:
    text = query.read_text()
    Path("short.bvh").write_text(text.replace("Frames: 80", "Frames: 81"))
    ran = keypose("library", "search", "short.bvh", "--limit", 1)
    assert ran.code == 0
    assert ran.err.startswith("warning: short.bvh")
