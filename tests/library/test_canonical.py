from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.arrays import Floats
from keypose.kinematics import UPS, up_axis
from keypose.library.canonical import BONES_M, INDEX, JOINTS, PARTNERS, CanonicalBody, canonical_body
from keypose.library.descriptors.description import posture
from keypose.rotations import exp, from_matrix
from support.library_cases import DEMO, MIXAMO_NAMES, rotate_world, scale_motion


def body_of(motion: kp.Motion) -> CanonicalBody:
    body = canonical_body(motion)
    assert body is not None
    return body


def length_of(body: CanonicalBody, *joints: str) -> float:
    points = body.positions[0, [INDEX[joint] for joint in joints]]
    return float(np.linalg.norm(np.diff(points, axis=0), axis=-1).sum())


def test_there_are_seventeen_joints_and_each_has_a_partner() -> None:
    assert len(JOINTS) == 17
    assert [JOINTS[k] for k in PARTNERS] == [
        joint.replace("left", "?").replace("right", "left").replace("?", "right") for joint in JOINTS
    ]


def test_the_demo_is_seventeen_joints_in_metres_where_the_file_has_them() -> None:
    body = body_of(DEMO)
    names = [joint for joint in JOINTS if joint not in ("hips", "chest")]
    own = DEMO.world_positions()[:, [DEMO.joint(name) for name in names]]
    ratio = body.positions[:, [INDEX[name] for name in names]] / np.where(own == 0, np.nan, own)
    assert body.missing == () and body.positions.shape == (DEMO.n_frames, 17, 3)
    assert np.nanstd(ratio) < 1e-9 and 0.9 < np.nanmean(ratio) < 1.1


@pytest.mark.parametrize(("middle", "limb"), [("hips", "thigh"), ("chest", "upper_arm")])
def test_hips_and_chest_are_centred_between_limbs_in_any_rig(middle: str, limb: str) -> None:
    body = body_of(DEMO)
    sides = [body.positions[:, INDEX[f"{side}_{limb}"]] for side in ("left", "right")]
    np.testing.assert_allclose(body.positions[:, INDEX[middle]], np.mean(sides, axis=0), atol=1e-12)


def test_legs_and_trunk_have_the_length_of_a_figure_of_one_metre_seventy() -> None:
    legs = [length_of(body_of(DEMO), f"{side}_thigh", f"{side}_shin", f"{side}_foot") for side in ("left", "right")]
    assert np.mean(legs) + length_of(body_of(DEMO), "hips", "chest", "head") == pytest.approx(BONES_M, rel=1e-3)


@pytest.mark.parametrize("factor", [0.01, 39.37, 1e9])
def test_the_unit_does_not_matter(factor: float) -> None:
    np.testing.assert_allclose(body_of(scale_motion(DEMO, factor)).positions, body_of(DEMO).positions, atol=1e-9)


@pytest.mark.parametrize("up", UPS)
def test_every_up_axis_becomes_y_without_a_mirror(up: str) -> None:
    axis, sign = up_axis(up)  # type: ignore[arg-type]
    upward = sign * np.eye(3)[axis]
    side = np.eye(3)[(axis + 1) % 3]
    turn = from_matrix(np.stack((side, upward, np.cross(side, upward)), axis=1))
    body = body_of(replace(rotate_world(DEMO, turn), up=up))
    first = body_of(DEMO)
    np.testing.assert_allclose(body.positions[..., 1], first.positions[..., 1], atol=1e-9)
    change = np.diff(body.heading - first.heading)
    np.testing.assert_allclose(change, 0, atol=1e-9)


def test_names_of_another_exporter_give_the_same_body() -> None:
    parts = DEMO.skeleton.anatomy.body_parts
    renamed = replace(DEMO.skeleton, names=tuple(MIXAMO_NAMES.get(p or "", f"x{k}") for k, p in enumerate(parts)))
    np.testing.assert_array_equal(body_of(replace(DEMO, skeleton=renamed)).positions, body_of(DEMO).positions)


def test_heading_is_zero_towards_z_and_grows_to_the_left() -> None:
    still = DEMO[:2]
    first = body_of(still).heading
    for angle in (0.5, -2.0):
        rotated_heading = body_of(rotate_world(still, exp(np.array((0.0, angle, 0.0))))).heading
        np.testing.assert_allclose(np.angle(np.exp(1j * (rotated_heading - first - angle))), 0, atol=1e-9)
    shoulders = [still.joint("left_upper_arm"), still.joint("right_upper_arm"), still.joint("left_thigh")]
    left, right, _ = still.world_positions()[0, shoulders]
    ahead = np.cross(left - right, (0.0, 1.0, 0.0))
    assert np.cos(first[0] - np.arctan2(ahead[0], ahead[2])) > 0.9


def test_a_body_on_its_side_keeps_its_last_heading() -> None:
    across = np.array(((0.0, 0, -0.3), (0, 0.3, 0), (0.3, 0, 0)))  # from right to left: it faces +X, lies, faces +Z
    positions = np.zeros((3, 17, 3))
    for at in ("thigh", "upper_arm"):
        positions[:, INDEX[f"left_{at}"]] = across
    np.testing.assert_allclose(CanonicalBody(positions).heading, (np.pi / 2, np.pi / 2, 0), atol=1e-12)
    np.testing.assert_allclose(CanonicalBody(positions[1:]).heading, 0, atol=1e-12)
    np.testing.assert_array_equal(CanonicalBody(np.zeros((4, 17, 3))).heading, 0)


def test_mirroring_twice_is_the_identity_and_once_negates_headings() -> None:
    body = body_of(DEMO)
    np.testing.assert_array_equal(body.mirror().mirror().positions, body.positions)
    np.testing.assert_allclose(np.exp(1j * (body.mirror().heading + body.heading)), 1, atol=1e-9)
    left, right = INDEX["left_hand"], INDEX["right_hand"]
    np.testing.assert_array_equal(body.mirror().positions[:, left] * (-1, 1, 1), body.positions[:, right])


def test_a_missing_joint_has_the_position_of_its_nearest_relative() -> None:
    names = tuple(
        "x1" if name == DEMO.skeleton.names[DEMO.joint("left_hand")] else name for name in DEMO.skeleton.names
    )
    body = body_of(replace(DEMO, skeleton=replace(DEMO.skeleton, names=names)))
    assert "left_hand" in body.missing
    assert body.mirror().missing == tuple(name.replace("left", "right") for name in body.missing)
    full_body = body_of(DEMO)
    np.testing.assert_allclose(body.positions[:, INDEX["right_hand"]], full_body.positions[:, INDEX["right_hand"]])


def test_other_frame_rates_are_resampled_to_thirty() -> None:
    at_thirty, at_fifty = body_of(kp.demo_motion(30.0)).positions, body_of(kp.demo_motion(50.0)).positions
    n = min(len(at_thirty), len(at_fifty))
    assert np.abs(at_thirty[:n] - at_fifty[:n]).max() < 0.01


def some_motion(names: tuple[str, ...], parents: tuple[int, ...], translations: Floats) -> kp.Motion:
    j = len(names)
    skeleton = kp.Skeleton(names=names, parents=np.array(parents), offsets=np.zeros((j, 3)))
    rotations = np.broadcast_to((1.0, 0.0, 0.0, 0.0), (len(translations), j, 4))
    return kp.Motion("m", skeleton, 30.0, translations, rotations)


def test_motions_without_a_body_give_none() -> None:
    assert canonical_body(some_motion(("root",), (-1,), np.zeros((1, 1, 3)))) is None
    assert canonical_body(some_motion(("LKNE", "RKNE", "LANK"), (-1, -1, -1), np.ones((5, 3, 3)))) is None
    flat = replace(DEMO, translations=np.zeros_like(DEMO.translations))  # all joints in one point
    assert canonical_body(flat) is None
    far = np.zeros_like(DEMO.translations)
    far[:, 0] = 1e15
    assert canonical_body(replace(DEMO, translations=far)) is None


@pytest.mark.data
def test_real_skeletons(data_dir: Path) -> None:
    run = kp.load(data_dir / "cmu120" / "09_01.bvh")
    body = body_of(run)
    assert body.missing == () and body.n_frames == 37
    thighs = [run.joint(f"{side}_thigh") for side in ("left", "right")]
    hips = run.world_positions()[::4, thighs].mean(axis=1) * run.mm_per_unit / 1000
    np.testing.assert_allclose(body.root, hips, rtol=0.03)  # by bones, not by its own height
    rigs = [kp.load(data_dir / path) for path in ("cmu30/ball_kick/10_03.bvh", "formats/bvh/cmu10_03_daz.bvh")]
    here, there = (posture(body_of(rig)).positions for rig in rigs)  # one take on two rigs, whose hips are 14 cm apart
    assert np.median(np.sqrt(((here - there) ** 2).sum(axis=2).mean(axis=1))) < 0.13
    man = canonical_body(kp.load(data_dir / "gltf" / "CesiumMan.glb"))
    assert man is not None and np.isfinite(man.positions).all()
