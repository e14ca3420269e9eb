"""Edits of key poses: rotate, spread, paste, shift."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.curves.edit import edit
from keypose.curves.edit.directions import angle_tangents, nearest_angles, quaternion_tangents
from keypose.errors import OptionError, UnknownJoint
from keypose.rotations import ORDERS, angle_between, conjugate, exp, from_euler, multiply, rotate
from reference import naive_edit as twin
from support.edit_cases import KEYS, KINDS, assert_same_outside, assert_sound, bits, build_keyed, demo, demo_keyed, walk
from support.errors import raises

ANGLES = st.lists(st.floats(-np.pi, np.pi), min_size=3, max_size=3).map(np.array)


def steps(keyed):
    """(T - 1, J) turns from frame to frame, in degrees."""
    rotations = keyed.sample().rotations
    return np.rad2deg(angle_between(rotations[:-1], rotations[1:]))


# Turning joints


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("space", ["local", "parent", "world"])
def test_rotate_applies_the_rotation_in_each_space(kind, space):
    keyed = demo_keyed(kind)
    e = edit(keyed)
    change = e.rotate(40, "left_upper_arm", axis=(1, 2, -1), degrees=35, space=space)
    turn = exp(np.array((1, 2, -1)) / np.sqrt(6) * np.deg2rad(35))
    j, old, new = keyed.skeleton.joint("left_upper_arm"), keyed.sample()[40:41], e.keyed.sample()[40:41]
    if space == "world":
        np.testing.assert_allclose(
            angle_between(multiply(turn, old.world_rotations()[0, j]), new.world_rotations()[0, j]), 0, atol=1e-7
        )
    else:
        q = old.rotations[0, j]
        expected = multiply(q, turn) if space == "local" else multiply(turn, q)
        np.testing.assert_allclose(angle_between(expected, new.rotations[0, j]), 0, atol=1e-7)
    others = np.delete(np.arange(keyed.n_joints), j)
    assert (e.keyed.sample().rotations[:, others] == keyed.sample().rotations[:, others]).all()
    assert change.range == (24, 51) == e.last_range
    assert_same_outside(keyed, change)
    assert_sound(e.keyed)


def test_three_rotation_forms_are_equivalent():
    keyed = demo_keyed()
    forms = (
        {"euler_degrees": (0, 40, 0)},
        {"axis": (0, 7, 0), "degrees": 40},
        {"quaternion": exp(np.array((0, np.deg2rad(40), 0)))},
    )
    results = [edit(keyed).rotate(40, "spine1", **options).keyed.rotations.values for options in forms]
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], atol=1e-15)


def test_tangents_rotate_with_the_value():
    """Between two keys that are turned alike the curve is the same, turned."""
    keyed = demo_keyed()
    e = edit(keyed)
    j = keyed.skeleton.joint("left_forearm")
    turn = {"axis": (0, 0, 1), "degrees": 50.0}
    for frame in (23, 40):
        e.rotate(frame, "left_forearm", **turn)
    old, new = keyed.sample().rotations[23:41, j], e.keyed.sample().rotations[23:41, j]
    by = np.broadcast_to(exp(np.array((0, 0, np.deg2rad(50)))), old.shape)
    np.testing.assert_allclose(angle_between(multiply(old, by), new), 0, atol=1e-7)


def test_euler_curves_turn_as_the_quaternions_would():
    """The chain rule: beside the key both kinds of curve have the same value and speed."""
    turn = {"euler_degrees": (20, -30, 40), "order": "ZXY"}
    quaternions, angles = demo_keyed("cubic"), demo_keyed("cubic euler")
    j = quaternions.skeleton.joint("right_thigh")
    old = angles.pose(40.01).rotations[j], angles.pose(40.0).rotations[j]
    new = edit(angles).rotate(40, "right_thigh", **turn).keyed
    now = new.pose(40.01).rotations[j], new.pose(40.0).rotations[j]
    spin_before = multiply(conjugate(old[1]), old[0])
    spin_after = multiply(conjugate(now[1]), now[0])
    by = from_euler(np.deg2rad((20, -30, 40)), "ZXY")
    # the joint's own turn follows, so that the spin is seen from the turned frame
    np.testing.assert_allclose(spin_after, multiply(multiply(conjugate(by), spin_before), by), atol=1e-6)


@given(ANGLES, ANGLES, st.sampled_from(ORDERS))
@settings(max_examples=100, deadline=None)
def test_tangents_of_angles_and_quaternions(angles, tangents, order):
    tangent = quaternion_tangents(angles, tangents, order)
    np.testing.assert_allclose(tangent, twin.euler_quaternion_tangent(angles, tangents, order), atol=1e-8)
    back = angle_tangents(angles, tangent, order)
    assert np.isfinite(back).all()
    if abs(np.cos(angles[1])) > 0.05:
        np.testing.assert_allclose(back, tangents, atol=1e-9)
    else:  # at the lock, no faster than the joint itself would need
        assert np.linalg.norm(back) <= np.linalg.norm(tangents) * 25


@given(ANGLES, ANGLES, st.sampled_from(ORDERS), st.sampled_from([None, -0.5, 0.5]))
@settings(max_examples=100, deadline=None)
def test_nearest_angles_are_the_same_rotation(angles, near, order, lock):
    if lock is not None:
        angles = np.array((angles[0], lock * np.pi, angles[2]))
    q = from_euler(angles, order)
    nearest = nearest_angles(q[None], order, near[None])[0]
    assert angle_between(from_euler(nearest, order), q) < 2e-5
    if abs(np.cos(angles[1])) > 1e-3:
        second = (angles + np.array((np.pi, 0, np.pi))) * (1, -1, 1) + (0, np.pi, 0)
        both = [near + (t - near + np.pi) % (2 * np.pi) - np.pi for t in (angles, second)]
        assert np.linalg.norm(nearest - near) <= min(np.linalg.norm(t - near) for t in both) + 1e-6
    else:
        assert np.abs(nearest - near).max() <= 2 * np.pi


def test_at_the_gimbal_lock_angles_stay_near():
    near = np.deg2rad((50.0, 85.0, 20.0))
    q = from_euler(np.deg2rad((45.0, 90.0, 25.0)), "XYZ")
    nearest = np.rad2deg(nearest_angles(q[None], "XYZ", near[None])[0])
    np.testing.assert_allclose(nearest, (50, 90, 20), atol=5.1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("degrees", [90, 179, 179.9999, 180, 181, 270, 359])
def test_large_rotations_neither_flip_nor_speed_up(kind, degrees):
    e = edit(demo_keyed(kind))
    for joint, axis in (("left_upper_arm", (1, 1, 0)), ("hips", (0, 1, 0)), ("head", (1, 0, 0))):
        before = e.keyed
        assert_same_outside(before, e.rotate(40, joint, axis=axis, degrees=degrees))
    assert_sound(e.keyed)
    # 12 frames on the shorter side for at most half a turn, eased in and out
    assert steps(e.keyed).max() < 50


def test_a_spin_between_keys_keeps_its_direction():
    """A rotation of more than half a turn between two keys survives a small edit of one of them."""
    frames = 41
    rotations = np.zeros((frames, 1, 4))
    angle = np.linspace(0, np.deg2rad(500), frames)
    rotations[:, 0, 0], rotations[:, 0, 1] = np.cos(angle / 2), np.sin(angle / 2)
    skeleton = kp.Skeleton(("a",), np.array([-1]), np.zeros((1, 3)))
    keyed = build_keyed(kp.Motion("spin", skeleton, 30, np.zeros((frames, 1, 3)), rotations), (0, 20, 40))
    assert keyed.rotations.values[0, 0] @ keyed.rotations.values[1, 0] < 0
    e = edit(keyed)
    e.rotate(20, "a", axis=(1, 0, 0), degrees=5)
    assert steps(e.keyed)[:20].sum() == pytest.approx(255, abs=1)
    assert steps(e.keyed)[20:].sum() == pytest.approx(245, abs=1)
    assert_sound(e.keyed)


def test_pasting_the_neighbours_pose_makes_no_spin():
    keyed = demo_keyed()
    e = edit(keyed)
    e.rotate(40, "head", axis=(0, 1, 0), degrees=179)
    e.paste(40, e.copy(23), joints="head")
    j = keyed.skeleton.joint("head")
    assert steps(e.keyed)[23:40, j].max() < 10
    assert_sound(e.keyed)


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({}, {"expected": "one of euler_degrees=, axis= with degrees=, and quaternion="}),
        ({"axis": (1, 0, 0)}, {"expected": "both axis= and degrees="}),
        ({"axis": (0, 0, 0), "degrees": 3}, {"option": "axis", "value": (0, 0, 0), "expected": "a direction"}),
        ({"axis": (1, 0, 0), "degrees": float("nan")}, {"option": "degrees", "expected": "a number"}),
        ({"euler_degrees": (1, 2)}, {"option": "euler_degrees", "value": (1, 2), "expected": "3 numbers"}),
        (
            {"euler_degrees": (1, 2, 3), "order": "XYX"},
            {"option": "order", "value": "XYX", "expected": "one of XYZ, XZY, YXZ, YZX, ZXY, ZYX"},
        ),
        (
            {"quaternion": (1, 1, 0, 0)},
            {"option": "quaternion", "value": (1, 1, 0, 0), "expected": "a unit quaternion (wxyz)"},
        ),
        (
            {"quaternion": (1, 0, 0, 0), "axis": (1, 0, 0), "degrees": 5},
            {"expected": "one of euler_degrees=, axis= with degrees=, and quaternion="},
        ),
        (
            {"euler_degrees": (1, 2, 3), "space": "global"},
            {"option": "space", "value": "global", "expected": "one of local, parent, world"},
        ),
        (
            {"euler_degrees": (1, 2, 3), "spread_s": -1},
            {"option": "spread_s", "value": -1, "expected": "a number of at least 0"},
        ),
        (
            {"euler_degrees": (1, 2, 3), "keep_feet": "yes"},
            {"option": "keep_feet", "value": "yes", "expected": "True or False"},
        ),
    ],
)
def test_rotate_rejects_bad_options(options, fields):
    e = edit(demo_keyed())
    with raises(OptionError, **fields):
        e.rotate(40, "head", **options)
    assert e.history == ()


def test_unknown_joints_and_keys_list_the_choices():
    e = edit(demo_keyed())
    with raises(UnknownJoint, value="left_hnad"):
        e.rotate(40, "left_hnad", axis=(1, 0, 0), degrees=3)
    for frame, nearest in ((41, "23, 40, 52, 71"), (-1, "0, 14"), (500, "71, 89")):
        with raises(OptionError, value=frame, hint=f"the nearest are at {nearest}"):
            e.rotate(frame, "left_hand", axis=(1, 0, 0), degrees=3)
    with raises(OptionError, option="frame", value=40.0):
        e.rotate(40.0, "left_hand", axis=(1, 0, 0), degrees=3)


# Spreading


def test_a_spread_edit_is_the_curve_times_its_share():
    keyed = demo_keyed()
    spread_s, turn = 1.0, np.array((0.2, -0.4, 0.3))
    change = edit(keyed).rotate(40, "spine", quaternion=exp(turn), spread_s=spread_s)
    j = keyed.skeleton.joint("spine")
    assert change.range == (1, 70)  # keys 14 to 52 lie within a second
    for at in range(len(KEYS)):
        for side in ("in_tangents", "out_tangents"):
            value, tangent = twin.spread_value_and_tangent(keyed, 3, j, turn, at, spread_s, side=side)
            np.testing.assert_allclose(change.keyed.rotations.values[at, j], value, atol=1e-12)
            np.testing.assert_allclose(getattr(change.keyed.rotations, side)[at, j], tangent, atol=1e-8)
    assert_same_outside(keyed, change)


@pytest.mark.data
def test_spread_edits_do_not_pop(data_dir):
    """The greatest acceleration that an edit of one key adds goes down when it is spread."""
    keyed = walk(data_dir)
    j = keyed.skeleton.joint("left_upper_arm")

    def jerk(spread_s: float) -> float:
        new = edit(keyed).rotate(240, "left_upper_arm", axis=(0, 0, 1), degrees=30, spread_s=spread_s).keyed
        moved = new.sample().world_positions()[:, j + 1] - keyed.sample().world_positions()[:, j + 1]
        return float(np.linalg.norm(np.diff(moved, n=2, axis=0), axis=-1).max())

    assert jerk(0.5) < 0.25 * jerk(0.0)


# Pasting


@pytest.mark.parametrize("kind", KINDS)
def test_a_pasted_pose_keeps_the_old_ground_position(kind):
    keyed = demo_keyed(kind)
    e = edit(keyed)
    pose = e.copy(17.5)
    change = e.paste(52, pose)
    new = e.keyed.pose(52)
    np.testing.assert_allclose(angle_between(new.rotations, pose.rotations), 0, atol=1e-7)
    old = keyed.pose(52)
    np.testing.assert_allclose(new.translations[0, [0, 2]], old.translations[0, [0, 2]], atol=1e-12)
    np.testing.assert_allclose(new.translations[0, 1], pose.translations[0, 1], atol=1e-12)
    assert_same_outside(keyed, change)
    e.paste(52, pose, keep_position=False)
    np.testing.assert_allclose(e.keyed.pose(52).translations, pose.translations, atol=1e-12)
    assert_sound(e.keyed)


def test_some_joints_are_pasted_and_the_same_pose_changes_no_bit():
    keyed = demo_keyed()
    e = edit(keyed)
    e.paste(52, e.copy(0), joints=["left_arm", "head"])
    changed = np.flatnonzero((e.keyed.rotations.values != keyed.rotations.values).any(axis=(0, 2)))
    assert set(changed) <= set(keyed.skeleton.joints(["left_arm", "head"]))
    assert (e.keyed.translations.values == keyed.translations.values).all()
    assert bits(edit(keyed).paste(40, keyed.pose(40)).keyed) == bits(keyed)


def test_poses_that_do_not_fit():
    e = edit(demo_keyed())
    with raises(OptionError, expected="26"):
        e.paste(40, kp.Pose(np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]])))
    with raises(OptionError, hint="edit.copy(frame) or motion[frame] is one"):
        e.paste(40, 23)
    with raises(OptionError, expected="frames from 0 to 89"):
        e.copy(90)


# Shifting


@pytest.mark.parametrize("kind", KINDS)
def test_the_figure_is_moved_in_the_world(kind):
    keyed = demo_keyed(kind)
    e = edit(keyed)
    change = e.shift(40, by=(0.1, 0.2, -0.3))
    np.testing.assert_allclose(
        e.keyed.sample().world_positions()[40], keyed.sample().world_positions()[40] + (0.1, 0.2, -0.3), atol=1e-12
    )
    assert_same_outside(keyed, change)
    e.shift(40, to=(1, 2, 3))
    np.testing.assert_allclose(e.keyed.sample().world_positions()[40, 0], (1, 2, 3), atol=1e-12)
    with raises(OptionError, expected="one of by= and to="):
        e.shift(40)
    with raises(kp.OptionError, option="by", expected="3 numbers"):
        e.shift(40, by=(1, float("nan"), 2))


def test_the_detail_follows_an_edit():
    """With the residual, an edited key has the turned detail around it: rigidly, for what hangs on the turned joint."""
    keyed = demo_keyed()
    turn = np.array((0.0, 0.6, 0.0))
    e = edit(keyed)
    for frame in (23, 40):
        e.rotate(frame, "hips", quaternion=exp(turn), space="local")
    bare, full = e.keyed.sample(), e.keyed.sample(1.0)
    old_bare, old_full = keyed.sample(), keyed.sample(1.0)
    for frame in range(23, 41):
        new = rotate(conjugate(bare.rotations[frame, 0]), full.world_positions()[frame] - full.translations[frame, 0])
        old = rotate(
            conjugate(old_bare.rotations[frame, 0]), old_full.world_positions()[frame] - old_full.translations[frame, 0]
        )
        np.testing.assert_allclose(new, old, atol=1e-9)
    np.testing.assert_allclose(full.rotations[:14], demo().rotations[:14], atol=1e-12)
