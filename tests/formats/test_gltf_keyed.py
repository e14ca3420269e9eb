"""Sparse glTF: round trip of the keys and curves of a keyed motion."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.formats.gltf.extras import KEY
from keypose.rotations import IDENTITY, angle_between
from support.errors import Pattern, raises, warns
from support.gltf_motions import OFFSETS, figure, read_document, replace_document
from support.gltf_scene import ReferenceEvaluator
from support.keyed_motions import CASES, keyed

TOLERANCE_MM = 0.01  # on a figure of 1.7 m
QUATERNIONS = {name: case for name, case in CASES.items() if case.rotation_orders is None and name != "odd names"}
EXACT = ("n_frames", "fps", "first_frame", "up", "metres_per_unit", "is_cubic", "rotation_orders", "residual")


def off_mm(one: kp.Motion, other: kp.Motion) -> float:
    """Return the largest distance between the joints and end sites of two motions."""
    joints = np.linalg.norm(one.world_positions() - other.world_positions(), axis=-1).max()
    ends = np.linalg.norm(one.end_positions() - other.end_positions(), axis=-1).max(initial=0.0)
    return float(max(joints, ends)) * one.mm_per_unit


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
@pytest.mark.parametrize("name", QUATERNIONS)
def test_the_same_keyed_motion_comes_back(name, suffix, tmp_path):
    case = replace(QUATERNIONS[name], residual=None, name="x", notes=())
    kp.save(QUATERNIONS[name], tmp_path / f"x{suffix}")
    again = kp.load_keyed(tmp_path / f"x{suffix}")
    for field in EXACT:
        assert getattr(again, field) == getattr(case, field), field
    assert again.keys.tolist() == case.keys.tolist() and again.extremes.tolist() == case.extremes.tolist()
    assert again.skeleton.names == case.skeleton.names and again.skeleton.channels == case.skeleton.channels
    np.testing.assert_array_equal(again.skeleton.offsets, case.skeleton.offsets)
    assert (again.reference_pose is None) == (case.reference_pose is None)
    assert off_mm(case.sample(), again.sample()) < TOLERANCE_MM
    some = np.linspace(0, case.n_frames - 1, 57)
    assert off_mm(case.sample(frames=some), again.sample(frames=some)) < TOLERANCE_MM
    lengths = np.linalg.norm(again.rotations.values, axis=-1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-15)
    assert np.sum(again.rotations.values * case.rotations.values, axis=-1).min() > 0.999  # the signs too


@pytest.mark.parametrize("name", QUATERNIONS)
def test_load_samples_it_as_we_do(name, tmp_path):
    kp.save(QUATERNIONS[name], tmp_path / "x.glb")
    again = kp.load_keyed(tmp_path / "x.glb")
    for fps in (None, 2 * again.fps):
        motion = kp.load(tmp_path / "x.glb", fps=fps, reference_pose="keep")
        sampled = again.sample(fps=fps)
        assert motion.n_frames == sampled.n_frames and motion.first_frame == sampled.first_frame
        assert off_mm(sampled, motion) < 1e-4  # what float32 has rounded is the same for both


def channels(path) -> dict[tuple[int, str], tuple[str, int]]:
    """Return interpolation and number of keys for each joint and property."""
    read = read_document(path)
    (animation,) = read["animations"]
    by_target = {}
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        n_keys = read["accessors"][sampler["input"]]["count"]
        n_values = read["accessors"][sampler["output"]]["count"]
        assert n_values == n_keys * (3 if sampler["interpolation"] == "CUBICSPLINE" else 1)
        by_target[channel["target"]["node"], channel["target"]["path"]] = sampler["interpolation"], n_keys
    return by_target


def test_only_the_keys_are_written(tmp_path):
    kp.save(CASES["cubic"], tmp_path / "x.glb")
    written = channels(tmp_path / "x.glb")
    assert written[0, "rotation"] == written[0, "translation"] == written[4, "rotation"] == ("CUBICSPLINE", 5)
    assert written[2, "rotation"] == ("LINEAR", 1)  # the head keeps still
    assert (3, "translation") not in written  # it is where its node rests
    kp.save(CASES["straight"], tmp_path / "x.glb")
    assert channels(tmp_path / "x.glb")[4, "rotation"] == ("LINEAR", 5)


def test_keys_away_from_the_ends_last_as_long_as_the_motion(tmp_path):
    kp.save(CASES["keys away from the ends"], tmp_path / "x.glb")
    written = channels(tmp_path / "x.glb")
    assert written[0, "rotation"] == ("CUBICSPLINE", 5)  # the keys, the first and the last frame
    assert all(
        kind == ("CUBICSPLINE", 3) for target, kind in written.items() if target != (0, "rotation") and kind[1] > 1
    )
    again = kp.load_keyed(tmp_path / "x.glb")
    assert again.keys.tolist() == [3, 9, 12] and again.n_frames == 20
    motion = kp.load(tmp_path / "x.glb")
    assert motion.n_frames == 20
    np.testing.assert_allclose(motion.world_positions()[:3], motion.world_positions()[[3, 3, 3]], atol=1e-12)


def test_curves_agree_with_the_glTF_specification(tmp_path):
    """World positions by the specification, also between frames."""
    for name in ("cubic", "straight", "natural", "keys away from the ends"):
        case = CASES[name]
        kp.save(case, tmp_path / "x.glb")
        reference = ReferenceEvaluator.of(tmp_path / "x.glb")
        frames = np.linspace(0, 19, 31)
        ours = case.sample(frames=frames).world_positions()
        for i, frame in enumerate(frames.tolist()):
            positions = np.array([reference.world(j, frame / case.fps)[:3, 3] for j in range(case.n_joints)])
            np.testing.assert_allclose(positions, ours[i], atol=1e-6, err_msg=name)


def test_euler_curves_are_fitted_again(tmp_path):
    euler = CASES["Euler"]
    with warns(kp.FormatWarning, code="curves_differ", subject=euler.name) as caught:
        kp.save(euler, tmp_path / "x.glb")
    assert f"up to {caught[0].message.value:.1f} mm away" in str(caught[0].message)
    again = kp.load_keyed(tmp_path / "x.glb")
    assert again.rotation_orders is None and again.keys.tolist() == euler.keys.tolist()
    np.testing.assert_array_equal(again.extremes, euler.extremes)
    at_keys = euler.keys.astype(float)
    assert off_mm(euler.sample(frames=at_keys), again.sample(frames=at_keys)) < TOLERANCE_MM
    away = off_mm(euler.sample(), again.sample())
    flat = replace(again, rotations=kp.Curves(again.rotations.values, *(np.zeros(again.rotations.values.shape),) * 2))
    assert 0.5 < away < off_mm(euler.sample(), flat.sample())  # fitted, not merely joined


def test_euler_curves_that_are_close_need_no_warning(tmp_path):
    motion = kp.demo_motion(fps=30)[:60]
    euler = kp.unbake(motion, list(range(0, 60, 2)) + [59], rotation="euler")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kp.save(euler, tmp_path / "x.glb")
    assert off_mm(euler.sample(), kp.load(tmp_path / "x.glb")) < 0.5


@pytest.mark.parametrize("keys", [(0, 4, 11, 19), (3, 11), (7,)])
@pytest.mark.parametrize("interpolation", ["bezier", "linear"])
def test_the_reference_pose_as_a_first_frame(keys, interpolation, tmp_path):
    pose = kp.Pose(OFFSETS, np.tile(np.array(IDENTITY), (7, 1)) * -1.0)
    case = keyed(keys, interpolation=interpolation, reference_pose=pose, first_frame=5)
    kp.save(case, tmp_path / "x.glb", reference_pose=True)
    again = kp.load_keyed(tmp_path / "x.glb")
    assert again.n_frames == 21 and again.first_frame == 4 and again.reference_pose is None
    assert angle_between(again.sample(frames=[0]).rotations[0], pose.rotations).max() < 1e-6
    assert off_mm(case.sample(), again.sample(frames=np.arange(1.0, 21.0))) < TOLERANCE_MM
    assert set(case.keys + 1) <= set(again.keys.tolist())


def test_the_residual_is_not_written(tmp_path):
    kp.save(CASES["cubic"], tmp_path / "x.glb")
    assert CASES["cubic"].residual is not None and kp.load_keyed(tmp_path / "x.glb").residual is None


def test_a_dense_file_has_a_key_on_every_frame(tmp_path):
    motion = figure()
    kp.save(motion, tmp_path / "x.glb")
    every = kp.load_keyed(tmp_path / "x.glb")
    assert every.keys.tolist() == list(range(20)) and not every.is_cubic and every.extremes.all()
    assert off_mm(motion, every.sample()) < TOLERANCE_MM


def test_another_rate_moves_the_keys(tmp_path):
    case = CASES["keys away from the ends"]
    kp.save(case, tmp_path / "x.glb")
    twice = kp.load_keyed(tmp_path / "x.glb", fps=60)
    assert twice.keys.tolist() == [6, 18, 24] and twice.n_frames == 39
    assert off_mm(case.sample(fps=60), twice.sample()) < TOLERANCE_MM
    with raises(
        kp.FormatError,
        code="inconsistent",
        subject="animations[0].samplers[0]",
        problem=Pattern("^the key at 0.1 s has no frame of its own at 25 "),
        hint=Pattern("^fps= states another rate"),
    ):
        kp.load_keyed(tmp_path / "x.glb", fps=25)


def test_extras_about_keys_that_no_longer_fit(tmp_path):
    """If the extras do not match the channels, the keys are those of the channels."""
    kp.save(CASES["cubic"], tmp_path / "x.glb")
    edited = read_document(tmp_path / "x.glb")
    notes = next(node for node in edited["nodes"] if "extras" in node)["extras"][KEY]
    notes["keyed"] |= {"keys": [0, 7, 19], "extremes": [0]}
    replace_document(tmp_path / "x.glb", edited)
    again = kp.load_keyed(tmp_path / "x.glb")
    assert again.keys.tolist() == [0, 4, 5, 11, 19] and "keys were changed" in again.notes[0]
    assert off_mm(CASES["cubic"].sample(), again.sample()) < TOLERANCE_MM


@pytest.mark.parametrize(
    "wrong",
    [{"keys": []}, {"keys": [5, 4]}, {"keys": [0, 99]}, {"keys": "x"}, {"keys": [0.5]}, {"extremes": [7]},
     {"interpolation": "x"}],
)  # fmt: skip
def test_invalid_extras_about_keys_are_ignored(wrong, tmp_path):
    kp.save(CASES["cubic"], tmp_path / "x.glb")
    edited = read_document(tmp_path / "x.glb")
    next(node for node in edited["nodes"] if "extras" in node)["extras"][KEY]["keyed"] |= wrong
    replace_document(tmp_path / "x.glb", edited)
    with warns(
        kp.FormatWarning, code="unused_data", problem=Pattern("^the data of Keypose in the file are not used: ")
    ):
        again = kp.load_keyed(tmp_path / "x.glb")
    assert again.keys.tolist() == [0, 4, 5, 11, 19] and again.up == "Y"


def test_curves_that_no_32_bits_hold(tmp_path):
    plain = CASES["without residual"]
    curves = plain.translations
    with raises(kp.OptionError, subject="person", value=10**8 + 1):
        kp.save(replace(plain, n_frames=10**8 + 1, keys=[0, 4, 10**8 - 1, 10**8], translations=kp.Curves(
            curves.values[:4], curves.in_tangents[:4], curves.out_tangents[:4]), rotations=kp.Curves(
            plain.rotations.values[:4], plain.rotations.in_tangents[:4], plain.rotations.out_tangents[:4]),
            extremes=plain.extremes[:4]), tmp_path / "x.glb")  # fmt: skip


@pytest.mark.data
def test_real_motion(tmp_path, data_dir):
    motion = kp.load(data_dir / "fbx" / "07_01.bvh")
    case = kp.unbake(motion, np.linspace(0, motion.n_frames - 1, motion.n_frames // 10).astype(int))
    kp.save(case, tmp_path / "x.glb")
    again = kp.load_keyed(tmp_path / "x.glb")
    assert again.keys.tolist() == case.keys.tolist()
    assert off_mm(case.sample(), again.sample()) < TOLERANCE_MM
    assert off_mm(case.sample(), kp.load(tmp_path / "x.glb")) < TOLERANCE_MM
