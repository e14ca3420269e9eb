"""The editor: history, exact undo, and any operations in any order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keypose.curves.edit import Edit, edit
from keypose.errors import KeyposeError, OptionError
from support.edit_cases import KINDS, assert_same_outside, assert_sound, bits, build_keyed, demo, demo_keyed, kick
from support.errors import raises


def test_undo_and_redo_give_the_same_bits():
    keyed = demo_keyed()
    original = bits(keyed)
    e = edit(keyed)
    states = [bits(e.keyed)]
    e.rotate(40, "left_upper_arm", axis=(0, 0, 1), degrees=40, spread_s=0.5)
    states.append(bits(e.keyed))
    e.move_key(40, 45)
    states.append(bits(e.keyed))
    e.insert_key(30)
    states.append(bits(e.keyed))
    e.delete_key(23)
    states.append(bits(e.keyed))
    assert len(set(map(tuple, states))) == 5
    for state in states[-2::-1]:
        assert bits(e.undo()) == state
    assert e.history == () and e.last_range is None
    with raises(OptionError, code="no_step", problem="nothing to undo"):
        e.undo()
    for state in states[1:]:
        assert bits(e.redo()) == state
    with raises(OptionError, code="no_step", problem="nothing to redo"):
        e.redo()
    assert bits(keyed) == original and e.original is keyed


def test_a_new_operation_clears_redo():
    e = edit(demo_keyed())
    e.insert_key(30)
    e.undo()
    e.insert_key(31)
    with raises(OptionError, code="no_step", problem="nothing to redo"):
        e.redo()
    assert e.history == ("insert_key(31)",)


def test_history_lists_calls():
    e = edit(demo_keyed())
    e.rotate(40, "left_hand", axis=np.array((0.0, 0.0, 1.0)), degrees=30)
    e.rotate(np.int32(40), "head", euler_degrees=[10, 20, 30], order="ZYX", space="world", spread_s=0.5)
    e.reach(40, "left_hand", by=(0, 0.1, 0), keep_rotation=True)
    e.paste(52, e.copy(30), joints="left_arm")
    e.mirror(52)
    e.move_key(52, 55, ripple=True)
    e.insert_key(30)
    e.delete_key(30)
    assert e.history == (
        "rotate(40, 'left_hand', axis=(0, 0, 1), degrees=30)",
        "rotate(40, 'head', euler_degrees=(10, 20, 30), order='ZYX', space='world', spread_s=0.5)",
        "reach(40, 'left_hand', by=(0, 0.1, 0), keep_rotation=True)",
        "paste(52, Pose(26 joints), joints='left_arm')",
        "mirror(52)",
        "move_key(52, 55, ripple=True)",
        "insert_key(30)",
        "delete_key(30)",
    )
    assert repr(e).endswith("8 done, 0 undone)")


def test_only_keyed_motions_are_edited():
    with raises(OptionError, expected="a KeyedMotion, as kp.unbake makes it"):
        edit(demo())
    assert isinstance(edit(demo_keyed()), Edit)


def test_a_rejected_operation_changes_nothing():
    e = edit(demo_keyed())
    before = e.keyed
    for wrong in (lambda: e.rotate(41, "head", axis=(1, 0, 0), degrees=1), lambda: e.move_key(40, 60)):
        with pytest.raises(KeyposeError):
            wrong()
    assert e.keyed is before and e.history == ()


JOINTS = ("hips", "spine1", "head", "left_upper_arm", "left_forearm", "right_thigh", "right_shin", "LeftHandThumb1")
AXIS = st.tuples(*[st.integers(-3, 3)] * 3).filter(any)
SPREAD = st.sampled_from((0.0, 0.0, 0.5, 1.3))
OPERATION = st.one_of(
    st.tuples(st.just("rotate"), st.sampled_from(JOINTS), AXIS, st.floats(-360, 360), SPREAD),
    st.tuples(st.just("reach"), st.sampled_from(("left_hand", "right_foot")), AXIS, st.floats(0, 1), SPREAD),
    st.tuples(st.just("shift"), AXIS, SPREAD, st.booleans()),
    st.tuples(st.just("mirror"), SPREAD),
    st.tuples(st.just("paste"), st.floats(0, 1), SPREAD, st.booleans()),
    st.tuples(st.just("move_key"), st.integers(-9, 9), st.booleans()),
    st.tuples(st.just("insert_key"), st.floats(0, 1)),
    st.tuples(st.just("delete_key")),
)


def perform(e, operation, frame):
    name, *arguments = operation
    if name == "rotate":
        space = ("local", "parent", "world")[len(e.history) % 3]
        return e.rotate(
            frame, arguments[0], axis=arguments[1], degrees=arguments[2], spread_s=arguments[3], space=space
        )
    if name == "reach":
        return e.reach(frame, arguments[0], by=np.array(arguments[1]) * 0.2 * arguments[2], spread_s=arguments[3])
    if name == "shift":
        return e.shift(frame, by=0.02 * np.array(arguments[0]), spread_s=arguments[1], keep_feet=arguments[2])
    if name == "mirror":
        return e.mirror(frame, spread_s=arguments[0])
    if name == "paste":
        pose = e.copy(arguments[0] * (e.keyed.n_frames - 1))
        return e.paste(frame, pose, spread_s=arguments[1], keep_position=arguments[2])
    if name == "move_key":
        return e.move_key(frame, frame + arguments[0], ripple=arguments[1])
    if name == "insert_key":
        return e.insert_key(round(arguments[0] * (e.keyed.n_frames - 1)))
    return e.delete_key(frame)


@pytest.mark.one_python
@pytest.mark.parametrize("kind", KINDS)
@given(st.sampled_from(((0, 14, 23, 40, 52, 71, 89), (10, 60), (30,))), st.data())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_operations_in_any_order(kind, keys, data):
    keyed = demo_keyed(kind, keys)
    e = edit(keyed)
    states = [bits(keyed)]
    for operation in data.draw(st.lists(OPERATION, min_size=1, max_size=4)):
        before = e.keyed
        frame = int(data.draw(st.sampled_from(before.keys.tolist())))
        try:
            change = perform(e, operation, frame)
        except OptionError:
            assert e.keyed is before
            continue
        assert change.keyed is e.keyed and e.last_range == change.range
        assert_same_outside(before, change)
        assert_sound(e.keyed)
        assert np.isfinite(e.keyed.sample(1.0).world_positions()).all()
        if operation[0] in ("insert_key", "delete_key"):
            old, new = before.sample(1.0).world_positions(), e.keyed.sample(1.0).world_positions()
            np.testing.assert_allclose(new, old, atol=1e-9)
        states.append(bits(e.keyed))
    while e.history:
        assert bits(e.keyed) == states.pop()
        e.undo()
    assert bits(e.keyed) == states.pop() and not states


@pytest.mark.data
def test_a_session_on_real_motion(data_dir):
    keyed = kick(data_dir)
    e = edit(keyed)
    changes = [
        e.rotate(200, "left_upper_arm", axis=(0, 0, 1), degrees=25, spread_s=0.5),
        e.reach(300, "right_hand", by=(0, 2, 1), spread_s=0.3),
        e.shift(400, by=(0, -1, 0), spread_s=0.5, keep_feet=True),
        e.move_key(500, 508),
        e.mirror(600),
        e.delete_key(100),
        e.insert_key(105),
    ]
    before = keyed
    for change in changes:
        assert_same_outside(before, change)
        before = change.keyed
    touched = np.zeros(keyed.n_frames, bool)
    for change in changes:
        touched[change.first : change.last + 1] = True
    assert (~touched).sum() > 50
    for residual in (0.0, 1.0):
        assert (e.keyed.sample(residual).rotations[~touched] == keyed.sample(residual).rotations[~touched]).all()
    assert_sound(e.keyed)


def test_one_and_two_keys():
    for keys in ((45,), (0, 89)):
        keyed = build_keyed(demo(), keys)
        e = edit(keyed)
        frame = keys[0]
        change = e.rotate(frame, "head", axis=(0, 1, 0), degrees=30, spread_s=0.5)
        assert change.range == ((0, 89) if len(keys) == 1 else (0, 88))
        e.reach(frame, "left_hand", by=(0, 0.1, 0))
        e.mirror(frame)
        e.move_key(frame, frame + 3)
        e.insert_key(60)
        assert_sound(e.keyed)
