""".blend files read back, as they were written and as artists leave them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from blend_files import ALL, TO_Z, TOLERANCE_MM

import keypose as kp
from keypose.formats.figure.size import metres_per_unit
from keypose.rotations import angle_between, multiply, rotate

pytestmark = pytest.mark.blender


@pytest.fixture(autouse=True)
def interpreter(blender_python, monkeypatch):
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)


@pytest.mark.data
@pytest.mark.parametrize("name", ALL)
def test_files_come_back_as_they_went(shown, name):
    """The very bits, although Blender rounds to 32 of them."""
    keyed = shown[name].keyed
    found = kp.load_keyed(shown[name].path)
    for curves in ("translations", "rotations"):
        for part in ("values", "arriving", "leaving"):
            ours, theirs = getattr(getattr(keyed, curves), part), getattr(getattr(found, curves), part)
            assert (ours is None) == (theirs is None)
            assert ours is None or np.array_equal(ours, theirs), (curves, part)
    assert np.array_equal(found.keys, keyed.keys)
    assert np.array_equal(found.extremes, keyed.extremes)
    assert np.array_equal(found.residual.turns, keyed.residual.turns)
    for field in ("rotation_orders", "up", "metres_per_unit", "first_frame", "n_frames", "fps"):
        assert getattr(found, field) == getattr(keyed, field)
    assert found.skeleton.channels == keyed.skeleton.channels


@pytest.mark.data
@pytest.mark.parametrize("name", ["demo", "euler", "Z up"])
def test_frames_come_back(shown, name):
    keyed = shown[name].keyed
    found, wanted = kp.load(shown[name].path), keyed.sample()
    assert (found.fps, found.up, found.first_frame) == (wanted.fps, wanted.up, wanted.first_frame)
    assert found.metres_per_unit == wanted.metres_per_unit
    assert found.skeleton.names == wanted.skeleton.names
    off = np.linalg.norm(found.world_positions() - wanted.world_positions(), axis=2).max() * wanted.mm_per_unit
    assert off < TOLERANCE_MM
    assert np.rad2deg(angle_between(found.rotations, wanted.rotations).max()) < 0.05
    assert np.array_equal(found.translations[:, 1:], wanted.translations[:, 1:])  # no noise on the offsets


def test_a_plain_motion_has_a_key_on_every_frame(tmp_path):
    motion = kp.demo_motion()[300:340].at_fps(30)
    kp.save(motion, tmp_path / "plain.blend")
    keyed = kp.load_keyed(tmp_path / "plain.blend")
    assert np.array_equal(keyed.keys, np.arange(motion.n_frames))
    assert keyed.residual is None
    off = np.abs(keyed.sample().world_positions() - motion.world_positions()).max()
    assert off * motion.mm_per_unit < TOLERANCE_MM
    at_double = kp.load(tmp_path / "plain.blend", fps=60)
    assert (at_double.fps, at_double.n_frames) == (60, 2 * motion.n_frames - 1)


def _edited(shown, name: str) -> Path:
    return shown["walk"].path.with_name(f"{name}.blend")


@pytest.mark.data
def test_an_arm_that_an_artist_turned_at_a_key(shown):
    """Only that arm at that key has changed; the detail, shown meanwhile, is not in the key."""
    keyed, found = shown["walk"].keyed, kp.load_keyed(_edited(shown, "turn_arm"))
    arm = keyed.skeleton.joint("LeftArm")
    assert np.array_equal(found.keys, keyed.keys)
    changed = (found.rotations.values != keyed.rotations.values).any(axis=2)
    assert np.argwhere(changed).tolist() == [[2, arm]]
    turned = angle_between(found.rotations.values[2, arm], keyed.rotations.values[2, arm])
    assert turned == pytest.approx(0.5, abs=1e-5)
    slopes = (found.rotations.leaving != keyed.rotations.leaving).any(axis=2)
    assert set(np.argwhere(slopes)[:, 1].tolist()) <= {arm}
    seen = kp.load(_edited(shown, "turn_arm"))
    off = np.linalg.norm(found.sample().world_positions() - seen.world_positions(), axis=2).max()
    assert off * seen.mm_per_unit < TOLERANCE_MM


@pytest.mark.data
def test_keys_that_an_artist_moved_in_time(shown):
    keyed, found = shown["walk"].keyed, kp.load_keyed(_edited(shown, "move_key"))
    wanted = keyed.keys.copy()
    wanted[2] += 3
    is_wanted = np.isin(found.keys, wanted)
    assert np.array_equal(found.keys[is_wanted], wanted)
    assert not found.extremes[~is_wanted].any()  # breakdowns, if any
    assert np.allclose(found.rotations.values[is_wanted], keyed.rotations.values, atol=1e-6)
    seen = kp.load(_edited(shown, "move_key"))
    off = (
        np.linalg.norm(found.sample().world_positions() - seen.world_positions(), axis=2).max(axis=1) * seen.mm_per_unit
    )
    assert off[: wanted[1]].max() < TOLERANCE_MM
    assert off[wanted[3] :].max() < TOLERANCE_MM
    assert off.max() < 1.01  # handles are no longer a third of the gap away: the nearest cubics
    assert any("no cubics of time" in note for note in found.notes)


@pytest.mark.data
def test_a_key_that_an_artist_added_to_one_bone(shown):
    keyed, found = shown["walk"].keyed, kp.load_keyed(_edited(shown, "add_key"))
    (added,) = set(found.keys.tolist()) - set(keyed.keys.tolist())
    assert keyed.keys[2] < added < keyed.keys[3]
    seen = kp.load(_edited(shown, "add_key"))
    off = np.linalg.norm(found.sample().world_positions() - seen.world_positions(), axis=2) * seen.mm_per_unit
    assert off.max() < 0.5  # at the new key quaternions of other bones are not of length 1, ours are
    assert found.residual.frames is None  # nobody knows which of the keys moved, if any
    assert any("detail stays on its frames" in note for note in found.notes)


@pytest.mark.data
def test_what_no_key_shows_is_said(shown):
    with pytest.warns(kp.FormatWarning, match=r"something else than their keys moves .*LeftForeArm"):
        found = kp.load_keyed(_edited(shown, "reach"))
    seen = kp.load(_edited(shown, "reach"))
    hand = seen.skeleton.joint("LeftHand")
    target = np.array((0.5, 1.2, 0.5)) / metres_per_unit(seen)  # of Blender's (0.5, -0.5, 1.2)
    apart = np.linalg.norm(seen.world_positions() - found.sample().world_positions(), axis=2)
    assert apart[:, hand].max() * seen.mm_per_unit > 100
    assert np.linalg.norm(seen.world_positions()[:, hand] - target, axis=1).min() < 0.5 * seen.height


@pytest.mark.data
def test_a_file_that_is_not_ours(shown):
    keyed, path = shown["walk"].keyed, _edited(shown, "forget")
    found, wanted = kp.load(path), keyed.sample()
    assert (found.up, found.metres_per_unit, found.n_frames, found.first_frame) == ("Z", 1.0, 259, 1)
    assert found.skeleton.names[0] == "Hips"
    order = [found.skeleton.names.index(name) for name in wanted.skeleton.names]
    metres = rotate(TO_Z["Y"], wanted.world_positions()) * metres_per_unit(wanted)
    assert np.abs(found.world_positions()[:, order] - metres).max() < 1e-4
    with pytest.raises(kp.FormatError, match="did not write has no keys"):
        kp.load_keyed(path)


@pytest.mark.data
def test_nothing_in_a_file_is_run(shown):
    path = _edited(shown, "trap")
    assert kp.load(path).n_frames == 259
    assert not path.with_name(f"{path.name}.ran").exists()


@pytest.mark.data
def test_detail_that_an_artist_put_back(shown):
    """Seen in the frames, whole the original's; no part of the keys."""
    keyed, path = shown["walk"].keyed, _edited(shown, "put_back")
    found, original = kp.load(path), keyed.sample(1.0)
    off = np.linalg.norm(found.world_positions() - original.world_positions(), axis=2).max()
    assert off * original.mm_per_unit < TOLERANCE_MM
    assert np.array_equal(kp.load_keyed(path).rotations.values, keyed.rotations.values)


@pytest.mark.data
def test_modes_that_were_mixed_are_refused(shown):
    with pytest.raises(kp.FormatError, match="rotation mode of some bones was changed"):
        kp.load_keyed(_edited(shown, "mix_modes"))
    assert kp.load(_edited(shown, "mix_modes")).n_frames == 259


@pytest.mark.data
@pytest.mark.parametrize("keep", [30, 4000, 0.5])
def test_cut_files(shown, keep, tmp_path):
    data = shown["demo"].path.read_bytes()
    (tmp_path / "cut.blend").write_bytes(data[: int(keep if keep >= 1 else keep * len(data))])
    with pytest.raises(kp.FormatError, match=r"cut\.blend"):
        kp.load(tmp_path / "cut.blend")


def test_markers_and_odd_names(tmp_path):
    """Joints that hang on nothing, names that Blender shortens or that hold quotes."""
    names = ('a "quoted" one', "x" * 80, "x" * 79 + "y", "Ærm")
    skeleton = kp.Skeleton(names, np.full(4, -1), np.zeros((4, 3)))
    rng = np.random.default_rng(1)
    places = np.cumsum(rng.normal(0, 0.1, (5, 4, 3)), axis=0) + np.array((0, 1, 0))
    turns = np.tile((1.0, 0, 0, 0), (5, 4, 1))
    motion = kp.Motion("markers", skeleton, 25.0, places, multiply(turns, turns), metres_per_unit=1.0)
    kp.save(motion, tmp_path / "markers.blend")
    found = kp.load(tmp_path / "markers.blend")
    assert found.skeleton.names == names
    assert np.abs(found.translations - places).max() < 1e-5
