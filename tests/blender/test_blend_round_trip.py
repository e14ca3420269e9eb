""".blend files read back, unchanged and edited."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.batch.file_discovery import ClipFile
from keypose.batch.rebake import DetailSources, RebakeJob, find_detail_sources, rebake_clip
from keypose.formats.orientation import metres_per_unit
from keypose.rotations import angle_between, multiply, rotate
from support.blend_files import ALL, TO_Z, TOLERANCE_MM
from support.errors import Pattern, raises, warns

pytestmark = pytest.mark.blender


@pytest.fixture(autouse=True)
def interpreter(blender_python, monkeypatch):
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)


@pytest.mark.data
@pytest.mark.parametrize("name", ALL)
def test_round_trip_is_exact(blend_results, name):
    """Exact, although Blender rounds to 32 bits."""
    keyed = blend_results[name].keyed
    result = kp.load_keyed(blend_results[name].path)
    for curves in ("translations", "rotations"):
        for part in ("values", "in_tangents", "out_tangents"):
            ours, theirs = getattr(getattr(keyed, curves), part), getattr(getattr(result, curves), part)
            assert (ours is None) == (theirs is None)
            assert ours is None or np.array_equal(ours, theirs), (curves, part)
    assert np.array_equal(result.keys, keyed.keys)
    assert np.array_equal(result.extremes, keyed.extremes)
    assert np.array_equal(result.residual.rotations, keyed.residual.rotations)
    for field in ("rotation_orders", "up", "metres_per_unit", "first_frame", "n_frames", "fps"):
        assert getattr(result, field) == getattr(keyed, field)
    assert result.skeleton.channels == keyed.skeleton.channels


@pytest.mark.data
@pytest.mark.parametrize("name", ["demo", "euler", "Z up"])
def test_frames_round_trip(blend_results, name):
    keyed = blend_results[name].keyed
    result, expected = kp.load(blend_results[name].path), keyed.sample()
    assert (result.fps, result.up, result.first_frame) == (expected.fps, expected.up, expected.first_frame)
    assert result.metres_per_unit == expected.metres_per_unit
    assert result.skeleton.names == expected.skeleton.names
    error = np.linalg.norm(result.world_positions() - expected.world_positions(), axis=2).max() * expected.mm_per_unit
    assert error < TOLERANCE_MM
    assert np.rad2deg(angle_between(result.rotations, expected.rotations).max()) < 0.05
    assert np.array_equal(result.translations[:, 1:], expected.translations[:, 1:])  # no noise on the offsets


def test_a_plain_motion_has_a_key_on_every_frame(tmp_path):
    motion = kp.demo_motion()[300:340].at_fps(30)
    kp.save(motion, tmp_path / "plain.blend")
    keyed = kp.load_keyed(tmp_path / "plain.blend")
    assert np.array_equal(keyed.keys, np.arange(motion.n_frames))
    assert keyed.residual is None
    error = np.abs(keyed.sample().world_positions() - motion.world_positions()).max()
    assert error * motion.mm_per_unit < TOLERANCE_MM
    at_double = kp.load(tmp_path / "plain.blend", fps=60)
    assert (at_double.fps, at_double.n_frames) == (60, 2 * motion.n_frames - 1)


def _edit_path(blend_results, name: str) -> Path:
    return blend_results["walk"].path.with_name(f"{name}.blend")


@pytest.mark.data
def test_an_arm_rotated_at_a_key(blend_results):
    """Only that arm at that key has changed; the residual, enabled meanwhile, is not in the key."""
    keyed, result = blend_results["walk"].keyed, kp.load_keyed(_edit_path(blend_results, "turn_arm"))
    arm = keyed.skeleton.joint("LeftArm")
    assert np.array_equal(result.keys, keyed.keys)
    is_changed = (result.rotations.values != keyed.rotations.values).any(axis=2)
    assert np.argwhere(is_changed).tolist() == [[2, arm]]
    rotated = angle_between(result.rotations.values[2, arm], keyed.rotations.values[2, arm])
    assert rotated == pytest.approx(0.5, abs=1e-5)
    tangents = (result.rotations.out_tangents != keyed.rotations.out_tangents).any(axis=2)
    assert set(np.argwhere(tangents)[:, 1].tolist()) <= {arm}
    evaluated = kp.load(_edit_path(blend_results, "turn_arm"))
    error = np.linalg.norm(result.sample().world_positions() - evaluated.world_positions(), axis=2).max()
    assert error * evaluated.mm_per_unit < TOLERANCE_MM


@pytest.mark.data
def test_keys_moved_in_time(blend_results):
    keyed, result = blend_results["walk"].keyed, kp.load_keyed(_edit_path(blend_results, "move_key"))
    expected = keyed.keys.copy()
    expected[2] += 3
    is_expected = np.isin(result.keys, expected)
    assert np.array_equal(result.keys[is_expected], expected)
    assert not result.extremes[~is_expected].any()  # breakdowns, if any
    assert np.allclose(result.rotations.values[is_expected], keyed.rotations.values, atol=1e-6)
    evaluated = kp.load(_edit_path(blend_results, "move_key"))
    error = (
        np.linalg.norm(result.sample().world_positions() - evaluated.world_positions(), axis=2).max(axis=1)
        * evaluated.mm_per_unit
    )
    assert error[: expected[1]].max() < TOLERANCE_MM
    assert error[expected[3] :].max() < TOLERANCE_MM
    assert error.max() < 1.01  # handles are no longer a third of the gap away: the nearest cubics
    assert any("no cubics of time" in note for note in result.notes)


@pytest.mark.data
def test_a_key_added_to_one_bone(blend_results):
    keyed, result = blend_results["walk"].keyed, kp.load_keyed(_edit_path(blend_results, "add_key"))
    (added,) = set(result.keys.tolist()) - set(keyed.keys.tolist())
    assert keyed.keys[2] < added < keyed.keys[3]
    evaluated = kp.load(_edit_path(blend_results, "add_key"))
    error = (
        np.linalg.norm(result.sample().world_positions() - evaluated.world_positions(), axis=2) * evaluated.mm_per_unit
    )
    assert error.max() < 0.5  # at the new key quaternions of other bones are not of length 1, ours are
    assert result.residual.frames is None  # unknown which keys moved
    assert any("detail stays on its frames" in note for note in result.notes)


@pytest.mark.data
def test_constraints_give_a_warning(blend_results):
    with warns(kp.FormatWarning, code="other_movement", problem=Pattern("LeftForeArm")):
        result = kp.load_keyed(_edit_path(blend_results, "reach"))
    evaluated = kp.load(_edit_path(blend_results, "reach"))
    hand = evaluated.skeleton.joint("LeftHand")
    target = np.array((0.5, 1.2, 0.5)) / metres_per_unit(evaluated)  # of Blender's (0.5, -0.5, 1.2)
    apart = np.linalg.norm(evaluated.world_positions() - result.sample().world_positions(), axis=2)
    assert apart[:, hand].max() * evaluated.mm_per_unit > 100
    assert np.linalg.norm(evaluated.world_positions()[:, hand] - target, axis=1).min() < 0.5 * evaluated.height


@pytest.mark.data
def test_a_file_without_keypose_data(blend_results):
    keyed, path = blend_results["walk"].keyed, _edit_path(blend_results, "forget")
    result, expected = kp.load(path), keyed.sample()
    assert (result.up, result.metres_per_unit, result.n_frames, result.first_frame) == ("Z", 1.0, 259, 1)
    assert result.skeleton.names[0] == "Hips"
    order = [result.skeleton.names.index(name) for name in expected.skeleton.names]
    metres = rotate(TO_Z["Y"], expected.world_positions()) * metres_per_unit(expected)
    assert np.abs(result.world_positions()[:, order] - metres).max() < 1e-4
    with raises(kp.FormatError, code="missing_data", path=str(path), problem=Pattern("did not write has no keys")):
        kp.load_keyed(path)


@pytest.mark.data
def test_scripts_in_a_file_are_not_run(blend_results):
    path = _edit_path(blend_results, "trap")
    assert kp.load(path).n_frames == 259
    assert not path.with_name(f"{path.name}.ran").exists()


@pytest.mark.data
def test_residual_strength_of_1(blend_results):
    """The frames are the original's; the keys are unchanged."""
    keyed, path = blend_results["walk"].keyed, _edit_path(blend_results, "put_back")
    result, original = kp.load(path), keyed.sample(1.0)
    error = np.linalg.norm(result.world_positions() - original.world_positions(), axis=2).max()
    assert error * original.mm_per_unit < TOLERANCE_MM
    assert np.array_equal(kp.load_keyed(path).rotations.values, keyed.rotations.values)


@pytest.mark.data
def test_mixed_rotation_modes_are_refused(blend_results):
    problem = "the rotation mode of LeftArm was changed to XYZ"
    with raises(kp.FormatError, code="inconsistent", problem=problem, expected="QUATERNION, as it was written"):
        kp.load_keyed(_edit_path(blend_results, "mix_modes"))
    assert kp.load(_edit_path(blend_results, "mix_modes")).n_frames == 259


@pytest.mark.data
def test_rebake_says_why_the_detail_of_an_edit_cannot_be_read(blend_results, tmp_path):
    edit = Path(shutil.copy(_edit_path(blend_results, "mix_modes"), tmp_path / "edit.blend"))
    sources = find_detail_sources(ClipFile(edit, Path(edit.name)), None)
    job = RebakeJob(edit, tmp_path / "final.bvh", sources, 1.0)
    with raises(kp.OptionError, code="inconsistent", problem=Pattern("rotation mode of LeftArm was changed to XYZ")):
        rebake_clip(job)
    keys = tmp_path / "walk.keys.json"
    kp.save(blend_results["walk"].keyed, keys)
    result = rebake_clip(replace(job, detail_sources=DetailSources(keys)))
    assert result.keys is None and result.frames == 259


@pytest.mark.data
@pytest.mark.parametrize("keep", [30, 4000, 0.5])
def test_cut_files(blend_results, keep, tmp_path):
    data = blend_results["demo"].path.read_bytes()
    (tmp_path / "cut.blend").write_bytes(data[: int(keep if keep >= 1 else keep * len(data))])
    with raises(kp.FormatError, path=str(tmp_path / "cut.blend")):
        kp.load(tmp_path / "cut.blend")


def test_markers_and_odd_names(tmp_path):
    """Joints without parent, names that Blender truncates or that contain quotes."""
    names = ('a "quoted" one', "x" * 80, "x" * 79 + "y", "Ærm")
    skeleton = kp.Skeleton(names, np.full(4, -1), np.zeros((4, 3)))
    rng = np.random.default_rng(1)
    positions = np.cumsum(rng.normal(0, 0.1, (5, 4, 3)), axis=0) + np.array((0, 1, 0))
    rotations = np.tile((1.0, 0, 0, 0), (5, 4, 1))
    motion = kp.Motion("markers", skeleton, 25.0, positions, multiply(rotations, rotations), metres_per_unit=1.0)
    kp.save(motion, tmp_path / "markers.blend")
    result = kp.load(tmp_path / "markers.blend")
    assert result.skeleton.names == names
    assert np.abs(result.translations - positions).max() < 1e-5
