"""Arguments that no database and no disk accepts: KeyposeErrors, and no more work than allowed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.errors import FileError, LimitError, OptionError
from keypose.formats import Limits
from keypose.library.library import Library
from keypose.library.rows import MAX_TAGS
from support.errors import raises


@pytest.mark.parametrize("where", ["a" * 300, "x\0.db", "a" * 300 + "/clips.db", "no/such/folder.db"])
def test_impossible_library_paths_are_refused(tmp_path: Path, where: str) -> None:
    for create in (True, False):
        with pytest.raises((FileError, OptionError)) as info:
            Library(f"{tmp_path}/{where}", create=create)
        assert (info.value.option == "path") == ("\0" in where) and info.value.code in (
            "option",
            "file",
            "unknown_library",
        )


WRONG: dict[str, tuple[Callable[[Library], Any], dict[str, Any]]] = {
    "limit": (lambda here: here.clips(limit=2**63), {"option": "limit", "value": 2**63}),
    "skip": (lambda here: here.clips(skip=2**70), {"option": "skip", "value": 2**70}),
    "hits": (lambda here: here.search("walk", limit=2**63), {"option": "limit", "value": 2**63}),
    "no tags": (lambda here: here.clips(tags=None), {"option": "tags", "value": None}),
    "tags": (
        lambda here: here.tag("walk", *map(str, range(40_000))),
        {"option": "tags", "expected": f"at most {MAX_TAGS} at once"},
    ),
    "filter": (
        lambda here: here.clips(tags=map(str, range(3000))),
        {"option": "tags", "expected": f"at most {MAX_TAGS} at once"},
    ),
    "one clip": (lambda here: here.retag("walk", add=["x"]), {"option": "clips", "value": "walk"}),
    "no tolerance": (
        lambda here: here.add(here.get("walk"), tolerance_mm=float("nan")),
        {"option": "tolerance_mm"},
    ),
    "tolerance": (lambda here: here.ingest([], tolerance_mm=1e9), {"option": "tolerance_mm", "value": 1e9}),
    "half a character": (lambda here: here.clips(skeleton="\udcff"), {"expected": "text"}),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_excessive_arguments_are_refused(open_library: Callable[[], Library], wrong: str) -> None:
    use, fields = WRONG[wrong]
    library = open_library()
    library.add(replace(kp.demo_motion(fps=10)[:12], name="walk"))
    with raises(OptionError, **fields):
        use(library)
    assert library.verify() == ()


def test_clips_have_all_of_many_tags(open_library: Callable[[], Library]) -> None:
    library = open_library()
    many = [f"tag {n}" for n in range(MAX_TAGS)]
    library.add(kp.demo_motion(fps=10)[:12], name="all", tags=many)
    library.add(kp.demo_motion(fps=10)[1:13], name="most", tags=many[1:])
    assert [clip.name for clip in library.clips(tags=many)] == ["all"]
    assert [clip.name for clip in library.clips(tags=many[1:])] == ["all", "most"]


def test_bytes_beyond_the_limits_are_refused(tmp_path: Path) -> None:
    kp.save(kp.demo_motion(fps=10)[:12], tmp_path / "walk.bvh")
    data = (tmp_path / "walk.bvh").read_bytes()
    with Library(tmp_path / "clips.db", limits=Limits(bytes=1000)) as library:
        with raises(LimitError, path="walk", expected="at most 1000"):
            library.add(data, name="walk")
        assert len(library) == 0


def test_blobs_stored_with_larger_limits_stay_readable(tmp_path: Path) -> None:
    kp.save(kp.demo_motion(fps=10)[:12], tmp_path / "walk.bvh")
    with Library(tmp_path / "clips.db") as library:
        library.add(tmp_path / "walk.bvh")
    with Library(tmp_path / "clips.db", limits=Limits(bytes=1000)) as library:
        assert library.original("walk") == (tmp_path / "walk.bvh").read_bytes()


def test_many_threads_wait_for_one_writer(open_library: Callable[[], Library]) -> None:
    library = open_library()
    library.add(replace(kp.demo_motion(fps=10)[:12], name="walk"))
    problems: list[BaseException] = []

    def tag(n: int) -> None:
        try:
            library.tag("walk", f"tag {n}")
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=tag, args=(n,)) for n in range(40)]
    with library._store.database.begin_write():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(0.05)
        assert all(thread.is_alive() for thread in threads)
    for thread in threads:
        thread.join()
    assert not problems and len(library.clip("walk").tags) == 40


def test_files_with_undecodable_names_are_ingested(tmp_path: Path) -> None:
    (tmp_path / "takes").mkdir()
    for start, name in enumerate(("plain", "odd\udcff", "\u200b")):
        kp.save(kp.demo_motion(fps=10)[start : start + 12], tmp_path / "walk.bvh")
        (tmp_path / "walk.bvh").rename(tmp_path / "takes" / f"{name}.bvh")
    with Library(tmp_path / "clips.db") as library:
        report = library.add(tmp_path / "takes", jobs=1)
        assert len(report.added) == 2 and len(library.clips("odd")) == 1
        (failure,) = report.failures
        assert "\\u200b.bvh" in failure.message and "expected a name that can be read" in failure.message
        assert library.verify() == ()


def test_hits_explain_themselves_after_their_query_is_removed(tmp_path: Path) -> None:
    motion = kp.demo_motion(fps=30)
    with Library(tmp_path / "clips.db") as library:
        for start in range(2):
            library.add(replace(motion[30 * start : 30 * start + 90], name=f"take_{start}"))
        (hit,) = library.search("take_0")
        library.remove("take_0")
        assert hit.explanation.startswith("seconds 0.0 to 3.0")


def test_a_format_without_its_package_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Library(tmp_path / "clips.db") as library:
        library.add(replace(kp.demo_motion(fps=10)[:12], name="walk"))

        def fail(*_: object) -> None:
            raise kp.errors.MissingExtra("reading USD needs", "pip install 'keypose[usd]'")

        monkeypatch.setattr("keypose.library.rebuild.analyse", fail)
        (fault,) = library.rebuild(jobs=1)
        assert fault.kind == "analysis" and "pip install 'keypose[usd]'" in fault.message
