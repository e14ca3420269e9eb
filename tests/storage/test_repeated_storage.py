"""Repeated storage, and keys beside frames: errors add up in a note, and detail is not stored twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.formats.kps import _keys_text
from keypose.storage import encode_kps, encode_kps_keys
from keypose.storage.blocks import DETAIL_IN_FRAMES_NOTE, deflate_text
from keypose.storage.tolerance_note import add_tolerance_note

MOTION = replace(kp.demo_motion(fps=20)[:70], notes=("what was noticed",))


@pytest.fixture(scope="module")
def keyed() -> kp.KeyedMotion:
    return kp.unbake(MOTION, [0, 20, 35, 69])


# The tolerance note


def test_tolerances_add_up_in_a_note(tmp_path):
    path, decoded = tmp_path / "a.kps", tmp_path / "b.kps"
    kp.save(MOTION, path, tolerance_mm=1.0)
    once = kp.load(path)
    assert once.notes == ("what was noticed", "within 1 mm of the original, by demo.kps")
    with kp.open_kps(path) as stored:
        assert stored.notes == MOTION.notes  # the tolerance is a field of the file
        assert stored.motion().notes == stored[1:2].notes == stored.frames(3, 4).notes == once.notes
    kp.save(once, decoded, tolerance_mm=0.1)
    assert kp.open_kps(decoded).notes == once.notes
    assert kp.load(decoded).notes == ("what was noticed", "within 1.1 mm of the original, by demo.kps")
    kp.save(once, decoded, lossless=True)
    assert kp.load(decoded).notes == once.notes
    kp.save(MOTION, decoded, lossless=True)
    assert kp.load(decoded).notes == MOTION.notes


def test_only_tolerance_notes_are_added_up():
    others = ("within 1 mm", "it is within 3 mm of the original, by x.kps", "within x mm of the original, by x.kps")
    assert add_tolerance_note(others, 0.25, "a\nb") == (*others, "within 0.25 mm of the original, by a\nb.kps")
    assert add_tolerance_note(add_tolerance_note(("x",), 0.001, "a\nb"), 2, "c") == (
        "x",
        "within 2.001 mm of the original, by c.kps",
    )


# Captured detail of keys


def test_detail_of_keys_is_taken_from_the_frames(tmp_path, keyed):
    path = tmp_path / "a.kps"
    kp.save(MOTION, path, keyed=keyed)
    without = len(deflate_text(_keys_text(replace(keyed, residual=None))))
    with kp.open_kps(path) as stored:
        assert stored._contents.header.keys_bytes < without + 80
        bare, frames = stored.keyed(read_frames=False), stored.motion()
    assert bare.residual is None and DETAIL_IN_FRAMES_NOTE in bare.notes
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
    alone = kp.open_kps(encode_kps_keys(keyed, _keys_text(keyed))).keyed()
    assert np.array_equal(alone.residual.rotations, keyed.residual.rotations)


@pytest.mark.usefixtures("raw")
def test_detail_with_damaged_frames(keyed):
    without_detail = replace(keyed, residual=None, notes=(DETAIL_IN_FRAMES_NOTE,))
    data = bytearray(encode_kps(MOTION, keys=_keys_text(without_detail)))
    data[kp.open_kps(bytes(data))._contents.group_range(1)[0]] ^= 1
    stored = kp.open_kps(bytes(data))
    with pytest.raises(kp.FormatError, match=r"2 of 4 groups cannot be read.*: \.keyed\(read_frames=False\)$"):
        stored.keyed()
    assert stored.keyed(read_frames=False).n_keys == 4
    with pytest.raises(kp.FormatError, match="keys of 70 frames and 26 joints beside 50 and 26"):
        kp.open_kps(encode_kps(MOTION[:50], keys=_keys_text(without_detail))).keyed()
