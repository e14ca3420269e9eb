"""Rebake on an edit whose joints have other axes, aligned by the rest pose in both files."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.api.rebake import rebake
from keypose.errors import OptionError
from keypose.formats.figure import bind_pose
from keypose.kinematics import forward
from keypose.rotations import angle_between, conjugate, exp, from_euler, multiply, normalise, rotate
from support.errors import Pattern, raises

REST_HINT = Pattern("^keep the bones' rest pose and export them with the body that is bound to them")


@cache
def walk() -> kp.KeyedMotion:
    return kp.unbake(kp.demo_motion(fps=30)[:90], [0, 14, 30, 47, 60, 89])


@pytest.fixture
def keyed() -> kp.KeyedMotion:
    return walk()


def edit_joint(keyed: kp.KeyedMotion) -> kp.KeyedMotion:
    """Return the keys with a joint rotated at one key."""
    edit = kp.edit(keyed)
    edit.rotate(30, keyed.skeleton.names[3], axis=(0.0, 3.0, 2.0), degrees=20)
    return edit.keyed


def axes_of(motion: kp.Motion, seed: int) -> np.ndarray:
    """Return random axes (J, 4) for each joint, relative to its old ones."""
    return normalise(np.random.default_rng(seed).normal(size=(motion.n_joints, 4)))


def upright_at(motion: kp.Motion, pose: kp.Pose) -> np.ndarray:
    """Return axes (J, 4) that equal the world axes in a pose, as BVH needs them."""
    return conjugate(in_world(motion.skeleton, pose)[1])


def in_world(skeleton: kp.Skeleton, pose: kp.Pose) -> tuple[np.ndarray, np.ndarray]:
    positions, rotations = forward(skeleton.parents, pose.translations[None], pose.rotations[None])
    return positions[0], rotations[0]


def offsets_pose(motion: kp.Motion) -> kp.Pose:
    return kp.Pose(motion.skeleton.offsets, np.tile([1.0, 0, 0, 0], (motion.n_joints, 1)))


def in_axes(
    motion: kp.Motion, axes: np.ndarray, rest: kp.Pose, rest_pose: bool = True, world=None, scale=1.0
) -> kp.Motion:
    """Return the motion as written by a program with other axes and the rest pose ``rest``.

    ``rest_pose``: whether the file has the joint rotations of the rest pose; its positions are in the offsets.
    """
    world = np.array([1.0, 0, 0, 0]) if world is None else world

    def local(positions, joint_rotations):
        positions, joint_rotations = scale * rotate(world, positions), multiply(multiply(world, joint_rotations), axes)
        for j in range(motion.n_joints - 1, 0, -1):
            parent = motion.skeleton.parents[j]
            back = conjugate(joint_rotations[..., parent, :])
            positions[..., j, :] = rotate(back, positions[..., j, :] - positions[..., parent, :])
            joint_rotations[..., j, :] = multiply(back, joint_rotations[..., j, :])
        return positions, joint_rotations

    translations, rotations = local(motion.world_positions(), motion.world_rotations())
    at_rest = kp.Pose(*local(*in_world(motion.skeleton, rest)))
    return replace(
        motion,
        skeleton=replace(motion.skeleton, offsets=at_rest.translations),
        translations=translations,
        rotations=rotations,
        reference_pose=at_rest if rest_pose else None,
    )


def assert_same_with_axes(keyed: kp.KeyedMotion, rest: kp.Pose, axes: np.ndarray, **options) -> None:
    """Assert that the result is the same whether the detail is added before or after a change of axes."""
    edit = edit_joint(keyed).sample()
    result = rebake(in_axes(edit, axes, rest, **options), keyed, 0.8)
    expected = in_axes(rebake(edit, keyed, 0.8), axes, rest, **options)
    plain = in_axes(edit, axes, rest, **options)
    mm = edit.mm_per_unit / options.get("scale", 1.0)
    assert np.abs(result.world_positions() - expected.world_positions()).max() * mm < 0.01
    assert angle_between(result.rotations, expected.rotations).max() < 1e-4
    assert np.abs(plain.world_positions() - expected.world_positions()).max() * mm > 1.0  # there is detail


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    angles=st.tuples(*[st.floats(-3.0, 3.0)] * 3),
    scale=st.floats(0.01, 100.0),
    is_reference=st.booleans(),
)
def test_any_axes(seed, angles, scale, is_reference):
    """The file has the rest rotations of its joints; the original has them in its reference pose or by its offsets."""
    edit = walk().sample()
    rest = edit[10] if is_reference else offsets_pose(edit)
    original = replace(walk(), reference_pose=rest) if is_reference else walk()
    world = from_euler(np.array(angles), "ZYX")
    assert_same_with_axes(original, rest, axes_of(edit, seed), world=world, scale=scale)


def test_axes_that_are_upright_in_the_reference_pose(keyed):
    """As in a BVH file exported by Blender: the rest pose is only in its offsets."""
    edit = keyed.sample()
    pose = edit[10]
    original = replace(keyed, reference_pose=pose)
    assert_same_with_axes(original, pose, upright_at(edit, pose), rest_pose=False)


def test_a_figure_whose_offsets_do_not_stand(keyed):
    """Keypose exports it in the pose of frame 0, and with Euler angles without rotations."""
    turn = from_euler(np.array([0.0, np.pi / 2, 0.0]), "ZXY")
    offsets = keyed.skeleton.offsets.copy()
    offsets[1:] = rotate(turn, offsets[1:])
    lying = replace(
        keyed, skeleton=replace(keyed.skeleton, offsets=offsets)
    )  # its joints are positioned by their curves
    edit = lying.sample()
    bound = bind_pose(edit)
    np.testing.assert_array_equal(bound.rotations, edit.rotations[0])
    for rest in (bound, replace(bound, rotations=offsets_pose(edit).rotations)):
        assert_same_with_axes(lying, rest, axes_of(edit, 3))


def test_ambiguous_bones_are_decided_by_the_movement(keyed):
    """Two rest poses of the original that differ only in the rotation of its last joints, which moves no bone."""
    edit = keyed.sample()
    inner = set(edit.skeleton.parents.tolist())
    rotations = offsets_pose(edit).rotations.copy()
    rotations[[j for j in range(edit.n_joints) if j not in inner]] = exp(np.array([0.0, 0.5, 0.0]))
    original = replace(keyed, reference_pose=replace(offsets_pose(edit), rotations=rotations))
    for pose in (offsets_pose(edit), original.reference_pose):
        assert_same_with_axes(original, pose, upright_at(edit, pose), rest_pose=False)
        assert_same_with_axes(original, pose, axes_of(edit, 4), world=exp(np.array([1.0, 0.0, 0.0])))


def test_another_rest_pose_is_refused(keyed):
    """Even a pose of both motions is refused: the relation of joint axes is known only in the rest pose."""
    edit = keyed.sample()
    for rest_pose in (True, False):
        joint = "LeftForeArm" if rest_pose else "RightFoot"
        with raises(OptionError, code="different_motions", value=joint, hint=REST_HINT):
            rebake(in_axes(edit, axes_of(edit, 5), edit[0], rest_pose=rest_pose), keyed)
    # The right positions, but without the joint rotations:
    with raises(OptionError, code="different_motions", value="RightFoot", hint=REST_HINT):
        rebake(in_axes(edit, axes_of(edit, 5), offsets_pose(edit), rest_pose=False), keyed)


def test_a_joint_between_is_passed_over(keyed):
    """An extra bone in the middle of a limb, still, and rotated by nearly 180 degrees in the rest pose."""
    edit = edit_joint(keyed).sample()
    n, joint = edit.n_joints, 4
    parents = edit.skeleton.parents
    above = int(parents[joint])
    order = [*range(joint), n, *range(joint, n)]
    new = {old: k for k, old in enumerate(order)}
    twist = from_euler(np.array([0.0, 0.0, 3.0]), "ZYX")

    def longer(positions, rotations):
        half = 0.5 * positions[..., joint, :]
        positions, rotations = (np.concatenate((a, a[..., :1, :]), axis=-2) for a in (positions, rotations))
        positions[..., n, :], rotations[..., n, :] = half, twist
        positions[..., joint, :] = rotate(conjugate(twist), half)
        rotations[..., joint, :] = multiply(conjugate(twist), rotations[..., joint, :])
        return positions[..., order, :], rotations[..., order, :]

    def with_joint(motion):
        positions, rotations = longer(motion.translations, motion.rotations)
        rest = kp.Pose(*longer(motion.skeleton.offsets, offsets_pose(motion).rotations))
        over = [*parents.tolist(), above]
        over[joint] = n
        skeleton = kp.Skeleton(
            [(*motion.skeleton.names, "Twist")[j] for j in order],
            [new[over[j]] if over[j] >= 0 else -1 for j in order],
            rest.translations,
        )
        return replace(motion, skeleton=skeleton, translations=positions, rotations=rotations, reference_pose=rest)

    added_joint, expected = with_joint(edit), with_joint(rebake(edit, keyed, 1.0))
    result = rebake(added_joint, keyed, 1.0)
    assert result.notes[-1] == "rebake: no detail for Twist: not in the original"
    assert angle_between(result.rotations, expected.rotations).max() < 1e-6
    assert np.abs(result.world_positions() - expected.world_positions()).max() * edit.mm_per_unit < 1e-5

    positions = added_joint.reference_pose.translations.copy()
    positions[new[joint]] *= 1.3  # the bone that contains the joint is longer now
    with raises(OptionError, code="different_motions", value=edit.skeleton.names[joint], hint=REST_HINT):
        rebake(replace(added_joint, reference_pose=replace(added_joint.reference_pose, translations=positions)), keyed)
