"""Keys and swings in compressed files: compress, store and restore."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.batch.stored_file import is_same
from keypose.storage.error import largest_error
from support.storage_cases import damaged_copy, document, names


@pytest.fixture(scope="module")
def keyed(capture: kp.Motion) -> kp.KeyedMotion:
    return kp.unbake(capture, keys=8)


# In


def test_keys_and_swings_beside_a_clip_go_along(
    keypose, kick: Path, capture, keyed, kick_swings, tmp_path: Path
) -> None:
    takes = tmp_path / "takes"
    takes.mkdir()
    source = takes / "kick.bvh"
    source.write_bytes(kick.read_bytes())
    kp.save(keyed, takes / "kick.bvh.keys.json")
    kp.save(kick_swings, takes / "kick.swings.json")
    result = keypose("compress", source, tmp_path / "kick.kps")
    assert result.code == 0
    assert [line.removeprefix(f"note: {source}: ") for line in result.err.splitlines()] == [
        "the keys in kick.bvh.keys.json beside it are stored too",
        "the swings in kick.swings.json beside it are stored too",
    ]
    assert f"8 keys and {kick_swings.n_swings} swings" in result.out
    loaded_keyed, whole = kp.load_keyed(tmp_path / "kick.kps"), kp.load_keyed(takes / "kick.bvh.keys.json")
    assert whole.residual is not None and is_same(replace(loaded_keyed, residual=None), replace(whole, residual=None))
    # the detail is in the frames and is restored from there
    assert keypose("restore", tmp_path / "kick.kps", tmp_path / "back" / "kick.bvh").code == 0
    back = kp.load_keyed(tmp_path / "back" / "kick.bvh.keys.json")
    assert back.notes == whole.notes and is_same(back, loaded_keyed)
    assert largest_error(capture, back.sample(1.0)).mm <= 1.001
    assert is_same(kp.load_swings(tmp_path / "kick.kps"), kp.load_swings(takes / "kick.swings.json"), is_rounded=True)
    assert largest_error(capture, kp.load(tmp_path / "kick.kps")).mm <= 1
    # with a file, a folder, or --no-keys
    (payload,) = document(keypose("compress", takes, tmp_path / "many", "--json"))["compressed"]
    assert (payload["keys"], payload["swings"]) == (8, kick_swings.n_swings)
    (payload,) = document(keypose("compress", takes, tmp_path / "none", "--no-keys", "--json"))["compressed"]
    assert (payload["keys"], payload["swings"]) == (None, None)
    arguments = ("--keyed", takes / "kick.bvh.keys.json", "--swings", takes, "--json")
    (payload,) = document(keypose("compress", kick, tmp_path / "told.kps", *arguments))["compressed"]
    assert (payload["keys"], payload["swings"]) == (8, kick_swings.n_swings)


def test_keys_of_another_clip_stay_where_they_are(keypose, clip, keyed, tmp_path: Path) -> None:
    source = clip("walk.bvh")
    kp.save(keyed, tmp_path / "walk.keys.json")
    result = keypose("compress", source, tmp_path / "walk.kps")
    assert (result.code, result.err) == (0, f"note: {source}: the keys in walk.keys.json beside it are not stored: other joints "
                                      "than in the clip\n")  # fmt: skip
    result = keypose("compress", source, tmp_path / "x.kps", "--keyed", tmp_path / "walk.keys.json")
    assert result.code == 1 and "so its keys are not those of walk" in result.err
    assert not (tmp_path / "x.kps").exists()


def test_keys_or_swings_alone_are_stored_exactly(keypose, keyed, kick_swings: kp.Swings, tmp_path: Path) -> None:
    kp.save(keyed, tmp_path / "k.keys.json")
    kp.save(kick_swings, tmp_path / "s.swings.json")
    result = keypose("compress", tmp_path / "k.keys.json", tmp_path / "k.kps")
    assert result.code == 0 and "stored exactly; read back" in result.out
    assert is_same(kp.load_keyed(tmp_path / "k.kps"), kp.load_keyed(tmp_path / "k.keys.json"))
    (payload,) = document(keypose("compress", tmp_path / "s.swings.json", tmp_path / "s.kps", "--json"))["compressed"]
    assert (payload["tolerance_mm"], payload["lossless"], payload["swings"]) == (None, False, kick_swings.n_swings)
    assert is_same(kp.load_swings(tmp_path / "s.kps"), kp.load_swings(tmp_path / "s.swings.json"), is_rounded=True)


def test_what_is_compressed_already_can_be_compressed_again(keypose, capture, keyed, tmp_path: Path) -> None:
    kp.save(capture, tmp_path / "one.kps", tolerance_mm=1.0, keyed=keyed)
    result = keypose("compress", tmp_path / "one.kps", tmp_path / "two.kps", "--tolerance-mm", 5)
    assert (result.code, result.err) == (0, "")
    loaded_keyed = kp.load_keyed(tmp_path / "two.kps")
    assert is_same(replace(loaded_keyed, residual=None), replace(keyed, residual=None))
    assert largest_error(capture, loaded_keyed.sample(1.0)).mm <= 6
    assert largest_error(capture, kp.load(tmp_path / "two.kps")).mm <= 6


# And out


def test_keys_and_swings_come_back_beside(
    keypose, capture: kp.Motion, keyed: kp.KeyedMotion, kick_swings: kp.Swings, tmp_path: Path
) -> None:
    stored = tmp_path / "kick.kps"
    kp.save(capture, stored, tolerance_mm=1.0, keyed=keyed, swings=kick_swings)
    (payload,) = document(keypose("restore", stored, tmp_path / "out" / "kick.bvh", "--json"))["restored"]
    assert names(tmp_path / "out") == ["kick.bvh", "kick.bvh.keys.json", "kick.bvh.swings.json"]
    assert payload["keys_file"] == str(tmp_path / "out" / "kick.bvh.keys.json")
    assert payload["swings_file"] == str(tmp_path / "out" / "kick.bvh.swings.json")
    assert is_same(kp.load_keyed(payload["keys_file"]), kp.load_keyed(stored))
    assert is_same(replace(kp.load_keyed(stored), residual=None), replace(keyed, residual=None))
    assert is_same(kp.load_swings(payload["swings_file"]), kp.load_swings(stored))
    # and into the file itself if its format stores keys
    assert keypose("restore", stored, tmp_path / "k.keys.json", "--no-keys").code == 0
    assert is_same(kp.load_keyed(tmp_path / "k.keys.json"), kp.load_keyed(stored))
    assert keypose("restore", stored, tmp_path / "s.swings.json", "--no-keys").code == 0
    assert kp.load_swings(tmp_path / "s.swings.json").n_swings == kick_swings.n_swings
    # existing files stay, and --no-keys writes none
    (tmp_path / "out" / "kick.bvh").unlink()
    result = keypose("restore", stored, tmp_path / "out" / "kick.bvh")
    assert result.code == 1 and "kick.bvh.keys.json: exists already; --overwrite replaces it" in result.err
    assert not (tmp_path / "out" / "kick.bvh").exists()
    result = keypose("restore", stored, tmp_path / "n.bvh", "--no-keys")
    assert result.code == 0 and "holds keys and swings too: not written, as --no-keys says" in result.err
    result = keypose("restore", stored, tmp_path / "p.bvh", "--to-s", 1)
    assert result.code == 0 and "holds keys and swings too: of a part they are not written" in result.err
    assert names(tmp_path) == sorted(["k.keys.json", "kick.kps", "n.bvh", "out/kick.bvh.keys.json",
                                      "out/kick.bvh.swings.json", "p.bvh", "s.swings.json"])  # fmt: skip


def test_keys_alone_go_into_formats_that_keep_them(keypose, keyed: kp.KeyedMotion, tmp_path: Path) -> None:
    kp.save(keyed, tmp_path / "k.kps")
    assert keypose("restore", tmp_path / "k.kps", tmp_path / "k.glb").code == 0
    assert kp.load_keyed(tmp_path / "k.glb").keys.tolist() == keyed.keys.tolist()
    result = keypose("restore", tmp_path / "k.kps", tmp_path / "k.bvh")
    assert result.code == 0 and "as its keys or swings play" in result.out
    assert names(tmp_path) == ["k.bvh", "k.bvh.keys.json", "k.glb", "k.kps"]
    result = keypose("restore", tmp_path / "k.kps", tmp_path / "k.swings.json")
    assert result.code == 1 and "holds no swings" in result.err


def test_damaged_keys_do_not_hold_back_the_frames(keypose, capture: kp.Motion, keyed, tmp_path: Path) -> None:
    stored, out = tmp_path / "kick.kps", tmp_path / "kick.bvh"
    kp.save(capture, stored, tolerance_mm=1.0, keyed=keyed)
    damaged_copy(stored, stored, -20)
    result = keypose("restore", stored, out)
    assert result.code == 1 and "the keys are damaged" in result.err and not out.exists()
    command = re.search(r"the frames are sound: keypose (.*)$", result.err, re.MULTILINE)
    assert command is not None and command[1].endswith(" --no-keys")
    assert keypose(*command[1].split()).code == 0
    assert kp.load(out).n_frames == capture.n_frames
    result = keypose("verify", stored)
    assert result.code == 1 and "the keys are damaged" in result.err
