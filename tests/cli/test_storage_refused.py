"""What ``keypose compress`` and ``keypose restore`` refuse: damage, and command lines that cannot be meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from storage_cases import damaged_copy, document, names

import keypose as kp
from keypose.storage.error import largest_error


@pytest.fixture(scope="session")
def stored(walk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo motion within a millimetre."""
    path = tmp_path_factory.mktemp("stored") / "walk.kps"
    kp.save(kp.load(walk), path, tolerance_mm=1.0)
    return path


@pytest.fixture
def damaged(stored: Path, tmp_path: Path) -> Path:
    return damaged_copy(stored, tmp_path / "damaged.kps")


# Damage


def test_a_damaged_file_is_named_with_what_to_type_for_the_rest(
    keypose, damaged: Path, motion: kp.Motion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out.bvh"
    ran = keypose("restore", damaged, out)
    assert ran.code == 1 and not out.exists()
    assert re.search(r": 1 of 12 groups cannot be read: group \d+ \(\d+ to \d+ s\): its bytes.* damaged", ran.err)
    commands = re.findall(r"keypose (restore [^;]+)", ran.err)
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
    document(keypose("restore", damaged, out, "--json"))["failed"][0]["error"].index("cannot be read")


def test_a_file_that_is_no_kps_says_so(keypose, walk: Path, tmp_path: Path) -> None:
    ran = keypose("restore", walk, tmp_path / "x.bvh")
    assert ran.code == 1 and ran.err.startswith(f"error: {walk}: ")
    assert names(tmp_path) == []


# What cannot be meant


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["a.bvh"], "expected what to compress, and where to: keypose compress IN OUT"),
        (["a.bvh", "b.kps", "--tolerance-mm", "0"], "--lossless keeps every number"),
        (["a.bvh", "b.kps", "--tolerance-mm", "nan"], "--tolerance-mm nan: expected 0.001 to "),
        (["a.bvh", "b.kps", "--tolerance-mm", "1", "--lossless"], "cannot both be meant"),
        (["a.bvh", "b.kps", "--keyed", "k.keys.json", "--no-keys"], "cannot both be meant"),
        (["a.bvh", "b.kps", "--overwrite", "--skip-existing"], "cannot both be meant"),
        (["a.bvh", "b.bvh"], "b.bvh: expected a name that ends in .kps, such as b.kps"),
        (["a.bvh", "c.bvh", "b.kps"], "b.kps/ makes it one"),
        (["a.bvh", "c.bvh", "out", "--keyed", "k.keys.json"], "one file for 2 clips, expected a folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_line_to_compress_is_exit_code_2(
    keypose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = keypose("compress", *line)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err.splitlines()[0]


def test_a_clip_that_is_not_there(keypose, clip, tmp_path: Path) -> None:
    clip("walk.bvh")
    ran = keypose("compress", tmp_path / "wlak.bvh", tmp_path / "x.kps")
    assert ran.code == 1 and "no such file; did you mean" in ran.err
    assert names(tmp_path) == ["walk.bvh"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["a.kps"], "expected what to restore, and where to"),
        (["a.kps", "b.bvh", "--from-s", "-1"], "expected seconds from the clip's start"),
        (["a.kps", "b.bvh", "--from-s", "3", "--to-s", "2"], "expected a later time than 3 s"),
        (["a.kps", "b.bvh", "--overwrite", "--skip-existing"], "cannot both be meant"),
        (["a.kps", "b.kps"], "b.kps: is to be compressed again?"),
        (["a.kps", "c.kps", "out"], "say the format of the files in it, such as --to glb"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_line_to_restore_is_exit_code_2(
    keypose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = keypose("restore", *line)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err.splitlines()[0]
