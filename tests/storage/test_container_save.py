"""``.kps`` as a format: saving, options that are refused, and loading."""

from __future__ import annotations

import io
import os
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.batch.plan import atomic_target
from keypose.formats import FORMATS, readable_suffixes, writable_suffixes
from keypose.formats.kps import FORMAT
from keypose.limits import limit_hint
from keypose.storage import encode_kps
from keypose.storage.blocks import deflate_text, inflate_text
from keypose.swings.codec import pack, unpack
from reference import naive_storage
from support.errors import raises

pytestmark = pytest.mark.usefixtures("raw")
MOTION = kp.demo_motion(fps=20)[:70]


@pytest.fixture(scope="module")
def keyed() -> kp.KeyedMotion:
    return kp.unbake(MOTION, [0, 20, 35, 69])


@pytest.fixture(scope="module")
def swings() -> kp.Swings:
    return kp.swings(MOTION)


def test_motion_round_trip(tmp_path):
    path = tmp_path / "other name.kps"
    tolerance_note = replace(MOTION, notes=("what was noticed",), first_frame=7, up="Z", metres_per_unit=0.0254)
    kp.save(replace(tolerance_note, reference_pose=tolerance_note[3]), path, reference_pose=True)
    back = kp.load(path)
    assert np.array_equal(back.rotations, MOTION.rotations) and back.n_frames == 70  # without the reference pose
    assert (back.name, back.notes[0], back.first_frame) == (MOTION.name, "what was noticed", 7)
    assert kp.open_kps(path).notes == ("what was noticed",)
    assert (back.up, back.metres_per_unit) == ("Z", 0.0254)
    assert np.array_equal(back.reference_pose.rotations, MOTION[3].rotations)
    assert kp.open_kps(path).tolerance_mm == 1.0  # by default
    kp.save(MOTION, path)
    assert len(kp.load(path, reference_pose="drop")) == 69


def test_the_row_of_the_table():
    assert ".kps" in readable_suffixes() and ".kps" in writable_suffixes() and ".kps" in writable_suffixes(swings=True)
    assert FORMAT in FORMATS and not FORMAT.gzip
    assert FORMAT.sniff(b"KPS\x01") and FORMAT.sniff(b"KPS\x02") and not FORMAT.sniff(b"KPS")
    assert not FORMAT.sniff(b"KPS is a word") and sum(f.sniff(b"KPS\x01....") for f in FORMATS) == 1


def test_content_decides_the_format_and_not_the_suffix(tmp_path):
    kp.save(MOTION, tmp_path / "a.kps")
    (tmp_path / "a.bvh").write_bytes((tmp_path / "a.kps").read_bytes())
    result = kp.load(tmp_path / "a.bvh")
    assert "the content is Keypose storage, not what the suffix .bvh says" in result.notes


@pytest.mark.parametrize("wrong", [0, -1, 1e-4, float("nan"), float("inf"), "1", True, 2e4], ids=str)
def test_tolerances_beyond_reason(tmp_path, wrong):
    with raises(kp.OptionError, option="tolerance_mm", expected="a number from 0.001 to 10000"):
        kp.save(MOTION, tmp_path / "a.kps", tolerance_mm=wrong)
    assert not any(tmp_path.iterdir())


def test_conflicting_options(tmp_path, keyed, swings):
    path = tmp_path / "a.kps"
    with raises(kp.OptionError, option="tolerance_mm", value=1):
        kp.save(MOTION, path, tolerance_mm=1, lossless=True)
    with raises(kp.OptionError, option="lossless", value=1, expected="True or False"):
        kp.save(MOTION, path, lossless=1)
    with raises(kp.OptionError, expected="KeyedMotion"):
        kp.save(MOTION, path, keyed=swings)
    with raises(kp.OptionError, option="swings", expected=f"one of this motion, which has 50 and {MOTION.n_joints}"):
        kp.save(MOTION[:50], path, swings=swings)
    with raises(kp.OptionError, expected="a Motion, as these are for frames"):
        kp.save(keyed, path, tolerance_mm=2.0)
    with raises(kp.OptionError, expected="a Motion, as these are for frames"):
        kp.save(swings, path, lossless=True, keyed=keyed)
    assert not path.exists()


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".keys.json", ".bvh.gz"])
def test_options_of_these_files_only(tmp_path, keyed, suffix):
    path = tmp_path / f"a{suffix}"
    for option in ({"tolerance_mm": 1.0}, {"lossless": True}, {"keyed": keyed}):
        with raises(kp.OptionError, path=str(path), value=f"{next(iter(option))}="):
            kp.save(MOTION, path, **option)
    assert not path.exists()


def test_keys_and_swings_beside_the_frames(tmp_path, keyed, swings):
    path = tmp_path / "a.kps"
    kp.save(MOTION, path, tolerance_mm=2.5, keyed=keyed, swings=swings)
    stored = kp.open_kps(path)
    assert (stored.tolerance_mm, stored.has_keys, stored.has_swings, stored.damage()) == (2.5, True, True, ())
    assert np.array_equal(kp.load(path).rotations, MOTION.rotations)
    for result in (kp.load_keyed(path), stored.keyed()):
        assert np.array_equal(result.rotations.values, keyed.rotations.values) and result.keys.tolist() == [
            0,
            20,
            35,
            69,
        ]
        assert np.abs(result.residual.rotations - keyed.residual.rotations).max() < 1e-12  # recomputed from the frames
    for result in (kp.load_swings(path), stored.swings()):
        assert np.array_equal(result.play().rotations, unpack(pack(swings)).play().rotations)
    assert naive_storage.read_file(path.read_bytes())["swings"] == pack(swings)


def test_keys_alone(tmp_path, keyed):
    path = tmp_path / "a.kps"
    kp.save(keyed, path)
    assert np.array_equal(kp.load(path).rotations, keyed.sample().rotations)
    assert np.array_equal(kp.load_keyed(path).sample(residual=1).rotations, keyed.sample(residual=1).rotations)
    assert kp.load(path, fps=10).n_frames == 35
    stored = kp.open_kps(path)
    assert (stored.has_frames, stored.tolerance_mm, stored.lossless, stored.n_groups) == (False, None, False, 0)
    assert "no frames" in repr(stored)
    assert np.array_equal(stored[1.0:2.0].rotations, keyed.sample().rotations[20:40])
    assert stored[1.0:2.0].first_frame == 20
    with raises(kp.OptionError, option="fps", value=10.0, expected="20, which the file states"):
        kp.load_keyed(path, fps=10)
    with raises(kp.FormatError, code="missing_data", problem="holds no swings"):
        kp.load_swings(path)


def test_swings_alone(tmp_path, swings):
    path = tmp_path / "a.kps"
    kp.save(swings, path)
    played = kp.open_kps(path).motion()
    assert np.array_equal(kp.load(path).rotations, played.rotations)
    assert np.abs(played.rotations - swings.play().rotations).max() < 1e-6
    with raises(kp.FormatError, code="missing_data", problem="holds no keys"):
        kp.load_keyed(path)


def test_a_killed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.kps"
    kp.save(MOTION[:20], path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError(28, "the disk is full")))
    with raises(kp.FileError, code="write_failed", problem="cannot be written (the disk is full)"):
        kp.save(MOTION, path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["a.kps"]


def test_loading_respects_the_limits(tmp_path, keyed):
    kp.save(MOTION, tmp_path / "a.kps")
    kp.save(keyed, tmp_path / "k.kps")
    with raises(kp.LimitError, value=70, hint=limit_hint("frames")):
        kp.load(tmp_path / "a.kps", limits=kp.Limits(frames=60))
    with raises(kp.LimitError, hint=limit_hint("bytes")):
        kp.load(tmp_path / "a.kps", limits=kp.Limits(bytes=1000))
    with raises(kp.LimitError, value=70, hint=limit_hint("frames")):
        kp.load(tmp_path / "k.kps", limits=kp.Limits(frames=60))


def test_lossless_files_are_read_by_their_own_decoder(tmp_path):
    pytest.importorskip("keypose.storage.lossless")
    kp.save(MOTION, tmp_path / "a.kps", lossless=True)
    stored = kp.open_kps(tmp_path / "a.kps")
    assert (stored.lossless, stored.tolerance_mm) == (True, None) and "lossless" in repr(stored)
    assert np.array_equal(kp.load(tmp_path / "a.kps").rotations, MOTION.rotations)
    assert np.array_equal(stored[1:2].translations, MOTION.translations[20:40])
    assert stored.channels() is None  # no channels= were given


def test_progress_is_reported():
    from keypose.storage import encode_kps

    calls = []
    data = encode_kps(MOTION, progress=calls.append)
    assert calls == [1.0] and kp.open_kps(io.BytesIO(data)).n_frames == 70


@pytest.mark.parametrize("notes", [("ab",) * 20_000, ("a\0b",) * 101, tuple(map(str, range(100))), ("",) * 102])
def test_many_notes_come_back(notes):
    assert kp.open_kps(encode_kps(replace(MOTION, notes=notes))).notes == notes


def test_header_with_many_coded_bits_can_be_read(monkeypatch):
    monkeypatch.setattr("keypose.storage.header.coder.MAX_FREE_BITS", 1000)
    notes = ("\0",) * 2000
    assert kp.open_kps(encode_kps(replace(MOTION, notes=notes))).notes == notes


@pytest.mark.parametrize(
    ("notes", "fields"),
    [
        (
            ("x" * (1 << 24) + "x",),
            {"subject": "demo", "hint": "shorten its notes and names (dataclasses.replace(motion, notes=...))"},
        ),
        (
            ("x" * (1 << 24),) * 5,
            {"subject": "demo", "hint": "shorten its notes and names (dataclasses.replace(motion, notes=...))"},
        ),
        (
            ("",) * 1_000_001,
            {"subject": "demo", "hint": "shorten its notes and names (dataclasses.replace(motion, notes=...))"},
        ),
    ],
    ids=("long", "together", "many"),
)
def test_notes_beyond_all_measure(notes, fields):
    with raises(kp.OptionError, **fields):
        encode_kps(replace(MOTION, notes=notes))


def test_highly_compressible_keys_can_be_read():
    text = b" " * (8 << 20)
    assert inflate_text(deflate_text(text), "x") == text
    assert len(deflate_text(text)) < 80_000 and inflate_text(deflate_text(b"{}"), "x") == b"{}"


def test_only_files_are_replaced(tmp_path):
    """The kinds pin the wording of these errors."""
    pipe, loop, link = tmp_path / "pipe.kps", tmp_path / "loop.kps", tmp_path / "link.kps"
    os.mkfifo(pipe)
    loop.symlink_to(loop.name)
    link.symlink_to("file.kps")
    for target, kind in ((pipe, "not a regular file"), (loop, "a link to itself"), (tmp_path, "a folder")):
        with (
            raises(kp.FileError, code="exists", path=str(target), problem=f"is {kind}, and is not replaced"),
            atomic_target(target),
        ):
            pytest.fail("nothing is written")
    with atomic_target(link) as waiting:
        waiting.write_bytes(b"1")
    assert link.is_symlink() and (tmp_path / "file.kps").read_bytes() == b"1"
