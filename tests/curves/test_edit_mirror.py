"""Mirrored poses."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.curves.edit import edit
from keypose.curves.edit.mirror import find_symmetry, mirror_pose
from keypose.errors import OptionError
from keypose.rotations import angle_between, exp
from reference import naive_edit as twin
from support.edit_cases import assert_same_outside, assert_sound, build_keyed, demo, demo_keyed, max_distance_mm
from support.errors import Pattern, raises


@pytest.mark.parametrize("frame", [0, 20, 45, 88])
def test_the_demo_figure_is_mirrored_exactly(frame):
    keyed, pose = demo_keyed(), demo()[frame]
    image = mirror_pose(keyed, pose)
    np.testing.assert_allclose(
        angle_between(image.rotations, twin.mirror_pose(keyed.skeleton, pose, 1).rotations), 0, atol=1e-7
    )
    back = mirror_pose(keyed, image)
    np.testing.assert_allclose(angle_between(back.rotations, pose.rotations), 0, atol=1e-7)
    np.testing.assert_allclose(back.translations, pose.translations, atol=1e-12)
    _assert_reflected(keyed, pose, image, 1e-6)


@pytest.mark.data
@pytest.mark.parametrize("clip", ["cmu120/07_05_walk.bvh", "cmu120/135_07_kicking.bvh", "gltf/CesiumMan.glb"])
def test_real_figures_are_mirrored_to_within_their_asymmetry(data_dir, clip):
    motion = kp.load(data_dir / clip)
    keyed = build_keyed(motion, (0, motion.n_frames - 1), residual=False)
    symmetry = find_symmetry(keyed.name, keyed.skeleton, keyed.reference_pose)
    extent = np.ptp(symmetry.world.positions, axis=0).max() * motion.mm_per_unit
    for frame in np.linspace(0, motion.n_frames - 1, 12).astype(int).tolist():
        pose = motion[frame]
        image = mirror_pose(keyed, pose)
        np.testing.assert_allclose(angle_between(mirror_pose(keyed, image).rotations, pose.rotations), 0, atol=1e-7)
        # errors of a chain of joints add up
        _assert_reflected(keyed, pose, image, 1.25 * symmetry.asymmetry * extent)


def _assert_reflected(keyed, pose, image, tolerance_mm):
    """Joint positions are those of the partners, seen in an upright mirror through the hips that faces as they do."""
    skeleton, rest_pose = keyed.skeleton, find_symmetry(keyed.name, keyed.skeleton, keyed.reference_pose).rest_pose
    partners = list(skeleton.anatomy.mirror_partners())
    (old, rotations), (new, _), (at_rest, rest_rotations) = (twin.world(skeleton, p) for p in (pose, image, rest_pose))
    across = at_rest[skeleton.joint("left_thigh")] - at_rest[skeleton.joint("right_thigh")]
    across = np.eye(3)[np.abs(across).argmax()]  # along an axis, in all of these figures
    normal = rotations[0] @ rest_rotations[0].T @ across
    normal[1] = 0.0
    normal /= np.linalg.norm(normal)
    old, new = old - old[0], new - new[0]
    expected = old - 2 * (old @ normal)[:, None] * normal
    assert max_distance_mm(keyed, expected[partners], new) <= tolerance_mm


def test_a_key_is_mirrored_in_its_place():
    keyed = demo_keyed()
    e = edit(keyed)
    change = e.mirror(40)
    assert_same_outside(keyed, change)
    np.testing.assert_allclose(e.keyed.translations.values[:, 0], keyed.translations.values[:, 0], atol=1e-12)
    e.mirror(40)
    assert max_distance_mm(keyed, e.keyed.sample().world_positions(), keyed.sample().world_positions()) < 1e-6
    np.testing.assert_allclose(e.copy(40, mirror=True).rotations, mirror_pose(e.keyed, e.copy(40)).rotations, atol=0)
    assert_sound(e.keyed)


def test_lying_on_one_side_can_be_mirrored():
    keyed = demo_keyed()
    pose = demo()[0]
    rotations = pose.rotations.copy()
    rotations[0] = exp(np.array((0, 0, np.pi / 2)))
    lying = kp.Pose(pose.translations, rotations)
    image = mirror_pose(keyed, lying)
    np.testing.assert_allclose(angle_between(mirror_pose(keyed, image).rotations, rotations), 0, atol=1e-7)
    head, hips = keyed.skeleton.joint("head"), 0
    positions = [twin.world(keyed.skeleton, p)[0] for p in (lying, image)]
    np.testing.assert_allclose(
        positions[0][head, 0] - positions[0][hips, 0], positions[1][head, 0] - positions[1][hips, 0], atol=0.05
    )


def test_mirror_rejects_unsuitable_figures():
    skeleton = kp.Skeleton(("a", "b"), np.array([-1, 0]), np.zeros((2, 3)))
    plain = kp.Motion("two", skeleton, 30, np.zeros((2, 2, 3)), np.tile((1.0, 0, 0, 0), (2, 2, 1)))
    with raises(OptionError, code="no_body", problem=Pattern("^no joint is recognised as left or right")):
        edit(build_keyed(plain, (0, 1))).mirror(0)
    names = ("Hips", "LeftUpLeg", "RightUpLeg")
    skeleton = kp.Skeleton(names, np.array([-1, 0, 0]), np.array([[0, 0, 0], [1, 0, 0], [-1, -1, 0]], float))
    odd = kp.Motion("odd", skeleton, 30, np.zeros((2, 3, 3)), np.tile((1.0, 0, 0, 0), (2, 3, 1)))
    with raises(OptionError, subject="odd", hint="up to 10% can be mirrored"):
        edit(build_keyed(odd, (0, 1))).mirror(0)
    markers = kp.Skeleton(("LA", "RA"), np.array([-1, -1]), np.zeros((2, 3)))
    free = kp.Motion("markers", markers, 30, np.zeros((2, 2, 3)), np.tile((1.0, 0, 0, 0), (2, 2, 1)))
    with raises(OptionError, subject="markers", hint="mirroring needs one figure"):
        edit(build_keyed(free, (0, 1))).mirror(0)
