"""Errors before anything is written: one line or JSON, with suggestions."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import keypose as kp
from keypose.batch.file_discovery import suggest_file


@pytest.fixture(autouse=True)
def folder(clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with two clips and an empty folder."""
    clip("walk.bvh"), clip("other.bvh")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (["convert", "walk.bvh", "other.bvh"], 1, "FileError"),
        (["convert", "walk.bvh", "x.xyz"], 1, "OptionError"),
        (["convert", "walk.bvh", "out", "--to", "xyz"], 1, "OptionError"),
        (["convert", "empty", "out", "--to", "glb"], 1, "FileError"),
        (["convert", "none/*.bvh", "out", "--to", "glb"], 1, "FileError"),
        (["demo", "walk.bvh", "--fps", "5"], 1, "FileError"),
        (["demo", "out", "--seed", "-1"], 1, "OptionError"),
        (["convert", "walk.bvh", "x.bvh", "--range", "x:y"], 2, "UsageError"),
        (["convert", "walk.bvh", "other.bvh", "other.bvh"], 2, "UsageError"),
        (["convert", "walk.bvh", "x.bvh", "--nonsense"], 2, "UsageError"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_an_error_is_a_json_document_too(keypose, arguments: list[str], code: int, kind: str) -> None:
    text, result = keypose(*arguments), keypose(*arguments, "--json")
    assert (text.code, result.code, text.out) == (code, code, "")
    document = json.loads(result.out)
    assert list(document) == ["error", "error_kind", "error_fields"]
    assert text.err.splitlines()[0] == f"error: {document['error']}"
    assert document["error_kind"] == kind
    assert result.err == (text.err if code == 2 else "")  # a wrong command line is also printed on stderr


def test_info_has_a_list_whatever_happens(keypose, monkeypatch: pytest.MonkeyPatch) -> None:
    payload = json.loads(keypose("info", "empty", "none/*", "walk.bvh", "--json").out)
    assert [document.get("error_kind") for document in payload] == [None, "FileError", "FileError"]
    result = keypose("info", "walk.bvh", "--jobs", "0", "--json")
    assert result.code == 2
    usage_error = {
        "error": "--jobs 0, expected at least 1",
        "error_kind": "UsageError",
        "error_fields": {"code": "usage", "option": "jobs", "value": 0, "expected": "at least 1"},
    }
    assert json.loads(result.out) == [usage_error]
    for error, code in ((ZeroDivisionError("oh no"), 70), (KeyboardInterrupt(), 130)):

        def broken(*arguments: object, error: BaseException = error) -> None:
            raise error

        monkeypatch.setattr("keypose.cli.info.discover_clips", broken)
        result = keypose("info", "walk.bvh", "--json")
        assert result.code == code
        assert [document["error_kind"] for document in json.loads(result.out)] == [type(error).__name__]


def test_json_as_a_name_is_no_option(keypose) -> None:
    result = keypose("convert", "walk.bvh", "--", "other.bvh", "--json")
    assert (result.code, result.out) == (2, "")


def test_no_suggestion_without_similar_names(keypose) -> None:
    for name in ("zebra.glb", "none/wlak.bvh"):
        assert keypose("info", name).err == f"error: {name}: no such file\n"
    assert "did you mean" not in keypose("convert", "walk.bvh", "x.xyz").err


def test_the_nearest_file(clip, folder: Path) -> None:
    for name in ("take_01.bvh", "Jump.BVH", "walk.txt", ".swing.bvh"):
        clip(name)
    (folder / "dangling.bvh").symlink_to(folder / "gone")
    assert suggest_file(folder / "wlak.bvh") == folder / "walk.bvh"
    assert suggest_file(folder / "walk.bhv") == folder / "walk.bvh"
    assert suggest_file(folder / "jmup.bvh") == folder / "Jump.BVH"
    assert suggest_file(folder / "emtpy") == folder / "empty"
    assert suggest_file(folder / "take-01.bvh") == folder / "take_01.bvh"
    for other in ("take_02.bvh", "swing.bvh", "dangling.bvh", "x" * 5000, "nul\0.bvh"):
        assert suggest_file(folder / other) is None


def test_superfluous_arguments_are_named(keypose) -> None:
    result = keypose("methods", "salient", "x y")
    assert result.code == 2
    assert result.err == "error: 'salient' 'x y': expected no further argument\n  see: keypose methods --help\n"


def test_a_folder_that_is_called_like_a_file(keypose, folder: Path) -> None:
    for names in (["walk.bvh"], ["walk.bvh", "other.bvh"]):
        result = keypose("convert", *names, "zz.bvh", "--to", "glb")
        assert result.code == 2
        assert "zz.bvh is the name of a file, but several results need a folder" in result.err
        assert not (folder / "zz.bvh").exists()
    assert keypose("convert", "walk.bvh", "zz.bvh/", "--to", "glb").code == 0
    assert keypose("convert", "other.bvh", "zz.bvh", "--to", "glb").code == 0  # the folder exists now
    assert sorted(path.name for path in (folder / "zz.bvh").iterdir()) == ["other.glb", "walk.glb"]


@pytest.mark.parametrize("to", [[], ["--to", "bvh"]], ids=["without --to", "with --to"])
def test_a_forgotten_target(keypose, clip, folder: Path, to: list[str]) -> None:
    clip("third.bvh")
    for names in (["other.bvh", "third.bvh", "walk.bvh"], ["empty/..", "walk.bvh"]):
        result = keypose("convert", *names, *to)
        assert result.code == 2
        assert "the last name, walk.bvh, is an existing file, expected a folder for the results" in result.err
        assert kp.load(folder / "walk.bvh").n_frames == 8


def test_names_too_long_for_a_file_system(keypose) -> None:
    for out in ("x" * 5000, "x" * 5000 + ".bvh"):
        for to in ([], ["--to", "glb"]):
            assert keypose("convert", "walk.bvh", out, *to).code in (1, 2)


@pytest.mark.one_python
@pytest.mark.parametrize(
    "arguments",
    [
        ["info", "takes"],
        ["convert", "takes", "out", "--to", "glb"],
        ["compress", "takes", "out"],
        ["restore", "packed", "out", "--to", "bvh"],
        ["verify", "packed"],
        ["verify", "small.kps", "--against", "takes/pipe.bvh"],
        ["unbake", "takes", "out", "--to", "glb", "--keys", "4"],
        ["unbake", "other.bvh", "out.glb", "--into", "takes/pipe.bvh", "--keys", "4"],
        ["rebake", "takes", "out", "--to", "glb", "--from", "few.keys.json"],
        ["keys", "takes", "--keys", "4"],
        ["swings", "takes"],
        ["strip", "takes", "out", "--keys", "4"],
        ["timeline", "takes/pipe.bvh", "out.svg"],
        ["report", "takes", "--keys", "4"],
        ["compare", "takes", "--methods", "uniform", "--no-curves"],
        ["library", "add", "takes"],
        ["library", "add", "takes/pipe.bvh"],
        ["library", "list", "--library", "takes/pipe.bvh"],
        ["serve", "--library", "takes/pipe.bvh"],
    ],
    ids=" ".join,
)
def test_no_command_waits_for_a_pipe(keypose, program, folder: Path, arguments: list[str]) -> None:
    (folder / "takes").mkdir()
    (folder / "walk.bvh").rename(folder / "takes" / "walk.bvh")
    assert keypose("compress", "other.bvh", "small.kps").code == 0
    assert keypose("unbake", "other.bvh", "few.keys.json", "--keys", 4).code == 0
    (folder / "packed").mkdir()
    for pipe in ("takes/pipe.bvh", "packed/pipe.kps"):
        os.mkfifo(folder / pipe)
    result = program(*arguments, cwd=folder)
    assert result.code == 1
    assert "is not a regular file" in result.err
    assert "Traceback" not in result.err
    if "takes/pipe.bvh" in arguments:  # nothing else was to be read
        assert not (folder / "clips.db").exists() and not (folder / "out.glb").exists()
