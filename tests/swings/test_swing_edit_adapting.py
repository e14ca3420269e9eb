"""Whatever is edited, the rest adapts without jumps, untouched joints keep their bits, and errors change nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_swings_editing as twin
from keypose.errors import KeyposeError, OptionError
from keypose.rotations import angle_between
from keypose.swings import KeyedSpan, Swing, Swings
from keypose.swings.editing import SwingEdit
from keypose.swings.editing.bounds import bounds_of
from keypose.swings.editing.pieces import nearest_branch

ABOUT = st.sampled_from(("start", "middle", "end"))
AXES = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda axis: np.linalg.norm(axis) > 0.1)
WHICH = st.one_of(st.integers(0, 40), st.lists(st.integers(0, 40), min_size=2, max_size=4), st.just("LeftArm"))


@st.composite
def rows(draw) -> list:
    """A row of swings and keys of one joint within 80 frames."""
    row, frame = [], draw(st.integers(0, 10))
    while frame < 75 and len(row) < 6:
        kind = draw(st.sampled_from(("swing", "swing", "at", "keys", "key")))
        last = min(frame + draw(st.integers(2, 20)), 79)
        if kind == "keys":
            frames = sorted({frame, *draw(st.lists(st.integers(frame, last), max_size=4)), last})
            row.append([(key, draw(AXES), draw(st.floats(0, 60))) for key in frames])
        elif kind == "key":
            last = frame
            row.append([(frame, draw(AXES), draw(st.floats(0, 60)))])
        else:
            swing = (frame, last, draw(AXES), draw(st.floats(0, 150)))
            row.append(swing if kind == "swing" else ("at", *swing))
        frame = last + draw(st.sampled_from((1, 1, 2, 5, 20)))
    return row


@st.composite
def by_hand(draw) -> Swings:
    return twin.by_hand({"LeftArm": draw(rows()), "RightArm": draw(rows())}, n_frames=80)


@st.composite
def operations(draw):
    """A function that does one operation on an edit."""
    which, about = draw(WHICH), draw(ABOUT)
    joints = draw(st.sampled_from(("LeftArm", "arms", ("RightArm", "head"), "all")))

    def meant(e: SwingEdit):
        if isinstance(which, str):
            return which
        there = [swing for track in e.swings.tracks for swing in track.swings]
        if not there:
            return "LeftArm"
        return there[which % len(there)] if isinstance(which, int) else tuple(there[i % len(there)] for i in which)

    def one(e: SwingEdit):
        found = meant(e)
        return found[0] if isinstance(found, tuple) else found

    by, factor = draw(st.integers(-12, 12)), draw(st.floats(-2.5, 2.5))
    degrees, axis = draw(st.floats(-200, 200)), draw(AXES)
    anchor, keep = draw(ABOUT), draw(st.sampled_from(("angle", "speed")))
    at_s, to = (
        draw(st.one_of(st.none(), st.floats(0, 2))),
        draw(st.sampled_from((None, "RightArm", "Head", "LeftUpLeg"))),
    )
    mirror, over = draw(st.booleans()), draw(st.booleans())
    times = draw(st.floats(0.3, 2.5))
    return draw(
        st.sampled_from(
            (
                lambda e: e.scale(meant(e), factor, about=about),
                lambda e: e.set_angle(meant(e), degrees, about=about),
                lambda e: e.set_axis(meant(e), axis),
                lambda e: e.turn_axis(meant(e), about=axis, degrees=degrees),
                lambda e: e.shift(meant(e), by_frames=by),
                lambda e: e.lengthen(meant(e), by_frames=abs(by), anchor=anchor, keep=keep),
                lambda e: e.shorten(meant(e), by_frames=abs(by), anchor=anchor, keep=keep),
                lambda e: e.delete(meant(e)),
                lambda e: e.copy(one(e), to, mirror=mirror, at_s=at_s, replace=over),
                lambda e: e.intensify(joints, times),
                lambda e: e.retime(("LeftArm", "RightArm"), times),
            )
        )
    )


def assert_all_is_well(e: SwingEdit, before: Swings, change) -> None:
    now = change.swings
    assert now is e.swings
    twin.assert_sound(now)
    twin.assert_seams_hold(e.original, now)
    old, new = before.play(), now.play()
    for j, (one, other) in enumerate(zip(before.tracks, now.tracks, strict=True)):
        assert (old.rotations[:, j] != new.rotations[:, j]).any() == (j in change.joints)
        assert one is not other or j not in change.joints
    same = [j for j in range(now.n_joints) if j not in change.joints]
    assert old.rotations[:, same].tobytes() == new.rotations[:, same].tobytes()
    assert old.translations.tobytes() == new.translations.tobytes()
    differ = np.flatnonzero((old.rotations != new.rotations).any(axis=(1, 2)))
    assert not len(differ) or (change.first, change.last) == (differ[0], differ[-1])


@pytest.mark.one_python
@given(by_hand(), st.lists(operations(), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_edits_of_swings_made_by_hand(swings, several):
    e = SwingEdit(swings)
    for operation in several:
        before, bits, history = e.swings, twin.bits(e.swings), e.history
        try:
            change = operation(e)
        except KeyposeError:
            assert e.swings is before and e.history == history and twin.bits(before) == bits
            continue
        assert_all_is_well(e, before, change)
        after = e.swings
        assert e.undo() is before and twin.bits(before) == bits
        assert e.redo() is after


@given(st.lists(operations(), min_size=1, max_size=2))
@settings(max_examples=15, deadline=None)
def test_edits_of_the_demo(several):
    e = SwingEdit(twin.demo())
    for operation in several:
        before = e.swings
        try:
            change = operation(e)
        except KeyposeError:
            assert e.swings is before
            continue
        assert_all_is_well(e, before, change)


@given(by_hand(), operations())
@settings(max_examples=40, deadline=None)
def test_what_is_played_is_what_stepping_through_gives(swings, operation):
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


@given(by_hand(), st.integers(0, 40), st.floats(0.2, 4), ABOUT)
@settings(max_examples=40, deadline=None)
def test_scale_there_and_back_gives_the_swing_back(swings, which, factor, about):
    there = [(j, i) for j, track in enumerate(swings.tracks) for i in range(track.n_swings)]
    if not there:
        return
    j, i = there[which % len(there)]
    e = SwingEdit(swings)
    old = swings.tracks[j].swings[i]
    e.scale(old, factor, about=about)
    e.scale(e.swings.tracks[j].swings[i], 1 / factor, about=about)
    new = e.swings.tracks[j].swings[i]
    assert (new.start, new.end) == (old.start, old.end)
    assert np.allclose(new.turn, old.turn, rtol=0, atol=1e-12)
    assert angle_between(new.start_rotation, old.start_rotation) < 1e-9


@st.composite
def only_swings(draw) -> Swings:
    """A joint with swings and nothing else, some on each other's heels."""
    row, frame = [], draw(st.integers(0, 10))
    for _ in range(draw(st.integers(2, 5))):
        last = frame + draw(st.integers(2, 12))
        row.append((frame, last, draw(AXES), draw(st.floats(1, 150))))
        frame = last + draw(st.sampled_from((1, 1, 2, 5)))
    return twin.by_hand({"LeftArm": row}, n_frames=100)


@given(only_swings(), st.floats(-2, 2), st.sampled_from(("start", "end")), AXES, st.integers(0, 1))
@settings(max_examples=40, deadline=None)
def test_swings_that_follow_each_other_turn_as_asked(swings, factor, about, axis, first):
    """Whatever is asked of them all, seams between them are what they were but for a little that goes back."""
    e = SwingEdit(swings)
    usual = max(swing.angle / (swing.end - swing.start) for swing in twin.parts(swings.track("LeftArm")))
    was = twin.parts(swings.track("LeftArm"))
    for operation, turn in (
        (lambda some: e.scale(some, factor, about=about), lambda old: old.turn * factor),
        (lambda some: e.set_angle(some, 50 * factor, about=about), lambda old: old.axis * math.radians(50 * factor)),
        (lambda some: e.set_axis(some, axis), lambda old: twin.unit(axis) * old.angle),
    ):
        change = operation(was[first:])
        now = twin.parts(e.swings.track("LeftArm"))
        for old, new in zip(was[first:], now[first:], strict=True):
            assert np.allclose(new.turn, turn(old), rtol=0, atol=1e-9)
        for k in range(first, len(was) - 1):
            gap = was[k + 1].start - was[k].end
            back = twin.angle_of(twin.seam(now[k], now[k + 1]), twin.seam(was[k], was[k + 1]))
            assert back <= 0.5 * usual * gap + 1e-6
        assert "instead" not in change.note
        twin.assert_seams_hold(swings, e.swings)
        e.undo()


def test_what_plays_the_same_is_not_named():
    """A swing by nothing takes the room of a rest: other swings, but the same to see."""
    row = [(5, 14, (1, 0, 0), 60), ("rest", 16, 30), (31, 40, (1, 0, 0), 0)]
    e = SwingEdit(twin.by_hand({"Head": row}))
    change = e.lengthen(e.swings["Head"][1], by_frames=5, anchor="end")
    assert e.swings.track("Head").rests[0].end == 25 and e.swings is not e.original
    assert change.joints == () and change.range == (0, -1) and change.note == "plays the same"
    assert e.play().rotations.tobytes() == e.original.play().rotations.tobytes()
    assert e.undo() is e.original


def test_nothing_to_do_changes_nothing():
    e = SwingEdit(twin.demo())
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


@given(by_hand())
@settings(max_examples=20, deadline=None)
def test_bounds_are_those_of_the_played_clip(swings):
    assert np.allclose(bounds_of(swings).limits, twin.seam_limits(swings), rtol=1e-6, atol=1e-7)
    assert (bounds_of(swings).paces <= bounds_of(swings).limits).all()


@given(AXES, st.floats(0, 20), AXES, st.floats(0, 0.5))
def test_the_nearest_branch_ends_the_same_and_is_nearest(axis, angle, aside, off):
    old = twin.unit(axis) * angle
    short = twin.unit(axis) * (math.remainder(angle, 2 * math.pi)) + off * np.array(aside)
    found = nearest_branch(short[None], old[None])[0]
    length = np.linalg.norm(short)
    if length > 1e-6:
        whole = [short + 2 * math.pi * k * short / length for k in range(-5, 6)]
        nearest = min(np.linalg.norm(each - old) for each in whole)
        assert np.linalg.norm(found - old) <= nearest + 1e-9
        assert min(np.linalg.norm(found - each) for each in whole) < 1e-9


def test_keys_fade_over_a_while_and_no_farther():
    """A swing put among keys on every frame: those behind come back within the fade, farther ones keep their bits."""
    row = [[(frame, (0, 0, 1), frame % 3) for frame in range(200)]]
    swings = twin.by_hand({"LeftArm": [(50, 60, (1, 0, 0), 30)], "Head": row}, n_frames=200)
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
    ("anchor", "wanted"),
    (("start", [(5, 25), (36, 56)]), ("middle", [(0, 20), (31, 51)]), ("end", [(3, 23), (34, 54)])),
)
def test_swings_that_follow_each_other_are_lengthened_as_one(anchor, wanted):
    first = {"start": 5, "middle": 11, "end": 25}[anchor]
    row = [(first, first + 9, (1, 0, 0), 10), (first + 20, first + 29, (1, 0, 0), 10)]
    e = SwingEdit(twin.by_hand({"Head": row}))
    e.lengthen("Head", by_frames=11, anchor=anchor)
    assert [(swing.start, swing.end) for swing in e.swings["Head"]] == wanted
    twin.assert_seams_hold(e.original, e.swings)
    with pytest.raises(OptionError, match=r"frames .* cannot go to frames .*the clip has frames 0 to 59"):
        e.lengthen("Head", by_frames=11, anchor=anchor)


def test_parts_are_of_known_kinds():
    for track in twin.demo().tracks:
        assert all(isinstance(part, Swing | KeyedSpan) for part in twin.parts(track))
