"""FBX, read through Blender: against the motion that it was exported from, and against BVH twins."""

from __future__ import annotations

import re

import numpy as np
import pytest

import keypose as kp

pytestmark = pytest.mark.blender


@pytest.fixture(autouse=True)
def interpreter(blender_python, monkeypatch):
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)


@pytest.fixture(scope="module")
def exported(judge, asked, wandering, tmp_path_factory):
    """Our motion as FBX: written as BVH, imported by Blender, exported again."""
    folder = tmp_path_factory.mktemp("fbx")
    kp.save(wandering, folder / "wandering.bvh")
    (blender,) = judge(asked(folder / "wandering.bvh", [0], wandering.fps, folder / "wandering.fbx"))
    assert blender.error is None
    return folder / "wandering.fbx"


def _in_our_axes(motion, names):
    """Positions in metres: the exporter writes centimetres, and stands Blender's Z (which took our Z) on Y."""
    p = motion.world_positions()[:, [motion.skeleton.names.index(name) for name in names]] * motion.metres_per_unit
    return np.stack((p[..., 0], -p[..., 2], p[..., 1]), axis=-1)


def test_the_motion_comes_back(exported, wandering):
    found = kp.load(exported, reference_pose="keep")
    assert found.name == "wandering"
    assert found.n_frames == wandering.n_frames
    assert found.fps == 30.0
    assert found.up == "Y"
    assert found.metres_per_unit == 0.01
    assert set(found.skeleton.names) == set(wandering.skeleton.names)  # leaves NAME_end are end sites
    off = np.abs(_in_our_axes(found, wandering.skeleton.names) - wandering.world_positions())
    assert off.max() < 1e-4 * wandering.height


def test_our_kinematics_gives_what_blender_shows(exported, wandering):
    """Also the rotations: an end site hangs on them."""
    found = kp.load(exported, reference_pose="keep")
    head = found.skeleton.names.index("Head")
    end = found.end_positions()[:, list(found.skeleton.end_joints).index(head)] * 0.01
    end = np.stack((end[:, 0], -end[:, 2], end[:, 1]), axis=-1)
    wanted = wandering.end_positions()[:, list(wandering.skeleton.end_joints).index(2)]
    assert np.abs(end - wanted).max() < 1e-4 * wandering.height


def test_another_rate(exported, wandering):
    found = kp.load(exported, fps=15.0, reference_pose="keep")
    assert (found.fps, found.n_frames) == (15.0, wandering.n_frames // 2)
    off = np.abs(_in_our_axes(found, wandering.skeleton.names) - wandering.world_positions()[::2])
    assert off.max() < 1e-4 * wandering.height


def test_takes_by_name_and_number(exported):
    with pytest.raises(kp.OptionError, match="animation='dance', but there is 'wandering") as error:
        kp.load(exported, animation="dance")
    names = re.findall("'([^']*)'", str(error.value).split("there is")[1])
    assert len(names) == 2
    takes = [kp.load(exported, animation=which, reference_pose="keep") for which in (0, 1, *names)]
    assert all("2 animations" in take.notes[0] for take in takes)
    apart = np.linalg.norm(takes[0].world_positions() - takes[1].world_positions(), axis=2)
    assert np.allclose(apart, 100.0, rtol=1e-4)  # the second take stands a metre aside
    for by_number, by_name in zip(takes[:2], takes[2:], strict=True):
        assert np.array_equal(by_number.world_positions(), by_name.world_positions())
    with pytest.raises(kp.OptionError, match="animation=2"):
        kp.load(exported, animation=2)


@pytest.mark.parametrize("keep", [30, 200, 2000, 0.5, 0.9])
def test_cut_files(exported, keep, tmp_path):
    data = exported.read_bytes()
    path = tmp_path / "cut.fbx"
    path.write_bytes(data[: int(keep if keep >= 1 else keep * len(data))])
    with pytest.raises(kp.FormatError, match=r"cut\.fbx"):
        kp.load(path)


def test_damaged_files(exported, tmp_path):
    """Bytes changed at random: a motion or a KeyposeError, nothing else, and no trace of the temporary folder."""
    rng = np.random.default_rng(3)
    data = exported.read_bytes()
    for k in range(6):
        damaged = np.frombuffer(data, np.uint8).copy()
        at = rng.integers(27, len(damaged) if k % 2 else 4000, 20)
        damaged[at] = rng.integers(0, 256, 20)
        path = tmp_path / f"{k}.fbx"
        path.write_bytes(damaged.tobytes())
        try:
            kp.load(path)
        except kp.KeyposeError as error:
            assert "keypose-" not in str(error)


@pytest.mark.data
@pytest.mark.parametrize("clip", ["07_01", "09_11"])
def test_bvh_twins(clip, data_dir):
    """The FBX files were made from the BVH files by Blender 2.79: same axes and frames, 100 times as large.

    It thinned the curves on the way, so that joints are up to 0.3 % of the height off.
    """
    fbx = kp.load(data_dir / "fbx" / f"{clip}_cmu.fbx")
    bvh = kp.load(data_dir / "fbx" / f"{clip}.bvh")
    assert (fbx.fps, fbx.n_frames, fbx.first_frame, fbx.up) == (120.0, bvh.n_frames, bvh.first_frame, bvh.up)
    assert set(fbx.skeleton.names) == set(bvh.skeleton.names)
    assert len(fbx.skeleton.end_joints) == len(bvh.skeleton.end_joints)
    assert abs(fbx.height / bvh.height - 100.0) < 1e-3
    ours = fbx.world_positions()[:, [fbx.skeleton.names.index(name) for name in bvh.skeleton.names]] / 100.0
    off = np.linalg.norm(ours - bvh.world_positions(), axis=2)
    assert off.max() < 0.005 * bvh.height
    assert off.mean() < 0.0005 * bvh.height


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "frames", "fps", "joints"), [("animation_with_skeleton", 21, 24.0, 14), ("huesitos", 40, 25.0, 9)]
)
def test_other_files(name, frames, fps, joints, data_dir):
    motion = kp.load(data_dir / "fbx" / f"{name}.fbx")
    assert (motion.n_frames, motion.fps, motion.n_joints) == (frames, fps, joints)
