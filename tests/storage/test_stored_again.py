"""What is stored more than once, or beside something else: no error is hidden, and nothing is kept twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.formats.kps import _text_of
from keypose.storage import keys_bytes, stored_bytes
from keypose.storage.blocks import deflated
from keypose.storage.detail import IN_FRAMES
from keypose.storage.lasting import with_nearness

MOTION = replace(kp.demo_motion(fps=20)[:70], notes=("what was noticed",))


@pytest.fixture(scope="module")
def keyed() -> kp.KeyedMotion:
    return kp.unbake(MOTION, [0, 20, 35, 69])


# How far it is off


def test_errors_add_up_and_a_note_says_so(tmp_path):
    path, again = tmp_path / "a.kps", tmp_path / "b.kps"
    kp.save(MOTION, path, tolerance_mm=1.0)
    once = kp.load(path)
    assert once.notes == ("what was noticed", "within 1 mm of the original, by demo.kps")
    with kp.open_kps(path) as stored:
        assert stored.notes == MOTION.notes  # the file itself says the rest
        assert stored.motion().notes == stored[1:2].notes == stored.frames(3, 4).notes == once.notes
    kp.save(once, again, tolerance_mm=0.1)
    assert kp.open_kps(again).notes == once.notes
    assert kp.load(again).notes == ("what was noticed", "within 1.1 mm of the original, by demo.kps")
    kp.save(once, again, lossless=True)
    assert kp.load(again).notes == once.notes
    kp.save(MOTION, again, lossless=True)
    assert kp.load(again).notes == MOTION.notes


def test_only_notes_of_this_kind_are_added_up():
    others = ("within 1 mm", "it is within 3 mm of the original, by x.kps", "within x mm of the original, by x.kps")
    assert with_nearness(others, 0.25, "a\nb") == (*others, "within 0.25 mm of the original, by a\nb.kps")
    assert with_nearness(with_nearness(("x",), 0.001, "a\nb"), 2, "c") == (
        "x",
        "within 2.001 mm of the original, by c.kps",
    )


# Captured detail of keys


def test_detail_of_keys_is_left_to_the_frames(tmp_path, keyed):
    path = tmp_path / "a.kps"
    kp.save(MOTION, path, keyed=keyed)
    without = len(deflated(_text_of(replace(keyed, residual=None))))
    with kp.open_kps(path) as stored:
        assert stored._contents.clip.keys_bytes < without + 80
        bare, frames = stored.keyed(read_frames=False), stored.motion()
    assert bare.residual is None and IN_FRAMES in bare.notes
    back = kp.load_keyed(path)
    assert back.notes == keyed.notes
    assert np.array_equal(back.rotations.values, keyed.rotations.values) and back.keys.tolist() == keyed.keys.tolist()
    played = back.sample(residual=1.0)
    assert np.abs(played.world_positions() - frames.world_positions()).max() < 1e-9
    kp.save(kp.load(path), path, keyed=back)  # and again
    assert kp.open_kps(path)._contents.clip.keys_bytes < without + 80


@pytest.mark.usefixtures("raw")
def test_other_detail_is_kept(tmp_path, keyed):
    """That of keys which were moved, or of another motion: frames do not tell it."""
    moved = replace(keyed, residual=keyed.residual.retimed(np.array([0.0, 69]), np.array([0.0, 60])))
    doubled = replace(keyed, residual=replace(keyed.residual, turns=2 * keyed.residual.turns))
    for other in (moved, doubled, replace(keyed, residual=None)):
        kp.save(MOTION, tmp_path / "a.kps", keyed=other)
        back = kp.load_keyed(tmp_path / "a.kps")
        assert back.notes == other.notes and (back.residual is None) == (other.residual is None)
        assert back.residual is None or np.array_equal(back.residual.turns, other.residual.turns)
    alone = kp.open_kps(keys_bytes(keyed, _text_of(keyed))).keyed()
    assert np.array_equal(alone.residual.turns, keyed.residual.turns)


@pytest.mark.usefixtures("raw")
def test_detail_in_frames_that_cannot_be_read(keyed):
    left = replace(keyed, residual=None, notes=(IN_FRAMES,))
    data = bytearray(stored_bytes(MOTION, keys=_text_of(left)))
    data[kp.open_kps(bytes(data))._contents.group(1)[0]] ^= 1
    stored = kp.open_kps(bytes(data))
    with pytest.raises(kp.FormatError, match=r"2 of 4 groups cannot be read.*: \.keyed\(read_frames=False\)$"):
        stored.keyed()
    assert stored.keyed(read_frames=False).n_keys == 4
    with pytest.raises(kp.FormatError, match="keys of 70 frames and 26 joints beside 50 and 26"):
        kp.open_kps(stored_bytes(MOTION[:50], keys=_text_of(left))).keyed()
