"""Repeated storage, and keys beside frames: errors add up, and detail is not stored twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.formats.kps import format_keys
from keypose.storage import encode_kps, encode_kps_keys
from keypose.storage.blocks import StoredKeys, deflate_text
from keypose.storage.header.notes import pack_notes, unpack_notes
from support.errors import raises

MOTION = replace(kp.demo_motion(fps=20)[:70], notes=("what was noticed",))


@pytest.fixture(scope="module")
def keyed() -> kp.KeyedMotion:
    return kp.unbake(MOTION, [0, 20, 35, 69])


# The tolerance


def test_tolerances_add_up(tmp_path):
    path, decoded = tmp_path / "a.kps", tmp_path / "b.kps"
    kp.save(MOTION, path, tolerance_mm=1.0)
    once = kp.load(path)
    assert (once.tolerance_mm, once.notes) == (1.0, MOTION.notes)
    with kp.open_kps(path) as stored:
        assert (stored.tolerance_mm, stored.source_tolerance_mm, stored.notes) == (1.0, None, MOTION.notes)
        assert stored.motion().tolerance_mm == stored[1:2].tolerance_mm == stored.frames(3, 4).tolerance_mm == 1.0
    kp.save(once, decoded, tolerance_mm=0.1)
    with kp.open_kps(decoded) as stored:
        assert (stored.tolerance_mm, stored.source_tolerance_mm, stored.notes) == (0.1, 1.0, MOTION.notes)
    twice = kp.load(decoded)
    assert (twice.tolerance_mm, twice.notes) == (1.1, MOTION.notes)
    kp.save(once, decoded, lossless=True)
    assert kp.load(decoded).tolerance_mm == 1.0
    kp.save(MOTION, decoded, lossless=True)
    assert kp.load(decoded).tolerance_mm is None


def test_keys_and_swings_have_the_tolerance_of_their_frames(tmp_path):
    kp.save(MOTION, tmp_path / "a.kps", tolerance_mm=2.0)
    motion = kp.load(tmp_path / "a.kps")
    keyed, swings = kp.unbake(motion, [0, 20, 69]), kp.swings(motion)
    assert keyed.tolerance_mm == swings.tolerance_mm == keyed.sample().tolerance_mm == swings.play().tolerance_mm == 2.0
    for name in ("b.kps", "b.keys.json"):
        kp.save(keyed, tmp_path / name)
        assert (kp.load_keyed(tmp_path / name).tolerance_mm, kp.load_keyed(tmp_path / name).notes) == (
            2.0,
            MOTION.notes,
        )
    for name in ("c.kps", "c.swings.json"):
        kp.save(swings, tmp_path / name)
        assert (kp.load_swings(tmp_path / name).tolerance_mm, kp.load_swings(tmp_path / name).notes) == (
            2.0,
            MOTION.notes,
        )
    assert kp.load(tmp_path / "b.kps").tolerance_mm == 2.0  # sampled from the keys


def test_the_text_of_a_tolerance_in_a_file():
    """It is part of version 1 of the layout."""
    others = ("within 1 mm", "it is within 3 mm of the original, by x.kps", "within x mm of the original, by x.kps")
    assert pack_notes(others, 0.25, "a\nb") == (*others, "within 0.25 mm of the original, by a\nb.kps")
    assert unpack_notes(pack_notes(others, 0.25, "a\nb")) == (others, 0.25)
    assert unpack_notes(pack_notes(others, None, "a")) == (others, None)


@pytest.mark.parametrize("tolerance_mm", [0.0, 1e-5, 1.23456789, 1e6, 12345678.9, 1e15])
def test_a_file_has_the_tolerance_of_its_source(tmp_path, tolerance_mm):
    path = tmp_path / "a.kps"
    kp.save(replace(MOTION, tolerance_mm=tolerance_mm), path, lossless=True)
    assert (kp.load(path).tolerance_mm, kp.load(path).notes) == (tolerance_mm, MOTION.notes)


@pytest.mark.parametrize("number", ["9" * 400, "9" * 20, "1e+999", "1e+16", "\u0663", "-1", "nan", "inf"])
def test_a_text_without_a_possible_tolerance_is_a_note(number):
    note = f"within {number} mm of the original, by a.kps"
    assert unpack_notes((note,)) == ((note,), None)


# Captured detail of keys


def test_detail_of_keys_is_taken_from_the_frames(tmp_path, keyed):
    path = tmp_path / "a.kps"
    kp.save(MOTION, path, keyed=keyed)
    without = len(deflate_text(format_keys(StoredKeys(replace(keyed, residual=None)))))
    with kp.open_kps(path) as stored:
        assert stored._contents.header.keys_bytes < without + 80
        bare, frames = stored.keyed(read_frames=False), stored.motion()
        assert stored.stored_keys().is_detail_in_frames
    assert bare.residual is None and bare.notes == keyed.notes
    back = kp.load_keyed(path)
    assert back.notes == keyed.notes
    assert np.array_equal(back.rotations.values, keyed.rotations.values) and back.keys.tolist() == keyed.keys.tolist()
    played = back.sample(residual=1.0)
    assert np.abs(played.world_positions() - frames.world_positions()).max() < 1e-9
    kp.save(kp.load(path), path, keyed=back)  # a second time
    assert kp.open_kps(path)._contents.header.keys_bytes < without + 80


@pytest.mark.usefixtures("raw")
def test_other_detail_is_stored_with_the_keys(tmp_path, keyed):
    """Detail of moved keys, or of another motion, does not follow from the frames."""
    moved = replace(keyed, residual=keyed.residual.retime(np.array([0.0, 69]), np.array([0.0, 60])))
    doubled = replace(keyed, residual=replace(keyed.residual, rotations=2 * keyed.residual.rotations))
    for other in (moved, doubled, replace(keyed, residual=None)):
        kp.save(MOTION, tmp_path / "a.kps", keyed=other)
        back = kp.load_keyed(tmp_path / "a.kps")
        assert back.notes == other.notes and (back.residual is None) == (other.residual is None)
        assert back.residual is None or np.array_equal(back.residual.rotations, other.residual.rotations)
    alone = kp.open_kps(encode_kps_keys(keyed, format_keys(StoredKeys(keyed)))).keyed()
    assert np.array_equal(alone.residual.rotations, keyed.residual.rotations)


@pytest.mark.usefixtures("raw")
def test_detail_with_damaged_frames(keyed):
    without_detail = StoredKeys(replace(keyed, residual=None), is_detail_in_frames=True)
    data = bytearray(encode_kps(MOTION, keys=format_keys(without_detail)))
    data[kp.open_kps(bytes(data))._contents.group_range(1)[0]] ^= 1
    stored = kp.open_kps(bytes(data))
    with raises(kp.FormatError, code="damaged", value=2) as caught:
        stored.keyed()
    assert str(caught.value.hint.python).endswith(": .keyed(read_frames=False)")
    assert stored.keyed(read_frames=False).n_keys == 4
    with raises(kp.FormatError, code="inconsistent", expected="50 and 26, as beside them"):
        kp.open_kps(encode_kps(MOTION[:50], keys=format_keys(without_detail))).keyed()
