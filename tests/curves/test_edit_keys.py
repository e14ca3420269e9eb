"""Edits of keys: move, insert, delete."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.curves.edit import edit
from keypose.errors import OptionError
from keypose.model import SpanPosition
from keypose.rotations import angle_between
from reference import naive_edit as twin
from support.edit_cases import (
    JOINT_KINDS,
    KEYS,
    KINDS,
    SHARED_KINDS,
    assert_same_outside,
    assert_sound,
    build_keyed,
    demo,
    demo_keyed,
    kick,
    max_distance_mm,
    walk,
)
from support.errors import Pattern, raises


def assert_same_motion(keyed, a, b, tolerance_mm):
    assert max_distance_mm(keyed, a.world_positions(), b.world_positions()) <= tolerance_mm


# Inserting


@pytest.mark.parametrize("kind", ["straight", "cubic euler", "straight euler"])
@pytest.mark.parametrize("frame", [1, 7, 39, 88])
def test_numbers_and_even_rotations_split_exactly(kind, frame):
    keyed = demo_keyed(kind)
    change = edit(keyed).insert_key(frame)
    assert change.keyed.n_keys == keyed.n_keys + 1
    assert_same_motion(keyed, change.keyed.sample(), keyed.sample(), 1e-9)
    assert_same_motion(keyed, change.keyed.sample(fps=97), keyed.sample(fps=97), 1e-9)
    assert_same_motion(keyed, change.keyed.sample(1.0), keyed.sample(1.0), 1e-9)
    assert_same_outside(keyed, change)
    assert_sound(change.keyed)


@pytest.mark.data
@pytest.mark.parametrize(("clip", "bound_mm"), [(walk, 2e-3), (kick, 0.25)])
def test_quaternion_cubics_split_nearly_and_with_the_detail_exactly(data_dir, clip, bound_mm):
    """What a unit key in the middle of a cubic quaternion costs, at frames and between them."""
    keyed = clip(data_dir)
    costs = []
    for frame in np.random.default_rng(4).integers(1, keyed.keys[-1], 10).tolist():
        if frame in keyed.keys:
            continue
        change = edit(keyed).insert_key(frame)
        assert_same_motion(keyed, change.keyed.sample(), keyed.sample(), bound_mm)
        assert_same_motion(keyed, change.keyed.sample(fps=310), keyed.sample(fps=310), bound_mm)
        costs.append(max_distance_mm(keyed, change.keyed.sample().world_positions(), keyed.sample().world_positions()))
        assert_same_motion(keyed, change.keyed.sample(1.0), keyed.sample(1.0), 1e-9)
        assert_same_outside(keyed, change)
        first, last = change.range
        assert keyed.keys[keyed.keys < frame][-1] + 1 == first and keyed.keys[keyed.keys > frame][0] - 1 == last
    assert np.median(costs) < 1e-3


def test_an_inserted_key_is_a_breakdown_and_still_joints_stay_still():
    keyed = demo_keyed()
    still = keyed.rotations.still_joints()
    assert still.any() and keyed.translations.still_joints()[1:].all()
    new = edit(keyed).insert_key(30).keyed
    assert not new.extremes[new.key_index(30)] and new.extremes.sum() == keyed.extremes.sum()
    assert (new.rotations.still_joints() == still).all() and new.translations.still_joints()[1:].all()


def test_large_rotations_split_too():
    """A span of 150 degrees about changing axes, where the cubic is far from unit length."""
    frames = 31
    rotations = np.zeros((frames, 1, 4))
    angle = np.linspace(0, np.deg2rad(150), frames)
    rotations[:, 0, 0], rotations[:, 0, 1], rotations[:, 0, 2] = (
        np.cos(angle / 2),
        np.sin(angle / 2) * np.cos(angle),
        np.sin(angle / 2) * np.sin(angle),
    )
    skeleton = kp.Skeleton(("a",), np.array([-1]), np.zeros((1, 3)))
    keyed = build_keyed(kp.Motion("turn", skeleton, 30, np.zeros((frames, 1, 3)), rotations), (0, 30))
    for frame in range(1, 30):
        change = edit(keyed).insert_key(frame)
        off = angle_between(change.keyed.sample().rotations, keyed.sample().rotations)
        assert np.rad2deg(off).max() < 0.2
        np.testing.assert_allclose(
            angle_between(change.keyed.sample(1.0).rotations, keyed.sample(1.0).rotations), 0, atol=1e-7
        )


@pytest.mark.parametrize("kind", KINDS)
def test_beside_all_keys_the_pose_holds(kind):
    keyed = demo_keyed(kind, (20, 50))
    e = edit(keyed)
    for frame, expected in ((5, (0, 19)), (80, (51, 89))):
        before = e.keyed
        change = e.insert_key(frame)
        assert change.range == expected
        assert_same_motion(keyed, change.keyed.sample(), before.sample(), 1e-9)
        assert_same_outside(before, change)
    alone = demo_keyed(kind, (40,))
    assert_same_motion(alone, edit(alone).insert_key(60).keyed.sample(), alone.sample(), 1e-9)


@pytest.mark.parametrize(
    ("frame", "fields"),
    [
        (40, {"option": "frame", "value": 40}),
        (90, {"option": "frame", "expected": "0 to 89"}),
        (-1, {"option": "frame", "expected": "0 to 89"}),
        (3.5, {"option": "frame", "value": 3.5, "expected": "a whole number"}),
    ],
)
def test_insert_key_rejects_bad_frames(frame, fields):
    with raises(OptionError, **fields):
        edit(demo_keyed()).insert_key(frame)


# Deleting


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("frame", KEYS)
def test_deleting_a_key_preserves_all_detail(kind, frame):
    keyed = demo_keyed(kind)
    change = edit(keyed).delete_key(frame)
    assert change.keyed.keys.tolist() == [k for k in KEYS if k != frame]
    assert_same_motion(keyed, change.keyed.sample(1.0), keyed.sample(1.0), 1e-9)
    assert_same_outside(keyed, change)
    assert_sound(change.keyed)


def test_merged_span_is_fitted_to_the_old_curve():
    """No worse than a fit of the captured motion by more than the curve itself was, and far better than no fit."""
    keyed = demo_keyed()
    new = edit(keyed).delete_key(40).keyed
    refitted = build_keyed(demo(), [k for k in KEYS if k != 40])
    expected = keyed.sample().world_positions()

    def off(other):
        return np.linalg.norm(other.sample().world_positions() - expected, axis=-1).mean()

    assert off(new) < 1.05 * off(refitted)
    straight = build_keyed(demo(), [k for k in KEYS if k != 40], "straight")
    assert off(new) < 0.5 * off(straight)


def test_deleting_an_inserted_key_restores_the_curve():
    keyed = demo_keyed()
    e = edit(keyed)
    e.insert_key(32)
    e.delete_key(32)
    assert_same_motion(keyed, e.keyed.sample(1.0), keyed.sample(1.0), 1e-9)
    assert_same_motion(keyed, e.keyed.sample(), keyed.sample(), 1e-2)


def test_an_edit_survives_deleting_a_key_beside_it():
    keyed = demo_keyed()
    e = edit(keyed)
    edited = e.rotate(40, "left_upper_arm", axis=(0, 0, 1), degrees=60).keyed
    e.delete_key(23)
    assert_same_motion(keyed, e.keyed.sample(1.0), edited.sample(1.0), 1e-9)


def test_the_last_key_stays():
    with raises(OptionError, code="needed_key", value=40, problem=Pattern("is the only one")):
        edit(demo_keyed("cubic", (40,))).delete_key(40)
    with raises(OptionError, hint="the nearest are at 23, 40, 52, 71"):
        edit(demo_keyed()).delete_key(41)


def test_a_turn_too_far_for_one_span_is_refused():
    frames = 61
    rotations = np.zeros((frames, 1, 4))
    angle = np.linspace(0, np.deg2rad(1080), frames)
    rotations[:, 0, 0], rotations[:, 0, 1] = np.cos(angle / 2), np.sin(angle / 2)
    skeleton = kp.Skeleton(("spinner",), np.array([-1]), np.zeros((1, 3)))
    keyed = build_keyed(kp.Motion("spin", skeleton, 30, np.zeros((frames, 1, 3)), rotations), (0, 15, 30, 45, 60))
    e = edit(keyed)
    e.delete_key(15)
    e.delete_key(45)
    with raises(
        OptionError,
        code="needed_key",
        value="spinner",
        problem=Pattern("frame 30 spinner would turn too far in one span$"),
    ):
        e.delete_key(30)
    assert len(e.history) == 2


# Moving in time


@pytest.mark.parametrize("kind", SHARED_KINDS)
@pytest.mark.parametrize("to", [24, 33, 51])
def test_spans_keep_their_shape_over_their_own_time(kind, to):
    keyed = demo_keyed(kind)
    change = edit(keyed).move_key(40, to)
    assert change.keyed.keys.tolist() == [0, 14, 23, to, 52, 71, 89] and change.range == (24, 51)
    part = np.linspace(0, 1, 20)
    for start, stop, old in ((23, to, (23, 40)), (to, 52, (40, 52))):
        now = change.keyed.sample(frames=start + part * (stop - start))
        then = keyed.sample(frames=old[0] + part * (old[1] - old[0]))
        np.testing.assert_allclose(now.translations, then.translations, atol=1e-12)
        np.testing.assert_allclose(angle_between(now.rotations, then.rotations), 0, atol=1e-7)
    assert_same_outside(keyed, change)
    assert_sound(change.keyed)


def test_the_detail_moves_with_the_key():
    keyed = demo_keyed()
    change = edit(keyed).move_key(40, 33)
    after = [0, 14, 23, 33, 52, 71, 89]
    for frame in (0, 10, 23, 24, 29, 33, 40, 51, 52, 80):
        source = twin.retimed_source(list(KEYS), after, frame)
        now, then = change.keyed.pose(frame, 1.0), keyed.pose(source, 1.0)
        np.testing.assert_allclose(angle_between(now.rotations, then.rotations), 0, atol=1e-7)
        np.testing.assert_allclose(now.translations, then.translations, atol=1e-12)


@pytest.mark.parametrize("kind", SHARED_KINDS)
@pytest.mark.parametrize(("frame", "to"), [(40, 47), (40, 30), (0, 5), (89, 100), (23, 200)])
def test_ripple_moves_all_that_follows(kind, frame, to):
    keyed = demo_keyed(kind)
    change = edit(keyed).move_key(frame, to, ripple=True)
    new, by = change.keyed, to - frame
    assert new.n_frames == keyed.n_frames + by
    assert new.keys.tolist() == [k + by if k >= frame else k for k in KEYS]
    for residual in (0.0, 1.0):
        old, now = keyed.sample(residual), new.sample(residual)
        assert (now.rotations[to:] == old.rotations[frame:]).all()
        assert (now.translations[to:] == old.translations[frame:]).all()
    assert_same_outside(keyed, change)
    assert_sound(new)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-30, 30), st.booleans()), min_size=1, max_size=5))
@settings(max_examples=15, deadline=None)
def test_any_moves_leave_the_rest_alone(moves):
    e = edit(demo_keyed())
    for k, by, ripple in moves:
        before, frame = e.keyed, int(e.keyed.keys[k])
        try:
            change = e.move_key(frame, frame + by, ripple=ripple)
        except OptionError as error:
            assert "expected" in str(error)
            continue
        assert_same_outside(before, change)
        assert_sound(change.keyed)
        if ripple:
            assert (samples_from(before, frame) == samples_from(change.keyed, frame + by)).all()


def samples_from(keyed, frame):
    return keyed.sample(1.0).rotations[frame:]


def test_first_and_last_keys_leave_room():
    keyed = demo_keyed()
    e = edit(keyed)
    e.move_key(0, 6)
    assert (e.keyed.sample().rotations[:7] == keyed.rotations.values[0]).all()
    e.move_key(6, 0)
    e.move_key(89, 80)
    assert (e.keyed.sample().rotations[80:] == keyed.rotations.values[-1]).all()


@pytest.mark.parametrize(
    ("frame", "to", "ripple", "fields"),
    [
        (40, 52, False, {"expected": "24 to 51"}),
        (40, 23, False, {"expected": "24 to 51"}),
        (40, 23, True, {"expected": "24 to 10324390"}),
        (0, -1, False, {"expected": "0 to 13"}),
        (0, -1, True, {"expected": "0 to 10324350"}),
        (89, 90, False, {"expected": "72 to 89"}),
        (40, 1 << 30, True, {"expected": "24 to 10324390"}),
        (41, 42, False, {"hint": "the nearest are at 23, 40, 52, 71"}),
        (40, 41.5, False, {"option": "to", "value": 41.5, "expected": "a whole number"}),
    ],
)
def test_move_key_rejects_bad_frames(frame, to, ripple, fields):
    with raises(OptionError, **fields):
        edit(demo_keyed()).move_key(frame, to, ripple=ripple)


@pytest.mark.parametrize("residual", [True, False])
def test_keys_can_be_deleted_and_inserted_after_moves(residual):
    keyed = build_keyed(demo(), KEYS, residual=residual)
    e = edit(keyed)
    e.move_key(40, 31)
    e.move_key(71, 80, ripple=True)
    for operation, frame in ((e.insert_key, 45), (e.delete_key, 31), (e.delete_key, 0)):
        before = e.keyed
        change = operation(frame)
        assert_same_outside(before, change)
        if residual:
            assert_same_motion(keyed, change.keyed.sample(1.0), before.sample(1.0), 1e-9)


@pytest.mark.parametrize("kind", ["walk", "kicking"])
def test_ordinary_keys_can_be_deleted_without_fast_rotations(kind):
    """Each key of a polished clip: none is refused, and between frames a joint turns no more than about as fast as at them."""
    motion = kp.demo_motion(fps=60)[:240] if kind == "walk" else kp.demo_motion(fps=60)[480:720]
    keyed = kp.unbake(motion, keys=14)
    for frame in keyed.keys[1:-1].tolist():
        fewer = kp.edit(keyed).delete_key(frame).keyed
        lengths = np.linalg.norm(fewer.rotations.at(SpanPosition.locate(fewer.keys, np.arange(0, 239, 0.25))), axis=-1)
        assert lengths.min() > 0.5


@pytest.mark.data
def test_a_key_of_a_walk_can_be_deleted(data_dir):
    keyed = kp.unbake(kp.load(data_dir / "cmu120/07_05_walk.bvh")[:240], keys=14)
    for frame in keyed.keys[1:-1].tolist():
        assert kp.edit(keyed).delete_key(frame).keyed.n_keys == 13


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (lambda e: e.undo(), "nothing to undo"),
        (lambda e: e.redo(), "nothing to redo"),
        (lambda e: e.delete_key(41), "no key at frame 41; the nearest are at 23, 40, 52, 71"),
        (
            lambda e: edit(demo_keyed("cubic", (40,))).delete_key(40),
            "the key at frame 40 is the only one, and a keyed motion needs one",
        ),
    ],
)
def test_wording(operation, message):
    """Messages of edits of keys are pinned here only."""
    with pytest.raises(OptionError) as info:
        operation(edit(demo_keyed()))
    assert str(info.value) == message


# Joints with keys of their own


def own_keys(keyed):
    return [keyed.joint_keys(name).tolist() for name in keyed.skeleton.names]


@pytest.mark.parametrize("kind", JOINT_KINDS)
@pytest.mark.parametrize("to", [24, 33, 51])
def test_only_joints_with_a_key_there_move_in_time(kind, to):
    keyed = demo_keyed(kind)
    change = edit(keyed).move_key(40, to)
    moved = change.keyed
    assert own_keys(moved) == [sorted(to if k == 40 else k for k in keys) for keys in own_keys(keyed)]
    old, now = keyed.sample(), moved.sample()
    rows = np.searchsorted(KEYS, 40)
    for j in range(keyed.n_joints):
        if keyed.rotations.is_key[rows, j]:
            own = np.array(KEYS)[keyed.rotations.is_key[:, j]]
            at = list(own).index(40)
            for start, stop in ((own[at - 1], own[at]), (own[at], own[at + 1])):
                new_start, new_stop = (to if end == 40 else end for end in (start, stop))
                part = np.linspace(0, 1, 20)
                then = keyed.sample(frames=start + part * (stop - start)).rotations[:, j]
                later = moved.sample(frames=new_start + part * (new_stop - new_start)).rotations[:, j]
                np.testing.assert_allclose(angle_between(then, later), 0, atol=1e-6)
        else:
            np.testing.assert_allclose(angle_between(old.rotations[:, j], now.rotations[:, j]), 0, atol=1e-6)
    assert_same_outside(keyed, change)
    assert_sound(moved)


@pytest.mark.parametrize("kind", JOINT_KINDS)
@pytest.mark.parametrize(("frame", "to"), [(40, 47), (40, 30), (23, 200)])
def test_ripple_moves_every_joint_that_follows(kind, frame, to):
    keyed = demo_keyed(kind)
    change = edit(keyed).move_key(frame, to, ripple=True)
    new, by = change.keyed, to - frame
    assert new.n_frames == keyed.n_frames + by
    expected = [sorted({k + by if k >= frame else k for k in (*keys, frame)}) for keys in own_keys(keyed)]
    moving = ~(keyed.rotations.still_joints() & keyed.translations.still_joints())
    assert [k for k, m in zip(own_keys(new), moving, strict=True) if m] == [
        k for k, m in zip(expected, moving, strict=True) if m
    ]
    old, now = keyed.sample(1.0), new.sample(1.0)  # with the detail nothing is lost by the keys that were added
    assert max_distance_mm(keyed, old.world_positions()[frame:], now.world_positions()[to:]) < 1e-6
    assert_same_outside(keyed, change)
    assert_sound(new)


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_an_edited_joint_gets_a_key_of_its_own(kind):
    keyed = demo_keyed(kind)
    joint = next(
        name
        for j, name in enumerate(keyed.skeleton.names)
        if not keyed.rotations.is_key[KEYS.index(40), j] and not keyed.rotations.still_joints()[j]
    )
    change = edit(keyed).rotate(40, joint, axis=(1, 0, 0), degrees=20)
    others = [name for name in keyed.skeleton.names if name != joint]
    assert 40 in change.keyed.joint_keys(joint) and 40 not in keyed.joint_keys(joint)
    assert all(list(change.keyed.joint_keys(name)) == list(keyed.joint_keys(name)) for name in others)
    j = keyed.skeleton.joint(joint)
    turned = angle_between(keyed.pose(40).rotations[j], change.keyed.pose(40).rotations[j])
    assert np.rad2deg(turned) == pytest.approx(20, abs=1e-3)
    assert_same_outside(keyed, change)
    assert_sound(change.keyed)


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_a_deleted_key_goes_from_every_joint_that_has_it(kind):
    keyed = demo_keyed(kind)
    change = edit(keyed).delete_key(40)
    assert own_keys(change.keyed) == [[k for k in keys if k != 40] for keys in own_keys(keyed)]
    assert_same_motion(keyed, change.keyed.sample(1.0), keyed.sample(1.0), 1e-6)
    assert_same_outside(keyed, change)
    assert_sound(change.keyed)
