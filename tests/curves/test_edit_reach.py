"""Hands and feet moved to targets: inverse kinematics of two bones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.curves.edit import edit
from keypose.curves.edit.reach import bend_planes, find_limbs, solve_two_bones
from keypose.errors import OptionError
from keypose.rotations import angle_between, exp, rotate
from reference import naive_edit as twin
from support.edit_cases import KINDS, assert_same_outside, assert_sound, build_keyed, demo_keyed, kick, walk
from support.errors import Pattern, raises

ENDS = ("left_hand", "right_hand", "left_foot", "right_foot")
POINT = st.lists(st.floats(-2, 2), min_size=3, max_size=3).map(np.array)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("end", ENDS)
def test_the_end_arrives_and_the_bend_plane_swings_along(kind, end):
    keyed = demo_keyed(kind)
    e = edit(keyed)
    j, limb = keyed.skeleton.joint(end), find_limbs(keyed.skeleton)[end]
    old = keyed.sample()[40:41]
    upper = old.world_positions()[0, limb.upper]
    goal = upper + 0.93 * (old.world_positions()[0, j] - upper) + (0.02, 0.03, -0.02)
    change = e.reach(40, end, to=goal)
    new = e.keyed.sample()[40:41]
    np.testing.assert_allclose(new.world_positions()[0, j], goal, atol=1e-9)
    assert change.missed == 0
    normal, sine = bend_planes(old.world_positions()[0], limb)
    if sine > 0.1:
        elbow, _, _ = twin.two_bone_positions(*(old.world_positions()[0, k] for k in limb.joints), goal)
        np.testing.assert_allclose(new.world_positions()[0, limb.middle], elbow, atol=1e-9)
        assert bend_planes(new.world_positions()[0], limb)[0] @ normal > 0.9
    others = np.delete(np.arange(keyed.n_joints), [limb.upper, limb.middle])
    assert (e.keyed.sample().rotations[:, others] == keyed.sample().rotations[:, others]).all()
    assert_same_outside(keyed, change)
    assert_sound(e.keyed)


@pytest.mark.data
@pytest.mark.parametrize("clip", [walk, kick])
@pytest.mark.parametrize("keep_rotation", [False, True])
def test_real_limbs_arrive(data_dir, clip, keep_rotation):
    keyed = clip(data_dir)
    for k in range(0, keyed.n_keys, 5):
        for end in ENDS:
            frame, j = int(keyed.keys[k]), keyed.skeleton.joint(end)
            old = keyed.sample(frames=[frame])
            upper = old.world_positions()[0, find_limbs(keyed.skeleton)[end].upper]
            goal = old.world_positions()[0, j] + 0.2 * (upper - old.world_positions()[0, j]) + (0.3, 0.2, 0.4)
            change = edit(keyed).reach(frame, end, to=goal, keep_rotation=keep_rotation)
            new = change.keyed.sample(frames=[frame])
            np.testing.assert_allclose(new.world_positions()[0, j], goal, atol=1e-9)
            if keep_rotation:
                angles = angle_between(new.world_rotations()[0, j], old.world_rotations()[0, j])
                np.testing.assert_allclose(angles, 0, atol=1e-7)


def test_beyond_reach_the_limb_points_at_the_goal():
    keyed = demo_keyed()
    limb = find_limbs(keyed.skeleton)["left_hand"]
    e = edit(keyed)
    change = e.reach(40, "left_hand", by=(5, 0, 0))
    at = e.keyed.sample(frames=[40]).world_positions()[0]
    goal = keyed.sample(frames=[40]).world_positions()[0, limb.end] + (5, 0, 0)
    np.testing.assert_allclose(np.linalg.norm(goal - at[limb.end]), change.missed, rtol=1e-9)
    towards = (goal - at[limb.upper]) / np.linalg.norm(goal - at[limb.upper])
    stretched = at[limb.end] - at[limb.upper]
    np.testing.assert_allclose(stretched / np.linalg.norm(stretched), towards, atol=1e-6)
    assert bend_planes(at, limb)[1] < 1e-6
    assert f"missed by {change.missed:g}" in repr(change)


@given(POINT, POINT, POINT, POINT, POINT)
@settings(max_examples=80, deadline=None)
def test_two_bones_by_triangles(upper, middle, end, normal, goal):
    solution = solve_two_bones(upper, middle, end, normal, goal)
    first, second = rotate(solution.upper, middle - upper), rotate(solution.middle, end - middle)
    assert np.isfinite(first).all() and np.isfinite(second).all() and np.isfinite(solution.missed)
    np.testing.assert_allclose(np.linalg.norm(upper + first + second - goal), solution.missed, atol=1e-6)
    span, cross = np.linalg.norm(end - upper), np.linalg.norm(np.cross(middle - upper, end - middle))
    if min(span, cross, np.linalg.norm(goal - upper)) < 0.05:
        return
    towards = (goal - upper) / np.linalg.norm(goal - upper)
    if (end - upper) @ towards / span > -0.99:
        plane = np.cross(middle - upper, end - middle) / cross
        solution = solve_two_bones(upper, middle, end, plane, goal)
        elbow, tip, missed = twin.two_bone_positions(upper, middle, end, goal)
        # where the limb is stretched, the elbow's angle is the square root of nothing
        np.testing.assert_allclose(upper + rotate(solution.upper, middle - upper), elbow, atol=1e-6)
        np.testing.assert_allclose(
            upper + rotate(solution.upper, middle - upper) + rotate(solution.middle, end - middle), tip, atol=1e-6
        )
        assert solution.missed == pytest.approx(missed, abs=1e-9)


@pytest.mark.parametrize(
    "goal", [(0, 0, 0), (0, 2, 0), (0, -2, 0), (0, -1.2, 0), (0, 1e-14, 0), (1e6, 0, 0), (0, 1.2, 0)]
)
def test_straight_and_folded_limbs_and_degenerate_goals(goal):
    up, zero = np.array((0.0, 1.0, 0.0)), np.zeros(3)
    for middle, end in ((up, 2 * up), (up, zero), (zero, up), (up, up), (zero, zero)):
        for normal in (np.array((1.0, 0, 0)), up, zero):
            solution = solve_two_bones(zero, middle, end, normal, np.array(goal, float))
            tip = rotate(solution.upper, middle) + rotate(solution.middle, end - middle)
            assert np.isfinite(tip).all()
            np.testing.assert_allclose(np.linalg.norm(tip - goal), solution.missed, atol=1e-7)


def limb_motion(names, offsets, rotation_vectors, key_vectors=None):
    skeleton = kp.Skeleton(names, np.arange(-1, len(names) - 1), np.array(offsets, float))
    rotations = np.tile((1.0, 0, 0, 0), (3, len(names), 1))
    for joint, turn in rotation_vectors.items():
        rotations[:, joint] = exp(np.array(turn, float))
    for (frame, joint), turn in (key_vectors or {}).items():
        rotations[frame, joint] = exp(np.array(turn, float))
    translations = np.tile(skeleton.offsets, (3, 1, 1))
    return build_keyed(kp.Motion("limb", skeleton, 30, translations, rotations), (0, 1, 2))


LEG = ("Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase")
LEG_OFFSETS = ((0, 2, 0), (0.2, 0, 0), (0, -1, 0), (0, -1, 0), (0, 0, 0.3))


def test_a_straight_knee_goes_where_the_toes_point():
    keyed = limb_motion(LEG, LEG_OFFSETS, {})
    at = edit(keyed).reach(1, "left_foot", by=(0, 0.5, 0)).keyed.sample(frames=[1]).world_positions()[0]
    np.testing.assert_allclose(at[3], (0.2, 0.5, 0), atol=1e-12)
    assert at[2, 2] > 0.4 and abs(at[2, 0] - 0.2) < 1e-12


def test_a_straight_knee_bends_as_it_does_at_another_key():
    """The hinge is the plane of the key at which the limb is bent most, carried along by the thigh."""
    sideways = limb_motion(LEG, LEG_OFFSETS, {}, {(2, 2): (0, 0, 0.8), (1, 1): (0, 0.3, 0)})
    at = edit(sideways).reach(1, "left_foot", by=(0, 0.5, 0)).keyed.sample(frames=[1]).world_positions()[0]
    np.testing.assert_allclose(at[3], (0.2, 0.5, 0), atol=1e-12)
    knee = at[2] - (0.2, at[2, 1], 0)
    bent = sideways.sample(frames=[2]).world_positions()[0]
    side = np.sign(np.cross(bent[2] - bent[1], bent[3] - bent[2])[2])
    np.testing.assert_allclose(np.cross(at[2] - at[1], at[3] - at[2])[2] * side > 0, True)
    assert abs(knee[0]) > 3 * abs(knee[2]) > 0  # turned by the thigh's 0.3 rad


def test_twist_joints_between_are_carried_along():
    names = ("Hips", "LeftArm", "LeftArmTwist", "LeftForeArm", "LeftForeArmRoll", "LeftHand")
    offsets = ((0, 2, 0), (0.2, 0, 0), (0.5, 0, 0), (0.5, 0, 0), (0.5, 0, 0), (0.5, 0, 0))
    keyed = limb_motion(names, offsets, {2: (0.4, 0, 0), 3: (0, 0.7, 0), 4: (0.5, 0, 0)})
    e = edit(keyed)
    e.reach(1, "left_hand", to=(0.9, 1.2, -0.4))
    at = e.keyed.sample(frames=[1])
    np.testing.assert_allclose(at.world_positions()[0, 5], (0.9, 1.2, -0.4), atol=1e-12)
    changed = np.flatnonzero((e.keyed.rotations.values != keyed.rotations.values).any(axis=(0, 2)))
    assert changed.tolist() == [1, 3]


def test_reach_rejects_other_joints():
    e = edit(demo_keyed())
    with raises(OptionError, expected="one of: left_hand, right_hand, left_foot, right_foot"):
        e.reach(40, "head", by=(0, 0.1, 0))
    with raises(OptionError, expected="one of to= and by="):
        e.reach(40, "left_hand")
    with raises(OptionError, option="to", expected="3 numbers"):
        e.reach(40, "left_hand", to=(1, 2, float("inf")))
    loose = kp.Skeleton(LEG, np.array([-1, 0, 1, 0, 3]), np.array(LEG_OFFSETS, float))
    motion = kp.Motion("loose", loose, 30, np.tile(loose.offsets, (2, 1, 1)), np.tile((1.0, 0, 0, 0), (2, 5, 1)))
    with raises(OptionError, code="no_body", value="left_foot", expected=Pattern("no arm or leg is recognised$")):
        edit(build_keyed(motion, (0, 1))).reach(0, "left_foot", by=(0, 0.1, 0))


@pytest.mark.data
def test_a_spread_reach_moves_the_keys_around_less(data_dir):
    keyed = walk(data_dir)
    j = keyed.skeleton.joint("right_hand")
    change = edit(keyed).reach(240, "right_hand", by=(0, 2, 1), spread_s=0.5)
    moved = np.linalg.norm(
        change.keyed.sample().world_positions()[:, j] - keyed.sample().world_positions()[:, j], axis=-1
    )
    assert moved[240] == pytest.approx(np.sqrt(5), abs=1e-9)
    assert 0.2 < moved[216] < moved[228] < moved[240] > moved[252] > moved[264] > 0.2
    assert_same_outside(keyed, change)
