"""``keypose verify`` and ``keypose info`` of compressed files, sound and damaged."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.storage.error import largest_error
from support import cli_docs
from support.storage_cases import damaged_copy, document


@pytest.fixture(scope="module")
def stored_clip(walk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stored") / "walk.kps"
    kp.save(kp.load(walk), path, tolerance_mm=1.0)
    return path


@pytest.fixture
def damaged_clip(stored_clip: Path, tmp_path: Path) -> Path:
    return damaged_copy(stored_clip, tmp_path / "damaged.kps")


def test_a_sound_file(keypose, stored_clip: Path, motion: kp.Motion) -> None:
    result = keypose("verify", stored_clip)
    assert (result.code, result.err) == (0, "")
    assert "within 1 mm" in result.out and "every group was read" in result.out
    payload = document(keypose("verify", stored_clip, "--json"))
    assert (payload["sound"], payload["problem"], payload["damage"]) == (True, None, [])
    assert (payload["path"], payload["bytes"]) == (str(stored_clip), stored_clip.stat().st_size)
    assert (payload["n_frames"], payload["fps"], payload["n_joints"]) == (motion.n_frames, 20.0, motion.n_joints)
    assert payload["n_groups"] == max(1, (2 * motion.n_frames + 20) // 40)
    assert payload["ratio"] == pytest.approx(40 * motion.n_joints * motion.n_frames / payload["bytes"])
    assert set(payload) <= cli_docs.documented_fields("verify")


def test_a_damaged_file(keypose, damaged_clip: Path) -> None:
    result = keypose("verify", damaged_clip)
    assert result.code == 1
    assert re.search(rf"^error: {re.escape(str(damaged_clip))}: 1 of 12 groups cannot be read: group \d+ .*"
                     r"; the rest can be restored: keypose restore ", result.err, re.MULTILINE)  # fmt: skip
    assert "every group was read" not in result.out
    again = keypose("verify", damaged_clip, "--json")
    payload = document(again)
    assert (again.code, again.err, payload["sound"]) == (1, "", False)
    assert {each["group"] for each in payload["damage"]} and "cannot be read" in payload["problem"]


def test_a_folder(keypose, stored_clip: Path, damaged_clip: Path, tmp_path: Path) -> None:
    (tmp_path / "sound.kps").write_bytes(stored_clip.read_bytes())
    (tmp_path / "short.kps").write_bytes(stored_clip.read_bytes()[:60])
    result = keypose("verify", tmp_path)
    assert result.code == 1
    assert "1 of 3 files sound" in result.out
    assert len([line for line in result.err.splitlines() if line.startswith("error: ")]) == 2
    sound = {Path(each["path"]).name: each.get("sound") for each in document(keypose("verify", tmp_path, "--json"))}
    assert sound == {"sound.kps": True, "damaged.kps": False, "short.kps": None}


def test_against_the_original(keypose, clip, walk: Path, stored_clip: Path, motion: kp.Motion, tmp_path: Path) -> None:
    result = keypose("verify", stored_clip, "--against", walk)
    error = largest_error(motion, kp.load(stored_clip))
    assert result.code == 0 and f"{error.mm:.3g} mm at frame {error.frame}" in result.out
    takes, archive = tmp_path / "takes", tmp_path / "archive"
    for folder in (takes, archive):
        (folder / "deep").mkdir(parents=True)
    (takes / "deep" / "walk.bvh").write_bytes(walk.read_bytes())
    (archive / "deep" / "walk.kps").write_bytes(stored_clip.read_bytes())
    (archive / "lost.kps").write_bytes(stored_clip.read_bytes())
    clip("takes/other.bvh")
    (archive / "other.kps").write_bytes(stored_clip.read_bytes())
    payload = document(keypose("verify", archive, "--against", takes, "--json"))
    by_name = {Path(each["path"]).name: each for each in payload}
    assert by_name["walk.kps"]["sound"] and by_name["walk.kps"]["largest_error"]["mm"] == pytest.approx(error.mm)
    assert by_name["other.kps"]["sound"] is False and "differs from that of other" in by_name["other.kps"]["problem"]
    assert "no such file" in by_name["lost.kps"]["error"]


def test_a_file_farther_off_than_it_promises(keypose, clip, tmp_path: Path) -> None:
    walk = clip()
    motion = kp.load(walk)
    moved = replace(motion, translations=motion.translations + 2 / motion.mm_per_unit)
    kp.save(moved, tmp_path / "fine.kps", tolerance_mm=1)
    result = keypose("verify", tmp_path / "fine.kps", "--against", walk)
    assert result.code == 1 and re.search(r"read back, it is off by .* more than 1 mm", result.err)
    kp.save(moved, tmp_path / "all.kps", lossless=True)
    result = keypose("verify", tmp_path / "all.kps", "--against", walk)
    assert result.code == 1 and "differ although it is lossless" in result.err


def test_info_shows_what_is_special_about_a_compressed_file(keypose, stored_clip: Path, motion: kp.Motion) -> None:
    result = keypose("info", stored_clip)
    assert (result.code, result.err) == (0, "")
    assert "within 1 mm" in result.out and "each readable alone" in result.out
    (payload,) = document(keypose("info", stored_clip, "--json"))
    assert (payload["frames"], payload["joints"]) == (motion.n_frames, motion.n_joints)
    assert (payload["stored"]["tolerance_mm"], payload["stored"]["damage"]) == (1.0, [])
    assert keypose("info", stored_clip, stored_clip.parent).code == 0


def test_info_of_a_damaged_file_shows_the_damage(keypose, damaged_clip: Path, motion: kp.Motion) -> None:
    result = keypose("info", damaged_clip)
    assert result.code == 0 and re.search(r"damaged +group \d+ \(", result.out)
    (payload,) = document(keypose("info", damaged_clip, "--json"))
    assert payload["frames"] == motion.n_frames and payload["stored"]["damage"]


def test_no_files(keypose, tmp_path: Path) -> None:
    assert keypose("verify").code == 2
    result = keypose("verify", tmp_path)
    assert result.code == 1 and "no motion files in this folder" in result.err
