"""The detail on an edit whose joints have other axes: by a figure at rest that both files show."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.errors import OptionError
from keypose.formats.figure.bind import bind_pose
from keypose.kinematics import forward
from keypose.rotations import angle_between, conjugate, exp, from_euler, multiply, normalise, rotate
from keypose.verbs.rebaking import rebake


@cache
def walk() -> kp.KeyedMotion:
    return kp.unbake(kp.demo_motion(fps=30)[:90], [0, 14, 30, 47, 60, 89])


@pytest.fixture
def keyed() -> kp.KeyedMotion:
    return walk()


def edited(keyed: kp.KeyedMotion) -> kp.KeyedMotion:
    """A joint turned at one key."""
    edit = kp.edit(keyed)
    edit.rotate(30, keyed.skeleton.names[3], axis=(0.0, 3.0, 2.0), degrees=20)
    return edit.keyed


def axes_of(motion: kp.Motion, seed: int) -> np.ndarray:
    """Any axes (J, 4) for each joint, in its old ones."""
    return normalise(np.random.default_rng(seed).normal(size=(motion.n_joints, 4)))


def upright_at(motion: kp.Motion, pose: kp.Pose) -> np.ndarray:
    """Axes (J, 4) that are those of the world in a pose, as BVH wants them."""
    return conjugate(in_world(motion.skeleton, pose)[1])


def in_world(skeleton: kp.Skeleton, pose: kp.Pose) -> tuple[np.ndarray, np.ndarray]:
    positions, rotations = forward(skeleton.parents, pose.translations[None], pose.rotations[None])
    return positions[0], rotations[0]


def unturned(motion: kp.Motion) -> kp.Pose:
    return kp.Pose(motion.skeleton.offsets, np.tile([1.0, 0, 0, 0], (motion.n_joints, 1)))


def in_axes(motion: kp.Motion, axes: np.ndarray, rest: kp.Pose, shown: bool = True, world=None, scale=1.0) -> kp.Motion:
    """The motion as a program with other axes writes it, whose figure rests in ``rest``.

    ``shown`` says whether the file holds how joints are turned at rest; its offsets show where they are.
    """
    world = np.array([1.0, 0, 0, 0]) if world is None else world

    def local(positions, turns):
        positions, turns = scale * rotate(world, positions), multiply(multiply(world, turns), axes)
        for j in range(motion.n_joints - 1, 0, -1):
            parent = motion.skeleton.parents[j]
            back = conjugate(turns[..., parent, :])
            positions[..., j, :] = rotate(back, positions[..., j, :] - positions[..., parent, :])
            turns[..., j, :] = multiply(back, turns[..., j, :])
        return positions, turns

    translations, rotations = local(motion.world_positions(), motion.world_rotations())
    at_rest = kp.Pose(*local(*in_world(motion.skeleton, rest)))
    return replace(
        motion,
        skeleton=replace(motion.skeleton, offsets=at_rest.translations),
        translations=translations,
        rotations=rotations,
        reference_pose=at_rest if shown else None,
    )


def assert_same_with_axes(keyed: kp.KeyedMotion, rest: kp.Pose, axes: np.ndarray, **how) -> None:
    """It comes to the same whether the detail goes on before or after a change of axes."""
    edit = edited(keyed).sample()
    result = rebake(in_axes(edit, axes, rest, **how), keyed, 0.8)
    expected = in_axes(rebake(edit, keyed, 0.8), axes, rest, **how)
    plain = in_axes(edit, axes, rest, **how)
    mm = edit.mm_per_unit / how.get("scale", 1.0)
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
    """The file shows how its joints rest; the original does so as its reference pose or by its offsets."""
    edit = walk().sample()
    rest = edit[10] if is_reference else unturned(edit)
    original = replace(walk(), reference_pose=rest) if is_reference else walk()
    world = from_euler(np.array(angles), "ZYX")
    assert_same_with_axes(original, rest, axes_of(edit, seed), world=world, scale=scale)


def test_axes_that_are_upright_in_the_reference_pose(keyed):
    """As a BVH file has them that Blender exports: nothing but its offsets shows how its joints rest."""
    edit = keyed.sample()
    pose = edit[10]
    original = replace(keyed, reference_pose=pose)
    assert_same_with_axes(original, pose, upright_at(edit, pose), shown=False)


def test_a_figure_whose_offsets_do_not_stand(keyed):
    """Our files show it to other programs as it is in frame 0, and with Euler angles unturned."""
    turn = from_euler(np.array([0.0, np.pi / 2, 0.0]), "ZXY")
    offsets = keyed.skeleton.offsets.copy()
    offsets[1:] = rotate(turn, offsets[1:])
    lying = replace(keyed, skeleton=replace(keyed.skeleton, offsets=offsets))  # its joints are placed by their curves
    edit = lying.sample()
    bound = bind_pose(edit)
    np.testing.assert_array_equal(bound.rotations, edit.rotations[0])
    for rest in (bound, replace(bound, rotations=unturned(edit).rotations)):
        assert_same_with_axes(lying, rest, axes_of(edit, 3))


def test_where_bones_fit_either_way_the_movement_decides(keyed):
    """Two rest poses of the original, apart only by how its last joints are turned, which moves no bone."""
    edit = keyed.sample()
    inner = set(edit.skeleton.parents.tolist())
    turns = unturned(edit).rotations.copy()
    turns[[j for j in range(edit.n_joints) if j not in inner]] = exp(np.array([0.0, 0.5, 0.0]))
    original = replace(keyed, reference_pose=replace(unturned(edit), rotations=turns))
    for pose in (unturned(edit), original.reference_pose):
        assert_same_with_axes(original, pose, upright_at(edit, pose), shown=False)
        assert_same_with_axes(original, pose, axes_of(edit, 4), world=exp(np.array([1.0, 0.0, 0.0])))


def test_another_rest_pose_is_refused(keyed):
    """Even one that is a pose of both movements: how joints lie to each other is known at rest, or not at all."""
    edit = keyed.sample()
    for shown in (True, False):
        with pytest.raises(OptionError, match=r"at rest \w+ lies elsewhere.*keep the bones' rest pose"):
            rebake(in_axes(edit, axes_of(edit, 5), edit[0], shown=shown), keyed)
    with pytest.raises(OptionError, match="lies elsewhere"):  # the right pose, but how joints are turned is lost
        rebake(in_axes(edit, axes_of(edit, 5), unturned(edit), shown=False), keyed)


def test_a_joint_between_is_passed_over(keyed):
    """An artist's extra bone in the middle of a limb, still and turned half round at rest."""
    edit = edited(keyed).sample()
    n, joint = edit.n_joints, 4
    parents = edit.skeleton.parents
    above = int(parents[joint])
    order = [*range(joint), n, *range(joint, n)]
    new = {old: k for k, old in enumerate(order)}
    twist = from_euler(np.array([0.0, 0.0, 3.0]), "ZYX")

    def longer(places, turns):
        half = 0.5 * places[..., joint, :]
        places, turns = (np.concatenate((a, a[..., :1, :]), axis=-2) for a in (places, turns))
        places[..., n, :], turns[..., n, :] = half, twist
        places[..., joint, :] = rotate(conjugate(twist), half)
        turns[..., joint, :] = multiply(conjugate(twist), turns[..., joint, :])
        return places[..., order, :], turns[..., order, :]

    def with_joint(motion):
        places, turns = longer(motion.translations, motion.rotations)
        rest = kp.Pose(*longer(motion.skeleton.offsets, unturned(motion).rotations))
        over = [*parents.tolist(), above]
        over[joint] = n
        skeleton = kp.Skeleton(
            [(*motion.skeleton.names, "Twist")[j] for j in order],
            [new[over[j]] if over[j] >= 0 else -1 for j in order],
            rest.translations,
        )
        return replace(motion, skeleton=skeleton, translations=places, rotations=turns, reference_pose=rest)

    given, expected = with_joint(edit), with_joint(rebake(edit, keyed, 1.0))
    result = rebake(given, keyed, 1.0)
    assert result.notes[-1] == "rebake: no detail for Twist: not in the original"
    assert angle_between(result.rotations, expected.rotations).max() < 1e-6
    assert np.abs(result.world_positions() - expected.world_positions()).max() * edit.mm_per_unit < 1e-5

    places = given.reference_pose.translations.copy()
    places[new[joint]] *= 1.3  # the bone that the joint is in the middle of has become longer
    with pytest.raises(OptionError, match=f"at rest {edit.skeleton.names[joint]} lies elsewhere"):
        rebake(replace(given, reference_pose=replace(given.reference_pose, translations=places)), keyed)
