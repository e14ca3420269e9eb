"""Errors of ``keypose compress`` and ``keypose restore``: damage and wrong command lines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.storage.error import largest_error
from support.errors import check_json_error, check_usage_error
from support.storage_cases import damaged_copy, document, names


@pytest.fixture(scope="session")
def stored_clip(walk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo motion within a millimetre."""
    path = tmp_path_factory.mktemp("stored") / "walk.kps"
    kp.save(kp.load(walk), path, tolerance_mm=1.0)
    return path


@pytest.fixture
def damaged_clip(stored_clip: Path, tmp_path: Path) -> Path:
    return damaged_copy(stored_clip, tmp_path / "damaged.kps")


# Damage


def test_damaged_file_prints_how_to_restore_the_rest(
    keypose, damaged_clip: Path, motion: kp.Motion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out.bvh"
    result = keypose("restore", damaged_clip, out)
    assert result.code == 1 and not out.exists()
    assert re.search(r": 1 of 12 groups cannot be read: group \d+ \(\d+ to \d+ s\): its bytes.* damaged", result.err)
    commands = re.findall(r"keypose (restore [^;]+)", result.err)
    assert len(commands) == 2
    frames = 0
    for command in commands:
        words = command.split()
        assert keypose(*words).code == 0
        part = kp.load(words[2])
        start = round(float(words[words.index("--from-s") + 1]) * 20) if "--from-s" in words else 0
        assert largest_error(motion[start : start + part.n_frames], part, mm_per_unit=motion.mm_per_unit).mm < 1.01
        frames += part.n_frames
    assert motion.n_frames - 3 * 20 <= frames < motion.n_frames
    document(keypose("restore", damaged_clip, out, "--json"))["failed"][0]["error"].index("cannot be read")


def test_other_file_is_no_kps(keypose, walk: Path, tmp_path: Path) -> None:
    result = keypose("restore", walk, tmp_path / "x.bvh")
    assert result.code == 1 and result.err.startswith(f"error: {walk}: ")
    assert names(tmp_path) == []


# Wrong command lines


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["a.bvh"], "expected the files to compress, and the output; keypose compress IN OUT"),
        (["a.bvh", "b.kps", "--tolerance-mm", "0"], "--lossless keeps every number"),
        (["a.bvh", "b.kps", "--tolerance-mm", "nan"], "--tolerance-mm nan, expected 0.001 to "),
        (["a.bvh", "b.kps", "--tolerance-mm", "1", "--lossless"], "cannot be combined with"),
        (["a.bvh", "b.kps", "--keyed", "k.keys.json", "--no-keys"], "cannot be combined with"),
        (["a.bvh", "b.kps", "--overwrite", "--skip-existing"], "cannot be combined with"),
        (["a.bvh", "b.bvh"], "b.bvh: expected a name that ends in .kps, such as b.kps"),
        (["a.bvh", "c.bvh", "b.kps"], "b.kps/ makes it one"),
        (["a.bvh", "c.bvh", "out", "--keyed", "k.keys.json"], "one file for 2 clips, expected a folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_compress_usage_errors(
    keypose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = keypose("compress", *line)
    assert (result.code, result.out) == (2, "")
    assert message in result.err.splitlines()[0]
    check_usage_error("compress", json.loads(keypose("compress", *line, "--json").out), message)


def test_a_clip_that_is_not_there(keypose, clip, tmp_path: Path) -> None:
    clip("walk.bvh")
    result = keypose("compress", tmp_path / "wlak.bvh", tmp_path / "x.kps")
    assert result.code == 1 and "no such file; did you mean" in result.err
    assert names(tmp_path) == ["walk.bvh"]


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (
            ["a.kps"],
            {
                "code": "missing_argument",
                "expected": "the files to restore, and the output",
                "hint": "keypose restore IN OUT",
            },
        ),
        (
            ["a.kps", "b.bvh", "--from-s", "-1"],
            {"option": "from_s", "value": -1.0, "expected": "seconds from the clip's start, 0 or more"},
        ),
        (
            ["a.kps", "b.bvh", "--from-s", "3", "--to-s", "2"],
            {"option": "to_s", "value": 2.0, "expected": "a later time than 3 s, where the part begins"},
        ),
        (["a.kps", "b.bvh", "--overwrite", "--skip-existing"], {"code": "conflicting_options", "option": "overwrite"}),
        (
            ["a.kps", "b.kps"],
            {"code": "usage", "expected": "another format; to change the tolerance, use keypose compress"},
        ),
        (
            ["a.kps", "c.kps", "out"],
            {"code": "missing_argument", "expected": "the format of the files in it, such as --to glb"},
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_restore_usage_errors(
    keypose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: list[str], fields: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    result, as_json = keypose("restore", *line), keypose("restore", *line, "--json")
    assert (result.code, result.out, as_json.code) == (2, "", 2)
    assert result.err.splitlines()[0] == f"error: {check_json_error(as_json.out, **fields)}"
