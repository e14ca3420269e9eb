"""FBX read with Blender, compared with the exported motion and with BVH versions."""

from __future__ import annotations

import re

import numpy as np
import pytest

import keypose as kp
from keypose.formats import list_animations
from support.errors import Pattern, raises

pytestmark = pytest.mark.blender


@pytest.fixture(autouse=True)
def interpreter(blender_python, monkeypatch):
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)


@pytest.fixture(scope="module")
def exported_motion(import_in_blender, import_request, random_motion, tmp_path_factory):
    """A motion as FBX: written as BVH, imported by Blender, exported again."""
    folder = tmp_path_factory.mktemp("fbx")
    kp.save(random_motion, folder / "wandering.bvh")
    (blender,) = import_in_blender(
        import_request(folder / "wandering.bvh", [0], random_motion.fps, folder / "wandering.fbx")
    )
    assert blender.error is None
    return folder / "wandering.fbx"


def _in_our_axes(motion, names):
    """Return positions in metres: the exporter writes centimetres, and Blender's Z (the motion's Z) as Y."""
    p = motion.world_positions()[:, [motion.skeleton.names.index(name) for name in names]] * motion.metres_per_unit
    return np.stack((p[..., 0], -p[..., 2], p[..., 1]), axis=-1)


def test_round_trip(exported_motion, random_motion):
    result = kp.load(exported_motion, reference_pose="keep")
    assert result.name == "wandering"
    assert result.n_frames == random_motion.n_frames
    assert result.fps == 30.0
    assert result.up == "Y"
    assert result.metres_per_unit == 0.01
    assert set(result.skeleton.names) == set(random_motion.skeleton.names)  # leaves NAME_end are end sites
    error = np.abs(_in_our_axes(result, random_motion.skeleton.names) - random_motion.world_positions())
    assert error.max() < 1e-4 * random_motion.height


def test_end_sites_agree_with_blender(exported_motion, random_motion):
    """Also checks rotations, on which end sites depend."""
    result = kp.load(exported_motion, reference_pose="keep")
    head = result.skeleton.names.index("Head")
    end = result.end_positions()[:, list(result.skeleton.end_joints).index(head)] * 0.01
    end = np.stack((end[:, 0], -end[:, 2], end[:, 1]), axis=-1)
    expected = random_motion.end_positions()[:, list(random_motion.skeleton.end_joints).index(2)]
    assert np.abs(end - expected).max() < 1e-4 * random_motion.height


def test_another_rate(exported_motion, random_motion):
    result = kp.load(exported_motion, fps=15.0, reference_pose="keep")
    assert (result.fps, result.n_frames) == (15.0, random_motion.n_frames // 2)
    error = np.abs(_in_our_axes(result, random_motion.skeleton.names) - random_motion.world_positions()[::2])
    assert error.max() < 1e-4 * random_motion.height


def test_takes_by_name_and_number(exported_motion):
    expected = Pattern("^a name or a number from 0 of: 'wandering")
    with raises(kp.OptionError, option="animation", value="dance", expected=expected) as error:
        kp.load(exported_motion, animation="dance")
    names = re.findall("'([^']*)'", str(error.value.expected).split("from 0 of:")[1])
    assert len(names) == 2 and list_animations(exported_motion) == tuple(names)
    takes = [kp.load(exported_motion, animation=which, reference_pose="keep") for which in (0, 1, *names)]
    assert all("2 animations" in take.notes[0] for take in takes)
    apart = np.linalg.norm(takes[0].world_positions() - takes[1].world_positions(), axis=2)
    assert np.allclose(apart, 100.0, rtol=1e-4)  # the second take is a metre aside
    for by_number, by_name in zip(takes[:2], takes[2:], strict=True):
        assert np.array_equal(by_number.world_positions(), by_name.world_positions())
    with raises(kp.OptionError, code="unknown_animation", option="animation", value=2):
        kp.load(exported_motion, animation=2)


@pytest.mark.parametrize("keep", [30, 200, 2000, 0.5, 0.9])
def test_cut_files(exported_motion, keep, tmp_path):
    data = exported_motion.read_bytes()
    path = tmp_path / "cut.fbx"
    path.write_bytes(data[: int(keep if keep >= 1 else keep * len(data))])
    with raises(kp.FormatError, path=str(path)):
        kp.load(path)


def test_damaged_files(exported_motion, tmp_path):
    """Bytes changed at random: a motion or a KeyposeError, nothing else, and no trace of the temporary folder."""
    rng = np.random.default_rng(3)
    data = exported_motion.read_bytes()
    for k in range(6):
        damaged = np.frombuffer(data, np.uint8).copy()
        at = rng.integers(27, len(damaged) if k % 2 else 4000, 20)
        damaged[at] = rng.integers(0, 256, 20)
        path = tmp_path / f"{k}.fbx"
        path.write_bytes(damaged.tobytes())
        try:
            kp.load(path)
        except kp.KeyposeError as error:
            assert "keypose-" not in str(error) and "Traceback" not in str(error)


def test_an_error_in_blenders_importer(exported_motion, tmp_path):
    """Blender reports a traceback; the message has its last line."""
    path = tmp_path / "no times.fbx"
    path.write_bytes(exported_motion.read_bytes().replace(b"KeyTime", b"KeyTim?"))
    with raises(
        kp.FormatError, path=str(path), problem=Pattern(r"^Blender cannot read it \(\w+Error: [^\n]+\)$"), hint=None
    ):
        kp.load(path)


@pytest.mark.data
@pytest.mark.parametrize("clip", ["07_01", "09_11"])
def test_bvh_versions(clip, data_dir):
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
    error = np.linalg.norm(ours - bvh.world_positions(), axis=2)
    assert error.max() < 0.005 * bvh.height
    assert error.mean() < 0.0005 * bvh.height


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "frames", "fps", "joints"), [("animation_with_skeleton", 21, 24.0, 14), ("huesitos", 40, 25.0, 9)]
)
def test_other_files(name, frames, fps, joints, data_dir):
    motion = kp.load(data_dir / "fbx" / f"{name}.fbx")
    assert (motion.n_frames, motion.fps, motion.n_joints) == (frames, fps, joints)
