"""The effect of each operation on its target swing, on hand-made swings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from keypose.errors import OptionError, UnknownJoint
from keypose.rotations import angle_between, exp, multiply, rotate
from keypose.swings import Swing
from reference import naive_swings_edit as twin
from support.errors import Pattern, raises
from support.swing_edit_cases import ARM, OTHER, ROW, X, Y, Z, assert_same_rotation, edit, rotation_at

NAN = float("nan")


@pytest.mark.parametrize("factor", (0.0, 0.5, 1.4, -1.0))
@pytest.mark.parametrize(("about", "part"), (("start", 0.0), ("middle", 0.5), ("end", 1.0)))
def test_scale_multiplies_the_angle_and_keeps_one_rotation(factor, about, part):
    e = edit()
    old = e.swings[ARM][1]
    e.scale(old, factor, about=about)
    new = e.swings[ARM][1]
    assert (new.start, new.end) == (old.start, old.end)
    assert math.isclose(new.angle, abs(factor) * old.angle, abs_tol=1e-12)
    if factor:
        assert np.allclose(new.axis, math.copysign(1, factor) * old.axis, atol=1e-12)
    fixed_rotation = twin.rotate(old.start_rotation, old.axis, part * old.angle)
    assert_same_rotation(twin.rotate(new.start_rotation, new.axis, part * new.angle), fixed_rotation)


def test_set_angle_is_scale_in_degrees():
    e, other = edit(), edit()
    e.set_angle(e.swings[ARM][1], 120, about="middle")
    other.scale(other.swings[ARM][1], 120 / 90, about="middle")
    assert math.isclose(e.swings[ARM][1].angle_deg, 120)
    for frame in range(60):
        assert_same_rotation(rotation_at(e, frame), rotation_at(other, frame))
    e.set_angle(e.swings[ARM][1], -30)
    assert np.allclose(e.swings[ARM][1].rotation_vector, -math.radians(30) * Y)


def test_set_axis_and_turn_axis_keep_angle_and_start():
    e = edit()
    old = e.swings[ARM][1]
    e.set_axis(old, (0, 0, -3))
    new = e.swings[ARM][1]
    assert np.allclose(new.axis, -Z) and math.isclose(new.angle, old.angle)
    assert_same_rotation(new.start_rotation, old.start_rotation)
    e.turn_axis(new, about=X, degrees=30)
    assert np.allclose(e.swings[ARM][1].axis, rotate(exp(math.radians(30) * X), -Z))
    with raises(OptionError, option="axis"):
        e.set_axis(e.swings[ARM][1], (0, 0, 0))


def test_shift_moves_a_swing_as_it_is():
    for by in ({"by_frames": 3}, {"by_s": 0.1}):
        e = edit()
        old, *others = e.swings[ARM]
        e.shift(old, **by)
        new, *after = e.swings[ARM]
        assert (new.start, new.end) == (old.start + 3, old.end + 3)
        assert (new.start_rotation == old.start_rotation).all() and np.allclose(
            new.rotation_vector, old.rotation_vector, atol=1e-15
        )
        assert [swing.rotation_vector.tobytes() for swing in after] == [
            swing.rotation_vector.tobytes() for swing in others
        ]


def test_a_gap_that_is_wide_enough_takes_all():
    e = edit()
    behind = [swing.rotation_vector.tobytes() + swing.start_rotation.tobytes() for swing in e.swings[ARM][1:]]
    e.scale(e.swings[ARM][0], 1.5)  # 30 degrees more over 6 frames: slower than the 10 degrees per frame of before
    assert [swing.rotation_vector.tobytes() + swing.start_rotation.tobytes() for swing in e.swings[ARM][1:]] == behind


def test_a_swing_beside_a_narrow_gap_begins_where_it_must_and_ends_where_it_ended():
    e = edit()
    old = e.swings[ARM]
    e.scale(old[1], 1.5)  # 45 degrees more, and 1 frame to the next swing
    new = e.swings[ARM]
    assert twin.angle_of(new[2].start_rotation, new[1].end_rotation) < math.radians(10.001)
    assert_same_rotation(new[2].end_rotation, old[2].end_rotation)
    assert new[3].rotation_vector.tobytes() == old[3].rotation_vector.tobytes()


def test_fast_neighbours_carry_the_change_farther():
    e = edit(**{ARM: [(5, 14, X, 90), (15, 17, Y, 18), (18, 40, Z, 20), (41, 55, X, 30)]})
    old = e.swings[ARM]
    e.scale(old[0], 2)  # 90 degrees more: 3 frames at 10 degrees cannot take them
    new = e.swings[ARM]
    assert angle_between(new[1].end_rotation, old[1].end_rotation) > math.radians(30)
    assert_same_rotation(new[2].end_rotation, old[2].end_rotation)
    assert new[3].rotation_vector.tobytes() == old[3].rotation_vector.tobytes()
    for swing in new[1:3]:
        assert swing.angle / (swing.end - swing.start) <= math.radians(10) * (1 + 1e-6)


def test_at_the_end_of_the_clip_nothing_has_to_come_back():
    e = edit(**{ARM: [(5, 14, X, 90), (15, 17, Y, 18), (18, 20, Z, 18)]})
    old = e.swings[ARM]
    e.scale(old[0], 3)
    new = e.swings[ARM]
    assert math.isclose(new[0].angle_deg, 270)
    assert twin.angle_of(new[2].end_rotation, old[2].end_rotation) > math.radians(80)
    for swing in new[1:]:
        assert swing.angle / (swing.end - swing.start) <= math.radians(10) * (1 + 1e-6)
    twin.assert_seams_hold(e.original, e.swings)


@pytest.mark.parametrize("about", ("start", "end"))
def test_two_edited_swings_are_carried_along(about):
    e = edit(**{ARM: [(5, 14, X, 90), (15, 24, Y, 90), (30, 40, X, 10)]})
    old = e.swings[ARM]
    change = e.scale(old[:2], 2, about=about)
    new = e.swings[ARM]
    assert math.isclose(new[0].angle_deg, 180) and math.isclose(new[1].angle_deg, 180) and "instead" not in change.note
    # of 10 degrees that it usually turns in a frame, the seam takes the half to go back to where the joint was
    assert math.isclose(twin.angle_of(new[0].end_rotation, new[1].start_rotation), math.radians(5), rel_tol=1e-6)
    if about == "start":
        assert_same_rotation(new[0].start_rotation, old[0].start_rotation)
        assert_same_rotation(new[0].end_rotation, twin.rotate((1, 0, 0, 0), X, math.pi))
        assert_same_rotation(new[1].start_rotation, twin.rotate((1, 0, 0, 0), X, math.radians(175)))
    else:
        assert_same_rotation(new[1].end_rotation, old[1].end_rotation)
        assert_same_rotation(new[1].start_rotation, twin.rotate(old[1].end_rotation, Y, -math.pi))


def test_a_swing_that_is_meant_and_stays_as_it_is_is_carried_along_too():
    e = edit(**{ARM: [(5, 14, X, 90), (15, 24, Y, 40), (25, 34, X, 90)]})
    change = e.set_angle(ARM, 40)
    assert [round(swing.angle_deg, 9) for swing in e.swings[ARM]] == [40, 40, 40] and not change.note
    assert_same_rotation(rotation_at(e, 15), twin.rotate((1, 0, 0, 0), X, math.radians(45)))  # on the way back to 90


def test_swings_that_are_not_meant_or_keys_between_edited_ones_adapt():
    for between in ((15, 29, Y, 30), [(15, X, 90), (29, X, 80)]):
        e = edit(**{ARM: [(5, 14, X, 90), between, ("at", 30, 39, Y, 90)]})
        old = e.swings[ARM]
        e.scale((old[0], old[-1]), 1.2)
        new = e.swings[ARM]
        assert math.isclose(new[0].angle_deg, 108) and math.isclose(new[-1].angle_deg, 108)
        assert_same_rotation(new[-1].start_rotation, old[-1].start_rotation)


@pytest.mark.parametrize("anchor", ("start", "end"))
def test_neighbours_that_go_on_at_their_speed_are_carried_along(anchor):
    e = edit(**{ARM: [(5, 14, X, 90), (18, 27, Y, 90)]})
    old = e.swings[ARM]
    e.shorten(ARM, factor=6 / 9, anchor=anchor, keep="speed")
    new = e.swings[ARM]
    assert [round(swing.angle_deg, 9) for swing in new] == [60, 60]
    # 30 degrees short, of which the gap of 4 frames takes up 20
    if anchor == "start":
        assert_same_rotation(new[1].start_rotation, twin.rotate(old[1].start_rotation, X, math.radians(-10)))
    else:
        moved = twin.angle_of(new[0].end_rotation, old[0].end_rotation)
        assert math.isclose(moved, math.radians(10), rel_tol=1e-6)


def test_two_swings_edited_about_their_middles_share_the_difference():
    e = edit(**{ARM: [(5, 14, X, 90), (15, 24, X, 90), (30, 40, Y, 10)]})
    change = e.scale(e.swings[ARM][:2], 2, about="middle")  # 90 degrees apart, of which a frame takes 10
    new = e.swings[ARM]
    assert math.isclose(new[0].angle_deg, 140, abs_tol=1e-6) and math.isclose(new[1].angle_deg, 140, abs_tol=1e-6)
    assert math.isclose(twin.angle_of(new[0].end_rotation, new[1].start_rotation), math.radians(10), abs_tol=1e-6)
    assert (
        change.note == "2 of 2 swings rotate by 140 degrees instead, so that they connect to the swings beside them"
        and change.note in repr(change)
    )


@pytest.mark.parametrize(("anchor", "frames"), (("start", (20, 33)), ("middle", (18, 31)), ("end", (16, 29))))
def test_lengthen_and_shorten(anchor, frames):
    for options in ({"by_frames": 4}, {"by_s": 4 / 30}, {"factor": 13 / 9}):
        e = edit(**{ARM: [ROW[0], ROW[1]]})
        old = e.swings[ARM][1]
        e.lengthen(old, anchor=anchor, **options)
        slow = e.swings[ARM][1]
        assert (slow.start, slow.end) == frames
        assert np.allclose(slow.rotation_vector, old.rotation_vector, atol=1e-15)
        assert_same_rotation(slow.start_rotation, old.start_rotation)
        e.shorten(slow, by_frames=4, anchor=anchor)
        assert (e.swings[ARM][1].start, e.swings[ARM][1].end) == (20, 29)
    e = edit(**{ARM: [ROW[0], ROW[1]]})
    e.lengthen(old, by_frames=4, anchor=anchor, keep="speed")
    far = e.swings[ARM][1]
    part = {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
    assert math.isclose(far.angle_deg, 90 * 13 / 9)
    fixed_rotation = twin.rotate(old.start_rotation, old.axis, part * old.angle)
    assert_same_rotation(twin.rotate(far.start_rotation, far.axis, part * far.angle), fixed_rotation)


def test_a_neighbour_in_the_way_is_cut_and_a_rest_too():
    e = edit()
    old = e.swings[ARM]
    e.lengthen(old[1], by_frames=3, anchor="start")
    new = e.swings[ARM]
    assert (new[1].end, new[2].start, new[2].end) == (32, 33, 35)
    e.undo()
    e.lengthen(old[2], by_frames=10, anchor="start")
    assert [(rest.start, rest.end) for rest in e.swings.track(ARM).rests] == [(46, 50)]
    e.lengthen(e.swings[ARM][2], by_frames=9, anchor="start")
    assert not e.swings.track(ARM).rests
    twin.assert_sound(e.swings)


def test_delete_leaves_an_even_turn():
    e = edit()
    old = e.swings
    e.delete(old[ARM][1])
    assert len(e.swings[ARM]) == 3
    first, last = old[ARM][0].end_rotation, old[ARM][2].start_rotation
    for frame in range(14, 31):
        assert_same_rotation(rotation_at(e, frame), twin.slerp(first, last, (frame - 14) / 16))
    e.delete(ARM)
    assert not e.swings[ARM] and e.last_change.joints == (e.swings.skeleton.joint(ARM),)
    (rest,) = e.swings.track(ARM).rests
    assert_same_rotation(rest.rotation, rotation_at(old, 43))  # in the middle of frames 37 to 50
    assert_same_rotation(rotation_at(e, 43), rest.rotation)


def test_copy_to_another_joint_starts_from_its_rotation():
    e = edit(**{ARM: ROW, OTHER: [(0, 9, Z, 40), [(10, Z, 40), (59, Y, 10)]]})
    old = e.swings
    e.copy(old[ARM][1], OTHER)
    new = e.swings[OTHER]
    assert [(swing.start, swing.end) for swing in new] == [(0, 9), (20, 29)]
    assert np.allclose(new[1].rotation_vector, old[ARM][1].rotation_vector)
    assert_same_rotation(new[1].start_rotation, rotation_at(old, 20, OTHER))
    assert [(span.start, span.end) for span in e.swings.track(OTHER).keyed] == [(10, 19), (30, 59)]
    assert_same_rotation(rotation_at(e, 15, OTHER), rotation_at(old, 15, OTHER))
    with raises(OptionError, hint="replace=True removes that"):
        e.copy(old[ARM][0], OTHER)
    e.copy(old[ARM][0], OTHER, replace=True)
    assert [(swing.start, swing.end) for swing in e.swings[OTHER]] == [(5, 14), (20, 29)]
    e.copy(old[ARM][0], OTHER, at_s=40 / 30)
    assert [(swing.start, swing.end) for swing in e.swings[OTHER]] == [(5, 14), (20, 29), (40, 49)]


def test_copy_rejects_bad_arguments():
    e = edit()
    swing = e.swings[ARM][1]
    with raises(OptionError, expected="another joint, its mirror image, or another time"):
        e.copy(swing)
    with raises(
        OptionError, code="no_room", value=57, problem=Pattern("frames 57 to 66: the clip has frames 0 to 59$")
    ):
        e.copy(swing, at_s=1.9)
    with raises(OptionError, expected="one, as swings['right_thigh'][0]"):
        e.copy(ARM, OTHER)
    with pytest.raises(UnknownJoint):
        e.copy(swing, "tail")
    assert e.history == () and e.swings is e.original


def test_mirrored_copy_mirrors_positions():
    """Positions of the mirrored hand are those of the hand, with the sideways coordinate exchanged."""
    e = edit(**{ARM: [(10, 40, (0.3, 0.5, -0.8), 70)]})
    e.copy(e.swings[ARM][0], mirror=True)
    assert len(e.swings[OTHER]) == 1
    played = e.play()
    positions = played.world_positions() - played.world_positions()[:, :1]
    left, right = (positions[:, played.joint(f"{side}_hand")] for side in ("left", "right"))
    middle = positions[0, played.joint("left_hand")] + positions[0, played.joint("right_hand")]
    side = int(np.argmax(np.abs(left[0] - right[0])))
    assert np.abs(left - left[0]).max() > 0.3  # m: it does move
    assert abs(middle[side]) < 1e-6
    image = left * np.where(np.arange(3) == side, -1.0, 1.0)
    assert np.allclose(image, right, atol=1e-6)


def test_retime_of_joints_goes_as_far_as_gaps_leave_room():
    e = edit(**{ARM: [(10, 20, X, 60), (27, 37, Y, 60)], OTHER: [(10, 20, X, 60)]})
    change = e.retime((ARM, OTHER), 2)
    assert [(swing.start, swing.end) for swing in e.swings[ARM]] == [(5, 23), (24, 42)]
    assert [(swing.start, swing.end) for swing in e.swings[OTHER]] == [(5, 25)]
    assert "2 of 3 swings cannot last 2 times as long" in change.note
    e.undo()
    change = e.retime(ARM, 0.5)
    assert [(swing.start, swing.end) for swing in e.swings[ARM]] == [(12, 17), (29, 34)] and not change.note
    e.retime(ARM, 0.01)
    assert [swing.n_frames for swing in e.swings[ARM]] == [3, 3]
    e.undo()
    e.retime(ARM, 900)
    assert e.swings[ARM][0].start == 0 and e.swings[ARM][1].end == 59


@pytest.mark.parametrize(
    ("operation", "fields"),
    (
        (lambda e, s: e.shift(s[1], by_frames=30), {"code": "no_room", "value": 30, "problem": "the swing of LeftArm in frames 20 to 29 (90.0 degrees) cannot go to "
         "frames 50 to 59: the swing of LeftArm in frames 30 to 35 (20.0 degrees) is in the way; there is room from frame 8 to 32"}),
        (lambda e, s: e.shift(s[0], by_frames=-6), {"code": "no_room", "value": -1, "problem": Pattern("to frames -1 to 8: the clip has frames 0 to 59; there is room from frame 0 to 26$")}),
        (lambda e, s: e.shift(s[3], by_s=1), {"code": "no_room", "value": 86, "problem": Pattern("to frames 86 to 89: the clip has frames 0 to 59; there is room from frame 33 to 59$")}),
        (lambda e, s: e.shift(s[3], by_s=-9), {"option": "by_s", "value": -9, "expected": "a number from -2 to 2"}),
        (lambda e, s: e.lengthen(s[:2], by_frames=20), {"code": "no_room", "value": -15, "problem": Pattern("to frames -15 to 14: the clip has frames 0 to 59; there is room from frame 0 to 19$")}),
        (lambda e, s: e.lengthen(s[:2], by_frames=9, anchor="start"), {"code": "no_room", "value": 30, "problem": Pattern("frames 20 to 29 .* cannot go to frames 29 to 47: .* frames 30 to 35 .*; there is room from frame 24 to 32$")}),
        (lambda e, s: e.lengthen(s[0], factor=0.5), {"option": "factor", "value": 0.5, "expected": "a number from 1 to 1000"}),
        (lambda e, s: e.shorten(s[0], factor=1.5), {"option": "factor", "value": 1.5, "expected": "a number above 0 and at most 1"}),
        (lambda e, s: e.shorten(s[0], by_frames=8), {"problem": "a swing of 10 frames, frames 5 to 14, cannot be shortened to 2 frames", "expected": "at least 3"}),
        (lambda e, s: e.lengthen(s[0], by_frames=-1), {"option": "by_frames", "value": -1, "expected": "at least 0"}),
        (lambda e, s: e.lengthen(s[0]), {"expected": "one of by_s=, by_frames= and factor="}),
        (lambda e, s: e.shift(s[0], by_s=1, by_frames=1), {"expected": "one of by_s= and by_frames="}),
        (lambda e, s: e.shift(s[0], by_frames=2**70), {"option": "by_frames", "value": 2**70, "expected": "fewer than the clip's 60 frames"}),
        (lambda e, s: e.scale(s[0], NAN), {"option": "factor", "value": NAN, "expected": "a number from -1000 to 1000"}),
        (lambda e, s: e.scale(s[0], 1e308), {"option": "factor", "value": 1e308, "expected": "a number from -1000 to 1000"}),
        (lambda e, s: e.turn_axis(s[0], about=X, degrees=1e308), {"option": "degrees", "value": 1e308, "expected": "a number from -36000 to 36000"}),
        (lambda e, s: e.intensify(None, 2), {"problem": "None", "expected": "names of joints, body parts or groups"}),
        (lambda e, s: e.scale(s[0], 2, about="top"), {"option": "about", "value": "top", "expected": "one of start, middle, end"}),
        (lambda e, s: e.scale((), 2), {"problem": "no swing is given", "expected": "at least one"}),
        (lambda e, s: e.scale(3, 2), {"problem": "3", "expected": "a swing, several swings, or names of joints, body parts or groups"}),
        (lambda e, s: e.scale([3], 2), {"problem": "3", "expected": "a swing or the name of a joint, body part or group"}),
        (lambda e, s: e.scale("legs", 2), {"problem": "'legs': no swing at all", "hint": "joints with swings are LeftArm"}),
        (lambda e, s: e.scale(Swing(ARM, 6, 14, (1, 0, 0, 0), X, 1), 2), {"problem": "no swing of 'LeftArm' at frames 6 to 14", "hint": "its swings are now at frames 5 to 14, 20 to 29, 30 to 35, 56 to 59"}),
        (lambda e, s: e.retime(factor=0), {"option": "factor", "value": 0, "expected": "a number above 0 and at most 1000"}),
        (lambda e, s: e.retime(), {"problem": "missing", "option": "factor", "expected": "how many times as long"}),
        (lambda e, s: e.retime(factor=2, keep="feet"), {"option": "keep", "value": "feet", "expected": "one of contacts"}),
        (lambda e, s: e.retime(factor=0.1), {"problem": "LeftArm has 4 swings and 0 keyed spans, which need at least 8 frames", "hint": "6 are too few"}),
        (lambda e, s: e.retime(factor=0.001), {"problem": "leaves no frame of 60", "option": "factor", "value": 0.001}),
        (lambda e, s: e.undo(), {"code": "no_step", "problem": "nothing to undo"}),
        (lambda e, s: e.redo(), {"code": "no_step", "problem": "nothing to redo"}),
    ),
)  # fmt: skip
def test_rejected_operations_change_nothing(operation, fields):
    e = edit()
    before = twin.bits(e.swings)
    with raises(OptionError, **fields):
        operation(e, e.swings[ARM])
    assert e.swings is e.original and e.history == () and e.last_change is None
    assert twin.bits(e.swings) == before


def test_an_unknown_name_is_no_joint():
    e = edit()
    for operation in (lambda: e.scale("tail", 2), lambda: e.intensify("tail", 2), lambda: e.retime("tail", 2),
                      lambda: e.scale(Swing("tail", 0, 9, (1, 0, 0, 0), X, 1), 2)):  # fmt: skip
        with raises(UnknownJoint, value="tail"):
            operation()
    assert e.history == ()


def test_full_turns_keep_their_direction():
    """A neighbour that turns by 200 degrees still does so after its start was moved."""
    e = edit(**{ARM: [(5, 14, X, 60), (15, 45, Y, 200)]})
    e.scale(e.swings[ARM][0], 1.5)
    new = e.swings[ARM][1]
    assert 180 < new.angle_deg < 260 and new.axis @ Y > 0.8
    middle = multiply(new.start_rotation, exp(0.5 * new.rotation_vector))
    assert twin.angle_of(rotation_at(e, 30), middle) < 1e-9
