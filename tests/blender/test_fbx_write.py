"""FBX written with Blender and read back with Blender's importer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.formats.orientation import metres_per_unit
from keypose.rotations import angle_between
from support.errors import Pattern, raises

pytestmark = pytest.mark.blender

TOLERANCE_MM = 0.1  # on a figure of 1.7 m


@pytest.fixture(autouse=True)
def interpreter(blender_python, monkeypatch):
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)


def _max_error_mm(result: kp.Motion, motion: kp.Motion) -> float:
    assert (result.n_frames, result.fps, result.up, result.metres_per_unit) == (motion.n_frames, motion.fps, "Y", 0.01)
    order = [result.skeleton.names.index(name) for name in motion.skeleton.names]
    assert result.n_joints == motion.n_joints  # no bones at the ends of limbs
    positions = result.world_positions()[:, order] * 0.01 / metres_per_unit(motion)
    return float(np.linalg.norm(positions - motion.world_positions(), axis=2).max() * motion.mm_per_unit)


@pytest.mark.parametrize("fps", [120.0, 25.0])
def test_round_trip(fps, tmp_path):
    motion = replace(kp.demo_motion()[300:360], fps=fps)
    kp.save(motion, tmp_path / "demo.fbx")
    result = kp.load(tmp_path / "demo.fbx", reference_pose="keep")
    assert _max_error_mm(result, motion) < TOLERANCE_MM
    order = [result.skeleton.names.index(name) for name in motion.skeleton.names]
    rotated = angle_between(result.rotations[:, order], motion.rotations)
    assert np.rad2deg(rotated.max()) < 0.05  # joints keep their own axes


@pytest.mark.data
def test_a_keyed_motion_is_sampled(data_dir, tmp_path):
    """A CMU skeleton of unknown unit with a reference pose."""
    keyed = kp.unbake(kp.load(data_dir / "cmu120" / "07_05_walk.bvh").at_fps(60), keys=26)
    kp.save(keyed, tmp_path / "walk.fbx")
    assert _max_error_mm(kp.load(tmp_path / "walk.fbx", reference_pose="keep"), keyed.sample()) < TOLERANCE_MM


def test_a_displaced_joint_is_detected(tmp_path):
    motion = kp.demo_motion()[300:303]
    kp.save(motion, tmp_path / "demo.fbx")
    moved = motion.translations.copy()
    moved[1, 0, 0] += 2e-4
    assert _max_error_mm(kp.load(tmp_path / "demo.fbx"), replace(motion, translations=moved)) > TOLERANCE_MM


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    monkeypatch.setattr("keypose.formats.fbx.MIN_WRITE_SECONDS", 0.01)
    (tmp_path / "x.fbx").write_bytes(b"as it was")
    with raises(kp.FileError, code="file", problem=Pattern("did not finish writing it within 0 s$")):
        kp.save(kp.demo_motion()[:2], tmp_path / "x.fbx")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("x.fbx", b"as it was")]
