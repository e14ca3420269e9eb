"""FBX that we write through Blender, read back through Blender's importer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.formats.figure.size import metres_per_unit
from keypose.rotations import angle_between

pytestmark = pytest.mark.blender

TOLERANCE_MM = 0.1  # on a figure of 1.7 m


@pytest.fixture(autouse=True)
def interpreter(blender_python, monkeypatch):
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)


def _off_mm(found: kp.Motion, motion: kp.Motion) -> float:
    assert (found.n_frames, found.fps, found.up, found.metres_per_unit) == (motion.n_frames, motion.fps, "Y", 0.01)
    order = [found.skeleton.names.index(name) for name in motion.skeleton.names]
    assert found.n_joints == motion.n_joints  # no bones at the ends of limbs
    places = found.world_positions()[:, order] * 0.01 / metres_per_unit(motion)
    return float(np.linalg.norm(places - motion.world_positions(), axis=2).max() * motion.mm_per_unit)


@pytest.mark.parametrize("fps", [120.0, 25.0])
def test_a_motion_comes_back(fps, tmp_path):
    motion = replace(kp.demo_motion()[300:360], fps=fps)
    kp.save(motion, tmp_path / "demo.fbx")
    found = kp.load(tmp_path / "demo.fbx", reference_pose="keep")
    assert _off_mm(found, motion) < TOLERANCE_MM
    order = [found.skeleton.names.index(name) for name in motion.skeleton.names]
    turned = angle_between(found.rotations[:, order], motion.rotations)
    assert np.rad2deg(turned.max()) < 0.05  # joints keep their own axes


@pytest.mark.data
def test_a_keyed_motion_comes_back_sampled(data_dir, tmp_path):
    """Of CMU's skeleton, whose unit is unknown and whose reference pose is no frame of the movement."""
    keyed = kp.unbake(kp.load(data_dir / "cmu120" / "07_05_walk.bvh").at_fps(60), keys=26)
    kp.save(keyed, tmp_path / "walk.fbx")
    assert _off_mm(kp.load(tmp_path / "walk.fbx", reference_pose="keep"), keyed.sample()) < TOLERANCE_MM


def test_the_judge_sees_a_joint_that_is_off(tmp_path):
    motion = kp.demo_motion()[300:303]
    kp.save(motion, tmp_path / "demo.fbx")
    moved = motion.translations.copy()
    moved[1, 0, 0] += 2e-4
    assert _off_mm(kp.load(tmp_path / "demo.fbx"), replace(motion, translations=moved)) > TOLERANCE_MM


def test_a_failed_writing_leaves_the_old_file(tmp_path, monkeypatch):
    monkeypatch.setattr("keypose.formats.fbx.LEAST_WRITING_SECONDS", 0.01)
    (tmp_path / "x.fbx").write_bytes(b"as it was")
    with pytest.raises(kp.FileError, match="did not finish writing it within 0 s"):
        kp.save(kp.demo_motion()[:2], tmp_path / "x.fbx")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("x.fbx", b"as it was")]
