"""Write glTF: round trips, and an upright figure in every viewer."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.formats.figure import MAX_BONES, SHAPES, build_figure
from keypose.formats.orientation import ROTATION_TO_Y_UP
from keypose.kinematics import UPS
from keypose.limits import limit_hint
from keypose.rotations import IDENTITY, from_euler, rotate
from support.errors import raises
from support.gltf_motions import CASES, NAMES, OFFSETS, assert_same, figure, read_document
from support.gltf_scene import ReferenceEvaluator


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
@pytest.mark.parametrize("case", CASES)
def test_round_trip(tmp_path, case, suffix):
    path = tmp_path / f"clip{suffix}"
    kp.save(CASES[case], path)
    assert_same(kp.load(path), CASES[case])
    assert kp.load(path).notes == ()


def with_axes(motion: kp.Motion, up: str, unit: float) -> kp.Motion:
    """Return a Y-up motion in metres in other axes and another unit."""
    turn = np.rint(kp.rotations.to_matrix(np.array(ROTATION_TO_Y_UP[up]))).T / unit
    s = motion.skeleton
    rotated = motion.rotations.copy()
    rotated[..., 1:] = rotated[..., 1:] @ turn.T * unit
    return replace(
        motion,
        skeleton=replace(s, offsets=s.offsets @ turn.T, end_offsets=s.end_offsets @ turn.T),
        translations=motion.translations @ turn.T,
        rotations=rotated,
        up=up,
        metres_per_unit=unit,
    )


@pytest.mark.parametrize("up", UPS)
@pytest.mark.parametrize("unit", [1.0, 0.001, 1000.0])
def test_the_nodes_are_the_same_from_whatever_axes_and_unit(tmp_path, up, unit):
    motions = {"plain.glb": figure(metres_per_unit=1.0), "other.glb": with_axes(figure(), up, unit)}
    for name, motion in motions.items():
        kp.save(motion, tmp_path / name)
        assert_same(kp.load(tmp_path / name), motion)
    plain, other = (read_document(tmp_path / name)["nodes"] for name in motions)
    for node, reference in zip(plain, other, strict=True):
        assert not {"scale", "matrix"} & set(reference)
        for key, rest in (("translation", [0, 0, 0]), ("rotation", [0, 0, 0, 1])):
            np.testing.assert_allclose(reference.get(key, rest), node.get(key, rest), atol=1e-6)
    assert "rotation" not in other[7]


@pytest.mark.parametrize("unit", [np.float64(0.01), np.float32(0.25), 2])
def test_a_unit_of_any_number_type(tmp_path, unit):
    kp.save(figure(metres_per_unit=unit), tmp_path / "clip.glb")
    assert kp.load(tmp_path / "clip.glb").metres_per_unit == unit


def test_far_from_the_origin_nothing_of_the_figure_is_lost(tmp_path):
    motion = figure()
    far = motion.translations.copy()
    far[:, 0] += (4096.0, 0.0, -65536.0)
    kp.save(replace(motion, translations=far), tmp_path / "clip.glb")
    result = kp.load(tmp_path / "clip.glb")
    still = result.translations - result.translations[0]
    np.testing.assert_allclose(still, motion.translations - motion.translations[0], atol=1e-6)


@pytest.mark.parametrize("up", UPS)
def test_any_program_sees_an_upright_figure_in_metres(tmp_path, up):
    motion = figure(up=up, metres_per_unit=0.01, unit=0.01)
    path = tmp_path / "clip.glb"
    kp.save(motion, path)
    reference = ReferenceEvaluator.of(path)
    for frame in (0, 7, 19):
        expected = rotate(np.array(ROTATION_TO_Y_UP[up]), motion.world_positions()[frame]) * 0.01
        result = [reference.world(node, np.float32(frame / 30))[:3, 3] for node in range(7)]
        np.testing.assert_allclose(result, expected, atol=2e-6)
    heights = kp.kinematics.heights_above(motion.world_positions()[3], up) * 0.01
    np.testing.assert_allclose([reference.world(node, 0.1)[1, 3] for node in range(7)], heights, atol=1e-5)


def test_the_reference_pose_as_a_first_frame(tmp_path):
    pose = kp.Pose(OFFSETS, np.tile(IDENTITY, (7, 1)))
    rotated = kp.rotations.multiply(from_euler(np.array([0.0, 1.5, 0.0]), "ZXY"), figure().rotations)
    motion = replace(figure(), rotations=rotated, reference_pose=pose, first_frame=1)
    path = tmp_path / "clip.glb"
    kp.save(motion, path, reference_pose=True)
    unsplit = kp.load(path, reference_pose="keep")
    assert (unsplit.n_frames, unsplit.first_frame, unsplit.reference_pose) == (21, 0, None)
    np.testing.assert_allclose(unsplit.rotations[0], pose.rotations, atol=1e-7)
    assert_same(kp.load(path), motion)


def test_fps_option(tmp_path):
    kp.save(figure(21), tmp_path / "clip.glb")
    assert kp.load(tmp_path / "clip.glb", fps=15.0).n_frames == 11


def test_names_in_another_encoding(tmp_path):
    motion = figure()
    names = ("H\udcfcfte", *NAMES[1:])
    skeleton = replace(motion.skeleton, names=names)
    kp.save(replace(motion, skeleton=skeleton, name="caf\udce9"), tmp_path / "clip.glb")
    assert kp.load(tmp_path / "clip.glb").skeleton.names[0] == "Hüfte"


# What cannot be written


def test_numbers_beyond_32_bits(tmp_path):
    with raises(kp.OptionError, subject="person", expected="1e-25 to 1e+15, which fit into glTF's 32 bits"):
        kp.save(figure(unit=1e14, metres_per_unit=1e-12), tmp_path / "clip.glb")
    with raises(kp.OptionError, subject="person", expected="1e-25 to 1e+15, which fit into glTF's 32 bits"):
        kp.save(figure(unit=1e-4, metres_per_unit=1e12), tmp_path / "clip.glb")
    assert not list(tmp_path.iterdir())


def test_a_glb_of_more_bytes_than_it_can_count(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["keypose.formats.gltf.curves"], "MAX_GLB_BYTES", 1000)
    with raises(kp.OptionError, subject="person", expected="at most the 1000 of a GLB: save it in parts, or as .bvh"):
        kp.save(figure(), tmp_path / "clip.glb")
    kp.save(figure(), tmp_path / "clip.gltf")


def test_first_frame_limits(tmp_path):
    with raises(kp.ModelError, subject="motion", problem="the first frame's number is beyond all measure"):
        figure(first_frame=2**60)
    motion = figure(first_frame=2**53 - 1)
    kp.save(motion, tmp_path / "clip.glb")
    assert_same(kp.load(tmp_path / "clip.glb"), motion)


def test_numbers_of_numpy(tmp_path):
    motion = figure(fps=np.float32(30.0), unit=0.01, first_frame=np.int64(7), metres_per_unit=np.float32(0.01))
    kp.save(motion, tmp_path / "clip.glb")
    assert_same(kp.load(tmp_path / "clip.glb"), motion)


def test_figures_too_small_or_too_far_away_to_be_drawn(tmp_path):
    tiny = figure(unit=1e200)
    for away in (1.0, 9e14):
        translations = tiny.translations.copy()
        translations[:, 0, 0] += away
        kp.save(replace(tiny, translations=translations), tmp_path / "tiny.glb")
        assert kp.load(tmp_path / "tiny.glb").translations[0, 0, 0] == pytest.approx(away)
    far = figure(metres_per_unit=1.0)
    translations = far.translations.copy()
    translations[:, 0, 2] += 9e14
    kp.save(replace(far, translations=translations), tmp_path / "far.glb")
    assert kp.load(tmp_path / "far.glb").translations[0, 0, 2] == pytest.approx(9e14)


def test_a_skeleton_as_deep_as_the_limit(tmp_path):
    n = kp.Limits().depth
    skeleton = kp.Skeleton(tuple(f"j{k}" for k in range(n)), np.arange(n) - 1, np.tile((0.0, 0.01, 0.0), (n, 1)))
    motion = kp.Motion("deep", skeleton, 30.0, skeleton.offsets[None], np.tile(IDENTITY, (1, n, 1)))
    kp.save(motion, tmp_path / "clip.glb")
    np.testing.assert_array_equal(kp.load(tmp_path / "clip.glb").skeleton.parents, skeleton.parents)


def test_only_the_longest_of_many_bones_are_drawn():
    n = 5000
    lengths = np.linspace(0.1, 1.0, n)
    skeleton = kp.Skeleton(
        ("a", "b"),
        np.array([-1, 0]),
        np.array([[0.0, 0.0, 0.0], [0.0, 9.0, 0.0]]),
        end_joints=np.zeros(n, np.int32),
        end_offsets=np.stack((lengths, np.zeros(n), np.zeros(n)), axis=1),
    )
    drawn = build_figure(skeleton, skeleton.offsets, skeleton.end_offsets, 1.0)
    per_bone = 4 * len(SHAPES["bone"])
    assert len(drawn.positions) == MAX_BONES * per_bone + 2 * 4 * len(SHAPES["ball"])
    ends = drawn.positions[: MAX_BONES * per_bone].reshape(MAX_BONES, -1, 3)
    reach = ends.max(axis=1)  # of each bone
    assert reach[:, 1].max() >= 9.0  # the child is the farthest of all
    assert np.sort(reach[:, 0])[1] >= lengths[-MAX_BONES]
    np.testing.assert_allclose(np.linalg.norm(drawn.normals, axis=1), 1.0)


def test_end_sites_count_as_joints(tmp_path):
    kp.save(figure(), tmp_path / "clip.glb")
    assert kp.load(tmp_path / "clip.glb", limits=kp.Limits(joints=10)).n_joints == 7
    with raises(kp.LimitError, value=10, hint=limit_hint("joints")):
        kp.load(tmp_path / "clip.glb", limits=kp.Limits(joints=9))
