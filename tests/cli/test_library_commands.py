"""``keypose library``: add, list, show, edit, remove and export clips, and errors."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import keypose as kp
from keypose.cli.app import run
from keypose.library.library import Library

EVIL = "[bold]x[/] \x1b[2J\u202e</script>"


@pytest.fixture(autouse=True)
def work_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KEYPOSE_LIBRARY", raising=False)
    return tmp_path


@pytest.fixture(scope="session")
def takes_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three takes and a library of them."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "takes" / "more").mkdir(parents=True)
    demo = kp.demo_motion(fps=20)
    for name, start, end in (("walk", 20, 80), ("kick", 180, 240), ("more/turn_left", 100, 130)):
        kp.save(demo[start:end], folder / "takes" / f"{name}.bvh")
    with Library(folder / "clips.db") as library:
        library.add([folder / "takes"], tags=("studio",), jobs=1)
        library.tag("kick", "kicking")
    return folder


@pytest.fixture
def copy(takes_folder: Path, work_folder: Path) -> Path:
    """A copy of it that tests may change."""
    shutil.copytree(takes_folder, work_folder, dirs_exist_ok=True)
    return work_folder


def names(result) -> list[str]:
    return [clip["name"] for clip in json.loads(result.out)["clips"]]


def test_a_folder_is_added_once(keypose: Callable, takes_folder: Path) -> None:
    (Path("bad.bvh")).write_text("HIERARCHY nonsense")
    result = keypose(
        "library", "add", takes_folder / "takes", "bad.bvh", "--tag", "a", "--tag", "B", "--licence", "CC0", "--jobs", 1
    )
    assert result.code == 1
    assert result.out.startswith("clips.db: 3 of 4 files added, 1 left out, 7.50 s of motion in ")
    assert result.err == "error: bad.bvh:1: no MOTION section, expected one after the hierarchy\n"
    assert Path("clips.db").is_file()
    again = keypose("library", "add", takes_folder / "takes", "--json", "--jobs", 1)
    assert again.code == 0
    payload = json.loads(again.out)
    assert (payload["added"], payload["failed"], payload["n_remaining"], payload["interrupted"]) == ([], [], 0, False)
    assert sorted((clip["name"], clip["tags"], clip["licence"]) for clip in payload["existing"]) == [
        (name, ["a", "b"], "CC0") for name in ("kick", "turn_left", "walk")
    ]
    assert keypose("library", "add", takes_folder / "takes", "-q", "--jobs", 1).out == ""


def test_tolerance_stores_compressed_files(keypose: Callable, takes_folder: Path) -> None:
    result = keypose("library", "add", takes_folder / "takes" / "walk.bvh", "--tolerance-mm", 5, "--json")
    (clip,) = json.loads(result.out)["added"]
    assert (clip["suffix"], clip["tolerance_mm"]) == (".kps", 5)
    assert "within 5 mm" in keypose("library", "show", "walk").out


def test_where_nothing_is_no_library_is_made(keypose: Callable) -> None:
    result = keypose("library", "add", "walk.bvh")
    assert (result.code, result.err) == (1, "error: walk.bvh: no such file\n")
    assert not Path("clips.db").exists()


@pytest.mark.parametrize(
    "command", ["list", "stats", "verify", "rebuild", "show x", "search x", "tag x --add y", "export out"]
)
def test_a_library_that_is_not_there_is_not_made(keypose: Callable, command: str) -> None:
    result = keypose("library", *command.split())
    assert result.code == 1
    assert result.err == ("error: clips.db: no such library; keypose library add FOLDER makes one, and --library or "
                       "KEYPOSE_LIBRARY names another\n")  # fmt: skip
    assert list(Path().iterdir()) == []


def test_the_library_is_named_by_option_or_environment(keypose: Callable, takes_folder: Path, monkeypatch) -> None:
    assert names(keypose("library", "list", "--library", takes_folder / "clips.db", "--json")) == [
        "kick",
        "turn_left",
        "walk",
    ]
    monkeypatch.setenv("KEYPOSE_LIBRARY", str(takes_folder / "clips.db"))
    assert names(keypose("library", "list", "--json")) == ["kick", "turn_left", "walk"]
    assert keypose("library", "list", "-l", "other.db").err.startswith("error: other.db: no such library")
    assert keypose("library", "list", "--library", "").code == 2


def test_something_else_is_no_library(keypose: Callable) -> None:
    Path("clips.db").write_text("something else, and long enough to be no empty file " * 20)
    result = keypose("library", "list")
    assert result.code == 1
    assert "expected" in result.err


def test_lists_are_by_words_tags_and_duration(keypose: Callable, takes_folder: Path, monkeypatch) -> None:
    monkeypatch.chdir(takes_folder)
    for options, matches in (
        ([], ["kick", "turn_left", "walk"]),
        (["left"], ["turn_left"]),
        (["stu", "KICK"], ["kick"]),
        (["--tag", "kicking", "--tag", "studio"], ["kick"]),
        (["--max-duration-s", "2"], ["turn_left"]),
        (["--action", "turn left"], ["turn_left"]),
        (["--min-duration-s", "2"], ["kick", "walk"]),
        (["--limit", "1", "--skip", "1"], ["turn_left"]),
        (["nothing"], []),
    ):
        assert names(keypose("library", "list", *options, "--json")) == matches, options
    text = keypose("library", "list", "studio").out
    assert re.search(r"^ turn_left +1.50 s +30 +20 +\d+ +20\d\d-\d\d-\d\d +studio$", text, re.M)
    assert text.endswith("\n3 clips, 150 frames, 7.50 s\n")
    assert keypose("library", "list", "nothing").out == "no such clip in clips.db\n"
    unknown = keypose("library", "list", "--action", "dance")
    assert unknown.code == 1 and "expected one of step, kick, " in unknown.err
    assert keypose("library", "list", "--action", "sit").out == "no such clip in clips.db\n"
    assert " actions " in keypose("library", "show", "kick").out
    assert json.loads(keypose("library", "show", "kick", "--json").out)["clips"][0]["actions"]["kick"] == 1


def test_long_list_is_truncated_with_a_note(keypose: Callable, copy: Path, monkeypatch) -> None:
    monkeypatch.setattr("keypose.cli.library_edit.MAX_ROWS", 2)
    result = keypose("library", "list")
    assert "walk" not in result.out
    assert result.out.endswith("3 clips, 150 frames, 7.50 s\n")
    assert result.err == "note: the first 2 of 3 are shown; --limit shows more, words and --tag find fewer\n"
    assert "walk" in keypose("library", "list", "--limit", 3).out


def test_show_prints_all_properties(keypose: Callable, copy: Path) -> None:
    text = keypose("library", "show", "kick").out
    for words in ("kick\n", "hash", "kicking, studio", "60 at 20 fps", "3.00 s", "as .bvh", "key poses", "swings"):
        assert words in text
    payload = json.loads(keypose("library", "show", "kick", "--json").out)["clips"][0]
    frames = payload["key_frames"]
    assert frames == sorted(set(frames)) and set(frames) <= set(range(60)) and len(frames) == 8
    assert sum(payload["swings"].values()) > 5 and "left_thigh" in payload["swings"]
    assert f"{frames[3]} ({frames[3] / 20:.2f} s)" in text
    assert len(json.loads(keypose("library", "show", "kick", "walk", "--json").out)["clips"]) == 2


def test_a_strip_is_written_once(keypose: Callable, copy: Path) -> None:
    result = keypose("library", "show", "kick", "--strip", "kick.svg")
    assert result.code == 0 and result.out.endswith("kick.svg: written\n")
    assert Path("kick.svg").read_text().startswith("<svg ")
    assert keypose("library", "show", "walk", "--strip", "kick.svg").code == 1
    assert keypose("library", "show", "walk", "--strip", "kick.svg", "--overwrite").code == 0
    assert keypose("library", "show", "walk", "kick", "--strip", "k.svg").code == 2
    assert keypose("library", "show", "walk", "--strip", "k.txt").code == 1


def test_tags_names_and_removal(keypose: Callable, copy: Path) -> None:
    result = keypose("library", "tag", "kick", "walk", "--add", "Left Hand", "--remove", "studio")
    assert result.out == "kick: kicking, left hand\nwalk: left hand\n"
    assert keypose("library", "tag", "walk", "--remove", "left hand").out == "walk: no tags\n"
    assert keypose("library", "rename", "walk", "slow walk").out == "walk: renamed to slow walk\n"
    assert json.loads(keypose("library", "rename", "slow walk", "walk", "--json").out)["old_name"] == "slow walk"
    result = keypose("library", "remove", "walk", "kick", "walk", "--yes")
    assert re.fullmatch(r"walk: removed \([0-9a-f]{12}, 3.00 s\)\nkick: removed \([0-9a-f]{12}, 3.00 s\)\n", result.out)
    assert names(keypose("library", "list", "--json")) == ["turn_left"]
    (removed,) = json.loads(keypose("library", "remove", "turn_left", "-y", "--json").out)["removed"]
    assert removed["name"] == "turn_left"
    assert (copy / "takes" / "walk.bvh").is_file()


def test_nothing_is_done_if_one_clip_is_not_there(keypose: Callable, copy: Path) -> None:
    for command in (["remove", "walk", "wolk", "--yes"], ["tag", "walk", "wolk", "--add", "new"]):
        result = keypose("library", *command)
        assert (result.code, result.out) == (1, "")
        assert result.err == "error: no clip 'wolk' in the library; did you mean 'walk'?\n"
    assert names(keypose("library", "list", "--json")) == ["kick", "turn_left", "walk"]
    assert names(keypose("library", "list", "new", "--json")) == []


def test_without_a_terminal_removal_wants_yes(keypose: Callable, copy: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    result = keypose("library", "remove", "walk")
    assert result.code == 2
    assert result.err.startswith(
        "error: 1 clip would be removed, and there is no terminal to confirm it, expected --yes\n"
    )
    assert "walk" in names(keypose("library", "list", "--json"))


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX terminals")
@pytest.mark.parametrize(("answer", "left"), [("y", False), ("yes", False), ("n", True), ("", True), ("\x04", True)])
def test_at_a_terminal_removal_asks(copy: Path, monkeypatch, answer: str, left: bool) -> None:
    from keypose.cli import output

    ours, theirs = pty.openpty()
    try:
        with os.fdopen(theirs, "r+b", buffering=0) as raw, open(raw.fileno(), "w", closefd=False) as writing:
            with open(raw.fileno(), closefd=False) as reading:
                os.write(ours, answer.encode() + (b"" if answer == "\x04" else b"\n"))
                monkeypatch.setattr(sys, "stdin", reading)
                monkeypatch.setattr(sys, "stderr", writing)
                output.stderr_console.cache_clear()
                code = run(["library", "remove", "kick", "walk"])
                writing.flush()
            message = ""
            while (
                "[y/N]" not in message and select.select([ours], [], [], 10.0)[0]
            ):  # the terminal echoes the input first
                message += os.read(ours, 10_000).decode()
    finally:
        os.close(ours)
        output.stderr_console.cache_clear()
    assert "remove 2 clips from the library: kick, walk? [y/N]" in message
    assert code == (1 if left else 0)
    with Library(copy / "clips.db") as library:
        assert len(library) == (3 if left else 1)


def test_export_writes_the_original_bytes(keypose: Callable, copy: Path) -> None:
    result = keypose("library", "export", "out", "--tag", "studio", "--words", "left")
    assert result.code == 0 and result.out.startswith("out: 1 file, ")
    payload = json.loads(keypose("library", "export", "out", "--json").out)["files"]
    assert sorted(file["name"] for file in payload) == ["kick", "turn_left", "walk"]
    assert (Path("out") / "walk.bvh").read_bytes() == (copy / "takes" / "walk.bvh").read_bytes()
    assert keypose("library", "export", "one", "walk").code == 0
    assert [path.name for path in Path("one").iterdir()] == ["walk.bvh"]
    assert keypose("library", "export", "one", "walk", "--tag", "x").code == 2
    (Path("one") / "walk.bvh").write_text("precious")
    assert keypose("library", "export", "one", "walk").code == 1
    assert (Path("one") / "walk.bvh").read_text() == "precious"


def test_stats(keypose: Callable, copy: Path) -> None:
    payload = json.loads(keypose("library", "stats", "--json").out)
    assert (payload["clips"], payload["n_frames"], payload["skeletons"]) == (3, 150, 1)
    assert payload["tags"] == {"studio": 3, "kicking": 1}
    assert "studio (3), kicking (1)" in keypose("library", "stats").out


def test_damage_is_found_and_repaired(keypose: Callable, copy: Path) -> None:
    assert keypose("library", "verify").out == "3 clips, all sound\n"
    with Library(copy / "clips.db") as library:
        blob = library.clip("walk").blob
    (file,) = [path for path in (copy / "clips.db.blobs").rglob("*") if path.name.startswith(blob)]
    file.chmod(0o600)
    file.write_bytes(file.read_bytes()[:-5] + b"xxxxx")
    result = keypose("library", "verify")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: damaged blob: walk: ")
    payload = json.loads(keypose("library", "verify", "--fix", "--json").out)
    assert (payload["clips"], payload["sound"], [fault["fixed"] for fault in payload["faults"]]) == (3, False, [False])
    keypose("library", "add", "takes", "--jobs", 1)
    assert keypose("library", "verify").code == 0


def test_what_can_be_fixed_is_no_failure(keypose: Callable, copy: Path) -> None:
    with Library(copy / "clips.db") as library:
        library._store.blobs.put(b"nobody's")
    assert keypose("library", "verify").code == 1
    fixed = keypose("library", "verify", "--fix", "--drop-orphans")
    assert (fixed.code, fixed.out) == (0, "3 clips, all sound\n")
    assert fixed.err.startswith("note: orphan blob: ") and "(fixed)" in fixed.err
    assert keypose("library", "verify").code == 0


def test_a_lost_database_comes_back(keypose: Callable, copy: Path) -> None:
    for path in copy.glob("clips.db*"):
        if path.is_file():
            path.unlink()
    assert keypose("library", "list").code == 1
    result = keypose("library", "rebuild")
    assert (result.code, result.out) == (0, "3 clips, all rebuilt\n")
    assert len(names(keypose("library", "list", "--json"))) == 3


def test_names_from_files_are_text(keypose: Callable, copy: Path) -> None:
    with Library(copy / "clips.db") as library:
        library.rename("walk", EVIL)
        library.tag("kick", "[red]tag[/red]")
    for command in (["list"], ["show", EVIL], ["stats"], ["tag", EVIL, "--add", "x"], ["remove", EVIL, "--yes"]):
        result = keypose("library", *command)
        assert result.code == 0, command
        assert "\x1b[2J" not in result.out + result.err and "\u202e" not in result.out + result.err
        assert "[bold]x[/]" in result.out or "[red]tag[/red]" in result.out


@pytest.mark.parametrize(
    "line",
    [
        "add",
        "add x --jobs 0",
        "add x --jobs 2 --engine dask://localhost:8786",
        "add x --tolerance-mm 0",
        "add x --tolerance-mm nan",
        "list --limit -1",
        "list --skip -1",
        "list --min-duration-s -1",
        "list --max-duration-s nan",
        "show",
        "tag walk",
        "tag --add x",
        "tag walk --add x --remove x",
        "rename walk",
        "remove --yes",
        "export",
        "verify walk",
        "nonsense",
    ],
)
def test_a_wrong_command_line_is_exit_code_2(keypose: Callable, copy: Path, line: str) -> None:
    result = keypose("library", *line.split())
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert result.err.splitlines()[1].strip().startswith("see: keypose library")


def test_interrupted_add_prints_how_to_continue(keypose: Callable, takes_folder: Path, monkeypatch) -> None:
    from keypose.cli.library_add import IngestSummary

    add_file = IngestSummary.add

    def interrupt(self, progress) -> None:
        add_file(self, progress)
        if progress.done == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("keypose.cli.library_add.IngestSummary.add", interrupt)
        patch.setattr("keypose.library.ingest.run.MAX_BATCH_CLIPS", 1)
        result = keypose("library", "add", takes_folder / "takes", "--jobs", 1)
    assert result.code == 130
    assert result.out.startswith("clips.db: 2 of 3 files added, ")
    assert result.err == "note: interrupted with 1 file to go; the same command continues from here\n"
    again = json.loads(keypose("library", "add", takes_folder / "takes", "--jobs", 1, "--json").out)
    assert (len(again["added"]), len(again["existing"])) == (1, 2)


def test_broken_pipe_is_no_error(takes_folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "keypose", "library", "list", "--library", str(takes_folder / "clips.db")]
    try:
        completed = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False)
    finally:
        os.close(writing)
    assert (completed.returncode, completed.stderr) == (141, b"")
