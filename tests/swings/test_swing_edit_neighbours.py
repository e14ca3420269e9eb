"""After any edit the other pieces adapt without jumps, other joints are unchanged, and errors change nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keypose.errors import KeyposeError, OptionError
from keypose.rotations import angle_between
from keypose.swings import KeyedSpan, Swing, Swings
from keypose.swings.edit import SwingEdit
from keypose.swings.edit.pieces import nearest_branch
from keypose.swings.edit.time_map import measure_speed_limits
from reference import naive_swings_edit as twin
from support.errors import Pattern, raises

ABOUT = st.sampled_from(("start", "middle", "end"))
AXES = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda axis: np.linalg.norm(axis) > 0.1)
TARGETS = st.one_of(st.integers(0, 40), st.lists(st.integers(0, 40), min_size=2, max_size=4), st.just("LeftArm"))


@st.composite
def rows(draw) -> list:
    """A row of swings and keys of one joint within 80 frames."""
    row, frame = [], draw(st.integers(0, 10))
    while frame < 75 and len(row) < 6:
        kind = draw(st.sampled_from(("swing", "swing", "at", "keys", "key", "rest")))
        last = min(frame + draw(st.integers(2, 20)), 79)
        if kind == "keys":
            frames = sorted({frame, *draw(st.lists(st.integers(frame, last), max_size=4)), last})
            row.append([(key, draw(AXES), draw(st.floats(0, 60))) for key in frames])
        elif kind == "rest":
            row.append(("rest", frame, last))
        elif kind == "key":
            last = frame
            row.append([(frame, draw(AXES), draw(st.floats(0, 60)))])
        else:
            swing = (frame, last, draw(AXES), draw(st.floats(0, 150)))
            row.append(swing if kind == "swing" else ("at", *swing))
        frame = last + draw(st.sampled_from((1, 1, 2, 5, 20)))
    return row


@st.composite
def random_swings(draw) -> Swings:
    return twin.build_swings({"LeftArm": draw(rows()), "RightArm": draw(rows())}, n_frames=80)


@st.composite
def operations(draw):
    """A function that does one operation on an edit."""
    target, about = draw(TARGETS), draw(ABOUT)
    joints = draw(st.sampled_from(("LeftArm", "arms", ("RightArm", "head"), "all")))

    def select(e: SwingEdit):
        if isinstance(target, str):
            return target
        all_swings = [swing for track in e.swings.tracks for swing in track.swings]
        if not all_swings:
            return "LeftArm"
        return (
            all_swings[target % len(all_swings)]
            if isinstance(target, int)
            else tuple(all_swings[i % len(all_swings)] for i in target)
        )

    def select_one(e: SwingEdit):
        selected = select(e)
        return selected[0] if isinstance(selected, tuple) else selected

    by, factor = draw(st.integers(-12, 12)), draw(st.floats(-2.5, 2.5))
    degrees, axis = draw(st.floats(-200, 200)), draw(AXES)
    anchor, keep = draw(ABOUT), draw(st.sampled_from(("angle", "speed")))
    at_s, to = (
        draw(st.one_of(st.none(), st.floats(0, 2))),
        draw(st.sampled_from((None, "RightArm", "Head", "LeftUpLeg"))),
    )
    mirror, is_replacing = draw(st.booleans()), draw(st.booleans())
    scale = draw(st.floats(0.3, 2.5))
    return draw(
        st.sampled_from(
            (
                lambda e: e.scale(select(e), factor, about=about),
                lambda e: e.set_angle(select(e), degrees, about=about),
                lambda e: e.set_axis(select(e), axis),
                lambda e: e.turn_axis(select(e), about=axis, degrees=degrees),
                lambda e: e.shift(select(e), by_frames=by),
                lambda e: e.lengthen(select(e), by_frames=abs(by), anchor=anchor, keep=keep),
                lambda e: e.shorten(select(e), by_frames=abs(by), anchor=anchor, keep=keep),
                lambda e: e.delete(select(e)),
                lambda e: e.copy(select_one(e), to, mirror=mirror, at_s=at_s, replace=is_replacing),
                lambda e: e.intensify(joints, scale),
                lambda e: e.retime(("LeftArm", "RightArm"), scale),
            )
        )
    )


def assert_change_is_consistent(e: SwingEdit, before: Swings, change) -> None:
    edited = change.swings
    assert edited is e.swings
    twin.assert_sound(edited)
    twin.assert_seams_hold(e.original, edited)
    old, new = before.play(), edited.play()
    for j, (old_track, new_track) in enumerate(zip(before.tracks, edited.tracks, strict=True)):
        assert (old.rotations[:, j] != new.rotations[:, j]).any() == (j in change.joints)
        assert old_track is not new_track or j not in change.joints
    same = [j for j in range(edited.n_joints) if j not in change.joints]
    assert old.rotations[:, same].tobytes() == new.rotations[:, same].tobytes()
    assert old.translations.tobytes() == new.translations.tobytes()
    differ = np.flatnonzero((old.rotations != new.rotations).any(axis=(1, 2)))
    assert not len(differ) or (change.first, change.last) == (differ[0], differ[-1])


@pytest.mark.one_python
@given(random_swings(), st.lists(operations(), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_edits_of_random_swings(swings, edits):
    e = SwingEdit(swings)
    for operation in edits:
        before, bits, history = e.swings, twin.bits(e.swings), e.history
        try:
            change = operation(e)
        except KeyposeError:
            assert e.swings is before and e.history == history and twin.bits(before) == bits
            continue
        assert_change_is_consistent(e, before, change)
        after = e.swings
        assert e.undo() is before and twin.bits(before) == bits
        assert e.redo() is after


@given(st.lists(operations(), min_size=1, max_size=2))
@settings(max_examples=15, deadline=None)
def test_edits_of_the_demo(edits):
    e = SwingEdit(twin.demo_swings())
    for operation in edits:
        before = e.swings
        try:
            change = operation(e)
        except KeyposeError:
            assert e.swings is before
            continue
        assert_change_is_consistent(e, before, change)


@given(random_swings(), operations())
@settings(max_examples=40, deadline=None)
def test_playback_matches_the_reference(swings, operation):
    e = SwingEdit(swings)
    try:
        change = operation(e)
    except KeyposeError:
        return
    played = e.play(keep_feet=False)
    for j in change.joints:
        for frame in range(0, e.swings.n_frames, 7):
            expected = twin.rotation_at(e.swings.tracks[j], frame)
            assert twin.angle_of(played.rotations[frame, j], expected) < 1e-7


@given(random_swings(), st.integers(0, 40), st.floats(0.2, 4), ABOUT)
@settings(max_examples=40, deadline=None)
def test_inverse_scale_restores_the_swing(swings, number, factor, about):
    indices = [(j, i) for j, track in enumerate(swings.tracks) for i in range(track.n_swings)]
    if not indices:
        return
    j, i = indices[number % len(indices)]
    e = SwingEdit(swings)
    old = swings.tracks[j].swings[i]
    e.scale(old, factor, about=about)
    e.scale(e.swings.tracks[j].swings[i], 1 / factor, about=about)
    new = e.swings.tracks[j].swings[i]
    assert (new.start, new.end) == (old.start, old.end)
    assert np.allclose(new.rotation_vector, old.rotation_vector, rtol=0, atol=1e-12)
    assert angle_between(new.start_rotation, old.start_rotation) < 1e-9


@st.composite
def only_swings(draw) -> Swings:
    """A joint with swings and nothing else, some directly after each other."""
    row, frame = [], draw(st.integers(0, 10))
    for _ in range(draw(st.integers(2, 5))):
        last = frame + draw(st.integers(2, 12))
        row.append((frame, last, draw(AXES), draw(st.floats(1, 150))))
        frame = last + draw(st.sampled_from((1, 1, 2, 5)))
    return twin.build_swings({"LeftArm": row}, n_frames=100)


@given(only_swings(), st.floats(-2, 2), st.sampled_from(("start", "end")), AXES, st.integers(0, 1))
@settings(max_examples=40, deadline=None)
def test_successive_swings_get_the_requested_rotation(swings, factor, about, axis, first):
    """For any request, seams between them change only by the small return to the old rotation."""
    e = SwingEdit(swings)
    max_speed = max(swing.angle / (swing.end - swing.start) for swing in twin.split_track(swings.track("LeftArm")))
    old_row = twin.split_track(swings.track("LeftArm"))
    for operation, turn in (
        (lambda some: e.scale(some, factor, about=about), lambda old: old.rotation_vector * factor),
        (lambda some: e.set_angle(some, 50 * factor, about=about), lambda old: old.axis * math.radians(50 * factor)),
        (lambda some: e.set_axis(some, axis), lambda old: twin.unit(axis) * old.angle),
    ):
        change = operation(old_row[first:])
        new_row = e.swings["LeftArm"]
        for old, new in zip(old_row[first:], new_row[first:], strict=True):
            assert np.allclose(new.rotation_vector, turn(old), rtol=0, atol=1e-9)
        for k in range(first, len(old_row) - 1):
            gap = old_row[k + 1].start - old_row[k].end
            back = twin.angle_of(twin.seam(new_row[k], new_row[k + 1]), twin.seam(old_row[k], old_row[k + 1]))
            assert back <= 0.5 * max_speed * gap + 1e-6
        assert "instead" not in change.note
        twin.assert_seams_hold(swings, e.swings)
        e.undo()


def test_joints_that_play_the_same_are_not_listed():
    """A swing of zero angle takes the frames of a rest: other swings, but the same playback."""
    row = [(5, 14, (1, 0, 0), 60), ("rest", 16, 30), (31, 40, (1, 0, 0), 0)]
    e = SwingEdit(twin.build_swings({"Head": row}))
    change = e.lengthen(e.swings["Head"][1], by_frames=5, anchor="end")
    assert e.swings.track("Head").rests[0].end == 25 and e.swings is not e.original
    assert change.joints == () and change.range == (0, -1) and change.note == "the motion is unchanged"
    assert e.play().rotations.tobytes() == e.original.play().rotations.tobytes()
    assert e.undo() is e.original


def test_nothing_to_do_changes_nothing():
    e = SwingEdit(twin.demo_swings())
    for operation in (
        lambda: e.scale("all", 1),
        lambda: e.shift("all", by_s=0),
        lambda: e.lengthen("legs", factor=1),
        lambda: e.shorten("legs", by_frames=0),
        lambda: e.intensify("all", 1.0),
        lambda: e.retime("legs", 1),
        lambda: e.retime(factor=1.0),
    ):
        change = operation()
        assert change.swings is e.original and change.joints == () and change.last < change.first
    assert e.play().rotations.tobytes() == e.original.play().rotations.tobytes()


@given(random_swings())
@settings(max_examples=20, deadline=None)
def test_bounds_are_those_of_the_played_clip(swings):
    assert np.allclose(measure_speed_limits(swings).hard, twin.seam_limits(swings), rtol=1e-6, atol=1e-7)
    assert (measure_speed_limits(swings).soft <= measure_speed_limits(swings).hard).all()


@given(AXES, st.floats(0, 20), AXES, st.floats(0, 0.5))
def test_the_nearest_branch_ends_the_same_and_is_nearest(axis, angle, aside, off):
    old = twin.unit(axis) * angle
    short = twin.unit(axis) * (math.remainder(angle, 2 * math.pi)) + off * np.array(aside)
    branch = nearest_branch(short[None], old[None])[0]
    length = np.linalg.norm(short)
    if length > 1e-6:
        branches = [short + 2 * math.pi * k * short / length for k in range(-5, 6)]
        nearest = min(np.linalg.norm(other - old) for other in branches)
        assert np.linalg.norm(branch - old) <= nearest + 1e-9
        assert min(np.linalg.norm(branch - each) for each in branches) < 1e-9


def test_keys_fade_over_a_while_and_no_farther():
    """A swing put among keys on every frame: those behind come back within the fade, farther ones keep their bits."""
    row = [[(frame, (0, 0, 1), frame % 3) for frame in range(200)]]
    swings = twin.build_swings({"LeftArm": [(50, 60, (1, 0, 0), 30)], "Head": row}, n_frames=200)
    e = SwingEdit(swings)
    e.copy(swings["LeftArm"][0], "Head")
    spans = e.swings.track("Head").keyed
    assert [(span.start, span.end) for span in spans] == [(0, 49), (61, 199)]
    old = swings.track("Head").keyed[0]
    assert spans[0].rotations.tobytes() == old.rotations[:50].tobytes()
    same = (spans[1].rotations == old.rotations[61:]).all(axis=1)
    back = int(np.flatnonzero(~same)[-1]) + 61
    assert 60 + 0.15 * swings.fps < back < 60 + 2 * swings.fps
    twin.assert_seams_hold(swings, e.swings)


@pytest.mark.parametrize(
    ("anchor", "expected"),
    (("start", [(5, 25), (36, 56)]), ("middle", [(0, 20), (31, 51)]), ("end", [(3, 23), (34, 54)])),
)
def test_swings_that_follow_each_other_are_lengthened_as_one(anchor, expected):
    first = {"start": 5, "middle": 11, "end": 25}[anchor]
    row = [(first, first + 9, (1, 0, 0), 10), (first + 20, first + 29, (1, 0, 0), 10)]
    e = SwingEdit(twin.build_swings({"Head": row}))
    e.lengthen("Head", by_frames=11, anchor=anchor)
    assert [(swing.start, swing.end) for swing in e.swings["Head"]] == expected
    twin.assert_seams_hold(e.original, e.swings)
    value, room = {"start": (47, "37 to 59"), "middle": (-11, "0 to 30"), "end": (-19, "0 to 22")}[anchor]
    problem = Pattern(f" cannot go to .*: the clip has frames 0 to 59; there is room from frame {room}$")
    with raises(OptionError, code="no_room", value=value, problem=problem):
        e.lengthen("Head", by_frames=11, anchor=anchor)


def test_pieces_are_swings_or_keyed_spans():
    for track in twin.demo_swings().tracks:
        assert all(isinstance(part, Swing | KeyedSpan) for part in twin.split_track(track))
