"""Edits as data: what they make is what the editors make, whatever was done before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_workbench_space import turned

import keypose as kp
from keypose.errors import OptionError
from keypose.inbetween.editing import Edit
from keypose.kinematics import UPS
from keypose.rotations import conjugate, multiply
from keypose.workbench import Bench, Edited, draft_of, edited, editing

FRAMES = (0, 31, 60, 88, 119)
STEPS: tuple[dict[str, Any], ...] = (
    {"op": "rotate", "frame": 31, "joint": "head", "euler_degrees": [0, 30, 0], "spread_s": 0.5},
    {"op": "reach", "frame": 60, "joint": "left_hand", "by": [0.1, 0.2, 0.0], "keep_feet": True},
    {"op": "shift", "frame": 88, "by": [0.0, 0.05, 0.0], "spread_s": 0.2},
    {"op": "insert_key", "frame": 45},
    {"op": "move_key", "frame": 45, "to": 50},
    {"op": "mirror", "frame": 88},
    {"op": "paste", "frame": 60, "from_frame": 31},
    {"op": "delete_key", "frame": 50},
    {"op": "move_key", "frame": 88, "to": 95, "ripple": True},
)


def keys_draft(*steps: dict[str, Any], **more: Any) -> Any:
    return draft_of({"kind": "keys", "frames": list(FRAMES), "steps": list(steps), **more})


def swings_draft(*steps: dict[str, Any]) -> Any:
    return draft_of({"kind": "swings", "steps": list(steps)})


def same(one: Edited, other: Edited) -> None:
    for name in ("translations", "rotations"):
        np.testing.assert_array_equal(getattr(one.motion, name), getattr(other.motion, name))
    assert one.history == other.history and one.changed == other.changed and one.missed_mm == other.missed_mm


def test_every_step_of_keys_does_what_the_editor_does(bench: Bench) -> None:
    made = edited(bench, keys_draft(*STEPS))
    scale = 1 / bench.space.metres_per_unit
    by_hand = kp.edit(kp.unbake(bench.motion, FRAMES))
    by_hand.rotate(31, "head", euler_degrees=(0, 30, 0), spread_s=0.5)
    by_hand.reach(60, "left_hand", by=np.array((0.1, 0.2, 0.0)) * scale, keep_feet=True)
    by_hand.shift(88, by=np.array((0.0, 0.05, 0.0)) * scale, spread_s=0.2)
    by_hand.insert_key(45)
    by_hand.move_key(45, 50)
    by_hand.mirror(88)
    by_hand.paste(60, by_hand.copy(31))
    by_hand.delete_key(50)
    by_hand.move_key(88, 95, ripple=True)
    assert made.keyed is not None
    np.testing.assert_allclose(made.motion.rotations, by_hand.keyed.sample().rotations, atol=1e-12)
    np.testing.assert_allclose(made.motion.translations, by_hand.keyed.sample().translations, atol=1e-9)
    assert made.keyed.keys.tolist() == by_hand.keyed.keys.tolist() == [0, 31, 60, 95, 126]
    assert made.history[0] == by_hand.history[0] and made.history[6] == "paste(60, copy(31))"
    assert made.changed == by_hand.last_range
    assert made.straying is None  # there are more frames than before


@pytest.mark.parametrize("up", UPS)
def test_places_and_ways_are_those_of_the_page(motion: kp.Motion, up: str) -> None:
    bench = Bench(turned(motion, up, 3.0))
    hand = bench.motion.skeleton.joint("left_hand")

    def place(after: Edited) -> Any:
        return bench.space.places(after.motion.world_positions())[60, hand]

    start = place(edited(bench, keys_draft()))
    by = edited(bench, keys_draft({"op": "reach", "frame": 60, "joint": "left_hand", "by": [0.02, 0.03, -0.04]}))
    np.testing.assert_allclose(place(by), start + (0.02, 0.03, -0.04), atol=1e-6)
    assert by.missed_mm == pytest.approx(0.0, abs=1e-6)
    goal = (start + (0.01, 0.04, -0.03)).tolist()
    to = edited(bench, keys_draft({"op": "reach", "frame": 60, "joint": "left_hand", "to": goal}))
    np.testing.assert_allclose(place(to), goal, atol=1e-6)
    far = edited(bench, keys_draft({"op": "reach", "frame": 60, "joint": "left_hand", "by": [0.0, 5.0, 0.0]}))
    assert far.missed_mm is not None and 3500 < far.missed_mm < 5000
    assert far.missed_mm == pytest.approx(1000 * np.linalg.norm(place(far) - start - (0, 5, 0)), rel=1e-3)


@pytest.mark.parametrize("up", UPS)
@pytest.mark.parametrize(
    "said", [{"quaternion": [np.cos(0.2), 0, np.sin(0.2), 0]}, {"euler_degrees": [0, np.rad2deg(0.4), 0]}]
)
def test_turns_in_the_world_are_about_the_axes_of_the_page(motion: kp.Motion, up: str, said: dict[str, Any]) -> None:
    bench = Bench(turned(motion, up, 1.0))
    head = bench.motion.skeleton.joint("head")
    before = edited(bench, keys_draft()).motion.world_rotations()[60, head]
    step = {"op": "rotate", "frame": 60, "joint": "head", "space": "world", **said}
    after = edited(bench, keys_draft(step)).motion.world_rotations()[60, head]
    turn = multiply(after, conjugate(before))
    axis = bench.space.turn @ (turn[1:] * np.sign(turn[0]))
    np.testing.assert_allclose(axis, (0.0, np.sin(0.2), 0.0), atol=1e-9)


def test_what_was_done_before_makes_no_difference(bench: Bench, motion: kp.Motion) -> None:
    for n in (3, 5, 4, 9, 2, 9, 0):
        same(edited(bench, keys_draft(*STEPS[:n])), edited(Bench(motion), keys_draft(*STEPS[:n])))
    other = (*STEPS[:2], {"op": "delete_key", "frame": 31})
    same(edited(bench, keys_draft(*other)), edited(Bench(motion), keys_draft(*other)))


def test_one_step_more_costs_one_step(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    edited(bench, keys_draft(*STEPS[:5]))
    started = []

    def counted(keyed: kp.KeyedMotion) -> Edit:
        started.append(keyed)
        return kp.edit(keyed)

    monkeypatch.setattr(editing, "edit", counted)
    edited(bench, keys_draft(*STEPS[:6]))
    assert len(started) == 1
    edited(bench, keys_draft(*STEPS[:4]))
    edited(bench, keys_draft(*STEPS[:6]))
    assert len(started) == 1
    edited(Bench(bench.motion), keys_draft(*STEPS[:6]))
    assert len(started) == 7


def test_a_share_of_the_detail_is_put_back(bench: Bench) -> None:
    bare, half = (edited(bench, keys_draft(*STEPS[:1], residual=share)) for share in (0.0, 0.5))
    wanted = kp.edit(kp.unbake(bench.motion, FRAMES))
    wanted.rotate(31, "head", euler_degrees=(0, 30, 0), spread_s=0.5)
    np.testing.assert_array_equal(half.motion.rotations, wanted.keyed.sample(0.5).rotations)
    assert not np.array_equal(bare.motion.rotations, half.motion.rotations)


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ({"op": "explode", "frame": 0}, "step 2: op='explode', expected one of rotate, reach"),
        ({"op": "rotate", "frame": 31}, "step 2: rotate: no 'joint', expected one"),
        ({"op": "rotate", "frame": 31, "joint": "head"}, "step 2: rotate: say the turn in one way"),
        ({"op": "reach", "frame": 31, "joint": "left_hand", "to": [0, 1]}, "step 2: to: 2 numbers, expected 3"),
        (
            {"op": "reach", "frame": 31, "joint": "left_hand", "to": [0, 1, float("nan")]},
            "step 2: to=nan, expected a number",
        ),
        ({"op": "insert_key", "frame": 45, "to": 3}, "step 2: insert_key: 'to', expected only frame"),
        ({"op": "insert_key", "frame": 4.5}, "step 2: frame=4.5, expected a whole number"),
        ({"op": "insert_key"}, "step 2: insert_key: no 'frame', expected one"),
        ({"op": "move_key", "frame": 31}, "step 2: move_key: no 'to', expected one"),
        ({"op": "mirror", "frame": 31, "spread_s": 99}, "step 2: spread_s=99"),
        ("delete", "step 2: step='delete', expected a mapping"),
        ({"op": "delete_key", "frame": 32}, "step 2, delete_key: no key at frame 32; the nearest are at"),
        (
            {"op": "move_key", "frame": 31, "to": 70},
            "step 2, move_key: the key at frame 31 cannot go to 70, expected 1 to 59",
        ),
        (
            {"op": "rotate", "frame": 31, "joint": "tail", "euler_degrees": [1, 0, 0]},
            "step 2, rotate: no joint or body part 'tail'",
        ),
        ({"op": "reach", "frame": 31, "joint": "head", "by": [0, 0, 1]}, "step 2, reach:"),
    ],
)
def test_what_a_step_cannot_be_is_said_with_its_place(bench: Bench, step: Any, says: str) -> None:
    with pytest.raises(OptionError) as caught:
        edited(bench, keys_draft(STEPS[0], step))
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"kind": "poses"}, "kind='poses', expected one of keys, swings"),
        ({"kind": "keys"}, "draft: no 'frames'"),
        ({"kind": "keys", "frames": []}, "draft: no frames, expected at least one key"),
        ({"kind": "keys", "frames": [0], "threshold": 1}, "draft: 'threshold', expected only"),
        ({"kind": "keys", "frames": [0], "residual": 9}, "residual=9"),
        ({"kind": "keys", "frames": [0], "interpolation": "spline"}, "interpolation='spline'"),
        ({"kind": "keys", "frames": [0], "steps": [{}] * 5001}, "5001 steps, expected at most 5000"),
        ({"kind": "swings", "threshold": 0}, "threshold=0"),
        ([], "draft=[], expected a mapping"),
    ],
)
def test_what_a_draft_cannot_be_is_said(told: Any, says: str) -> None:
    with pytest.raises(OptionError) as caught:
        draft_of(told)
    assert str(caught.value).startswith(says)


# Swings


def some_swings(bench: Bench) -> tuple[dict[str, Any], ...]:
    joint = next(track.joint for track in bench.swings().tracks if track.n_swings > 2 and "Arm" in track.joint)
    return (
        {"op": "scale", "joint": joint, "index": 1, "factor": 1.4},
        {"op": "shift", "joint": joint, "index": 1, "by_frames": 2},
        {"op": "lengthen", "joint": joint, "index": 0, "by_frames": 3},
        {"op": "shorten", "joint": joint, "index": 0, "by_frames": 1},
        {"op": "lengthen", "joint": joint, "index": 1, "by_frames": 2, "anchor": "end"},
        {"op": "delete", "joint": joint, "index": 2},
        {"op": "intensify", "joint": "arms", "factor": 1.2},
    )


def test_every_step_of_swings_does_what_the_editor_does(bench: Bench) -> None:
    steps = some_swings(bench)
    joint = steps[0]["joint"]
    made = edited(bench, swings_draft(*steps))
    by_hand = kp.swings(bench.motion).edit(bench.motion)
    by_hand.scale(by_hand.swings[joint][1], 1.4)
    by_hand.shift(by_hand.swings[joint][1], by_frames=2)
    by_hand.lengthen(by_hand.swings[joint][0], by_frames=3)
    by_hand.shorten(by_hand.swings[joint][0], by_frames=1)
    by_hand.lengthen(by_hand.swings[joint][1], by_frames=2, anchor="end")
    by_hand.delete(by_hand.swings[joint][2])
    by_hand.intensify("arms", 1.2)
    np.testing.assert_array_equal(made.motion.rotations, by_hand.play().rotations)
    assert made.history == by_hand.history and made.swings is not None
    assert made.swings.n_swings == by_hand.swings.n_swings
    assert by_hand.last_change is not None and made.changed == by_hand.last_change.range


@pytest.mark.parametrize("op", ["lengthen", "shorten"])
@pytest.mark.parametrize("anchor", ["start", "end"])
def test_the_anchor_of_a_swing_stays(bench: Bench, op: str, anchor: str) -> None:
    bar = next(swing for track in bench.swings().tracks for swing in track.swings[1:-1] if swing.n_frames > 8)
    own = bench.swings()[bar.joint]
    index = next(k for k, swing in enumerate(own) if swing.start == bar.start)
    step = {"op": op, "joint": bar.joint, "index": index, "by_frames": 2, "anchor": anchor}
    made = edited(bench, swings_draft(step))
    assert made.swings is not None
    after, by = made.swings[bar.joint][index], 2 if op == "lengthen" else -2
    stays = (bar.start, bar.end + by) if anchor == "start" else (bar.start - by, bar.end)
    assert (after.start, after.end) == stays
    assert len(made.history) == 1 and f"anchor='{anchor}'" in made.history[0]


def test_a_swing_without_room_is_refused_in_words(bench: Bench) -> None:
    bar = next(swing for track in bench.swings().tracks for swing in track.swings)
    step = {"op": "shift", "joint": bar.joint, "index": 0, "by_frames": -bar.start - 1}
    with pytest.raises(OptionError) as caught:
        edited(bench, swings_draft(step))
    assert str(caught.value).startswith(f"step 1, shift: the swing of {bar.joint} in frames {bar.start} to {bar.end} (")


def test_swings_that_nobody_edited_play_the_capture(bench: Bench) -> None:
    made = edited(bench, swings_draft())
    np.testing.assert_array_equal(made.motion.rotations, bench.motion.rotations)
    assert made.changed is None and made.history == () and made.straying is not None and made.straying.max_mm == 0


def test_what_was_done_to_swings_before_makes_no_difference(bench: Bench, motion: kp.Motion) -> None:
    steps = some_swings(bench)
    for some in (steps[:4], steps[:2], steps[:5], (), steps, (*steps[:2], steps[5]), steps[:3]):
        same(edited(bench, swings_draft(*some)), edited(Bench(motion), swings_draft(*some)))


def test_a_step_that_fails_leaves_the_ones_before_it(bench: Bench, motion: kp.Motion) -> None:
    steps = some_swings(bench)
    wrong = {"op": "delete", "joint": steps[0]["joint"], "index": 99}
    with pytest.raises(OptionError, match=r"step 3, delete: swing 99 of '.*', expected 0 to"):
        edited(bench, swings_draft(*steps[:2], wrong, *steps[2:]))
    same(edited(bench, swings_draft(*steps[:3])), edited(Bench(motion), swings_draft(*steps[:3])))


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ({"op": "scale", "joint": "head"}, "scale: no factor, expected one"),
        ({"op": "scale", "joint": "head", "factor": 2, "by_frames": 1}, "scale: by_frames=1, expected none"),
        ({"op": "intensify", "joint": "arms", "factor": 2, "index": 0}, "intensify: index, expected none"),
        ({"op": "shift", "joint": "head", "by_frames": 1, "anchor": "end"}, "shift: anchor='end', expected none"),
        ({"op": "lengthen", "joint": "head", "by_frames": 1, "anchor": "left"}, "anchor='left', expected one of start"),
        ({"op": "shift", "joint": "head", "by_frames": 1.5}, "by_frames=1.5, expected a whole number"),
        ({"op": "delete"}, "step: no 'joint', expected one"),
        ({"op": "bend", "joint": "head"}, "op='bend', expected one of scale"),
    ],
)
def test_what_a_step_of_swings_cannot_be_is_said(step: Any, says: str) -> None:
    with pytest.raises(OptionError) as caught:
        swings_draft(step)
    assert str(caught.value).startswith(f"step 1: {says}")


ANYTHING = (
    st.none()
    | st.booleans()
    | st.integers(-5, 200)
    | st.floats()
    | st.text(max_size=3)
    | st.lists(st.floats(), max_size=4)
)
NAMES = st.sampled_from(
    [
        "frame",
        "joint",
        "to",
        "by",
        "quaternion",
        "euler_degrees",
        "space",
        "spread_s",
        "from_frame",
        "ripple",
        "index",
        "x",
    ]
)


@given(
    st.sampled_from(["keys", "swings"]),
    st.sampled_from(["rotate", "reach", "shift", "move_key", "insert_key", "mirror", "paste", "scale", "delete"]),
    st.dictionaries(NAMES, ANYTHING, max_size=5),
)
def test_whatever_a_step_is_told_is_taken_or_refused_in_words(kind: str, op: str, more: dict[str, Any]) -> None:
    frames = {"frames": [0]} if kind == "keys" else {}
    try:
        made = draft_of({"kind": kind, **frames, "steps": [{"op": op, **more}]})
    except kp.KeyposeError as error:
        assert str(error).startswith("step 1: ")
    else:
        assert made.steps[0].op == op and set(more) <= set(vars(made.steps[0])) | {
            k for k, v in more.items() if v is None
        }
