"""``keypose verify`` and ``keypose info`` of compressed files, sound and damaged."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from storage_cases import damaged_copy, document

import keypose as kp
from keypose.storage.error import largest_error

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


@pytest.fixture(scope="module")
def stored(walk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stored") / "walk.kps"
    kp.save(kp.load(walk), path, tolerance_mm=1.0)
    return path


@pytest.fixture
def damaged(stored: Path, tmp_path: Path) -> Path:
    return damaged_copy(stored, tmp_path / "damaged.kps")


def test_a_sound_file(keypose, stored: Path, motion: kp.Motion) -> None:
    ran = keypose("verify", stored)
    assert (ran.code, ran.err) == (0, "")
    assert "within 1 mm" in ran.out and "every group was read" in ran.out
    found = document(keypose("verify", stored, "--json"))
    assert (found["sound"], found["problem"], found["damage"]) == (True, None, [])
    assert (found["path"], found["bytes"]) == (str(stored), stored.stat().st_size)
    assert (found["n_frames"], found["fps"], found["n_joints"]) == (motion.n_frames, 20.0, motion.n_joints)
    assert found["n_groups"] == max(1, (2 * motion.n_frames + 20) // 40)
    assert found["ratio"] == pytest.approx(40 * motion.n_joints * motion.n_frames / found["bytes"])
    section = DOCS.read_text().split("## `keypose verify`")[1].split("\n## ")[0]
    assert set(found) <= set(re.findall(r"`(\w+)`", section))


def test_a_damaged_file(keypose, damaged: Path) -> None:
    ran = keypose("verify", damaged)
    assert ran.code == 1
    assert re.search(rf"^error: {re.escape(str(damaged))}: 1 of 12 groups cannot be read: group \d+ .*"
                     r"; the rest can be restored: keypose restore ", ran.err, re.MULTILINE)  # fmt: skip
    assert "every group was read" not in ran.out
    again = keypose("verify", damaged, "--json")
    found = document(again)
    assert (again.code, again.err, found["sound"]) == (1, "", False)
    assert {each["group"] for each in found["damage"]} and "cannot be read" in found["problem"]


def test_a_folder(keypose, stored: Path, damaged: Path, tmp_path: Path) -> None:
    (tmp_path / "sound.kps").write_bytes(stored.read_bytes())
    (tmp_path / "short.kps").write_bytes(stored.read_bytes()[:60])
    ran = keypose("verify", tmp_path)
    assert ran.code == 1
    assert "1 of 3 files sound" in ran.out
    assert len([line for line in ran.err.splitlines() if line.startswith("error: ")]) == 2
    sound = {Path(each["path"]).name: each.get("sound") for each in document(keypose("verify", tmp_path, "--json"))}
    assert sound == {"sound.kps": True, "damaged.kps": False, "short.kps": None}


def test_against_the_original(keypose, clip, walk: Path, stored: Path, motion: kp.Motion, tmp_path: Path) -> None:
    ran = keypose("verify", stored, "--against", walk)
    error = largest_error(motion, kp.load(stored))
    assert ran.code == 0 and f"{error.mm:.3g} mm at frame {error.frame}" in ran.out
    takes, archive = tmp_path / "takes", tmp_path / "archive"
    for folder in (takes, archive):
        (folder / "deep").mkdir(parents=True)
    (takes / "deep" / "walk.bvh").write_bytes(walk.read_bytes())
    (archive / "deep" / "walk.kps").write_bytes(stored.read_bytes())
    (archive / "lost.kps").write_bytes(stored.read_bytes())
    clip("takes/other.bvh")
    (archive / "other.kps").write_bytes(stored.read_bytes())
    told = document(keypose("verify", archive, "--against", takes, "--json"))
    found = {Path(each["path"]).name: each for each in told}
    assert found["walk.kps"]["sound"] and found["walk.kps"]["largest_error"]["mm"] == pytest.approx(error.mm)
    assert found["other.kps"]["sound"] is False and "differs from that of other" in found["other.kps"]["problem"]
    assert "no such file" in found["lost.kps"]["error"]


def test_a_file_farther_off_than_it_promises(keypose, clip, tmp_path: Path) -> None:
    walk = clip()
    motion = kp.load(walk)
    moved = replace(motion, translations=motion.translations + 2 / motion.mm_per_unit)
    kp.save(moved, tmp_path / "fine.kps", tolerance_mm=1)
    ran = keypose("verify", tmp_path / "fine.kps", "--against", walk)
    assert ran.code == 1 and re.search(r"read back, it is off by .* more than 1 mm", ran.err)
    kp.save(moved, tmp_path / "all.kps", lossless=True)
    ran = keypose("verify", tmp_path / "all.kps", "--against", walk)
    assert ran.code == 1 and "differ although it is lossless" in ran.err


def test_info_shows_what_is_special_about_a_compressed_file(keypose, stored: Path, motion: kp.Motion) -> None:
    ran = keypose("info", stored)
    assert (ran.code, ran.err) == (0, "")
    assert "within 1 mm" in ran.out and "each readable alone" in ran.out
    (found,) = document(keypose("info", stored, "--json"))
    assert (found["frames"], found["joints"]) == (motion.n_frames, motion.n_joints)
    assert (found["stored"]["tolerance_mm"], found["stored"]["damage"]) == (1.0, [])
    assert keypose("info", stored, stored.parent).code == 0


def test_info_of_a_damaged_file_shows_the_damage(keypose, damaged: Path, motion: kp.Motion) -> None:
    ran = keypose("info", damaged)
    assert ran.code == 0 and re.search(r"damaged +group \d+ \(", ran.out)
    (found,) = document(keypose("info", damaged, "--json"))
    assert found["frames"] == motion.n_frames and found["stored"]["damage"]


def test_no_files(keypose, tmp_path: Path) -> None:
    assert keypose("verify").code == 2
    ran = keypose("verify", tmp_path)
    assert ran.code == 1 and "no motion files in this folder" in ran.err
